"""A web shop with four worker processes that share one learner in a SQLite file; one of them is killed.

    python examples/shop_sqlite.py

Every process makes the same call of `vb.open`: the first makes the learner, the others join it. `ask` and `tell` return
when the event is on disk, so a process that dies takes nothing with it. On other machines too: see shop_postgres.py.
"""

import multiprocessing
import random
import tempfile
import time

import vambrace as vb

RATES = {"old": 0.10, "new": 0.15, "bold": 0.40}  # unknown to the learner
WORKERS, VIEWS = 4, 600


def open_learner(url: str) -> vb.DurableLearner:
    """The learner, for every process. A view without a click for an hour counts as no click."""
    policy = vb.KLUCBWR(budget=5)  # 5 fake clicks must not mislead it
    return vb.open(url, "headlines", policy=policy, arms=list(RATES), expires_after=3_600, default_reward=0.0)


def serve(url: str, worker: int) -> None:
    """One worker: show a headline to each visitor, and tell whether it was clicked."""
    learner, visitors = open_learner(url), random.Random(worker)
    for view in range(VIEWS):
        decision = learner.ask(key=f"worker-{worker}-view-{view}")  # the same key gets the same decision, also later
        clicked = visitors.random() < RATES[decision.arm]
        learner.tell(decision, reward=float(clicked))  # sent twice it counts once


def main() -> None:
    """Start the workers, kill one of them on the way, start it again, and print what was learned."""
    with tempfile.TemporaryDirectory() as folder:
        url = f"sqlite:///{folder}/shop.db"
        learner = open_learner(url)
        context = multiprocessing.get_context("spawn")
        workers = [context.Process(target=serve, args=(url, number)) for number in range(WORKERS)]
        for process in workers:
            process.start()
        while learner.asked < VIEWS:  # of all workers together
            time.sleep(0.01)
        workers[0].kill()  # as with kill -9
        workers[0].join()
        print("one worker was killed; it starts again, with the same views")
        workers[0] = context.Process(target=serve, args=(url, 0))
        workers[0].start()
        for process in workers:
            process.join()
        print(f"{WORKERS} workers, {WORKERS * VIEWS:,} views: {learner.asked:,} decisions, {len(learner.open)} open")
        print(learner.explain())
        learner.close()


if __name__ == "__main__":
    main()
