"""The suite: every attack that applies, the worst of each budget, and no silence about attacks that did nothing."""

import dataclasses
import json
from typing import Any

import numpy as np
import pytest

import vambrace as vb
from vambrace import registry
from vambrace.errors import InvalidParameter
from vambrace.protocols import Answer, Game, Round
from vambrace.redteam.shuffling import order_of
from vambrace.redteam.suite import BY_CHANCE, HARMLESS, UNSPENT, _doubts

ENVIRONMENT = vb.Bernoulli([0.9, 0.7, 0.5])
ATTACKS = [vb.Conceal(), vb.Swap(margin=0.2), vb.RandomFlips(rate=0.01), vb.Conceal(arm=2, stop_when_dropped=True)]
OPTIONS: dict[str, Any] = {"horizon": 4_000, "replications": 4, "seed": 5}


@pytest.fixture(scope="module")
def report() -> vb.AttackReport:
    return vb.attack_suite(vb.UCB1(), ENVIRONMENT, budgets=[0, 30, 300], attacks=ATTACKS, **OPTIONS)


def test_rows_are_what_simulate_says(report: vb.AttackReport) -> None:
    """One row without attack, then each attack that applies at each budget, with the numbers of single games.

    In each game the arms stand in another order; pulls are those of the arms as given.
    """
    assert [(row.budget, row.attack) for row in report.rows] == [
        (0, "none"),
        *(
            (budget, attack)
            for budget in (30, 300)
            for attack in ("conceal", "swap:margin=0.2", "random-flips:rate=0.01")
        ),
    ]
    for row in report.rows:
        for game in range(4):
            order = order_of(3, 5, game)
            arms = vb.Bernoulli([ENVIRONMENT.means[arm] for arm in order])
            alone = vb.simulate(vb.UCB1(), arms, row.result.adversary, horizon=4_000, seed=5 + game)
            assert row.result.pseudo_regret[game] == alone.pseudo_regret[0, -1]
            assert row.result.cost[game] == alone.cost[0, -1] <= row.budget
            assert row.result.pulls[game, list(order)].tolist() == alone.pulls[0].tolist()
        assert row.regret == row.result.pseudo_regret.mean()


class FirstArm(vb.Policy):
    """Always plays the first arm: best if the best arm stands first."""

    name, reference = "first-arm", "tests"

    def init(self, game: Game) -> int:
        return 0

    def select(self, state: int, round: Round, rng: Any) -> tuple[int, float, int]:
        return 0, 1.0, 0

    def update(self, state: int, answer: Answer) -> int:
        return state


def test_the_best_arm_stands_first_in_some_games_only() -> None:
    report = vb.attack_suite(FirstArm(), vb.Bernoulli([0.9, 0.1]), budgets=[0], horizon=10, replications=40)
    regrets = report.clean.pseudo_regret[:, -1]
    assert {*regrets.round(9).tolist()} == {0.0, 8.0}
    assert (report.clean.pulls[:, 0] == np.where(regrets == 0.0, 10, 0)).all()
    assert 8 <= (regrets == 0.0).sum() <= 32  # 20 are expected; outside with a probability of 0.0001


def test_the_worst_of_each_budget(report: vb.AttackReport) -> None:
    for budget, worst in report.worst.items():
        rivals = [row.regret for row in report.rows if row.budget == budget]
        assert worst.regret == max(rivals)
    assert [worst.attack for worst in report.worst.values()] == ["none", "conceal", "swap:margin=0.2"]
    assert report.worst[0].result is report.clean


def test_an_attack_that_does_not_apply_is_named_with_the_reason(report: vb.AttackReport) -> None:
    assert list(report.skipped) == ["conceal:arm=2,stop_when_dropped=true"], "the one that looks into the policy"
    assert "whose state has 'arms', got ucb1" in next(iter(report.skipped.values()))


def test_warnings(report: vb.AttackReport) -> None:
    clean = report.clean.pseudo_regret[:, -1].mean()
    for row in report.rows:
        is_winner = row is report.worst[row.budget]
        assert (UNSPENT in row.warnings) == (row.cost < row.budget / 2 and not is_winner)
        assert ({HARMLESS, BY_CHANCE} & {*row.warnings} != set()) == (row.regret < clean)
    (flips,) = (row for row in report.rows if row.budget == 300 and row.attack.startswith("random"))
    assert UNSPENT in flips.warnings, "one flip in a hundred of 4,000 rounds"
    assert any("random-flips:rate=0.01 at budget 300: left more than half" in warning for warning in report.warnings)


