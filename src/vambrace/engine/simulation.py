"""`simulate`: many replications of one game, on threads, with random streams that depend only on the seed."""

import os
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import Any, Literal, get_args

import numpy as np

from vambrace import validation
from vambrace.engine import regrets, rounds
from vambrace.engine.delays import Delay, Queue, make_queue
from vambrace.engine.openings import Changes, Windows
from vambrace.engine.regrets import Regrets
from vambrace.engine.result import Result
from vambrace.engine.rounds import History, Record, Setting, Streams, Totals
from vambrace.engine.setup import Setup
from vambrace.errors import GameFault, InvalidParameter, NotApplicable
from vambrace.kernels import compile_now, compiled, interpreted, is_kernel, is_loaded, is_ready
from vambrace.progress import ProgressBar, compiling
from vambrace.protocols import Adversary, Environment, Integers, Policy
from vambrace.sampling import stream
from vambrace.views import can_use_views, views_of

Engine = Literal["auto", "rounds", "leap"]

DELAY = len(Streams._fields)  # the role of the stream of delays and losses, which most games do not need
LINE = 128  # bytes: a cache line and the neighbour that is fetched with it
OFTEN_WRITTEN = ("pulls", "totals", "raw_rewards", "seen_rewards")  # of a Record
WORTH_COMPILING = 100_000  # rounds in total: with fewer, plain Python finishes before the compiler would
AT_ONCE = 20_000  # rounds in total: with fewer, starting threads takes longer than they save
JOBS = 16  # for each thread: more take longer to hand out than the shortest games take
WORTH_SETTLING = 20_000  # sums in total, of the regrets after the games

_Programs = tuple[Callable[..., Any], Callable[..., Any]]  # the loop and what comes after it
_done_interpreted: Counter[Any] = Counter()  # program -> rounds, or sums


def simulate(
    policy: Policy,
    environment: Environment,
    attack: Adversary | None = None,
    *,
    horizon: int,
    replications: int | range = 1,
    seed: int = 0,
    engine: Engine = "auto",
    checkpoints: int | Sequence[int] | Integers = 64,
    bounded: bool = True,
    realized: bool | None = None,
    delay: Delay | None = None,
    lost: float = 0.0,
    arms_open: Windows | None = None,
    threads: int | None = None,
    interpret: bool | None = None,
    progress: bool | None = None,
) -> Result:
    """Play a policy against an attack, once or many times, and record its regret.

    The first games of a policy, an environment and an attack run as plain Python; from 100,000 rounds on they are
    compiled, which takes a few seconds and is kept on disk. The numbers are the same.

    Args:
        policy: The policy, such as vb.SEWR(budget=100); `vambrace list policies` shows them all.
        environment: The arms, such as vb.Bernoulli([0.9, 0.8]).
        attack: The attack, such as vb.Conceal(budget=100); None: no attack.
        horizon: The number of rounds of a game.
        replications: The number of games. Each has its own random numbers, which depend on the seed only; so
            range(20, 40) adds twenty games to 20 that were played before.
        seed: The same seed gives the same numbers, on any number of threads, compiled or interpreted.
        engine: "rounds" plays every round; "leap" plays quiet stretches in one step, and is exact in law; "auto" leaps
            wherever that is exact. The two draw different numbers from the same seed.
        checkpoints: The number of log-spaced rounds to record, or the rounds themselves; the last is the horizon.
        bounded: Clip altered rewards to [0, 1]; False allows any real number.
        realized: Also compute the realised and the observed regret. None: only if it is cheap, that is if the sum of
            many rewards is one draw (Bernoulli, deterministic) or the attack is medium.
        delay: How late answers arrive, such as vb.Delay.fixed(1000); None: at once. docs/delays.md has the cost.
        lost: The share of answers that never arrive, in [0, 1], drawn independently of everything else.
        arms_open: When arms are open, such as {2: [(1, 5000), (8000, None)]}: arm 2 in the rounds 1 to 4999 and from
            8000 on. Other arms are always open. The regret is then against the best open arm of each round; the "best
            arm" of an attack is still the best of all.
        threads: The number of replications that run at the same time; None: one per core.
        interpret: True: run as plain Python, about 500 times slower; False: compile at once; None: as described above.
        progress: True: show a bar; False: nothing; None: a bar on a terminal, otherwise an occasional line.

    >>> import vambrace as vb
    >>> env, attack = vb.Bernoulli([0.9, 0.5]), vb.Conceal(budget=50)
    >>> print(vb.simulate(vb.UCB1(), env, attack, horizon=10_000, replications=3, seed=7))
    ucb1 against conceal:budget=50: regret 2,189.2 ± 115.8 after 10,000 rounds (mean ± standard error of 3 replications), cost 50.0
    """  # noqa: E501
    conditions: dict[str, Any] = {"arms_open": arms_open, "delay": delay, "lost": lost, "realized": realized}
    parts = (policy, environment, attack)
    setup, leaping = checked(*parts, horizon=horizon, bounded=bounded, engine=engine, **conditions)
    run = _Run(setup, replications, seed, checkpoints, leaping=leaping)
    return run.play(threads, None if interpret is None else validation.flag("interpret", interpret), progress)


