"""How a run is going, as `vambrace status --watch` shows it."""

import functools
import json
from pathlib import Path
from typing import Any

import pytest

import vambrace as vb
from vambrace import lab
from vambrace.cli import status
from vambrace.lab import cells, lock, tally
from vambrace.lab.archive import Archive

DOCUMENT: dict[str, Any] = {
    "name": "small",
    "replications": 2,
    "checkpoints": 2,
    "horizons": [20, 60],
    "policies": ["ucb1", "se"],
    "environments": {"two": "bernoulli:means=0.9/0.5"},
}


def test_the_time_left_follows_from_the_rounds_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    waiting = [*cells.expand(lab.parse(DOCUMENT)).cells.values()]
    now = [100.0]
    monkeypatch.setattr("vambrace.lab.tally.time.monotonic", lambda: now[0])
    found = tally.Tally(tmp_path, "small", waiting, kept=3)
    assert found.content()["left"] is None
    now[0] += 10.0
    found.add(waiting[0], "a:1", 9.0, failed=False)  # 20 of 160 rounds
    assert found.content()["left"] == pytest.approx(70.0)
    found.add(waiting[1], "b:2", 2.0, failed=True)
    found.add(waiting[2], "a:1", 1.5, failed=False)
    content = found.content()
    assert (content["cells"], content["done"], content["failed"]) == (7, 5, 1)
    assert content["workers"]["a:1"] == {"done": 2, "failed": 0, "seconds": 10.5}
    assert tally.going(tmp_path) is None  # nobody holds the folder
    with lock.locked(tmp_path):
        assert tally.going(tmp_path)["done"] == 3  # type: ignore[index]  # as it was when the file was written
        found.save()
        assert tally.going(tmp_path) == json.loads(json.dumps(content))
        (tmp_path / tally.NAME).write_text("{")
        assert tally.going(tmp_path) == {}
    assert status._lines(content) == [
        "small: 5 done, 1 failed of 7 cells; 10 s so far, about 6 s left",
        "  a:1: 2 done, 0 failed, 10 s of computing",
        "  b:2: 0 done, 1 failed, 2 s of computing",
    ]


def test_watching_a_run_until_it_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The folder is watched from inside of the run, at each cell; the watcher looks once and the run goes on."""
    add = Archive.add

    class Enough(Exception):
        pass

    def enough(_: float) -> None:
        raise Enough

    def watched(archive: Archive, *rest: Any) -> None:
        add(archive, *rest)
        with pytest.raises(Enough):
            status.command(tmp_path / "out", watch=True)

    monkeypatch.setattr("vambrace.cli.status.time.sleep", enough)
    monkeypatch.setattr(tally, "EVERY", 0.0)
    monkeypatch.setattr(cells, "simulate", functools.partial(vb.simulate, interpret=True))
    with monkeypatch.context() as patch:
        patch.setattr(Archive, "add", watched)
        lab.run(lab.parse(DOCUMENT), tmp_path / "out", workers=1)
    lines = capsys.readouterr().out.splitlines()
    assert [line.partition(" of")[0] for line in lines] == [f"small: {done} done, 0 failed" for done in range(4)]
    status.command(tmp_path / "out", watch=True)
    assert capsys.readouterr().out == f"small: 4 done of 4 cells in {tmp_path / 'out'}\n"


@pytest.mark.parametrize(
    ("seconds", "words"), [(0.4, "0 s"), (119, "119 s"), (121, "2 min"), (7_300, "2 h"), (172_801, "2 days")]
)
def test_durations_in_words(seconds: float, words: str) -> None:
    assert status.duration(seconds) == words
