"""Workers are killed at random moments under load, and so is the server: nothing that was acknowledged is lost."""

import os
import random
import signal
import tempfile
import time
import warnings
from pathlib import Path

import pytest

from traffic import Traffic, kill_under_load


def kill_workers(url: str, folder: Path, kills: int, seed: int) -> Traffic:
    traffic = Traffic(url, folder, workers=4, clients=8, seed=seed)
    kill_under_load(traffic, kills, seed)
    return traffic


def test_kills_under_load(url: str, tmp_path: Path) -> None:
    traffic = kill_workers(url, tmp_path, kills=13, seed=1)
    assert len(traffic.told) >= 150
    assert traffic.retries > 0


@pytest.mark.slow  # about 40 s for each database
def test_two_hundred_kills_under_load(url: str, tmp_path: Path) -> None:
    traffic = kill_workers(url, tmp_path, kills=200, seed=2)
    assert len(traffic.told) >= 2_000
    assert traffic.outcomes["duplicate"] > 0  # answers that were on disk, though the worker died before it said so


@pytest.mark.slow  # about 30 s
def test_the_server_itself_is_killed_ten_times() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from pgserver import get_server  # type: ignore[attr-defined]

    dice = random.Random(3)
    with tempfile.TemporaryDirectory(prefix="vambrace-") as data, tempfile.TemporaryDirectory() as folder:
        server = get_server(data, cleanup_mode="stop")
        traffic = Traffic(server.get_uri(), Path(folder), workers=4, clients=8, seed=3)
        try:
            for _ in range(10):
                traffic.wait_for(200)
                time.sleep(dice.uniform(0.0, 0.2))
                number = Path(data, "postmaster.pid")
                os.kill(int(number.read_text().split()[0]), signal.SIGKILL)
                number.unlink()  # where nobody removes dead processes, their numbers look alive
                _start_again(server)
            traffic.wait_for(200)
            traffic.stop()
            traffic.check()
            assert traffic.retries > 0
        finally:
            traffic.stop()
            traffic.end_workers()
            server.cleanup()


def _start_again(server: object) -> None:
    """The other processes of the server end by themselves a moment after the first one; only then can it start."""
    for attempt in range(50):
        time.sleep(0.2)
        try:
            server.ensure_postgres_running()  # type: ignore[attr-defined]
            return
        except Exception:
            if attempt == 49:
                raise
