"""One run at a time in a folder, and nobody is locked out by the dead."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from vambrace.errors import StoreError
from vambrace.lab import lock

HOLD = """
import sys, time
from pathlib import Path
from vambrace.lab.lock import locked
with locked(Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(600)
"""


@pytest.fixture
def other(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """Another process, which holds the folder."""
    command = [sys.executable, "-c", HOLD, str(tmp_path)]
    path = {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=os.environ | path) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "held\n"
            yield process
        finally:
            process.kill()


def test_a_held_folder_is_refused_and_the_holder_named(tmp_path: Path, other: subprocess.Popen[str]) -> None:
    name = f"process {other.pid}"
    assert lock.holder(tmp_path) == name
    words = f"{tmp_path}: expected a folder that nobody is using, got one in use by {name}"
    with pytest.raises(StoreError, match=f"^{re.escape(words)}$"), lock.locked(tmp_path):
        pytest.fail("two held the folder")
    assert lock.holder(tmp_path) == name, "who was refused has not taken it away"


def test_it_is_free_once_its_holder_is_killed(tmp_path: Path, other: subprocess.Popen[str]) -> None:
    other.kill()
    other.wait()
    assert lock.holder(tmp_path) is None
    with lock.locked(tmp_path):
        assert (tmp_path / lock.NAME).read_text(encoding="utf-8") == str(os.getpid())
    assert lock.holder(tmp_path) is None


def test_it_is_free_after_an_error(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt), lock.locked(tmp_path):
        raise KeyboardInterrupt
    with lock.locked(tmp_path):
        pass


def test_looking_leaves_no_trace(tmp_path: Path) -> None:
    assert lock.holder(tmp_path) is None
    assert list(tmp_path.iterdir()) == []
    assert lock.holder(tmp_path / "missing") is None
    assert not (tmp_path / "missing").exists()
    with lock.locked(tmp_path):
        pass
    before = (tmp_path / lock.NAME).read_bytes()
    assert lock.holder(tmp_path) is None
    assert (tmp_path / lock.NAME).read_bytes() == before == b""
