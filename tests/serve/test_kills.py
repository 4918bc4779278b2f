"""The service is killed at random moments while clients use it: nothing that it acknowledged is lost."""

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

pytest.importorskip("fastapi", reason="the extra vambrace[serve] is not installed")

import vambrace as vb
from http_traffic import HttpTraffic
from traffic import NAME, kill_under_load


def kill_servers(url: str, *, servers: int, kills: int, seed: int) -> HttpTraffic:
    traffic = HttpTraffic(url, workers=servers, clients=8, seed=seed)
    kill_under_load(traffic, kills, seed)
    return traffic


def test_kills_of_the_server_under_load(tmp_path: Path) -> None:
    traffic = kill_servers(f"sqlite:///{tmp_path}/shop.db", servers=1, kills=25, seed=1)
    assert len(traffic.told) >= 250
    assert traffic.retries >= 25


@pytest.mark.slow  # about 2 minutes for each database
def test_two_hundred_kills_of_the_server_under_load(url: str) -> None:
    traffic = kill_servers(url, servers=1, kills=200, seed=2)
    assert len(traffic.told) >= 2_000
    assert traffic.retries >= 200
    assert traffic.outcomes["duplicate"] > 0  # answers that were on disk, though the server died before it said so
    print(f"{len(traffic.told):,} answers acknowledged, {traffic.retries:,} retries, {dict(traffic.outcomes)}")


@pytest.mark.slow  # about 2 minutes
def test_two_hundred_kills_of_two_servers_on_one_database(server: str) -> None:
    traffic = kill_servers(server, servers=2, kills=200, seed=3)
    assert len(traffic.told) >= 2_000
    assert traffic.retries > 0


@pytest.mark.slow  # about 20 s
def test_the_same_answer_to_two_servers_at_once_counts_once(server: str) -> None:
    traffic = HttpTraffic(server, workers=2, clients=0, seed=4)
    try:
        learners = [vb.connect(address, NAME, patience=60.0) for _, address in traffic.workers]
        with ThreadPoolExecutor(50) as pool:
            for copies in range(1, 51):
                decision = learners[copies % 2].ask()
                sent = [(learners[at % 2], decision.id) for at in range(copies)]
                outcomes = Counter(pool.map(lambda each: each[0].tell(each[1], 1.0), sent))
                assert outcomes == Counter({"applied": 1, "duplicate": copies - 1})
        assert [report.answers for report in learners[0].explain().arms] == [
            report.answers for report in learners[1].explain().arms
        ]
        assert sum(report.answers for report in learners[0].explain().arms) == 50
        for learner in learners:
            learner.close()
    finally:
        traffic.end_workers()
