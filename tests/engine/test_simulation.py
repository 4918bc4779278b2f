"""Seeds, threads, processes, the compilation cache, and what cannot be played."""

import json
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pytest

import vambrace as vb
from vambrace.engine import regrets, simulation
from vambrace.engine.slots import select
from vambrace.errors import InvalidParameter, NotApplicable, UnknownName
from vambrace.kernels import interpreted, kernel
from vambrace.progress import ProgressBar
from vambrace.protocols import Game, Round

ENV = vb.Bernoulli([0.9, 0.8, 0.7])
GAME = """
import json, sys
import vambrace as vb
from vambrace.kernels import cache_statistics
result = vb.simulate(vb.SEWR(budget=30, radius="tight"), vb.Bernoulli([0.9, 0.8, 0.7]), vb.Conceal(budget=30),
                     horizon=3_000, replications=4, seed=7, interpret=False)
print(json.dumps([result.pseudo_regret.tolist(), result.realized_regret.tolist(), result.observed_regret.tolist(),
                  result.cost.tolist(), result.pulls.tolist(), cache_statistics()]))
"""


def in_a_process() -> tuple[list[Any], tuple[int, int]]:
    done = subprocess.run([sys.executable, "-c", GAME], capture_output=True, text=True, check=True)
    *numbers, statistics = json.loads(done.stdout)
    return numbers, tuple(statistics)


def test_same_numbers_in_two_processes_and_the_second_compiles_nothing() -> None:
    first, _ = in_a_process()
    second, (hits, misses) = in_a_process()
    assert first == second
    assert (hits, misses) == (2, 0), "the loop, and the regrets after it"
    here = vb.simulate(
        vb.SEWR(budget=30, radius="tight"), ENV, vb.Conceal(budget=30), horizon=3_000, replications=4, seed=7
    )
    assert here.pseudo_regret.tolist() == first[0]


@pytest.mark.parametrize("policy", [vb.SEWR(budget=30), vb.UCB1()], ids=lambda policy: policy.name)
def test_threads_change_nothing(policy: vb.Policy) -> None:
    """Enough rounds for threads, and so many games that each thread is given several at once."""
    games: dict[str, Any] = {"horizon": simulation.AT_ONCE, "replications": 3 * simulation.JOBS, "interpret": False}
    one, many = (
        vb.simulate(policy, ENV, vb.Conceal(budget=50), seed=5, threads=threads, **games) for threads in (1, 4)
    )
    assert (one.pulls.sum(axis=1) == simulation.AT_ONCE).all()
    for field in ("pseudo_regret", "realized_regret", "observed_regret", "cost", "pulls"):
        assert np.array_equal(getattr(one, field), getattr(many, field))


def test_a_replication_depends_on_its_number_only() -> None:
    few, many = (vb.simulate(vb.UCB1(), ENV, horizon=500, replications=n, seed=5) for n in (2, 6))
    assert np.array_equal(few.pseudo_regret, many.pseudo_regret[:2])
    assert len({tuple(row) for row in many.pulls.tolist()}) > 1


@pytest.mark.parametrize("options", [{}, {"delay": vb.Delay.geometric(5), "lost": 0.2}], ids=["prompt", "late"])
def test_a_range_of_replications_is_a_part_of_them_all(options: dict[str, Any]) -> None:
    def play(replications: int | range) -> vb.Result:
        game = (vb.Thompson(), vb.Bernoulli([0.9, 0.5]), vb.RandomFlips(budget=5))
        return vb.simulate(*game, horizon=60, replications=replications, seed=3, interpret=True, **options)

    whole, part = play(6), play(range(2, 6))
    assert part.replications == 4
    for name in ("pseudo_regret", "realized_regret", "observed_regret", "cost", "pulls"):
        np.testing.assert_array_equal(getattr(part, name), getattr(whole, name)[2:])
    for wrong in (range(0), range(4, 2), range(0, 6, 2), range(-1, 3)):
        with pytest.raises(
            InvalidParameter, match=r"replications: expected a number or a range such as range\(20, 40\)"
        ):
            play(wrong)


def test_seeds_matter_and_clean_and_attacked_runs_are_paired() -> None:
    clean, other = (vb.simulate(vb.UCB1(), ENV, horizon=500, seed=seed) for seed in (1, 2))
    assert not np.array_equal(clean.pseudo_regret, other.pseudo_regret)
    idle = vb.simulate(vb.UCB1(), ENV, vb.Conceal(budget=0), horizon=500, seed=1)
    assert np.array_equal(clean.realized_regret, idle.realized_regret)


