"""The books of black-box attackers: what is counted, and when there is nothing to do."""

from math import log, pi, sqrt
from typing import Any

import numpy as np
import pytest

import vambrace as vb
from vambrace.adversaries.books import beta, witness
from vambrace.protocols import Game, Round
from vambrace.sampling import stream

MEANS = np.array([0.9, 0.5, 0.25])
KEEPERS = (vb.JunEpsilonGreedy, vb.JunUCB, vb.ACE, vb.ExponentialThreshold, vb.Garcelon)


def test_beta_is_the_radius_of_all_arms_and_counts_at_once() -> None:
    books = vb.ACE(delta=0.1).init(Game(len(MEANS), 100, MEANS))
    for n in (1, 7, 10**6):
        assert beta(books, n) == pytest.approx(sqrt(0.5 / n * log(pi**2 * 3 * n**2 / (3 * 0.1))), rel=1e-14)
    narrow = vb.ACE(delta=0.1, sigma=0.1).init(Game(len(MEANS), 100, MEANS))
    assert beta(narrow, 7) == pytest.approx(beta(books, 7) / 5, rel=1e-14)


def test_raw_and_delivered_rewards_are_kept_apart() -> None:
    books = witness(witness(vb.ACE().init(Game(len(MEANS), 100, MEANS)), 1, 1.0, 0.25), 1, 0.5, 0.5)
    assert (books.counts.tolist(), books.raw.tolist(), books.seen.tolist()) == ([0, 2, 0], [0, 1.5, 0], [0, 0.75, 0])


@pytest.mark.parametrize("keeper", KEEPERS)
def test_nothing_happens_to_the_target_or_before_its_first_pull(keeper: Any) -> None:
    attack, rng = keeper(target=1), stream(1)
    books = attack.init(Game(len(MEANS), 100, MEANS))
    assert books.target == 1
    assert keeper().init(Game(len(MEANS), 100, MEANS)).target == 2
    assert attack.alter(books, Round.prompt(50, 3), 0, 1.0, None, rng)[0] == 1.0
    books = witness(books, 1, 0.5, 0.5)
    assert attack.alter(books, Round.prompt(50, 3), 1, 1.0, None, rng)[0] == 1.0
    assert attack.alter(books, Round.prompt(50, 3), 0, 1.0, None, rng)[0] < 1.0


@pytest.mark.parametrize("keeper", [vb.JunEpsilonGreedy, vb.ACE])
def test_the_first_rounds_are_left_alone(keeper: Any) -> None:
    attack = keeper(target=1)
    books = witness(attack.init(Game(len(MEANS), 100, MEANS)), 1, 0.5, 0.5)
    assert attack.alter(books, Round.prompt(3, 3), 0, 1.0, None, stream(1))[0] == 1.0
    assert attack.alter(books, Round.prompt(4, 3), 0, 1.0, None, stream(1))[0] < 1.0
