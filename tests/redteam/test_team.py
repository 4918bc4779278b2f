"""The search: deterministic, unbiased, within the budget, and strong enough that a weaker one is noticed."""

import dataclasses
import random
from collections.abc import Sequence
from math import inf
from typing import Any

import numpy as np
import pytest

import vambrace as vb
from vambrace import registry
from vambrace.adversaries import Script
from vambrace.errors import InvalidParameter
from vambrace.protocols import Adversary, Floats
from vambrace.redteam.games import Games, Played
from vambrace.redteam.goals import Goal
from vambrace.redteam.moves import first_scripts, neighbours
from vambrace.redteam.search import STEP, Effort, Search, looking_ahead
from vambrace.redteam.team import FRESH

ENVIRONMENT = vb.Bernoulli([0.9, 0.8, 0.2])
VICTIM = vb.SEWR(budget=10, radius="tight")
OPTIONS: dict[str, Any] = {"horizon": 3_000, "effort": "quick", "games": 300, "attacks": [vb.Conceal(), vb.Boost()]}
LOSS = Goal.parse("loss 50%")


class Coin:
    """Plays at random, with other random numbers after other rewards: every attack is as good as any other, in law."""

    def __init__(self, n_arms: int, horizon: int, seed: int) -> None:
        self.n_arms, self.random, self.seen = n_arms, random.Random(seed), [seed]

    def ask(self) -> int:
        return self.random.randrange(self.n_arms)

    def tell(self, arm: int, reward: float) -> None:
        self.seen.append(int(reward))
        self.random.seed(str(self.seen))


@pytest.fixture(scope="module")
def report() -> vb.RedTeam:
    return vb.red_team(VICTIM, ENVIRONMENT, budgets=[80, 20], threads=2, **OPTIONS)


def test_the_same_seed_gives_the_same_answer_on_any_number_of_threads(report: vb.RedTeam) -> None:
    again = vb.red_team(VICTIM, ENVIRONMENT, budgets=[20, 80], threads=1, **OPTIONS)
    assert again.summary() == report.summary()
    assert list(report.worst) == [20, 80]


def test_the_winner_can_be_replayed_from_its_spec(report: vb.RedTeam) -> None:
    """In the same fresh games, from the text alone."""
    worst = report.worst[80]
    attack = registry.adversary(worst.spec)
    assert attack == worst.attack
    games = Games(VICTIM, ENVIRONMENT, horizon=3_000, goal=LOSS)
    np.testing.assert_array_equal(games.play([attack], FRESH, 32)[0].regrets, worst.played.regrets)
    assert worst.interval[0] < worst.regret < worst.interval[1]


def test_no_budget_is_exceeded(report: vb.RedTeam) -> None:
    for budget, worst in report.worst.items():
        assert 0 < worst.played.costs.max() <= budget


def test_it_is_at_least_as_bad_as_the_fixed_attacks(report: vb.RedTeam) -> None:
    for worst in report.worst.values():
        _, fixed = worst.fixed or (worst.attack, worst.played)
        assert worst.regret >= 0.97 * fixed.regret
        assert worst.regret > report.clean.regret


def test_reported_figures_have_no_winners_curse() -> None:
    """A policy that plays at random: the best of many attacks was only lucky.

    The fresh games have the mean 0.5; over 40 searches with 4 games each of 20 rounds it is within 4 standard errors
    (false alarm 6e-5, seeds fixed). The games of the search lie above that.
    """
    environment, lucky, fresh = vb.Bernoulli([1.0, 0.0]), [], []
    for seed in range(40):
        games = Games(vb.Foreign(make=Coin), environment, horizon=20, goal=LOSS, seed=seed)
        winner = Search(games, [], Effort(80, 4)).run(5.0)
        lucky.append(games.play([winner], STEP, 4)[0].score)
        fresh.append(games.play([winner], FRESH, 4)[0].score)
    error = 0.5 / np.sqrt(20 * 4 * 40)
    assert abs(np.mean(fresh) - 0.5) < 4 * error < np.mean(lucky) - 0.5


