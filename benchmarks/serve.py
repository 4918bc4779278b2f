"""The service under load, beside an empty endpoint of the same framework, in one run; and its memory.

python benchmarks/serve.py [--seconds 1.5] [--rounds 8] [--events 1000000] [--markdown FILE]

- empty: FastAPI answers {} to a POST, with the same server and the same settings; no key, no body, no database;
- SQLite and PostgreSQL: 32 connections, each asks and tells in turn, with an API key. Each answer comes when the event
  is on disk. "with keys" gives every ask an idempotency key, as `vb.connect` does.

They take turns, and the best of the rounds counts. The load comes from this process, on the other core: its share of
the time is printed, since a generator that is always busy would measure itself. PostgreSQL is started for this.

A slow or busy disk limits every durable call. TMPDIR=/dev/shm puts the databases into memory, and shows the rest.
"""

import argparse
import asyncio
import itertools
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import uvloop

from journal import databases  # type: ignore[import-not-found]  # beside this file
from vambrace.serve import keys, tables

CONNECTIONS = 32
WANTED = {"SQLite": 0.25, "PostgreSQL": 0.15}
WORST = 20.0  # p99 as a multiple of p50
EMPTY = """
import socket, sys
import uvicorn
from fastapi import FastAPI

app = FastAPI()

@app.post("/empty")
async def empty() -> dict[str, str]:
    return {}

listener = socket.socket()
listener.bind(("127.0.0.1", 0))
listener.listen(128)
print(f"serves on http://127.0.0.1:{listener.getsockname()[1]} ", flush=True)
config = uvicorn.Config(app, access_log=False, log_config=None, ws="none", server_header=False)
uvicorn.Server(config).run(sockets=[listener])
"""


class Measured(NamedTuple):
    """What one kind of load gave: a round trip is a request, or an ask and its tell."""

    rate: float  # round trips per second
    p50: float  # seconds
    p99: float
    busy: float  # share of the time that the generator worked


class Client(asyncio.Protocol):
    """A connection that sends, waits for the answer, and sends again. Subclasses say what."""

    def __init__(self, head: str, ends: float, times: list[float]) -> None:
        self._head, self._ends, self._times = head, ends, times
        self._buffer, self._begun = b"", 0.0
        self.done = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: Any) -> None:
        self._transport = transport
        self._begun = time.perf_counter()
        self.first()

    def post(self, path: str, body: bytes) -> None:
        head = f"POST {path} HTTP/1.1\r\n{self._head}Content-Length: {len(body)}\r\n\r\n"
        self._transport.write(head.encode() + body)

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        end = self._buffer.find(b"\r\n\r\n")
        if end < 0:
            return
        head = self._buffer[:end].lower()
        at = head.index(b"content-length: ") + 16
        length = int(head[at : at + 12].split(b"\r")[0])
        if len(self._buffer) < end + 4 + length:
            return
        if not head.startswith(b"http/1.1 200"):
            self.done.set_exception(RuntimeError(self._buffer.decode()))
            return
        body, self._buffer = self._buffer[end + 4 :], b""
        self.next(body)

    def completed(self) -> None:
        """A round trip is complete; begin the next, or stop."""
        now = time.perf_counter()
        self._times.append(now - self._begun)
        self._begun = now
        if now < self._ends:
            self.first()
        else:
            self._transport.close()
            self.done.set_result(None)

    def connection_lost(self, error: Exception | None) -> None:
        if not self.done.done():
            self.done.set_exception(ConnectionError("the server closed a connection"))

    def first(self) -> None:
        self.post("/empty", b"")

    def next(self, body: bytes) -> None:
        self.completed()


class Shopper(Client):
    """Asks, and tells the answer."""

    path = "/v1/experiments/headlines"
    numbers = itertools.count()
    run = os.getpid()
    with_keys = False

    def first(self) -> None:
        key = f'{{"key":"{self.run}-{next(self.numbers)}"}}' if self.with_keys else "{}"
        self.post(f"{self.path}/ask", key.encode())

    def next(self, body: bytes) -> None:
        if body.startswith(b'{"results"'):
            if b'"applied"' not in body:
                raise RuntimeError(body.decode())
            self.completed()
        else:
            at = body.index(b'"id":"') + 6
            self.post(f"{self.path}/tell", b'{"id":"%b","reward":1.0}' % body[at : body.index(b'"', at)])


class KeyedShopper(Shopper):
    """The same, as `vb.connect` does it: each ask has an idempotency key."""

    with_keys = True


