"""Speed, memory and first use of vambrace in one table of ratios, side by side with its peers: `make bench`.

Ten Bernoulli arms, attacked by Conceal with a budget of 1000, on one core unless a row says otherwise. What competes is
timed in turns, pass after pass, and the fastest pass of each counts, because the machine may be shared. Targets are
judged and printed, never asserted: the exit code tells only whether everything ran.

To add a policy or an engine, add a line to CASES; to add a peer, one to PEERS (and its script to `peers/`).
"""

import argparse
import json
import math
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import asdict, dataclass, field
from functools import partial
from importlib.metadata import version
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

import vambrace as vb
from vambrace.kernel import cache_statistics, compiled, kernel
from vambrace.protocols import Adversary, Floats, Policy
from vambrace.sampling import Stream, stream, uniform

MEANS = tuple((95 - 5 * arm) / 100 for arm in range(10))  # as in peers/common.py
ARMS = vb.Bernoulli(MEANS)
BUDGET = 1000
ATTACK = vb.Conceal(budget=BUDGET)
HERE = Path(__file__).resolve().parent


@dataclass(frozen=True)
class Case:
    """A policy to time, and the targets it has to meet, if any."""

    name: str
    policy: Policy
    most: float | None = None  # times the bare loop, per round
    live: float | None = None  # microseconds for one ask and tell
    horizon: int = 10**7
    engine: str = "rounds"


CASES = (
    Case("SE-WR", vb.SEWR(budget=BUDGET), most=6, live=50),
    Case("SE-WR, tight", vb.SEWR(budget=BUDGET, radius="tight"), most=6, live=50),
    Case("SE-WR, kl", vb.SEWR(budget=BUDGET, radius="kl"), most=6, live=50),
    Case("SE-WR-Stop", vb.SEWRStop(budget=BUDGET), most=6),
    Case("PE-WR", vb.PEWR(), most=6),
    Case("UCB1", vb.UCB1(), most=25),
    Case("MS-SE-WR, corral", vb.MSSEWR(smoothing=False), most=150, horizon=10**6),
    Case("MS-SE-WR, corral, share", vb.MSSEWR(share=True, smoothing=False), horizon=10**6),
    Case("MS-SE-WR, exp3p", vb.MSSEWR(master="exp3p", smoothing=False), most=150, horizon=10**6),
    Case("MS-SE-WR, exp3p, share", vb.MSSEWR(master="exp3p", share=True, smoothing=False), horizon=10**6),
)


@dataclass(frozen=True)
class Peer:
    """One path of another library; `least` is how many times faster vambrace is to be."""

    name: str
    folder: str
    path: str
    rounds: int
    least: float | None = None


PEERS = (
    Peer("SMPyBandits, loop", "smpybandits", "loop", 20_000, least=500),
    Peer("SMPyBandits, Evaluator", "smpybandits", "evaluator-cached-rewards", 20_000, least=500),
    Peer("MABWiser, online", "mabwiser", "online", 20_000, least=500),
    Peer("PyMAB, Experiment", "pymab", "experiment", 20_000),
    Peer("PyMAB, native", "pymab", "native", 2_000_000, least=15),
)


@dataclass(frozen=True)
class Figure:
    """A row of the table. The target is for the ratio, or for the value where there is no ratio."""

    section: str
    name: str
    value: float
    unit: str
    ratio: float | None = None
    most: float | None = None
    least: float | None = None
    remark: str = ""

    @property
    def met(self) -> bool | None:
        """Whether the target is met; None where there is none."""
        judged = self.value if self.ratio is None else self.ratio
        if self.most is not None:
            return judged <= self.most
        return None if self.least is None else judged >= self.least

    def cells(self) -> tuple[str, ...]:
        """The row as text."""
        times = "" if self.ratio is None else "x"
        bound, sign = (self.most, "<=") if self.most is not None else (self.least, ">=")
        target = "" if bound is None else f"{sign} {short(bound)}{times or ' ' + self.unit}"
        ratio = "" if self.ratio is None else f"{short(self.ratio)}x"
        verdict = {True: "ok", False: "MISSED", None: ""}[self.met]
        return self.section, self.name, f"{short(self.value)} {self.unit}", ratio, target, verdict, self.remark