class WithoutRaising(Search):
    """A search whose family has no sign +."""

    def _scripts(self, scripts: list[Script]) -> list[Adversary]:
        return [script for script in scripts if "+" not in script.modes]


class WithoutCaps(Search):
    """A search whose family has no caps."""

    def _scripts(self, scripts: list[Script]) -> list[Adversary]:
        return [dataclasses.replace(script, caps=(inf,)) for script in scripts]


def reached(search: type[Search], budget: float, victim: vb.Policy = VICTIM, horizon: int = 3_000) -> float:
    """The share of all that can be lost that a search finds, in fresh games."""
    games = Games(victim, ENVIRONMENT, horizon=horizon, goal=LOSS)
    found = search(games, [], Effort(600, 32)).run(budget)
    return games.play([found], FRESH, 32)[0].score


def test_a_weakened_search_is_noticed() -> None:
    """Only who raises the worst arm gets it played for good: 0.7 per round instead of 0.1."""
    assert reached(Search, 100.0) > 0.8
    assert reached(WithoutRaising, 100.0) < 0.4


def test_a_search_without_caps_is_noticed() -> None:
    """Tsallis-INF plays the raised arm more and more, and that would use up what hides the two others later."""
    assert reached(Search, 150.0, vb.TsallisINF(), 2_000) > 0.5
    assert reached(WithoutCaps, 150.0, vb.TsallisINF(), 2_000) < 0.35


def last_race(monkeypatch: pytest.MonkeyPatch, scores: dict[vb.Adversary, Floats]) -> tuple[vb.Adversary, list[int]]:
    """Who wins the last race between attacks with these scores, game by game; and how many games each stage has."""
    games = Games(VICTIM, ENVIRONMENT, horizon=20, goal=LOSS)
    asked: list[int] = []

    def play(attacks: Sequence[vb.Adversary], step: str, count: int) -> list[Played]:
        asked.append(len(attacks) * count)
        return [Played(scores[each][:count], scores[each][:count], scores[each][:count]) for each in attacks]

    search = Search(games, [], Effort(100, 8, final=1_024))
    monkeypatch.setattr(games, "play", play)
    return search._decided(list(scores))[0], asked


def test_an_attack_that_rarely_succeeds_gets_the_games_that_it_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    """It succeeds in one game of 20 of the first 1,024, which is too little, and in one game of 14 of the others.

    Garcelon's games are the same as Boost's: one of the two is enough after the first stage.
    """
    rare, steady = np.full(4_096, 0.25), np.full(4_096, 0.29)
    rare[:1_024:20] = rare[1_024::14] = 1.0
    winner, asked = last_race(monkeypatch, {vb.Conceal(): steady, vb.Boost(): rare, vb.Garcelon(): rare})
    assert winner == vb.Boost()
    assert asked == [3 * 256, 2 * 1_024, 2 * 4_096]


