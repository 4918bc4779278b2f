"""Speed, memory and first use of vambrace in one table of ratios, side by side with its peers: `make bench`.

Ten Bernoulli arms, attacked by Conceal with a budget of 1000, on one core unless a row says otherwise. What competes is
timed in turns, and the fastest pass counts (for threads their mean), because the machine may be shared; for the
same reason rows on one core use the processor's clock. Targets are judged, not asserted.

To add a policy or an engine, add a line to CASES; to set a policy beside a peer's, one to PEERS (and one to the peer's
script in `peers/`).
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
from typing import Any, NamedTuple

import numpy as np

import vambrace as vb
from vambrace.kernels import compiled, kernel
from vambrace.protocols import Adversary, Floats, Policy
from vambrace.sampling import Stream, stream, uniform

MEANS = tuple((95 - 5 * arm) / 100 for arm in range(10))  # as in peers/common.py
BUDGET = 1000
PATIENCE = 60.0  # seconds after which a section no longer waits for its records to settle


@dataclass(frozen=True)
class Case:
    """A policy to time, and the targets it has to meet, if any."""

    name: str
    policy: Policy
    most: float | None = None  # times the bare loop, per round
    live: float | None = None  # microseconds for one ask and tell
    horizon: int = 10**7
    engine: str = "rounds"
    replications: int = 1


CASES = (
    Case("KL-UCB-WR", vb.KLUCBWR(budget=BUDGET), most=12, live=20),
    Case("SE-WR", vb.SEWR(budget=BUDGET), most=6, live=25),
    Case("SE-WR, tight", vb.SEWR(budget=BUDGET, radius="tight"), most=6, live=25),
    Case("SE-WR, kl", vb.SEWR(budget=BUDGET, radius="kl"), most=6, live=25),
    Case("SE-WR-Stop", vb.SEWRStop(budget=BUDGET), most=6),
    Case("PE-WR", vb.PEWR(), most=6),
    Case("UCB1", vb.UCB1(), most=25),
    Case("SE", vb.SE(), most=100),
    Case("KL-UCB", vb.KLUCB(), most=800, horizon=10**6),
    Case("MOSS", vb.MOSS(), most=100, horizon=10**6),
    Case("Thompson", vb.Thompson(), most=800, horizon=10**6),
    Case("epsilon-greedy", vb.EpsilonGreedy(), most=100, horizon=10**6),
    Case("EXP3", vb.EXP3(), most=100, horizon=10**6),
    Case("EXP3-IX", vb.EXP3IX(), most=100, horizon=10**6),
    Case("EXP3.P", vb.EXP3P(), most=100, horizon=10**6),
    Case("EXP3++", vb.EXP3PlusPlus(), most=100, horizon=10**6),
    Case("Tsallis-INF", vb.TsallisINF(), most=800, horizon=10**6),
    Case("median-of-means UCB", vb.MedianOfMeansUCB(), most=100, horizon=10**6),
    Case("trimmed-mean UCB", vb.TrimmedMeanUCB(), most=100, horizon=10**6),
    Case("UCB-WR", vb.UCBWR(budget=BUDGET), most=100, horizon=10**6),
    Case("CW-OFUL", vb.CWOFUL(budget=BUDGET), most=100, horizon=10**6),
    Case("FSAAER", vb.FSAAER(budget=BUDGET), most=100, horizon=10**6),
    Case("MLAAER", vb.MLAAER(), most=100, horizon=10**6),
    Case("BARBAR", vb.BARBAR(), most=100, horizon=10**6),
    Case("robust phased elimination", vb.RobustPhasedElimination(), most=100, horizon=10**6),
    Case("KL-UCB-WR, leap", vb.KLUCBWR(budget=BUDGET), horizon=10**15, engine="leap", replications=100),
    Case("SE-WR, leap", vb.SEWR(budget=BUDGET), horizon=10**12, engine="leap", replications=100),
    Case("PE-WR, leap", vb.PEWR(), horizon=10**12, engine="leap", replications=100),
    Case("MS-SE-WR, corral", vb.MSSEWR(), most=150, horizon=10**6),
    Case("MS-SE-WR, corral, share", vb.MSSEWR(share=True), horizon=10**6),
    Case("MS-SE-WR, exp3p", vb.MSSEWR(master="exp3p"), most=150, horizon=10**6),
    Case("MS-SE-WR, exp3p, share", vb.MSSEWR(master="exp3p", share=True), horizon=10**6),
    Case("MS-SE-WR, corral, no smoothing", vb.MSSEWR(smoothing=False), horizon=10**6),
)


@dataclass(frozen=True)
class Peer:
    """A policy, by the name of our class, on one path of another library; we are to be `least` times faster."""

    policy: str
    library: str
    path: str
    rounds: int = 10_000
    least: float | None = None

    @property
    def name(self) -> str:
        return f"{self.policy}, {self.library} {self.path}"


PEERS = (
    Peer("UCB1", "SMPyBandits", "loop", 20_000, least=500),
    Peer("UCB1", "SMPyBandits", "evaluator", 20_000, least=500),
    Peer("UCB1", "MABWiser", "online", 20_000, least=500),
    Peer("UCB1", "PyMAB", "experiment", 20_000),
    Peer("UCB1", "PyMAB", "native", 2_000_000, least=15),
    Peer("KLUCB", "SMPyBandits", "loop", least=100),
    Peer("KLUCB", "PyMAB", "native", least=5),
    Peer("MOSS", "SMPyBandits", "loop", least=100),
    Peer("MOSS", "PyMAB", "native", least=5),
    Peer("Thompson", "SMPyBandits", "loop", least=30),
    Peer("Thompson", "PyMAB", "native", least=2),
    Peer("EpsilonGreedy", "SMPyBandits", "loop", least=100),
    Peer("EpsilonGreedy", "PyMAB", "native", least=5),
    Peer("EXP3", "SMPyBandits", "loop", least=100),
    Peer("EXP3", "PyMAB", "native", least=5),
    Peer("EXP3PlusPlus", "SMPyBandits", "loop", least=100),
    Peer("TsallisINF", "SMPyBandits", "loop", least=100),
    Peer("SE", "PyMAB", "native", 200_000, least=5),
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
        judged = self.value if self.ratio is None else self.ratio
        if self.most is not None:
            return judged <= self.most
        return None if self.least is None else judged >= self.least

    def cells(self) -> tuple[str, ...]:
        bound, sign = (self.most, "<=") if self.most is not None else (self.least, ">=")
        target = "" if bound is None else f"{sign} {short(bound)}" + ("x" if self.ratio else f" {self.unit}")
        ratio = f"{short(self.ratio)}x" if self.ratio else ""
        verdict = {True: "ok", False: "MISSED", None: ""}[self.met]
        return self.section, self.name, f"{short(self.value)} {self.unit}", ratio, target, verdict, self.remark


class Lap(NamedTuple):
    wall: float  # seconds on the clock
    work: float  # seconds that our threads had a core, all together


@dataclass
class Bench:
    """The options of one run, and what it has found so far."""

    quick: bool
    peers: Path | None
    say: Callable[[str], None]
    figures: list[Figure] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    failed: bool = False

    def shorter(self, rounds: int) -> int:
        return rounds // 10 if self.quick else rounds

    def add(self, section: str, name: str, value: float, unit: str, **more: Any) -> None:
        self.figures.append(Figure(section, name, value, unit, **more))

    def time(
        self, title: str, runs: Mapping[str, Callable[[], object]], pin: bool = True, least: int = 9
    ) -> dict[str, list[Lap]]:
        """Pass after pass, all runs in turn, each pass on another core; on a busy machine until records settle."""
        laps: dict[str, list[Lap]] = {name: [] for name in runs}
        least = passes = 5 if self.quick else least
        turn, started = 0, time.perf_counter()
        while turn < least or (turn < passes and time.perf_counter() - started < PATIENCE):
            self.say(f"{title}: pass {turn + 1} of {passes}")
            with pinned(turn) if pin else nullcontext():
                for name, run in runs.items():
                    wall, work = time.perf_counter(), time.process_time()
                    run()
                    lap = Lap(time.perf_counter() - wall, time.process_time() - work)
                    if lap.wall < 0.98 * min(laps[name], default=lap).wall:
                        passes = min(max(passes, turn + 6), 40)
                    laps[name].append(lap)
            turn += 1
        return laps


@kernel
def bare(means: Floats, rounds: int, rng: Stream) -> float:
    """The least that any simulation does: draw and compare, arm after arm."""
    total = 0.0
    for _ in range(rounds // len(means)):
        for arm in range(len(means)):
            if uniform(rng) < means[arm]:
                total += 1.0
    return total


def play(policy: Policy, horizon: int, attacked: bool = True, **options: Any) -> vb.Result:
    """A run without a progress bar, on one thread unless told otherwise, and never by another engine than asked for."""
    attack: Adversary | None = vb.Conceal(budget=BUDGET) if attacked else None
    given: dict[str, Any] = {"engine": "rounds", "threads": 1, "checkpoints": 8, "seed": 1, "progress": False}
    return vb.simulate(policy, vb.Bernoulli(MEANS), attack, horizon=horizon, **(given | options))


def speed(bench: Bench) -> None:
    """Nanoseconds a round, as multiples of the bare loop, which runs again before each case."""
    bare_rounds = bench.shorter(10**7)
    draw = partial(compiled(bare, {}), np.array(MEANS), bare_rounds, stream(1))
    runs: dict[str, Callable[[], object]] = {}
    for case in CASES:
        bench.say(f"speed: compiling {case.name}")
        run = partial(play, case.policy, engine=case.engine)
        run(horizon=100)
        runs[f"bare loop before {case.name}"] = draw
        runs[case.name] = partial(run, horizon=bench.shorter(case.horizon), replications=case.replications)
    laps = bench.time("speed", runs)
    passes = [lap.work / bare_rounds * 1e9 for name in runs if runs[name] is draw for lap in laps[name]]
    least, noise = min(passes), median(passes) / min(passes) - 1
    bench.add("speed", "bare draw and compare", least, "ns/round", ratio=1.0, remark=f"median {noise:.0%} slower")
    for case in CASES:
        rounds = bench.shorter(case.horizon)
        seconds = min(lap.work for lap in laps[case.name]) / case.replications
        cost, remark = seconds / rounds * 1e9, f"T = {rounds:,} in {short(seconds * 1e3)} ms"
        bench.add("speed", case.name, cost, "ns/round", ratio=cost / least, most=case.most, remark=remark)


def threads(bench: Bench) -> None:
    """Throughput on two threads over that on one, over all passes: one thread, two threads, one thread.

    Both are judged by the wall's clock, on which a core of a shared machine may run at half its pace for a second;
    the best pass of each would compare two moments that have nothing to do with each other.
    """
    # as many replications as a study has: the last one runs alone, which weighs little among forty
    policy, rounds, replications = vb.SEWR(budget=BUDGET), bench.shorter(10**6), 40
    plan = {"before": 1, "both": 2, "after": 1}
    runs = {when: partial(play, policy, rounds, replications=replications, threads=n) for when, n in plan.items()}
    play(policy, 1000)  # compiles
    before, both, after = bench.time("threads", runs, pin=False, least=25).values()
    single = [(one.wall + other.wall) / 2 for one, other in zip(before, after, strict=True)]
    double = [lap.wall for lap in both]
    ratios = sorted(one / two for one, two in zip(single, double, strict=True))
    low, high = ratios[len(ratios) // 4], ratios[len(ratios) * 3 // 4]
    cost = sum(double) / len(double) / rounds / replications * 1e9
    remark = (
        f"{replications} replications of {rounds:,} rounds; half of {len(ratios)} passes in {low:.2f}x to {high:.2f}x"
    )
    ratio = sum(single) / sum(double)
    bench.add("threads", "SE-WR, two threads over one", cost, "ns/round", ratio=ratio, least=1.8, remark=remark)


def peers(bench: Bench) -> None:
    """The same experiment elsewhere; ours with all of Python's work for each replication, but no compiling."""
    found: dict[tuple[str, int], tuple[float, float]] = {}
    for peer in PEERS:
        home = (bench.peers or Path()) / peer.library.lower()
        if bench.peers is None or not (home / ".ready").exists():
            bench.notes.append(f"peers: {peer.name} skipped, no environment for it (`make bench` makes them)")
            continue
        script = Path(__file__).with_name("peers") / f"{peer.library.lower()}_policies.py"
        bench.say(f"peers: {peer.name}")
        options = (
            f"--policy={peer.policy} --path={peer.path} --rounds={peer.rounds} --seconds={0 if bench.quick else 2}"
        )
        with pinned():
            done = subprocess.run([home / "bin" / "python", script, *options.split()], capture_output=True, text=True)
        if done.returncode != 0:
            bench.failed = True
            bench.notes.append(f"peers: {peer.name} FAILED: {done.stderr.strip()[-300:]}")
            continue
        record = json.loads(done.stdout.splitlines()[-1])
        if (peer.policy, peer.rounds) not in found:
            found[peer.policy, peer.rounds] = same_experiment(bench, peer)
        ours, share = found[peer.policy, peer.rounds]
        cost = 1e9 / record["rounds_per_second"]
        remark = f"v{record['version']}, T = {peer.rounds:,}; ours {short(ours)} ns/round; "
        remark += f"best arm {record['best_arm_share']:.0%}, ours {share:.0%}"
        bench.add("peers", peer.name, cost, "ns/round", ratio=cost / ours, least=peer.least, remark=remark)