def checked(
    policy: Any,
    environment: Any,
    attack: Any,
    *,
    horizon: Any,
    bounded: Any = True,
    engine: Any = "auto",
    realized: Any = None,
    **conditions: Any,
) -> tuple[Setup, bool]:
    """A game that can be played, and whether to leap; an error says why it cannot."""
    setup = Setup.check(policy, environment, attack, horizon=horizon, bounded=bounded, realized=realized)
    setup = setup.with_conditions(**conditions, realized=realized)
    validation.choice("engine", engine, get_args(Engine))
    obstacle = setup.obstacle_to_leaping() if engine != "rounds" else None
    if engine == "leap" and obstacle:
        raise NotApplicable(f"engine leap: expected {obstacle[0]}, got {obstacle[1]}")
    return setup, engine != "rounds" and not obstacle


class _Run:
    """The replications of one game, and the arrays of their results; each replication fills its own rows."""

    def __init__(self, setup: Setup, replications: Any, seed: Any, checkpoints: Any, *, leaping: bool) -> None:
        self.setup, self.leaping = setup, leaping
        self.first, self.replications = _counted(replications)
        self.seed = validation.seed(seed)
        self.points = validation.checkpoints(checkpoints, setup.horizon)
        self.gaps = setup.means.max() - setup.means
        budget = float(setup.attack.budget) if setup.attack else 0.0
        self.setting = Setting(budget, self.points, setup.bounded, setup.realized)
        shape = (self.replications, len(self.points))
        self.pseudo, self.realized, self.observed, self.cost = (np.zeros(shape) for _ in range(4))
        self.pulls: Integers = np.zeros((self.replications, setup.n_arms), dtype=np.int64)
        self.progress: Integers = np.zeros((self.replications, 1), dtype=np.int64)
        self.stop: Integers = np.zeros(1, dtype=np.int64)
        self.among_others = False  # whether other threads may play at the same time

    def play(self, threads: Any, interpret: bool | None, progress: bool | None) -> Result:
        """Play every replication."""
        setup, replications = self.setup, self.replications
        workers = validation.whole("threads", os.cpu_count() or 1 if threads is None else threads, low=1, high=10**4)
        programs = self._programs(interpret, progress)
        if not hasattr(programs[0], "py_func"):
            workers = 1  # plain Python gains nothing from threads
        total = setup.horizon * replications
        with ProgressBar(f"{setup.title}, {replications} replications", total, show=progress) as bar:
            self._run_all(programs, min(workers, replications), bar)
        return Result(
            policy=setup.policy,
            environment=setup.environment,
            adversary=setup.attack,
            horizon=setup.horizon,
            replications=replications,
            seed=self.seed,
            engine="leap" if self.leaping else "rounds",
            bounded=setup.bounded,
            checkpoints=self.points,
            pseudo_regret=self.pseudo,
            cost=self.cost,
            pulls=self.pulls,
            realized=self.realized if setup.realized else None,
            observed=self.observed if setup.realized else None,
            delay=setup.delay,
            lost=setup.lost,
            arms_open=setup.openings.windows if setup.openings else None,
        )

    def _programs(self, interpret: bool | None, progress: bool | None) -> _Programs:
        """The programs of this game, interpreted if a part is ordinary Python or compiling is not worth it yet."""
        slots = self.setup.slots() | {"LEAP": self.leaping}
        if interpret or any(callable(slot) and not is_kernel(slot) for slot in slots.values()):
            return interpreted(rounds.play, slots), interpreted(regrets.settle, slots)
        play, settle = compiled(rounds.play, slots), compiled(regrets.settle, slots)
        at_once, work = interpret is False, self.setup.horizon * self.replications * self.setup.work
        if not (at_once or _is_worth_compiling(play, work, WORTH_COMPILING)):
            return interpreted(rounds.play, slots), interpreted(regrets.settle, slots)
        sums = self.replications * len(self.points) * self.setup.n_arms
        worth_it = at_once or _is_worth_compiling(settle, sums, WORTH_SETTLING)
        programs = play, settle if worth_it else interpreted(regrets.settle, slots)
        if all(map(is_loaded, programs)):
            return programs
        with nullcontext() if is_ready(play) else compiling(self.setup.title, show=progress):
            short = self.setting._replace(checkpoints=self.points[:0])
            compile_now(play, lambda: self._replicate(programs, 0, short))
        return programs

    def _replicate(self, programs: _Programs, r: int, setting: Setting) -> None:
        """Play the replication of row r up to the last checkpoint of the setting."""
        play, settle = programs
        setup, points = self.setup, setting.checkpoints
        number = self.first + r
        streams = Streams(*(stream(self.seed, number, role) for role in range(len(Streams._fields))))
        late = stream(self.seed, number, DELAY) if setup.late else None
        queue = None if late is None else make_queue(setup.delay, setup.lost, setup.horizon, late)
        changes = None if setup.openings is None else setup.openings.changes()
        record = _record(len(points), setup.n_arms, self.progress[r], self.stop, changes, queue)
        policy, attack, arms = setup.states()
        if self.among_others:
            policy, streams = _apart(policy), _apart(streams)
            record = record._replace(**{name: _apart(getattr(record, name)) for name in OFTEN_WRITTEN})
        filled = record
        if not hasattr(play, "py_func"):  # plain Python reads lists and views faster than arrays
            streams = Streams(*(each.tolist() for each in streams))
            if all(map(can_use_views, (setup.policy, setup.attack, setup.environment))):
                policy, attack, arms, filled = map(views_of, (policy, attack, arms, record))
        code, t, arm, value = play(policy, attack, arms, setting, streams, filled)
        if code not in (rounds.FINISHED, rounds.STOPPED):
            raise GameFault(setup.fault(code, t, arm, value))
        rows = Regrets(self.pseudo[r], self.realized[r], self.observed[r])
        settle(arms, self.gaps, points, record.history, setup.realized, streams.unpulled, rows)
        if setup.openings is not None:
            shortfall = setup.openings.shortfall(setup.means, points)
            self.pseudo[r, : len(points)] = np.maximum(rows.pseudo[: len(points)] - shortfall, 0.0)
        self.pulls[r] = record.pulls
        self.cost[r, : len(points)] = record.history.cost

    def _replicate_all(self, programs: _Programs, rows: range) -> None:
        """Play some replications, one after another, until the games are stopped."""
        for r in rows:
            if self.stop[0] == 0:
                self._replicate(programs, r, self.setting)

    def _run_all(self, programs: _Programs, workers: int, bar: ProgressBar) -> None:
        """Run every replication; stop them all at the first error or interrupt."""
        rounds_of_all = self.setup.horizon * self.replications * self.setup.work
        in_thread = threading.current_thread() is not threading.main_thread()
        self.among_others = workers > 1 or in_thread
        here = self.replications == 1 and in_thread
        if here or rounds_of_all <= AT_ONCE:  # interrupts go to the main thread, or wait for some milliseconds
            return self._replicate_all(programs, range(self.replications))
        from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait  # slow to import

        jobs = min(self.replications, JOBS * workers)
        with ThreadPoolExecutor(workers) as pool:
            try:
                parts = (range(first, self.replications, jobs) for first in range(jobs))
                running = {pool.submit(self._replicate_all, programs, part) for part in parts}
                while running:
                    finished, running = wait(running, timeout=0.1, return_when=FIRST_EXCEPTION)
                    for future in finished:
                        future.result()
                    bar.update(int(self.progress.sum()))
            except BaseException:  # an interrupt too
                self.stop[0] = 1  # the games look at it from time to time
                pool.shutdown(wait=False, cancel_futures=True)
                raise


