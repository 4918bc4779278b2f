"""What a simulation found: arrays, a summary, a frame, a figure."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from vambrace.engine.delays import Delay, in_words
from vambrace.errors import InvalidParameter, NotComputed, displayed
from vambrace.parameters import spec_of
from vambrace.protocols import Adversary, Environment, Floats, Integers, Policy

if TYPE_CHECKING:
    import altair
    import polars


@dataclass(frozen=True, kw_only=True)
class Result:
    """What `vb.simulate` found: regret, cost and pulls of every replication. Print it for one sentence.

    Attributes:
        checkpoints: (c,) the recorded rounds, the last of which is the horizon.
        pseudo_regret: (replications, c) what was lost in expectation: the sum of the gaps of the pulled arms.
        cost: (replications, c) what the attack has spent.
        pulls: (replications, arms) at the horizon.
        realized_regret: (replications, c) the best arm's rewards as drawn, minus those of the pulled arms.
        observed_regret: (replications, c) the same with the altered rewards of the pulled arms; within 2 cost of it.
        engine: The engine that ran: "rounds" or "leap".
        policy: The policy that played.
        environment: The arms.
        adversary: The attack; None: no attack.
        horizon: The number of rounds of a game.
        replications: The number of games.
        seed: The seed of the random numbers.
        bounded: Whether altered rewards were clipped to [0, 1].
        realized: The values of `realized_regret`; None: not computed.
        observed: The values of `observed_regret`; None: not computed.
        delay: How late answers arrived; None: at once.
        lost: The share of answers that never arrived.
        arms_open: For each arm when it was open: the first round and the end of each window; None: all arms, always.

    >>> import vambrace as vb
    >>> env = vb.Bernoulli([0.9, 0.1])
    >>> result = vb.simulate(vb.SE(), env, horizon=1_000, replications=3, checkpoints=[10, 100])
    >>> print(result)
    se without attack: regret 77.1 ± 3.4 after 1,000 rounds (mean ± standard error of 3 replications)
    >>> result.checkpoints.tolist(), result.pseudo_regret.shape, result.pulls.mean(axis=0).round(1).tolist()
    ([10, 100, 1000], (3, 3), [903.7, 96.3])
    """

    policy: Policy
    environment: Environment
    adversary: Adversary | None
    horizon: int
    replications: int
    seed: int
    engine: str
    bounded: bool
    checkpoints: Integers
    pseudo_regret: Floats
    cost: Floats
    pulls: Integers
    realized: Floats | None = field(repr=False)
    observed: Floats | None = field(repr=False)
    delay: Delay | None = None
    lost: float = 0.0
    arms_open: tuple[tuple[tuple[int, int], ...], ...] | None = None

    @property
    def realized_regret(self) -> Floats:
        """(replications, c): the best arm's rewards as drawn, minus those of the pulled arms."""
        return self._computed("realized_regret", self.realized)

    @property
    def observed_regret(self) -> Floats:
        """(replications, c): the same with the altered rewards of the pulled arms; within 2 cost of the realised."""
        return self._computed("observed_regret", self.observed)

    def _computed(self, name: str, values: Floats | None) -> Floats:
        if values is None:
            raise NotComputed(f"{name}: expected a run with realized=True, got one without it")
        return values

    def summary(self) -> dict[str, Any]:
        """Final figures over the replications, ready for JSON.

        Each measure has its mean, standard error, median, and 5 % and 95 % quantiles (q05 and q95). The standard error
        and the outer quantiles are None after one replication.
        """
        adversary = spec_of(self.adversary) if self.adversary else None
        game = {"policy": spec_of(self.policy), "environment": spec_of(self.environment), "adversary": adversary}
        numbers = {name: getattr(self, name) for name in ("horizon", "replications", "seed", "engine")}
        numbers |= {"delay": str(self.delay) if self.delay else None, "lost": self.lost, "arms_open": self.arms_open}
        spreads = {name: _spread(values[:, -1]) for name, values in self._measures().items()}
        return {**game, **numbers, **spreads, "share_of_pulls": (self.pulls.mean(axis=0) / self.horizon).tolist()}

    def conditions(self) -> list[str]:
        """What is special about this game, in words: a delay, lost answers, arms that open and close."""
        return in_words(self.delay, self.lost) + (["arms open and close"] if self.arms_open else [])

    def _measures(self) -> dict[str, Floats]:
        found = {"pseudo_regret": self.pseudo_regret, "cost": self.cost}
        if self.realized is not None and self.observed is not None:
            found |= {"realized_regret": self.realized, "observed_regret": self.observed}
        return found

    def __str__(self) -> str:
        regret, cost = _spread(self.pseudo_regret[:, -1]), _spread(self.cost[:, -1])
        attack = f" against {spec_of(self.adversary)}" if self.adversary else " without attack"
        spent = f", cost {cost['mean']:,.1f}" if self.adversary else ""
        notes = ", ".join(part for part in (self.environment.note, *self.conditions()) if part)
        note = f" ({notes})" if notes else ""
        several = self.replications > 1  # one replication has no standard error
        error = f" ± {regret['standard_error']:,.1f}" if several else ""
        times = f" (mean ± standard error of {self.replications:,} replications)" if several else ""
        found = f"regret {regret['mean']:,.1f}{error} after {self.horizon:,} rounds{times}{spent}"
        return f"{spec_of(self.policy)}{attack}{note}: {found}"

    def to_frame(self) -> "polars.DataFrame":
        """A Polars frame, one row for each replication and checkpoint; pandas users call `.to_pandas()` on it."""
        import polars

        replications = np.repeat(np.arange(self.replications), len(self.checkpoints))
        rounds = {"replication": replications, "round": np.tile(self.checkpoints, self.replications)}
        return polars.DataFrame(rounds | {name: values.ravel() for name, values in self._measures().items()})

    def plot(self, *others: "Result", title: str = "Regret") -> "altair.VConcatChart":
        """Regret against rounds with a band over the replications (needs the extra `vambrace[report]`).

        Args:
            others: More results for the same figure, as in `vb.figure`.
            title: What stands above the figure.
        """
        from vambrace.report.results import figure

        return figure([self, *others], title=title)


def _spread(values: Floats) -> dict[str, float | None]:
    low, median, high = np.quantile(values, [0.05, 0.5, 0.95])
    several = len(values) > 1
    error = float(values.std(ddof=1) / np.sqrt(len(values))) if several else None
    q05, q95 = (float(low), float(high)) if several else (None, None)
    return {"mean": float(values.mean()), "standard_error": error, "q05": q05, "median": float(median), "q95": q95}


def checked_results(results: Any) -> list[Result]:
    """A list of results that a user gave; anything else is refused."""
    if not isinstance(results, list | tuple):
        raise InvalidParameter(f"results: expected a list of vambrace.Result, got {displayed(results)}")
    for i, result in enumerate(results):
        if not isinstance(result, Result):
            raise InvalidParameter(f"results[{i}]: expected a vambrace.Result, got {displayed(result)}")
    return [*results]