@dataclass
class Bench:
    """The options of one run, and what it has found so far."""

    quick: bool
    peers: Path | None
    figures: list[Figure] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    failed: bool = False
    say: Callable[[str], None] = print

    @property
    def passes(self) -> int:
        """How often everything is timed; the fastest counts."""
        return 5 if self.quick else 9

    def shorter(self, rounds: int) -> int:
        """The horizon to use."""
        return rounds // 10 if self.quick else rounds

    def add(self, section: str, name: str, value: float, unit: str, **more: Any) -> None:
        """Enter a row."""
        self.figures.append(Figure(section, name, value, unit, **more))

    def time(self, title: str, runs: Mapping[str, Callable[[], object]], pin: bool = True) -> dict[str, list[float]]:
        """Seconds of every pass of each run; a pass runs them all in turn on one core, the next on another one."""
        seconds: dict[str, list[float]] = {name: [] for name in runs}
        for turn in range(self.passes):
            with pinned(turn) if pin else nullcontext():
                for name, run in runs.items():
                    self.say(f"{title}, pass {turn + 1} of {self.passes}: {name}")
                    start = time.perf_counter()
                    run()
                    seconds[name].append(time.perf_counter() - start)
        return seconds


@kernel
def bare(means: Floats, rounds: int, rng: Stream) -> float:
    """The least that any simulation does: draw and compare, arm after arm."""
    total = 0.0
    for _ in range(rounds // len(means)):
        for arm in range(len(means)):
            if uniform(rng) < means[arm]:
                total += 1.0
    return total


def play(policy: Policy, horizon: int, attack: Adversary | None = ATTACK, **options: Any) -> vb.Result:
    """A run without a progress bar, on one thread unless told otherwise; never a different engine than asked for."""
    given: dict[str, Any] = {"engine": "rounds", "threads": 1, "checkpoints": 8, "seed": 1, "progress": False}
    return vb.simulate(policy, ARMS, attack, horizon=horizon, **(given | options))


def speed(bench: Bench) -> None:
    """Nanoseconds a round, as multiples of the bare loop, which runs again before each case."""
    sweep, bare_rounds = compiled(bare, {}), bench.shorter(10**7)
    draw = partial(sweep, np.array(MEANS), bare_rounds, stream(1))
    draw()
    runs: dict[str, Callable[[], object]] = {}
    for case in CASES:
        bench.say(f"compiling {case.name}")
        play(case.policy, 100, engine=case.engine)
        runs[f"bare loop before {case.name}"] = draw
        runs[case.name] = partial(play, case.policy, bench.shorter(case.horizon), engine=case.engine)
    seconds = bench.time("speed", runs)
    passes = [each / bare_rounds * 1e9 for name, times in seconds.items() if runs[name] is draw for each in times]
    least, noise = min(passes), median(passes) / min(passes) - 1
    bench.add("speed", "bare draw and compare", least, "ns/round", ratio=1.0, remark=f"median {noise:.0%} slower")
    for case in CASES:
        rounds = bench.shorter(case.horizon)
        cost = min(seconds[case.name]) / rounds * 1e9
        bench.add("speed", case.name, cost, "ns/round", ratio=cost / least, most=case.most, remark=f"T = {rounds:,}")


def threads(bench: Bench) -> None:
    """Throughput on two threads over that on one."""
    if (os.cpu_count() or 1) < 2:
        bench.notes.append("threads: skipped, this machine has one core")
        return
    rounds, replications, policy = bench.shorter(5 * 10**6), 12, vb.SEWR(budget=BUDGET)
    runs = {str(n): partial(play, policy, rounds, replications=replications, threads=n) for n in (1, 2)}
    seconds = bench.time("threads", runs, pin=False)
    one, two = min(seconds["1"]), min(seconds["2"])
    cost = two / rounds / replications * 1e9
    remark = f"{replications} replications of {rounds:,} rounds"
    bench.add("threads", "SE-WR, two threads over one", cost, "ns/round", ratio=one / two, least=1.8, remark=remark)


def peers(bench: Bench) -> None:
    """The same UCB1 experiment elsewhere; ours with all of Python's work for each replication, but no compiling."""
    for peer in PEERS:
        if bench.peers is None or not (bench.peers / peer.folder / ".ready").exists():
            bench.notes.append(f"peers: {peer.name} skipped, no environment for it (`make bench` makes them)")
            continue
        script = HERE / "peers" / f"{peer.folder}_ucb1.py"
        command = [str(bench.peers / peer.folder / "bin" / "python"), str(script), f"--path={peer.path}"]
        command += [f"--rounds={peer.rounds}", f"--repeats={1 if bench.quick else 3}"]
        bench.say(f"peers: {peer.name}")
        with pinned():
            done = subprocess.run(command, capture_output=True)
        if done.returncode != 0:
            bench.failed = True
            bench.notes.append(f"peers: {peer.name} FAILED: {done.stderr.decode().strip()[-300:]}")
            continue
        record = json.loads(done.stdout.splitlines()[-1])
        ours, share = same_experiment(bench, peer.rounds)
        cost = 1e9 / record["rounds_per_second"]
        remark = f"v{record['version']}, T = {peer.rounds:,}; ours {short(ours)} ns/round; "
        remark += f"best arm {record['best_arm_share']:.0%}, ours {share:.0%}"
        bench.add("peers", peer.name, cost, "ns/round", ratio=cost / ours, least=peer.least, remark=remark)


def same_experiment(bench: Bench, rounds: int) -> tuple[float, float]:
    """Our nanoseconds a round, and how often the best arm was played; a timed run lasts about 0.3 seconds."""
    run = partial(play, vb.UCB1(), rounds, None)
    run()  # compiles
    start = time.perf_counter()
    run(replications=10)
    replications = math.ceil(0.3 / (time.perf_counter() - start) * 10)
    share = run(replications=replications).pulls[:, 0].mean() / rounds
    title, name = "peers", f"ours, {replications} replications of {rounds:,} rounds"
    seconds = bench.time(title, {name: partial(run, replications=replications)})[name]
    return min(seconds) / rounds / replications * 1e9, float(share)


def live(bench: Bench) -> None:
    """Microseconds for one ask and one tell of a live learner."""
    pairs = bench.shorter(2000)
    draws = np.random.default_rng(1).random(pairs).tolist()

    def converse(policy: Policy) -> None:
        learner = policy.learner(n_arms=len(MEANS), horizon=10**6, seed=1)
        for draw in draws:
            decision = learner.ask()
            learner.tell(decision, 1.0 if draw < MEANS[decision.arm] else 0.0)

    seconds = bench.time("live", {case.name: partial(converse, case.policy) for case in CASES})
    for case in CASES:
        bench.add("live", f"{case.name}, ask + tell", min(seconds[case.name]) / pairs * 1e6, "µs", most=case.live)


def memory(bench: Bench) -> None:
    """Peak memory and time of a fresh process that plays a long game."""
    rounds = bench.shorter(10**9)
    bench.say(f"memory: SE-WR, T = {rounds:,}")
    found = probe_elsewhere(rounds)
    remark = f"SE-WR, T = {rounds:,}, one replication"
    bench.add("memory", "peak of a fresh process", found["peak_mb"], "MB", most=250, remark=remark)
    bench.add("memory", "wall time of that process", found["wall"], "s", remark=f"{found['play']:.2f} s in simulate")


def first_use(bench: Bench) -> None:
    """What a user waits for the first time, and the next time in another process, when the code is on disk."""
    with tempfile.TemporaryDirectory() as empty:
        for name in ("first process, compiles", "second process, same pair"):
            bench.say(f"first use: {name}")
            found = probe_elsewhere(10**5, NUMBA_CACHE_DIR=empty)
            remark = f"{found['play']:.2f} s in simulate; from disk {found['hits']}, compiled {found['misses']}"
            bench.add("first use", name, found["wall"], "s", remark=remark)
    bench.add("first use", "compiled by the second process", found["misses"], "programs", most=0)


def probe_elsewhere(rounds: int, **environment: str) -> dict[str, float]:
    """What `probe` finds in a fresh process, and how long that process takes in all."""
    start = time.perf_counter()
    with pinned():
        command = [sys.executable, __file__, f"--probe={rounds}"]
        done = subprocess.run(command, stdout=subprocess.PIPE, check=True, env=os.environ | environment)
    return {**json.loads(done.stdout), "wall": time.perf_counter() - start}


def probe(rounds: int) -> dict[str, float]:
    """Play SE-WR once, in this process."""
    start = time.perf_counter()
    play(vb.SEWR(budget=BUDGET), rounds)
    hits, misses = cache_statistics()
    return {"play": time.perf_counter() - start, "peak_mb": peak_memory(), "hits": hits, "misses": misses}


def peak_memory() -> float:
    """Peak resident memory in MB: Linux's own mark if it can be read, for ru_maxrss also counts who started us."""
    try:
        status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
        return int(status["VmHWM"].split()[0]) * 1024 / 1e6
    except (OSError, KeyError):
        import resource

        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024) / 1e6


