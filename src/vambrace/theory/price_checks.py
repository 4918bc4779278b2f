"""Checks of the price of armour: KL-UCB-WR's bound and its optimism, and the lower bound played as two games.

The lower bound says that a policy cannot tell a game from another one in which an arm is better and its rewards are
thinned. So the arm is pulled as rarely in the one as in the other: P(N <= n) differs by at most the chance that n pulls
exhaust the attacker's budget. A policy that pulls the arm too rarely to survive the budget loses the other game.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from math import inf, log
from typing import Any, NamedTuple

import numpy as np

from vambrace import theory
from vambrace.adversaries import Boost, Conceal, JunUCB, Mimic, RandomFlips, Swap
from vambrace.adversaries.stationary import StationaryAdversary
from vambrace.engine.meter import Sum, meter
from vambrace.engine.result import Result
from vambrace.engine.simulation import simulate
from vambrace.environments import Bernoulli
from vambrace.kernels import kernel
from vambrace.policies import CWOFUL, KLUCB, KLUCBWR, SEWR, UCBWR, SEWRStop
from vambrace.protocols import Adversary, Floats, Game, Policy, Round
from vambrace.registry import spec_of
from vambrace.statistics import log_tail
from vambrace.theory.checks import DELTA, counted


class WatchState(NamedTuple):
    """The state of an attack, and the lowest index that the best arm of its victim ever had."""

    attack: Any
    best: int
    lowest: Floats
    budget: float
    spent: Sum


@cache
def _watching(rule: Any) -> Any:
    """The kernel `alter` of an attack with a budget, which also looks at the index of the best arm in every round."""

    @kernel
    def alter(
        state: WatchState, round: Round, arm: int, reward: float, view: Any, rng: Any
    ) -> tuple[float, WatchState]:
        state.lowest[0] = min(state.lowest[0], view.indices[state.best])
        seen, attack, spent = reward, state.attack, state.spent
        if spent.high < state.budget:
            wanted, attack = rule(attack, round, arm, reward, view, rng)
            seen, spent = meter(reward, wanted, spent, state.budget)
        return seen, WatchState(attack, state.best, state.lowest, state.budget, spent)

    return alter


@dataclass(frozen=True, kw_only=True)
class Watching(Adversary):
    """An attack on KL-UCB-WR that notes the lowest index of the best arm in each of its games.

    It meters the attack itself: the engine does not ask an attack that has spent its budget.
    """

    name, reference, strength, knowledge = "watching", "verification", "strong", "white box"
    attack: Any
    budget: float = inf
    lowest: list[Floats] = field(default_factory=list, compare=False)

    @property
    def alter(self) -> Any:  # type: ignore[override]
        """The kernel of the attack, watched."""
        return _watching(self.attack.alter)

    def init(self, game: Game) -> WatchState:
        """A fresh state of the attack; the note stays with this object."""
        lowest = np.array([inf])  # games may begin at the same time, so the last of the list may be another's
        self.lowest.append(lowest)
        best = int(game.means.argmax())
        return WatchState(self.attack.init(game), best, lowest, self.attack.budget, Sum(0.0, 0.0))


def armoured(budget: float, commit: float) -> Policy:
    """The policy to test."""
    return KLUCBWR(budget=budget, delta=DELTA, commit=commit)


def attacks(budget: float) -> list[Adversary | None]:
    """The strongest attacks that apply to KL-UCB-WR, and random noise; each has the budget that the policy survives."""
    return [None] if budget == 0.0 else [*_stationary(budget), JunUCB(budget=budget)]


def _stationary(budget: float) -> list[StationaryAdversary]:
    mimics = [Mimic(budget=budget, depth=depth) for depth in (1.2, 4.0)]
    boosts = [Boost(budget=budget, depth=depth) for depth in (0.5, 2.0)]
    return [*mimics, *boosts, Conceal(budget=budget), Swap(budget=budget), RandomFlips(budget=budget, rate=0.2)]


def upper_bound(
    instance: Any, attack: Adversary | None, replications: int, seed: int, progress: bool | None
) -> Iterator[dict[str, Any]]:
    """Check Theorem A."""
    means, horizon, budget = instance
    options: dict[str, Any] = {"horizon": horizon, "replications": replications, "seed": seed, "progress": progress}
    trial = KLUCBWR(budget=budget, delta=DELTA)
    result = simulate(armoured(budget, trial.commit), Bernoulli(means), attack, checkpoints=1, **options)
    gaps, regret = sorted(max(means) - mean for mean in means)[1:], result.pseudo_regret[:, -1]
    for bound in theory.promises(trial, gaps, horizon=horizon, budget=budget):
        found = counted(bound.name, regret / bound.value, ~(regret <= bound.value), len(means) * DELTA)
        yield found | _about(instance, attack, result)


def optimism(
    instance: Any, attack: Adversary, replications: int, seed: int, progress: bool | None
) -> Iterator[dict[str, Any]]:
    """Check the event of Theorem A after every round: no index of the best arm is ever below its mean."""
    means, horizon, budget = instance
    watching = Watching(attack=attack)
    options: dict[str, Any] = {"horizon": horizon, "replications": replications, "seed": seed, "progress": progress}
    result = simulate(armoured(budget, 0.0), Bernoulli(means), watching, checkpoints=1, **options)
    failed = [lowest[0] < max(means) for lowest in watching.lowest]
    yield counted("KL-UCB-WR's best index covers its mean", None, failed, DELTA) | _about(instance, attack, result)


def _about(instance: Any, attack: Adversary | None, result: Result) -> dict[str, Any]:
    means, horizon, budget = instance
    return {
        "instance": f"K = {len(means)}, T = {horizon:,}, C = {budget:g}",
        "attack": spec_of(attack) if attack else "none",
        "replications": result.replications,
        "spent": float(result.cost[:, -1].mean()) / budget if attack else None,
    }


def games(instances: Sequence[Any]) -> list[Any]:
    """Every check of Theorem A; its event only in short games, since it is looked at in every round."""
    found = [partial(upper_bound, game, attack) for game in instances for attack in attacks(game[2])]
    short = [game for game in instances if game[1] <= SHORT and game[2] > 0.0]
    return [*found, *(partial(optimism, game, attack) for game in short for attack in _stationary(game[2]))]


SHORT = 50_000  # rounds
MEANS, RAISE, BUDGET, HORIZON = (0.7, 0.5, 0.4), 0.1, 50, 50_000
UNLIKELY = 0.01  # the chance that the attacker's budget ends within the pulls that are compared


def players() -> list[Policy]:
    """The policies that claim to survive the budget of the lower bound's games, and KL-UCB, which does not."""
    tight = [SEWR(budget=BUDGET, radius="tight"), SEWR(budget=BUDGET, radius="kl")]
    others = [SEWRStop(budget=BUDGET), UCBWR(budget=BUDGET), CWOFUL(budget=BUDGET)]
    return [KLUCBWR(budget=BUDGET), SEWR(budget=BUDGET), *tight, *others, KLUCB()]


