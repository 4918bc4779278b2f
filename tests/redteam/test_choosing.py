"""`choose` finds what playing everything finds, drops nobody who wins, and says where armour is not worth its price."""

import dataclasses
import json
from typing import Any

import numpy as np
import pytest

import vambrace as vb
from vambrace import registry
from vambrace.errors import InvalidParameter
from vambrace.kernels import kernel
from vambrace.protocols import Answer, Game, Round
from vambrace.redteam import candidates, race
from vambrace.redteam.choice import DEARER
from vambrace.redteam.choosing import _goals
from vambrace.redteam.race import Arena, Cell, Screening

POLICIES = [vb.Thompson(), vb.EpsilonGreedy(), vb.SE(radius="tight"), vb.KLUCBWR(budget=20), vb.UCBWR(budget=20)]
ATTACKS: list[Any] = [vb.Conceal(), vb.Mimic(), vb.Boost()]
FAKES = (0.0, 20.0)
SMALL: dict[str, Any] = {
    "fakes": FAKES,
    "policies": POLICIES,
    "attacks": ATTACKS,
    "horizon": 300,
    "replications": 8,
    "interpret": True,
    "progress": False,
}


@pytest.fixture(scope="module")
def found() -> vb.Choice:
    return vb.choose([0.9, 0.4, 0.3], seed=3, **SMALL)


def arena(means: tuple[float, ...], seed: int) -> Arena:
    names = {registry.spec_of(each): each for each in POLICIES}
    attacks = {each.name: each for each in ATTACKS}
    return Arena(
        means=means, horizon=300, fakes=FAKES, policies=names, attacks=attacks, seed=seed, threads=1, interpret=True
    )


def brute_force(means: tuple[float, ...], seed: int) -> dict[tuple[str, float], float]:
    """The worst mean regret of each policy, from every game of the deciding step, by `vb.simulate` alone."""
    worst: dict[tuple[str, float], float] = {}
    for policy in POLICIES:
        for fakes in FAKES:
            games = [None, *(dataclasses.replace(each, budget=fakes) for each in ATTACKS)] if fakes else [None]
            worst[registry.spec_of(policy), fakes] = max(
                float(
                    np.mean(
                        [
                            vb.simulate(
                                policy,
                                vb.Bernoulli(means[:: -1 if order else 1]),
                                attack,
                                horizon=300,
                                replications=4,
                                seed=(seed * 3 + 1) * 2 + order,
                                checkpoints=1,
                                interpret=True,
                            ).pseudo_regret[:, -1]
                            for order in (0, 1)
                        ]
                    )
                )
                for attack in games
            )
    return worst


def test_the_winners_are_those_of_brute_force(found: vb.Choice) -> None:
    worst = brute_force((0.9, 0.4, 0.3), 3)
    names = [registry.spec_of(each) for each in POLICIES]
    least = {fakes: min(worst[each, fakes] for each in names) for fakes in FAKES}
    assert found.winners == {fakes: min(names, key=lambda each: worst[each, fakes]) for fakes in FAKES}
    assert found.unknown == min(names, key=lambda each: max(worst[each, c] - least[c] for c in FAKES))
    assert found.winners[0] != found.winners[20], "a game in which armour matters"


@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.slow)])  # 2 s each
def test_the_race_never_drops_the_winner(seed: int) -> None:
    means = tuple(float(each) for each in np.random.default_rng(seed).uniform(0.1, 0.9, 3).round(2))
    this = arena(means, seed)
    best, plain, armoured = _goals(this)
    standing = Screening(this, [*best, plain, *armoured]).run(lambda done: None)
    worst = brute_force(means, seed)
    for fakes in FAKES:
        assert min(this.policies, key=lambda each: worst[each, fakes]) in standing


def test_the_same_seed_gives_the_same_figures_and_none_of_them_was_used_to_choose(found: vb.Choice) -> None:
    few = SMALL | {"policies": POLICIES[:1], "attacks": ATTACKS[:1]}
    once, again = (vb.choose([0.9, 0.4, 0.3], seed=3, **few, threads=threads) for threads in (1, 2))
    assert once == again
    this = arena((0.9, 0.4, 0.3), 3)
    seeds = [this.seed_of(step, order) for step in race.STEPS for order in (0, 1)]
    assert len({*seeds}) == 6
    score = once.score("thompson", 0)
    fresh = this.play(Cell("thompson", "none", 0.0), "report", 8)
    assert score.regret == fresh.mean()
    assert score.standard_error == pytest.approx(fresh.std(ddof=1) / np.sqrt(8))