def _is_worth_compiling(program: Any, more: int, enough: int) -> bool:
    """Whether a program is compiled, or would have been interpreted for long: `more` besides what it did before."""
    if is_ready(program):
        return True
    _done_interpreted[program] += more
    return _done_interpreted[program] >= enough


def _counted(replications: Any) -> tuple[int, int]:
    """The first replication, from zero, and how many there are."""
    if not isinstance(replications, range):
        return 0, validation.whole("replications", replications, low=1, high=10**9)
    if replications.step != 1 or not 0 <= replications.start < replications.stop <= 10**9:
        raise InvalidParameter(f"replications: expected a number or a range such as range(20, 40), got {replications}")
    return replications.start, len(replications)


def _record(
    points: int, n_arms: int, progress: Integers, stop: Integers, changes: Changes | None, queue: Queue | None
) -> Record:
    """The arrays that one replication writes to."""
    pulls, open_per_arm = np.zeros(n_arms, dtype=np.int64), np.zeros(n_arms, dtype=np.int64)
    pulled, altered, unpulled = np.zeros((3, points, n_arms))
    history = History(np.zeros((points, n_arms), dtype=np.int64), pulled, altered, unpulled, np.zeros(points))
    totals = Totals(np.zeros((2, n_arms)), np.zeros((2, n_arms)), np.zeros(n_arms))
    scratch = (np.zeros(n_arms), np.zeros(n_arms), open_per_arm, np.ones(n_arms, dtype=np.bool_))
    return Record(history, pulls, progress, stop, totals, *scratch, changes, queue)


def _apart(value: Any) -> Any:
    """A copy with each array on its own cache lines: a write to a shared line would stall the other threads."""
    if isinstance(value, np.ndarray):
        block = np.zeros(value.nbytes + 2 * LINE, dtype=np.uint8)
        copy = block[LINE : LINE + value.nbytes].view(value.dtype).reshape(value.shape)
        copy[...] = value
        return copy
    if hasattr(value, "_fields"):
        return type(value)(*(_apart(each) for each in value))
    return value