def same_experiment(bench: Bench, peer: Peer) -> tuple[float, float]:
    """Our nanoseconds a round, and how often we played the best arm; a timed run lasts about 0.1 seconds."""
    run = partial(play, getattr(vb, peer.policy)(), peer.rounds, attacked=False)
    run()  # compiles
    start = time.process_time()
    share = float(run(replications=10).pulls[:, 0].mean()) / peer.rounds
    replications = math.ceil(10 * 0.1 / (time.process_time() - start))
    laps = bench.time(f"peers: our {peer.policy}", {"ours": partial(run, replications=replications)})
    return min(lap.work for lap in laps["ours"]) / peer.rounds / replications * 1e9, share


def live(bench: Bench) -> None:
    """Microseconds for one ask and one tell of a live learner."""
    draws = np.random.default_rng(1).random(bench.shorter(2000)).tolist()

    def converse(policy: Policy) -> None:
        learner = policy.learner(n_arms=len(MEANS), horizon=10**6, seed=1)
        for draw in draws:
            decision = learner.ask()
            learner.tell(decision, 1.0 if draw < MEANS[decision.arm] else 0.0)

    cases = [case for case in CASES if case.engine == "rounds"]
    laps = bench.time("live", {case.name: partial(converse, case.policy) for case in cases})
    for case in cases:
        cost = min(lap.work for lap in laps[case.name]) / len(draws) * 1e6
        bench.add("live", f"{case.name}, ask + tell", cost, "µs", most=case.live)


