"""Games without noise show which delta a policy uses."""

from typing import Any

import pytest

import naive
import vambrace as vb
from vambrace.theory import evidence_checks as checks
from vambrace.theory.checks import DELTA


def known_budget(delta: float, budget_share: float = 1.0) -> list[dict[str, Any]]:
    def armoured(budget: float, radius: Any) -> vb.Policy:
        return vb.SEWR(budget=budget * budget_share, delta=delta, radius=radius)

    return list(checks.known_budget(armoured))


def own_budget(delta: float) -> list[dict[str, Any]]:
    return list(checks.own_budget(lambda budget, commit: vb.KLUCBWR(budget=budget, delta=delta, commit=commit)))


def test_the_true_policies_pass() -> None:
    found = known_budget(DELTA) + own_budget(DELTA)
    assert [row["failures"] for row in found] == [0, 0, 0, 0]


@pytest.mark.parametrize("delta", [0.999999, 0.1, 0.02])
def test_another_delta_is_noticed(delta: float) -> None:
    """Counting failures notices none of these."""
    assert [row["failures"] for row in known_budget(delta)] == [1, 1, 1]
    if delta != 0.1:  # by so little that KL-UCB-WR's pulls may be the same
        assert own_budget(delta)[0]["failures"] == 1


def test_another_budget_is_noticed() -> None:
    assert [row["failures"] for row in known_budget(DELTA, 0.9)] == [1, 1, 1]


@pytest.mark.parametrize("radius", ["paper", "tight", "kl"])
def test_the_definition_is_that_of_the_plain_policy(radius: str) -> None:
    policy = naive.SEWR(2, checks.HORIZON, budget=checks.BUDGET, delta=DELTA, radius=radius)
    arms = naive.play(policy, [[1.0, 0.0]] * checks.HORIZON)
    dropped = arms.count(1)
    assert checks.separated(radius, dropped)
    assert not checks.separated(radius, dropped - 1)