@kernel
def choose_first(state: int, round: Round, rng: Any) -> tuple[int, float, int]:
    return 0, 1.0, 0


@kernel
def forget(state: int, answer: Answer) -> int:
    return state


@dataclasses.dataclass(frozen=True, kw_only=True)
class First(vb.Policy):
    """Plays arm 0 for ever."""

    name, reference = "first", "tests"
    select, update = staticmethod(choose_first), staticmethod(forget)

    def init(self, game: Game) -> int:
        return 0


def test_half_of_the_games_have_the_arms_in_reverse_and_attacks_follow() -> None:
    """Epsilon-greedy begins with arm 0: with the best arm there it would win every comparison of small rates."""
    this = dataclasses.replace(arena((0.03, 0.01), 0), attacks={"conceal:arm=0": vb.Conceal(arm=0)})
    regrets = this.play(Cell("epsilon-greedy", "none", 0.0), "screen", 8)
    assert regrets[1::2].mean() > regrets[::2].mean()
    lazy = dataclasses.replace(arena((1.0, 0.0), 0), policies={"first": First()}, horizon=5)
    assert lazy.play(Cell("first", "none", 0.0), "screen", 4).tolist() == [0.0, 5.0, 0.0, 5.0]
    cell = Cell("thompson", "conceal:arm=0", 20.0)
    assert this._attack(cell, mirrored=False) == vb.Conceal(arm=0, budget=20)
    assert this._attack(cell, mirrored=True) == vb.Conceal(arm=1, budget=20)


def test_scripts_are_mirrored_too() -> None:
    this = dataclasses.replace(
        arena((0.9, 0.4, 0.3), 1), attacks={"script": vb.Script(modes="-0+", levels=(0.1, 0, 1))}
    )
    cell = Cell("thompson", "script", 20.0)
    assert this._attack(cell, mirrored=False) == vb.Script(budget=20, modes="-0+", levels=(0.1, 0, 1))
    assert this._attack(cell, mirrored=True) == vb.Script(budget=20, modes="+0-", levels=(1, 0, 0.1))


def test_the_shapes_of_script() -> None:
    """Arms in any order: 0.9 and 0.7 are the best two, 0.1 the worst."""
    found: list[Any] = [*candidates.scripts((0.5, 0.9, 0.1, 0.7), 10_000)]
    assert [each.modes for each in found[:5]] == ["--+-", "--0-", "+-0-", "0-0-", "0-+0"]
    assert [(each.modes, each.first) for each in found[5:]] == [
        ("0-00", (125,)),
        ("0-0-", (125,)),
        ("0-00", (509,)),
        ("0-0-", (509,)),
    ]
    few: list[Any] = [*candidates.scripts((0.2, 0.8), 20)]
    assert [each.modes for each in few] == ["+-", "0-"]


def test_without_attacks_of_the_caller_the_best_are_searched_for_worse_scripts() -> None:
    """What was found is among the attacks, and costs far more than hiding the best arm does."""
    few: dict[str, Any] = {"policies": [vb.MOSS()], "fakes": [80], "horizon": 200, "replications": 20}
    means = (0.9, 0.6, 0.2)
    found, plain = (vb.choose(means, attacks=each, progress=False, **few) for each in (None, [vb.Conceal()]))
    worst = found.score("moss", 80)
    assert worst.attack in found.attacks
    assert worst.attack not in {registry.spec_of(each, without="budget") for each in candidates.scripts(means, 200)}
    assert worst.regret > 1.5 * plain.score("moss", 80).regret


def test_the_result_as_text_json_and_frame(found: vb.Choice) -> None:
    text = str(found)
    assert max(map(len, text.splitlines())) <= 80
    for part in (found.advice.split()[0], "No fakes: ", "20 fakes: ", "at random", "What armour costs", "± is the"):
        assert part in text
    figures = json.loads(json.dumps(found.to_dict()))
    assert [row["policy"] for row in figures["winners"]] == [*found.winners.values()]
    assert {*figures["others"], *found.rows} == {registry.spec_of(each) for each in POLICIES}
    assert not {*figures["others"]} & {*found.rows}
    assert found.to_frame().height == len(found.scores) == len(found.rows) * len(FAKES)
    assert found.random == pytest.approx(300 * (0.9 - 1.6 / 3))


