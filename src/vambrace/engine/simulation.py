"""`simulate`: many replications of one game, on threads, with streams that depend on nothing but the seed."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from vambrace import validation
from vambrace.engine import rounds
from vambrace.engine.result import Result
from vambrace.engine.rounds import Record, Setting, Streams, Totals
from vambrace.errors import GameFault, InvalidParameter, NotApplicable
from vambrace.kernels import compiled, interpreted, is_kernel
from vambrace.progress import ProgressBar
from vambrace.protocols import Adversary, Environment, Floats, Integers, Kernel, Policy
from vambrace.sampling import stream

LINE = 128  # bytes: a cache line and the neighbour that is fetched with it
ENGINES = ("auto", "rounds", "leap")


def simulate(
    policy: Policy,
    environment: Environment,
    adversary: Adversary | None = None,
    *,
    horizon: int,
    replications: int = 1,
    seed: int = 0,
    engine: str = "auto",
    checkpoints: Any = 64,
    bounded: bool = True,
    realized: bool | None = None,
    threads: int | None = None,
    interpret: bool = False,
    progress: bool | None = None,
) -> Result:
    """Play a policy against an adversary, so many times, and record its regret. Returns a `vb.Result`.

    Args:
        policy: Such as vb.SEWR(budget=100); `vambrace list policies` shows them all.
        environment: The arms, such as vb.Bernoulli([0.9, 0.8]).
        adversary: Such as vb.Conceal(budget=100); None: nobody alters anything.
        horizon: How many rounds a game has.
        replications: How many games; each has random numbers of its own, that depend on the seed and on nothing else.
        seed: The same seed gives the same numbers, on any number of threads, compiled or interpreted.
        engine: "rounds" plays every round; "leap" skips stretches in which nothing can happen, and is exact in law;
            "auto" leaps wherever that is exact. The two draw different numbers from the same seed.
        checkpoints: How many log-spaced rounds to record, or the rounds themselves; the last is always the horizon.
        bounded: Clip altered rewards to [0, 1]; False allows any real number.
        realized: Also compute the realised and the observed regret. None: where it is cheap, that is where the sum of
            many rewards is one draw (Bernoulli, deterministic) or the adversary is medium. Not where arms run out of
            rewards (an exact replay), unless the adversary is medium, who is shown one of each in every round.
        threads: How many replications run at once; None: one a core. The numbers do not depend on it.
        interpret: Run the same kernels as plain Python (for debugging; some 500 times slower, the same numbers).
        progress: Show a bar; None: where standard error is a terminal and it takes longer than a second.

    The first game of a policy, an environment and an adversary takes some seconds more: it is compiled, and kept on
    disk.

    >>> import vambrace as vb
    >>> env, attack = vb.Bernoulli([0.9, 0.5]), vb.Conceal(budget=50)
    >>> for policy in (vb.UCB1(), vb.SEWR(budget=50)):
    ...     print(vb.simulate(policy, env, attack, horizon=10_000, replications=3, seed=7))
    ucb1 against conceal:budget=50: regret 2,189.2 ± 115.8 after 10,000 rounds (mean ± standard error of 3 replications), cost 50.0
    se-wr:budget=50 against conceal:budget=50: regret 436.7 ± 23.1 after 10,000 rounds (mean ± standard error of 3 replications), cost 50.0
    """  # noqa: E501
    game = _Game.check(policy, environment, adversary, horizon, bounded, realized)
    replications = validation.whole("replications", replications, low=1, high=10**9)
    seed = validation.seed(seed)
    validation.choice("engine", engine, ENGINES)
    interpret = validation.flag("interpret", interpret)
    workers = validation.whole("threads", os.cpu_count() or 1 if threads is None else threads, low=1, high=10**4)
    points = validation.checkpoints(checkpoints, game.horizon)
    obstacle = game.obstacle_to_leaping() if engine != "rounds" else None
    if engine == "leap" and obstacle:
        raise NotApplicable(f"engine leap: expected {obstacle[0]}, got {obstacle[1]}")
    leaping = engine != "rounds" and not obstacle

    sheet = _Sheet(replications, len(points), game.n_arms)
    play = _program(game, leaping, interpret)
    setting = Setting(game.means.max() - game.means, game.budget, points)

    def replicate(r: int) -> None:
        streams = Streams(*(stream(seed, r, role) for role in range(len(Streams._fields))))
        record = sheet.record(r)
        policy_state, attack, arms = game.states()
        code, t, arm, value = play(_apart(policy_state), attack, arms, setting, _apart(streams), record)
        sheet.pulls[r] = record.pulls
        if code not in (rounds.FINISHED, rounds.STOPPED):
            raise GameFault(game.fault(code, t, arm, value))

    with ProgressBar(f"{game.title}, {replications} replications", game.horizon * replications, show=progress) as bar:
        _run_all(replicate, replications, 1 if interpret else min(workers, replications), sheet, bar)

    return Result(
        policy=policy,
        environment=environment,
        adversary=adversary,
        horizon=game.horizon,
        replications=replications,
        seed=seed,
        engine="leap" if leaping else "rounds",
        bounded=bounded,
        checkpoints=points,
        pseudo_regret=sheet.pseudo,
        cost=sheet.cost,
        pulls=sheet.pulls,
        realized=sheet.realized if game.realized else None,
        observed=sheet.observed if game.realized else None,
    )


@dataclass(frozen=True)
class _Game:
    """A policy, an environment and an adversary that go together."""

    policy: Policy
    environment: Environment
    adversary: Adversary | None
    horizon: int
    n_arms: int
    means: Floats
    bounded: bool
    realized: bool

    @classmethod
    def check(
        cls,
        policy: Policy,
        environment: Environment,
        adversary: Adversary | None,
        horizon: Any,
        bounded: Any,
        realized: Any,
    ) -> "_Game":
        """Refuse what cannot be played."""
        for role, kind, thing in (
            ("policy", Policy, policy),
            ("environment", Environment, environment),
            ("adversary", Adversary, adversary),
        ):
            if not isinstance(thing, kind) and not (thing is None and role == "adversary"):
                raise InvalidParameter(f"{role}: expected a vambrace.{kind.__name__}, got {thing!r}")
        n_arms, horizon = validation.game_size(environment.n_arms, horizon)
        medium = adversary is not None and adversary.strength == "medium"
        if realized is None:
            realized = medium or environment.draw_total is not None
        realized = validation.flag("realized", realized)
        if realized and not medium and environment.supply is not None:
            raise NotApplicable(
                f"realized regret: expected arms without end, got {environment.name}, "
                "where drawing what the other arms would have paid uses up their rewards"
            )
        means = environment.arm_means()
        game = cls(
            policy, environment, adversary, horizon, n_arms, means, validation.flag("bounded", bounded), realized
        )
        game._check_view()
        return game

    def _check_view(self) -> None:
        """A white-box attack must find in the policy's state what it reads."""
        if self.adversary is None or not self.adversary.reads:
            return
        fields = getattr(self.policy.init(self.n_arms, self.horizon), "_fields", ())
        for field in self.adversary.reads:
            if field not in fields:
                raise NotApplicable(
                    f"adversary {self.adversary.name}: expected a policy whose state has {field!r}, "
                    f"got {self.policy.name}, whose state has {', '.join(fields) or 'no fields'}"
                )

    @property
    def budget(self) -> float:
        return 0.0 if self.adversary is None else float(self.adversary.budget)

    @property
    def title(self) -> str:
        return f"{self.policy.name} against {self.adversary.name if self.adversary else 'none'}"

    def states(self) -> tuple[Any, Any, Any]:
        """Fresh states for one replication."""
        attack = None if self.adversary is None else self.adversary.init(self.means, self.horizon)
        return self.policy.init(self.n_arms, self.horizon), attack, self.environment.init()

    def slots(self) -> dict[str, Any]:
        """What the game loop is bound to."""
        strength = None if self.adversary is None else self.adversary.strength
        medium, total = strength == "medium", self.environment.draw_total
        slots: dict[str, Any] = {
            "STRONG": strength == "strong",
            "MEDIUM": medium,
            "LOOK": self.adversary is not None and self.adversary.look is not None,
            "WITNESS": self.adversary is not None and self.adversary.witness is not None,
            "BOUNDED": self.bounded or self.adversary is None,  # nobody alters: nothing to clip
            "REALIZED": self.realized,
            "WHOLE": self._pays_whole_rewards(),
            "CLOSED_FORM": total is not None and not medium,
        }
        for thing, kernels in (
            (self.policy, ("select", "update", "cycle", "quiet", "absorb")),
            (self.environment, ("draw", "draw_total", "outcomes")),
            (self.adversary, ("alter", "corrupt", "respond", "look", "witness")),
        ):
            offered = {kernel: getattr(thing, kernel, None) for kernel in kernels}
            slots |= {kernel: function for kernel, function in offered.items() if function is not None}
        return slots

    def _pays_whole_rewards(self) -> bool:
        return self.environment.outcomes is not None and all(reward in (0.0, 1.0) for _, reward in self._outcomes())

    def obstacle_to_leaping(self) -> tuple[str, str] | None:
        """Why the leap engine would not be exact here: what it needs and what this game has; None where it is."""
        policy, environment, adversary = self.policy, self.environment, self.adversary
        if policy.quiet is None:
            return "a policy with quiet stretches", f"{policy.name}, which may change its mind after any round"
        if environment.supply is not None:
            return "independent rewards", f"{environment.name}, which draws no reward twice"
        if environment.outcomes is None:
            return "arms with two rewards, whose sums are binomial", f"{environment.name}"
        if self.realized and environment.draw_total is None:
            return "sums in one draw for the realised regret", f"{environment.name}, which has no draw_total"
        if adversary is None:
            return None
        if adversary.strength == "medium":
            return "a strong adversary", f"{adversary.name}, which sees the rewards of all arms in every round"
        if adversary.respond is None:
            return "an adversary with one rule", f"{adversary.name}, which may change it after any round"
        if not self.bounded and self._leaves_unit_interval(adversary):
            return (
                "rewards in [0, 1]",
                f"{adversary.name} with bounded=False, which returns others",
            )
        return None

    def _leaves_unit_interval(self, adversary: Adversary) -> bool:
        view, attack, _ = self.states()
        for arm, reward in self._outcomes():
            chance, altered = adversary.respond(attack, view, arm, reward)  # type: ignore[misc]
            if chance > 0 and not 0.0 <= altered <= 1.0:
                return True
        return False

    def _outcomes(self) -> Iterator[tuple[int, float]]:
        """Each arm with each reward that it can pay, where there are no more than two."""
        state = self.environment.init()
        for arm in range(self.n_arms):
            high, low, likely = self.environment.outcomes(state, arm)  # type: ignore[misc]
            if likely > 0.0:
                yield arm, high
            if likely < 1.0:
                yield arm, low

    def fault(self, code: int, t: int, arm: int, value: float) -> str:
        """What went wrong, and who did it."""
        if code == rounds.BAD_DRAW:
            return f"environment {self.environment.name}: {self.environment.bad_draw(t, arm, value)}"
        if code == rounds.BAD_ARM or self.adversary is None:
            return f"policy {self.policy.name}: expected an arm in [0, {self.n_arms - 1}], got {arm} in round {t}"
        return f"adversary {self.adversary.name}: expected a finite reward, got {value} for arm {arm} in round {t}"