def test_an_attack_that_helps_is_reported() -> None:
    """Concealing the worst arm makes life easier."""
    report = vb.attack_suite(
        vb.UCB1(), ENVIRONMENT, budgets=[20], attacks=[vb.Conceal(arm=2)], **OPTIONS | {"replications": 40}
    )
    assert HARMLESS in report.rows[0].warnings


def test_summary_frame_and_sentence(report: vb.AttackReport) -> None:
    summary = json.loads(json.dumps(report.summary()))
    assert summary["policy"] == "ucb1"
    assert [row["budget"] for row in summary["worst"]] == [0, 30, 300]
    assert report.to_frame().height == len(report.rows)
    assert "budget 300:" in str(report)


def test_without_a_list_every_registered_attack_is_tried_or_named() -> None:
    """The white-box ones for eliminating policies among them; none is passed over in silence."""
    report = vb.attack_suite(vb.SE(), ENVIRONMENT, budgets=[3], horizon=60, replications=1)
    played = {row.attack.partition(":")[0] for row in report.rows}
    assert played | {*report.skipped} == {*registry.known("adversary")}
    assert not played & {*report.skipped}


@dataclasses.dataclass(frozen=True, kw_only=True)
class Demanding(vb.Conceal):
    """Cannot be made from a budget alone."""

    name = "demanding"
    more: int


def test_an_attack_that_needs_more_than_a_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "known", lambda kind: {"demanding": Demanding, "conceal": vb.Conceal})
    report = vb.attack_suite(vb.UCB1(), ENVIRONMENT, budgets=[3], horizon=60, replications=1)
    assert [row.attack for row in report.rows] == ["conceal"]
    assert "expected to be passed in attacks" in report.skipped["demanding"]


@pytest.mark.parametrize("budgets", [[], 3, "1,2", [-1], [float("nan")], ["3"], [float("inf")]])
def test_budgets_that_are_none(budgets: Any) -> None:
    with pytest.raises(InvalidParameter, match=r"budget.*expected"):
        vb.attack_suite(vb.UCB1(), ENVIRONMENT, budgets=budgets, horizon=100)


class Loose(vb.Adversary):
    """Not a dataclass."""

    name, budget = "loose", 1.0


@pytest.mark.parametrize("attacks", ["conceal", [None], ["conceal"], vb.Conceal(), [], [Loose()]])
def test_attacks_that_are_none(attacks: Any) -> None:
    with pytest.raises(InvalidParameter, match=r"attacks: expected "):
        vb.attack_suite(vb.UCB1(), ENVIRONMENT, budgets=[1], horizon=100, attacks=attacks)


def test_a_policy_that_is_none() -> None:
    with pytest.raises(InvalidParameter, match=r"policy: expected a vambrace\.Policy, got 'ucb1'; .* vb\.Foreign\("):
        vb.attack_suite("ucb1", ENVIRONMENT, budgets=[1], horizon=100)  # type: ignore[arg-type]


def with_figures(regrets: list[float], cost: float) -> vb.Result:
    """A result of which only these figures matter."""
    plain = vb.simulate(vb.UCB1(), ENVIRONMENT, horizon=10, replications=len(regrets), checkpoints=1, interpret=True)
    column = np.array(regrets)[:, None]
    return dataclasses.replace(plain, pseudo_regret=column, cost=np.full_like(column, cost))


@pytest.mark.parametrize(
    ("regrets", "cost", "expected"),
    [
        ([30.0, 34.0], 50.0, ()),  # exactly half is spent
        ([30.0, 34.0], 49.9, (UNSPENT,)),
        ([20.0, 22.0], 50.0, ()),  # exactly as without attack
        ([19.9, 22.0], 50.0, (BY_CHANCE,)),
        ([1.0, 1.5], 50.0, (HARMLESS,)),
    ],
)
def test_when_a_figure_is_doubted(regrets: list[float], cost: float, expected: tuple[str, ...]) -> None:
    """The clean regret is 21 on average, the budget 100."""
    assert _doubts(with_figures(regrets, cost), with_figures([20.0, 22.0], 0.0), 100.0) == expected


def test_an_attack_that_the_environment_cannot_bear_is_skipped() -> None:
    """A medium game draws every arm in every round and uses the smallest log up; the others are kept."""
    env = vb.Replay(events=[900, 100], successes=[90, 5])
    report = vb.attack_suite(
        vb.UCB1(), env, budgets=[5], horizon=150, replications=1, attacks=[vb.Conceal(), vb.Invert()]
    )
    assert [row.attack for row in report.rows] == ["conceal"]
    assert "events are used up" in report.skipped["invert"]