async def _load(kind: type[Client], address: str, key: str, seconds: float) -> Measured:
    host, port = address.removeprefix("http://").split(":")
    head = f"Host: {host}\r\nContent-Type: application/json\r\nAuthorization: Bearer {key}\r\n"
    loop, times = asyncio.get_running_loop(), list[float]()
    begun, worked = time.perf_counter(), time.process_time()
    made = [
        await loop.create_connection(lambda: kind(head, begun + seconds, times), host, int(port))
        for _ in range(CONNECTIONS)
    ]
    await asyncio.gather(*(client.done for _, client in made))
    wall, worked = time.perf_counter() - begun, time.process_time() - worked
    times.sort()
    return Measured(len(times) / wall, times[len(times) // 2], times[int(len(times) * 0.99)], worked / wall)


def load(kind: type[Client], address: str, key: str, seconds: float) -> Measured:
    return uvloop.run(_load(kind, address, key, seconds))


@contextmanager
def started(*command: str) -> Iterator[tuple[str, int]]:
    """The address and the number of a process that says where it serves."""
    process = subprocess.Popen([sys.executable, *command], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        found = re.search(r"http://[\d.]+:\d+", process.stdout.readline())
        assert found is not None
        yield found[0], process.pid
    finally:
        process.terminate()
        process.wait()


@contextmanager
def service(url: str) -> Iterator[tuple[str, int, str]]:
    """A service with an experiment: its address, its process and a key."""
    import vambrace as vb

    database = tables.opened(url)
    key, _ = keys.create(database, name="load", roles=("ask", "tell", "read", "admin"), experiments=None, lifetime=None)
    database.close()
    with started("-m", "vambrace.cli", "serve", "--db", url, "--port", "0") as (address, process):
        arms = [f"arm {at}" for at in range(10)]
        vb.connect(address, "headlines", key=key, policy="kl-ucb-wr:budget=20", arms=arms).close()
        yield address, process, key


def disk(folder: Path) -> float:
    """How long the disk takes to confirm a write: no durable call can be faster. The median, in seconds."""
    times = []
    with tempfile.NamedTemporaryFile(dir=folder) as file:
        for _ in range(100):
            file.write(bytes(4_096))
            file.flush()
            begun = time.perf_counter()
            os.fdatasync(file.fileno())
            times.append(time.perf_counter() - begun)
    return sorted(times)[50]


def speed(urls: dict[str, str], seconds: float, rounds: int) -> list[str]:
    best: dict[str, Measured] = {}
    with started("-c", EMPTY) as (empty, _), service(urls["SQLite"]) as lite, service(urls["PostgreSQL"]) as postgres:
        kinds = {
            "empty endpoint": (Client, empty, "none"),
            "SQLite": (Shopper, lite[0], lite[2]),
            "SQLite, with keys": (KeyedShopper, lite[0], lite[2]),
            "PostgreSQL": (Shopper, postgres[0], postgres[2]),
            "PostgreSQL, with keys": (KeyedShopper, postgres[0], postgres[2]),
        }
        for _, (name, kind) in itertools.product(range(rounds), kinds.items()):
            found = load(*kind, seconds)
            best[name] = max(best.get(name, found), found)
    wait = disk(Path(urls["SQLite"].removeprefix("sqlite:///")).parent)
    lines = [
        f"{CONNECTIONS} connections, ask and tell in turn; the best of {rounds} rounds of {seconds:g} s each; "
        f"the disk confirms a write in {wait * 1e3:.1f} ms",
        "",
        "| | per second | p50 | p99 | p99 / p50 | of the empty endpoint | generator busy |",
        "|---|---:|---:|---:|---:|---:|---:|",
    ]
    for name, each in best.items():
        share, worst = each.rate / best["empty endpoint"].rate, each.p99 / each.p50
        verdict = ""
        if name in WANTED:
            verdict = " ok" if share >= WANTED[name] and worst <= WORST else " MISSED"
            verdict = f" (wanted {WANTED[name]}){verdict}"
        what = "requests" if name == "empty endpoint" else "pairs"
        lines.append(
            f"| {name} | {each.rate:,.0f} {what} | {each.p50 * 1e3:.1f} ms | {each.p99 * 1e3:.1f} ms | {worst:.1f} | "
            f"{share:.2f}{verdict} | {each.busy:.0%} |"
        )
    return lines


def resident(process: int) -> float:
    """Megabytes in memory now."""
    found = re.search(r"VmRSS:\s+(\d+) kB", Path(f"/proc/{process}/status").read_text(encoding="utf-8"))
    assert found is not None
    return int(found[1]) / 1_024


def memory(url: str, events: int) -> list[str]:
    """Memory and disk after a tenth of the events, and after all of them."""
    import vambrace as vb

    sizes: list[float] = []
    with service(url) as (address, process, key), vb.connect(address, "headlines", key=key, patience=60.0) as learner:
        done, begun = 0, time.perf_counter()
        for goal in (events // 10, events):
            while done < goal:
                decisions = learner.ask_many(500)
                learner.tell_many([(each, float(each.arm == "arm 3")) for each in decisions])
                done += 1_000
            sizes.append(resident(process))
        seconds = time.perf_counter() - begun
    disk = sum(path.stat().st_size for path in Path(url.removeprefix("sqlite:///")).parent.iterdir())
    grown = sizes[1] / sizes[0] - 1
    verdict = "ok" if abs(grown) <= 0.1 else "MISSED"
    return [
        f"memory: {sizes[0]:.0f} MB after {events // 10:,} events, {sizes[1]:.0f} MB after {events:,} "
        f"({grown:+.1%}; wanted within 10 %) {verdict}",
        f"disk: {disk / done:.0f} bytes for each event; in batches of 500: {done / seconds:,.0f} events per second",
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=1.5)
    parser.add_argument("--rounds", type=int, default=8)
    parser.add_argument("--events", type=int, default=1_000_000, help="0: do not measure memory")
    parser.add_argument("--markdown", type=Path)
    given = parser.parse_args()
    lines: list[str] = []
    if given.rounds:
        with databases() as urls:
            lines += speed(urls, given.seconds, given.rounds)
    if given.events:
        with tempfile.TemporaryDirectory(prefix="vambrace-") as folder:
            lines += ["", *memory(f"sqlite:///{folder}/shop.db", given.events)]
    print("\n".join(lines))
    if given.markdown:
        given.markdown.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