@contextmanager
def pinned(turn: int = 0) -> Iterator[None]:
    """Stay on one core, another one each turn, where the system lets us."""
    if not hasattr(os, "sched_setaffinity"):
        yield
        return
    allowed = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {sorted(allowed)[turn % len(allowed)]})
    try:
        yield
    finally:
        os.sched_setaffinity(0, allowed)


def short(number: float) -> str:
    """Three digits, and no exponent where it would be hard to read."""
    return f"{number:,.0f}" if number >= 100 else f"{number:.3g}"


def table(figures: list[Figure]) -> list[str]:
    """A Markdown table whose columns line up, so that it reads well as plain text too."""
    rows = [("", "what", "figure", "ratio", "target", "", "remark"), *(figure.cells() for figure in figures)]
    width = [max(3, *(len(row[i]) for row in rows)) for i in range(len(rows[0]))]
    right = (2, 3, 4)
    lines = [
        "| " + " | ".join(c.rjust(width[i]) if i in right else c.ljust(width[i]) for i, c in enumerate(row)) + " |"
        for row in rows
    ]
    rule = "|".join("-" * (w + 1) + (":" if i in right else "-") for i, w in enumerate(width))
    return [lines[0], f"|{rule}|", *lines[1:]]


def machine() -> dict[str, Any]:
    """Where and with what this was measured."""
    facts: dict[str, Any] = {"python": platform.python_version(), "vambrace": vb.__version__}
    facts |= {name: version(name) for name in ("numpy", "numba")}
    return facts | {"machine": platform.machine(), "system": platform.system(), "cores": os.cpu_count()}