class _Sheet:
    """The arrays of a whole run; each replication fills its own rows."""

    def __init__(self, replications: int, points: int, n_arms: int) -> None:
        self.pseudo, self.realized, self.observed, self.cost = (np.zeros((replications, points)) for _ in range(4))
        self.pulls: Integers = np.zeros((replications, n_arms), dtype=np.int64)
        self.progress: Integers = np.zeros((replications, 1), dtype=np.int64)
        self.stop: Integers = np.zeros(1, dtype=np.int64)

    def record(self, r: int) -> Record:
        """Where replication r writes."""
        n_arms = self.pulls.shape[1]
        totals = Totals(
            np.zeros((2, n_arms)), np.zeros((2, n_arms)), np.zeros(n_arms), np.zeros(n_arms, dtype=np.int64)
        )
        return Record(
            self.pseudo[r],
            self.realized[r],
            self.observed[r],
            self.cost[r],
            _apart(np.zeros(n_arms, dtype=np.int64)),
            self.progress[r],
            self.stop,
            _apart(totals),
            _apart(np.zeros(n_arms)),
            _apart(np.zeros(n_arms)),
            np.zeros(n_arms, dtype=np.int64),
        )


def _apart(value: Any) -> Any:
    """The same with each array on cache lines of its own.

    Small arrays that two threads write to would else share a line, and each write of one would stall the other.
    """
    if isinstance(value, np.ndarray):
        block = np.zeros(value.nbytes + 2 * LINE, dtype=np.uint8)
        copy = block[LINE : LINE + value.nbytes].view(value.dtype).reshape(value.shape)
        copy[...] = value
        return copy
    if hasattr(value, "_fields"):
        return type(value)(*(_apart(each) for each in value))
    return value


def _program(game: _Game, leaping: bool, interpret: bool) -> Kernel:
    """The game loop for one game; interpreted also where a part of it is ordinary Python."""
    slots = game.slots() | {"LEAP": leaping}
    foreign = any(callable(slot) and not is_kernel(slot) for slot in slots.values())
    return interpreted(rounds.play, slots) if interpret or foreign else compiled(rounds.play, slots)


def _run_all(replicate: Any, replications: int, workers: int, sheet: _Sheet, bar: ProgressBar) -> None:
    """Run every replication; stop them all at the first error or interrupt."""
    from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait  # slow to import

    with ThreadPoolExecutor(workers) as pool, _stopping(sheet):
        waiting = {pool.submit(replicate, r) for r in range(replications)}
        try:
            while waiting:
                finished, waiting = wait(waiting, timeout=0.1, return_when=FIRST_EXCEPTION)
                for future in finished:
                    future.result()
                bar.update(int(sheet.progress.sum()))
        finally:
            for future in waiting:
                future.cancel()


@contextmanager
def _stopping(sheet: _Sheet) -> Iterator[None]:
    """On any exception, an interrupt included, tell the running games to give up at their next look."""
    try:
        yield
    except BaseException:
        sheet.stop[0] = 1
        raise