def test_armour_that_costs_more_than_the_attack_is_called_so() -> None:
    """Two arms of almost equal rates: hiding the better one costs less than the pulls that armour needs."""
    few = SMALL | {"policies": [vb.Thompson(), vb.UCBWR(budget=200)], "fakes": (0, 200), "attacks": [vb.Conceal()]}
    dear = vb.choose([0.6, 0.58, 0.2], **few)
    assert dear.armour[0].dearer
    assert DEARER in str(dear).replace("\n", " ")
    assert dear.armour[0].cost > dear.armour[0].damage
    assert dear.winners[200] == "thompson"
    assert dear.unpromised == (200,)
    assert "measured, not promised" in " ".join(dear.notes)


def test_armour_that_is_worth_it_is_not_called_dear(found: vb.Choice) -> None:
    assert not found.armour[0].dearer
    assert DEARER not in str(found).replace("\n", " ")


def test_without_fakes_there_is_nothing_to_say_about_armour() -> None:
    alone = vb.choose([0.9, 0.4], **SMALL | {"fakes": [0], "policies": [vb.Thompson(), vb.EpsilonGreedy()]})
    assert alone.armour == ()
    assert f"Use {alone.unknown}." in str(alone)


def test_every_policy_is_a_candidate_and_takes_each_number_as_a_budget() -> None:
    policies, others = candidates.every_policy((0, 5, 50))
    specs = [registry.spec_of(each) for each in policies]
    assert others == {}
    assert {each.name for each in policies} == {*registry.known("policy")}
    assert {"kl-ucb-wr", "kl-ucb-wr:budget=5", "kl-ucb-wr:budget=50", "se-wr:budget=5,radius=kl"} <= {*specs}
    attacks, others = candidates.every_attack()
    assert {each.name for each in attacks} == {*registry.known("adversary")} - {*others}
    assert {*others} == {"inject", "look-ahead", "script"}, "two of them need a script, the third is slow"
    assert [each.depth for each in attacks if isinstance(each, vb.Mimic)] == [2.0, 1.2, 4.0]


def test_the_means_of_a_log_and_of_a_gap() -> None:
    few = SMALL | {"policies": POLICIES[:1], "attacks": ATTACKS[:1], "horizon": None}
    log = {"arm": ["a", "b"], "events": [100, 200], "successes": [50, 20]}
    found = vb.choose(log=log, **few)
    assert (found.means, found.horizon) == ((0.5, 0.1), 300)
    found = vb.choose(arms=3, rate=0.5, gap=0.25, **few | {"horizon": 100})
    assert found.means == (0.5, 0.25, 0.25)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "choose: expected either means, or arms with rate and gap, or a log, got none of these"),
        ({"means": [0.5, 0.4], "log": "x.csv"}, "got means, log"),
        ({"arms": 4, "rate": 0.1}, "got arms, rate"),
        ({"arms": 1, "rate": 0.1, "gap": 0.05}, r"arms: expected a whole number in \[2, "),
        ({"arms": 4, "rate": 0.1, "gap": 0.2}, r"gap: expected a number in \(0, 0.1\], got 0.2"),
        ({"means": [0.5, 0.5]}, "means: expected arms of which one is better, got 0.5, 0.5"),
        ({"means": [0.5, 0.4], "fakes": [-1]}, r"fakes: expected a number in \[0, 100000\], got -1"),
        ({"means": [0.5, 0.4], "fakes": []}, "fakes: expected a sequence of numbers"),
        ({"means": [0.5, 0.4], "replications": 3}, "replications: expected an even number"),
        ({"means": [0.5, 0.4], "policies": ["ucb1"]}, "policies: expected vambrace.Policy objects, got 'ucb1'"),
        ({"means": [0.5, 0.4], "policies": [vb.UCB1(), vb.UCB1()]}, "policies: expected each one once, got ucb1 twice"),
        ({"means": [0.5, 0.4], "attacks": []}, "attacks: expected at least one"),
        ({"means": [0.5, 0.4], "horizon": 1}, "horizon: expected at least one round for each of the 2 arms"),
    ],
)
def test_mistakes(given: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidParameter, match=message):
        vb.choose(**given)