def fresh_processes(bench: Bench) -> None:
    """What a user waits for the first time, and the next time, when the code is on disk; and memory."""
    bench.say("fresh processes")
    rounds = bench.shorter(10**9)
    with tempfile.TemporaryDirectory() as cache:
        first, second, long = (fresh_process(each, cache) for each in (10**5, 10**5, rounds))
    for name, found in ("SE-WR, first process", first), ("SE-WR, second process", second):
        remark = f"{found['play']:.2f} s in simulate; from disk {found['hits']}, compiled {found['misses']}"
        bench.add("first use", name, found["wall"], "s", remark=remark)
    bench.add("first use", "compiled by the second process", second["misses"], "programs", most=0)
    bench.add("memory", "SE-WR, peak of the first process", first["peak_mb"], "MB", most=250)
    bench.add("memory", f"SE-WR, peak at T = {rounds:,}", long["peak_mb"], "MB", most=250)
    bench.add("memory", "SE-WR, wall time of that run", long["wall"], "s", remark=f"{long['play']:.2f} s in simulate")


def fresh_process(rounds: int, cache: str) -> dict[str, float]:
    """What `baseline.py` finds, and how long its process takes in all."""
    command = [sys.executable, str(Path(__file__).with_name("baseline.py")), str(rounds)]
    start = time.perf_counter()
    with pinned():
        out = subprocess.check_output(command, env=os.environ | {"NUMBA_CACHE_DIR": cache})
    return {**json.loads(out), "wall": time.perf_counter() - start}


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