def misses(figures: list[Figure]) -> list[str]:
    """One line for each target that was not met."""
    missed = []
    for section, name, value, ratio, target, verdict, _ in (figure.cells() for figure in figures):
        if verdict == "MISSED":
            missed.append(f"MISSED  {section}: {name}: {ratio or value}, target {target}")
    return missed


@contextmanager
def progress() -> Iterator[Callable[[str], None]]:
    """One line that changes where standard error is a terminal, else a plain line when the subject changes."""
    if sys.stderr.isatty():
        from rich.console import Console

        with Console(stderr=True).status("") as status:
            yield status.update
        return
    last = ""

    def say(text: str) -> None:
        nonlocal last
        subject = text.rsplit(":", 1)[0] if ", pass " in text else text
        if subject != last:
            print(subject, file=sys.stderr, flush=True)
        last = subject

    yield say


def main() -> int:
    """Measure everything, print the table, and write it where asked."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument(
        "--quick", action="store_true", help="fewer passes and a tenth of the rounds: a look, no record"
    )
    parser.add_argument(
        "--peers", type=Path, metavar="DIR", help="where the peers' environments are; without: no peers"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every figure there")
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="write the table there")
    parser.add_argument("--probe", type=int, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.probe:
        print(json.dumps(probe(args.probe)))
        return 0

    bench = Bench(args.quick, args.peers)
    with progress() as bench.say:
        for measure in (speed, threads, peers, live, memory, first_use):
            measure(bench)

    facts = machine()
    where = ", ".join(f"{name} {value}" for name, value in facts.items()) + (" (quick)" if bench.quick else "")
    text = [*table(bench.figures), "", where, *bench.notes]
    verdict = misses(bench.figures) or ["Every target was met."]
    print("\n".join([*text, "", *verdict]))
    if args.markdown:
        args.markdown.write_text("\n".join([*text, ""]), encoding="utf-8")
    if args.json:
        figures = [asdict(figure) | {"met": figure.met} for figure in bench.figures]
        found = {"machine": facts, "quick": bench.quick, "notes": bench.notes, "figures": figures}
        args.json.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return 1 if bench.failed else 0


if __name__ == "__main__":
    sys.exit(main())