def test_one_arm() -> None:
    for policy in (vb.SEWR(budget=3), vb.SEWRStop(budget=3), vb.PEWR(), vb.MSSEWR(), vb.SE(), vb.UCB1()):
        result = vb.simulate(policy, vb.Bernoulli([0.5]), vb.Conceal(budget=3), horizon=50)
        assert result.pulls.tolist() == [[50]]
        assert result.pseudo_regret[0, -1] == 0.0


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"horizon": 2}, InvalidParameter, "horizon: expected at least one round for each of the 3 arms, got 2"),
        ({"horizon": 0}, InvalidParameter, "horizon: expected a whole number"),
        ({"horizon": 10.5}, InvalidParameter, "got 10.5"),
        ({"horizon": float("nan")}, InvalidParameter, "got nan"),
        ({"horizon": 10**16}, InvalidParameter, "horizon"),
        ({"replications": 0}, InvalidParameter, "replications: expected a whole number"),
        ({"seed": -1}, InvalidParameter, "seed: expected a whole number from 0 up, got -1"),
        ({"seed": 1.5}, InvalidParameter, "seed"),
        ({"engine": "round"}, UnknownName, "did you mean 'rounds'"),
        ({"checkpoints": 0}, InvalidParameter, "checkpoints"),
        ({"checkpoints": [0, 5]}, InvalidParameter, "checkpoints"),
        ({"checkpoints": [5, 101]}, InvalidParameter, "checkpoints"),
        ({"checkpoints": "many"}, InvalidParameter, "checkpoints: expected how many, or a sequence of rounds"),
        ({"threads": 0}, InvalidParameter, "threads"),
        ({"bounded": "yes"}, InvalidParameter, "bounded: expected true or false, got 'yes'"),
        ({"policy": "ucb1"}, InvalidParameter, "policy: expected a vambrace.Policy, got 'ucb1'"),
        ({"policy": vb.UCB1}, InvalidParameter, "policy: expected a vambrace.Policy"),
        ({"environment": [0.5]}, InvalidParameter, "environment: expected a vambrace.Environment"),
        ({"attack": "conceal"}, InvalidParameter, "attack: expected a vambrace.Adversary"),
        ({"attack": vb.Conceal(arm=3)}, InvalidParameter, r"arm: expected a whole number in \[0, 2\], got 3"),
        ({"attack": vb.Conceal(stop_when_dropped=True)}, NotApplicable, "state has 'arms', got ucb1"),
    ],
    ids=str,
)
def test_bad_input(change: dict[str, Any], error: type[Exception], message: str) -> None:
    arguments: dict[str, Any] = {"policy": vb.UCB1(), "environment": ENV, "attack": None, "horizon": 100} | change
    with pytest.raises(error, match=message) as caught:
        vb.simulate(**arguments)
    assert isinstance(caught.value, vb.VambraceError)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: vb.Bernoulli([]), "means: expected at least one arm, got none"),
        (lambda: vb.Bernoulli([0.5, 1.1]), r"means\[1\]: expected a number in \[0, 1\], got 1.1"),
        (lambda: vb.Bernoulli([float("nan")]), r"means\[0\]: .* got nan"),
        (lambda: vb.Bernoulli(0.5), "means: expected a sequence"),  # type: ignore[arg-type]
        (lambda: vb.Beta([0.0, 0.5]), r"means\[0\]"),
        (lambda: vb.Beta([0.5], concentration=0), "concentration"),
        (lambda: vb.ClippedGaussian([0.5], sigma=-1), "sigma"),
        (lambda: vb.SEWR(budget=-1), r"budget: expected a number in \[0, 1e\+18\], got -1"),
        (lambda: vb.SEWR(budget=float("inf")), "budget"),
        (lambda: vb.SEWR(budget="5"), "budget"),  # type: ignore[arg-type]
        (lambda: vb.SEWR(budget=True), "budget"),
        (lambda: vb.SEWR(budget=1, delta=0), r"delta: expected a number in \(0, 1\), got 0"),
        (lambda: vb.SEWR(budget=1, delta=1), "delta"),
        (lambda: vb.SEWR(budget=1, radius="tigt"), "unknown radius 'tigt'; did you mean 'tight'"),  # type: ignore[arg-type]
        (lambda: vb.PEWR(radius="kl"), "unknown radius 'kl'"),  # type: ignore[arg-type]
        (lambda: vb.PEWR(cap="repair"), "did you mean 'repaired'"),  # type: ignore[arg-type]
        (lambda: vb.SEWRStop(budget=1, stop="never"), "unknown stop 'never'"),  # type: ignore[arg-type]
        (lambda: vb.MSSEWR(master="coral"), "did you mean 'corral'"),  # type: ignore[arg-type]
        (lambda: vb.MSSEWR(share=1), "share: expected true or false, got 1"),  # type: ignore[arg-type]
        (lambda: vb.UCB1(alpha=0), "alpha"),
        (lambda: vb.Conceal(budget=float("nan")), r"budget: expected a number in \[0, inf\], got nan"),
        (lambda: vb.Conceal(arm=-1), "arm"),
        (lambda: vb.Swap(margin=-0.1), "margin"),
        (lambda: vb.RandomFlips(rate=1.5), "rate"),
        (lambda: vb.SE().learner(n_arms=0, horizon=10), "n_arms: expected a whole number"),
        (lambda: vb.SE().learner(n_arms=3, horizon=2), "horizon"),
    ],
)
def test_bad_parameters(make: Any, message: str) -> None:
    with pytest.raises(vb.VambraceError, match=message):
        make()


