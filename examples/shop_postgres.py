"""A learner in PostgreSQL, for web servers on any number of machines: here two processes with eight threads each.

    python examples/shop_postgres.py [postgresql://USER:PASSWORD@HOST/DATABASE]

Without an address it starts a small server of its own, in a temporary folder (pgserver). The calls of the threads of
one process share transactions, so eight threads need one write to disk, not eight. An arm is added while they play.
"""

import multiprocessing
import random
import sys
import tempfile
import time
import warnings
from concurrent.futures import ThreadPoolExecutor

import vambrace as vb

RATES = {"9.99": 0.10, "10.99": 0.15, "12.99": 0.50}  # unknown to the learner; the last price is added later
MACHINES, THREADS, VIEWS = 2, 8, 60


def serve(url: str, machine: int) -> None:
    """One machine: every thread serves its visitors with the same learner."""
    learner = vb.open(url, "prices")  # it is there already, with its settings

    def visit(thread: int) -> None:
        visitors = random.Random(100 * machine + thread)
        for _ in range(VIEWS):
            decision = learner.ask()
            learner.tell(decision, reward=float(visitors.random() < RATES[decision.arm]))

    with ThreadPoolExecutor(THREADS) as pool:
        list(pool.map(visit, range(THREADS)))


def play(url: str) -> None:
    """Start the machines, add an arm while they play, and print what was learned."""
    learner = vb.open(url, "prices", policy=vb.KLUCBWR(budget=2), arms=["9.99", "10.99"])
    context = multiprocessing.get_context("spawn")
    machines = [context.Process(target=serve, args=(url, number)) for number in range(MACHINES)]
    for process in machines:
        process.start()
    while learner.asked < 100:
        time.sleep(0.01)
    learner.add_arm("12.99")
    for process in machines:
        process.join()
    print(f"{MACHINES * THREADS * VIEWS} views: {learner.asked} decisions, {len(learner.open)} open")
    print(learner.explain())
    learner.close()


if __name__ == "__main__":
    if len(sys.argv) > 1:
        play(sys.argv[1])
    else:
        warnings.simplefilter("ignore")  # of a folder that pgserver would like to have
        from pgserver import get_server  # type: ignore[attr-defined]

        with tempfile.TemporaryDirectory(prefix="shop-") as folder, get_server(folder) as server:
            play(server.get_uri())
