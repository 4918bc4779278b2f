"""The study of guarantees: random games whose bounds say something, and a search that would notice a broken one."""

import pytest

import guarantees
import vambrace as vb
from vambrace import theory


def test_games_are_the_same_every_time_and_their_bounds_say_something() -> None:
    first, again = list(guarantees.games(12)), list(guarantees.games(12))
    assert first == again
    assert {type(game.policy) for game in first} == {vb.SEWR, vb.SEWRStop, vb.KLUCBWR, vb.PEWR}
    for game in first:
        everything = guarantees.HORIZON * (max(game.means) - min(game.means))
        assert game.spent <= getattr(game.policy, "budget", 200.0)
        assert not game.bounds[0].explicit or game.bounds[0].value <= everything / 2


@pytest.mark.slow  # about a minute
def test_the_search_breaks_no_guarantee() -> None:
    """Six games, one of each policy; no game of the worst attack that was found is above a bound with constants.

    Orders have no constants, so nothing is wrong when they are exceeded, as SE-WR-Stop's is (docs/truth.md).
    """
    for game in guarantees.games(6):
        row = guarantees.measured(game, effort="quick")
        for bound in row["bounds"]:
            assert not bound["explicit"] or row["largest"] < bound["value"]


@pytest.mark.slow  # about ten seconds
def test_a_policy_that_is_given_too_small_a_budget_breaks_it() -> None:
    """The bound is that of a policy that was given all that the attacker spends."""
    means, spent = (0.8, 0.5, 0.3), 60.0
    bound = theory.kl_ucb_wr([0.3, 0.5], horizon=guarantees.HORIZON, budget=spent, spent=spent)
    game = guarantees.RandomGame(0, vb.KLUCBWR(budget=1), means, spent, (bound,))
    assert guarantees.measured(game, effort="quick")["mean"] > 2 * bound.value