def test_of_many_that_are_level_the_longest_race_is_for_the_one_that_may_do_most(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Among six attacks that do the same but for noise, one succeeds rarely: chance may hide most in its games."""
    noise = np.random.default_rng(0).uniform(-0.05, 0.05, (6, 4_096))
    level: list[vb.Adversary] = [vb.Conceal(), vb.Swap(), vb.Garcelon(), vb.ACE(), vb.JunUCB(), vb.Mimic()]
    rare = np.full(4_096, 0.25)
    rare[:1_024:20] = rare[1_024::14] = 1.0
    scores = {attack: 0.29 + each for attack, each in zip(level, noise, strict=True)}
    winner, asked = last_race(monkeypatch, scores | {vb.Boost(): rare})
    assert winner == vb.Boost()
    assert asked == [7 * 256, 4 * 1_024, 2 * 4_096]


def test_what_is_decided_needs_no_more_games(monkeypatch: pytest.MonkeyPatch) -> None:
    """Conceal and Boost are the same attack here, Swap is clearly behind, and Garcelon differs by less than matters."""
    worst, noise = np.random.default_rng(0).uniform((0.4, -1e-3), (0.6, 1e-3), (4_096, 2)).T
    scores: dict[vb.Adversary, Floats] = {vb.Conceal(): worst, vb.Boost(): worst}
    scores |= {vb.Swap(): worst + 100 * noise - 0.1, vb.Garcelon(): worst + noise - 1e-4}
    assert last_race(monkeypatch, scores) == (vb.Conceal(), [4 * 256])


def test_a_foreign_bandit_with_few_games() -> None:
    report = vb.red_team(
        vb.Foreign(make=Coin, name="coin"), ENVIRONMENT, budgets=5, horizon=30, games=40, attacks=[vb.Conceal()]
    )
    assert report.games < 200
    assert report.worst[5].played.costs.max() <= 5
    assert "coin" in str(report)


def test_other_goals() -> None:
    """To have arm 1 played, the attacker shows something else than to have the best one starved."""
    shares = {}
    for goal in ("arm 1 90%", "best 10%", "regret 500"):
        report = vb.red_team(VICTIM, ENVIRONMENT, budgets=80, goal=goal, **OPTIONS)
        shares[goal] = report.worst[80].played.score
    assert shares["arm 1 90%"] > 0.8
    assert shares["best 10%"] > 0.8
    assert shares["regret 500"] > 1_000


def test_a_script_without_caps_has_neighbours() -> None:
    source = neighbours(Script(budget=9, modes="-00"), ENVIRONMENT.arm_means(), 300, False, np.random.default_rng(0))
    assert any(each.caps for each in (next(source) for _ in range(40)))


def test_moves_stay_within_the_family() -> None:
    means, rng = np.array([0.3, 0.9, 0.0, 1.0]), np.random.default_rng(1)
    first: Sequence[Script] = first_scripts(means, 50.0, 1_000)
    assert len({*first}) == len(first)
    assert first[0].modes == "000-", "the best arm is lowered first"
    seen: set[str] = set()
    for start in first[:40]:
        source, script = neighbours(start, means, 1_000, True, rng), start
        for _ in range(30):
            script = next(source)
            assert (script.budget, script.limited) == (50.0, True)
            seen |= {name for name in ("levels", "first", "last", "stop_when_dropped") if getattr(script, name)}
            seen |= {"caps"} if len(script.caps) > 1 else set()
    assert seen == {"levels", "caps", "first", "last", "stop_when_dropped"}


def test_fake_visitors() -> None:
    """UCB1 plays the best arm for fake visitors only, who say that it pays nothing."""
    options: dict[str, Any] = {"horizon": 3_000, "effort": "quick", "games": 200, "threat": "inject"}
    report = vb.red_team(vb.UCB1(), ENVIRONMENT, budgets=60, **options)
    worst, alone = report.worst[60], report.worst[60].fixed
    assert str(report).count("With 60 fake visitors ucb1 loses") == 1
    assert report.summary()["threat"] == "inject"
    assert registry.adversary(worst.spec) == worst.attack
    assert isinstance(worst.attack, vb.Inject)
    assert worst.attack.peek
    assert worst.played.costs.max() <= 60
    assert alone is not None
    assert worst.regret > 1.5 * alone[1].regret
    thompson = vb.red_team(vb.Thompson(), ENVIRONMENT, budgets=60, **options).worst[60].attack
    assert isinstance(thompson, vb.Inject)
    assert not thompson.peek, "nobody knows what a randomised policy will play"
    with pytest.raises(InvalidParameter, match="attacks: expected attacks of the threat inject, got conceal"):
        vb.red_team(vb.UCB1(), ENVIRONMENT, budgets=60, attacks=[vb.Conceal()], **options)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"policy": "ucb1"}, r"policy: expected a vambrace\.Policy, got 'ucb1'; .* vb\.Foreign\("),
        ({"budgets": []}, r"budgets: expected numbers above 0"),
        ({"budgets": [0]}, r"budgets: expected numbers above 0"),
        ({"budgets": [-1]}, r"budget: expected a number in"),
        ({"effort": "much"}, r"effort"),
        ({"threat": "bribe"}, r"threat"),
        ({"goal": "win"}, r"goal: expected loss 50%"),
        ({"games": 3}, r"games: expected a whole number"),
        ({"lost": None}, r"lost: expected a number in \[0, 1\], got None"),
    ],
)
def test_wrong_parameters(wrong: dict[str, Any], message: str) -> None:
    given: dict[str, Any] = {"policy": VICTIM, "environment": ENVIRONMENT, "budgets": 5} | OPTIONS | wrong
    with pytest.raises((InvalidParameter, vb.VambraceError), match=message):
        vb.red_team(given.pop("policy"), given.pop("environment"), **given)


def test_victims_whose_answers_are_late_or_lost() -> None:
    """The figures are those of `simulate` with the same delay, and every text says so."""
    late: dict[str, Any] = {"delay": vb.Delay.batch(200), "lost": 0.1}
    found = vb.red_team(VICTIM, ENVIRONMENT, budgets=40, **OPTIONS | {"games": 20}, **late)
    games, fresh = Games(VICTIM, ENVIRONMENT, horizon=3_000, goal=LOSS, **late), len(found.clean.scores)
    (again,) = games.play([found.worst[40].attack], FRESH, fresh)
    np.testing.assert_array_equal(again.regrets, found.worst[40].played.regrets)
    (prompt,) = Games(VICTIM, ENVIRONMENT, horizon=3_000, goal=LOSS).play([found.worst[40].attack], FRESH, fresh)
    assert not np.array_equal(again.regrets, prompt.regrets)
    assert "radius=tight (delay batch:200, 0.1 of answers lost) loses" in str(found)
    assert found.summary()["conditions"] == "delay batch:200, 0.1 of answers lost"


@pytest.mark.slow  # compiles what only this test plays
def test_a_break_down_point_of_late_answers() -> None:
    options: dict[str, Any] = {"horizon": 200, "effort": "quick", "attacks": [vb.Conceal()]}
    found = vb.breakdown(vb.UCB1(), vb.Bernoulli([0.9, 0.1]), delay=vb.Delay.fixed(20), **options)
    assert " make ucb1 (delay fixed:20) lose half" in str(found)
    assert found.clean.regret >= 8  # half of the first twenty rounds


def test_nobody_looks_ahead_at_answers_that_are_late() -> None:
    for late, races in (({}, True), ({"lost": 0.1}, False), ({"delay": vb.Delay.fixed(0)}, False)):
        games = Games(VICTIM, ENVIRONMENT, horizon=3_000, goal=LOSS, **late)
        assert Search(games, [], Effort(40, 8), looking=True).looking == races


def test_looking_ahead_races_too_where_it_can() -> None:
    """Not in long games, nor against a bandit that cannot be copied."""
    games = Games(vb.UCB1(), ENVIRONMENT, horizon=1_000, goal=LOSS)
    with_it = Search(games, [], Effort(60, 8), looking=True)
    assert with_it.looking
    tried = looking_ahead(games, 30.0)
    assert {each.budget for each in tried} == {30.0}
    assert {type(each) for each in tried} == {vb.LookAhead}
    found = games.play([with_it.run(30.0)], FRESH, 8)[0].score
    assert found >= 0.9 * max(played.score for played in games.play(tried, FRESH, 8))
    for other in (vb.Foreign(make=Coin), vb.UCB1()):
        longer = Games(other, ENVIRONMENT, horizon=20_000 if other.name == "ucb1" else 500, goal=LOSS)
        assert not Search(longer, [], Effort(60, 8), looking=True).looking