def test_an_interrupt_stops_the_games(monkeypatch: pytest.MonkeyPatch) -> None:
    """A long run gives up soon after an interrupt, and the interrupt is what the caller sees."""

    def interrupt(*_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(ProgressBar, "update", interrupt)
    with pytest.raises(KeyboardInterrupt):
        vb.simulate(vb.UCB1(), ENV, horizon=10**12, replications=4)


# ---------------------------------------------------------------------------------------------------- the first game


@pytest.fixture
def compilations(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What was compiled, with programs that nobody has compiled before."""
    found: list[str] = []

    def watched(program: Any, call: Any) -> None:
        found.append("compiled")
        call()

    monkeypatch.setattr(simulation, "compile_now", watched)
    monkeypatch.setattr(simulation, "is_ready", lambda program: False)
    monkeypatch.setattr(simulation, "is_loaded", lambda program: False)
    monkeypatch.setattr(simulation, "_done_interpreted", Counter())
    return found


def test_short_games_are_not_compiled_until_there_were_many(compilations: list[str]) -> None:
    games: dict[str, Any] = {"horizon": 1_000, "replications": 20, "seed": 3, "checkpoints": 5}
    plain = [vb.simulate(vb.UCB1(), ENV, vb.Conceal(budget=9), **games) for _ in range(4)]
    assert compilations == []
    after = vb.simulate(vb.UCB1(), ENV, vb.Conceal(budget=9), **games)  # the hundred thousandth round
    assert compilations == ["compiled"]
    for result in plain:
        assert np.array_equal(result.pulls, after.pulls)
        assert np.array_equal(result.realized_regret, after.realized_regret)
        assert np.array_equal(result.cost, after.cost)


def test_what_is_worth_it_or_wanted_is_compiled_at_once(compilations: list[str]) -> None:
    vb.simulate(vb.UCB1(), ENV, horizon=100_000)
    assert compilations == ["compiled"]
    vb.simulate(vb.UCB1(), ENV, horizon=10, interpret=False)
    assert len(compilations) == 2
    vb.simulate(vb.UCB1(), ENV, horizon=10, interpret=True)
    assert len(compilations) == 2


def test_sums_are_compiled_too_after_many_games_with_few(
    compilations: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    plain: list[Any] = []

    def watched(function: Any, slots: Any) -> Any:
        plain.append(function)
        return interpreted(function, slots)

    monkeypatch.setattr(simulation, "interpreted", watched)
    monkeypatch.setattr(simulation, "WORTH_SETTLING", 3 * ENV.n_arms)
    for _ in range(4):
        vb.simulate(vb.UCB1(), ENV, horizon=100_000, checkpoints=1)
    assert plain == [regrets.settle, regrets.settle]


# --------------------------------------------------------------------------------------------------- an attack thinks


class Copy(NamedTuple):
    victim: Any


@kernel
def foresee(state: Copy, round: Round, arm: int, reward: float, view: Any, rng: Any) -> tuple[float, Copy]:
    """Pay one exactly where a fresh victim would play the same arm."""
    expected, _, _ = select(state.victim, round, rng)
    return (1.0 if expected == arm else 0.0), state


@dataclass(frozen=True, kw_only=True)
class Foreseeing(vb.Adversary):
    name, reference, strength, knowledge = "foreseeing", "tests", "strong", "white box"
    budget: float = float("inf")
    alter = staticmethod(foresee)

    def init(self, game: Game) -> Copy:
        return Copy(game.victim)


@pytest.mark.parametrize("interpret", [True, False])
def test_an_attack_may_ask_its_victim(interpret: bool) -> None:
    """A fresh SE plays arm 0: so that arm always seems to pay, and the other never."""
    arms, options = vb.Deterministic([0.25, 0.5]), {"horizon": 400, "interpret": interpret}
    result = vb.simulate(vb.SE(), arms, Foreseeing(), engine="rounds", **options)  # type: ignore[arg-type]
    assert result.pulls[0, 0] > 300
    assert result.cost[0, -1] == 0.75 * result.pulls[0, 0] + 0.5 * result.pulls[0, 1]