def lower_bound(policy: Policy, replications: int, seed: int) -> Iterator[dict[str, Any]]:
    """Play Theorem B's games for each arm but the best: unattacked, and with the arm raised and thinned."""
    options: dict[str, Any] = {"horizon": HORIZON, "replications": replications, "checkpoints": 1, "progress": False}
    plain = simulate(policy, Bernoulli(MEANS), seed=seed, **options)
    raised = max(MEANS) + RAISE
    others = {}
    for arm in range(1, len(MEANS)):
        depth = (raised - MEANS[arm]) / RAISE
        means = [raised if k == arm else mean for k, mean in enumerate(MEANS)]
        attack = Mimic(budget=BUDGET, arm=arm, depth=depth)
        others[arm] = simulate(policy, Bernoulli(means), attack, seed=seed + 1, **options)
    for arm, other in others.items():
        pulls = _comparable_pulls(raised - MEANS[arm])
        found = counted(f"Theorem B against {spec_of(policy)}", None, plain.pulls[:, arm] <= pulls, UNLIKELY)
        yield found | {
            "elsewhere": int(np.sum(other.pulls[:, arm] <= pulls)),
            "instance": f"K = {len(MEANS)}, T = {HORIZON:,}, B = {BUDGET}",
            "attack": f"mimic on arm {arm} where it pays {raised:g}",
            "replications": replications,
            "spent": None,
        }


def _comparable_pulls(chance: float) -> int:
    """The most pulls in which the attacker alters more than the budget with a probability of at most `UNLIKELY`."""
    pulls = BUDGET
    while log_tail(BUDGET + 1, pulls + 1, chance, True)[0] <= log(UNLIKELY):
        pulls += 1
    return pulls