@contextmanager
def progress() -> Iterator[Callable[[str], None]]:
    """One line that changes where standard error is a terminal, else plain lines."""
    if not sys.stderr.isatty():
        yield partial(print, file=sys.stderr, flush=True)
        return
    from rich.console import Console

    with Console(stderr=True).status("") as status:
        yield status.update


def short(number: float) -> str:
    return f"{number:,.0f}" if number >= 100 else f"{number:.3g}"


def table(figures: list[Figure]) -> list[str]:
    """A Markdown table whose columns line up, so that it reads well as plain text too."""
    rows = [("", "what", "figure", "ratio", "target", "", "remark"), *(figure.cells() for figure in figures)]
    align, width = "<<>>><<", [max(3, *map(len, column)) for column in zip(*rows, strict=True)]
    lines = ["| " + " | ".join(map(format, row, map("{}{}".format, align, width))) + " |" for row in rows]
    rule = "|".join("-" * (wide + 1) + (":" if side == ">" else "-") for side, wide in zip(align, width, strict=True))
    return [lines[0], f"|{rule}|", *lines[1:]]


def main() -> int:
    parser = argparse.ArgumentParser(description="Speed, memory and first use of vambrace, beside its peers.")
    parser.add_argument("--quick", action="store_true", help="fewer passes, shorter runs: a look, not a record")
    parser.add_argument("--peers", type=Path, metavar="DIR", help="the peers' environments (default: no peers)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every figure there")
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="write the table there")
    args = parser.parse_args()
    load = f"load before {os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else "load unknown"
    with progress() as say:
        bench = Bench(args.quick, args.peers, say)
        for measure in (speed, threads, peers, live, fresh_processes):
            measure(bench)
    versions = [f"{name} {version(name)}" for name in ("vambrace", "numba", "numpy")]
    system = f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}"
    where = ", ".join([system, *versions, load, *["quick"] * args.quick])
    text = [*table(bench.figures), "", where, *bench.notes]
    missed = (figure.cells() for figure in bench.figures if figure.met is False)
    verdict = [f"MISSED  {row[0]}: {row[1]}: {row[3] or row[2]}, target {row[4]}" for row in missed]
    print("\n".join([*text, "", *(verdict or ["Every target was met."])]))
    if args.markdown is not None:
        args.markdown.write_text("\n".join([*text, ""]), encoding="utf-8")
    if args.json is not None:
        found = {"where": where, "notes": bench.notes, "figures": [asdict(f) | {"met": f.met} for f in bench.figures]}
        args.json.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    return int(bench.failed)


if __name__ == "__main__":
    sys.exit(main())
