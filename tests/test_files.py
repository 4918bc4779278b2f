"""A file is there whole, or as it was before."""

import os
from pathlib import Path

import pytest

from vambrace.files import whole_file


def test_a_finished_file_appears_whole_in_a_new_folder(tmp_path: Path) -> None:
    path = tmp_path / "new" / "folder" / "table.v2.csv"
    with whole_file(path) as unfinished:
        assert unfinished.parent == path.parent
        assert unfinished.suffix == ".csv", "writers choose the format by it"
        unfinished.write_text("a,b\n", encoding="utf-8")
        assert not path.exists()
    assert path.read_text(encoding="utf-8") == "a,b\n"
    assert list(path.parent.iterdir()) == [path]


def test_a_finished_file_replaces_the_old_one(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text("old", encoding="utf-8")
    with whole_file(path) as unfinished:
        unfinished.write_text("new", encoding="utf-8")
    assert path.read_text(encoding="utf-8") == "new"


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
def test_after_an_error_the_old_file_is_there_and_nothing_else(tmp_path: Path, error: type[BaseException]) -> None:
    path = tmp_path / "table.csv"
    path.write_text("old", encoding="utf-8")

    def write() -> None:
        with whole_file(path) as unfinished:
            unfinished.write_text("half of the n", encoding="utf-8")
            raise error

    with pytest.raises(error):
        write()
    assert path.read_text(encoding="utf-8") == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_an_error_before_anything_was_written_is_the_one_that_comes_out(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="no data"), whole_file(tmp_path / "table.csv"):
        raise RuntimeError("no data")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(os.name == "nt", reason="Windows opens no folders")
def test_the_content_is_on_disk_before_the_name_and_the_name_before_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So that a machine that stops at any moment leaves the old file or the new one."""
    done: list[tuple[str, str]] = []
    sync, replace = os.fsync, Path.replace

    def watched_sync(descriptor: int) -> None:
        sync(descriptor)
        (name,) = (each for each in names if os.path.sameopenfile(descriptor, names[each]))
        done.append(("sync", name))

    def watched_replace(path: Path, target: Path) -> Path:
        done.append(("replace", path.name))
        return replace(path, target)

    monkeypatch.setattr(os, "fsync", watched_sync)
    monkeypatch.setattr(Path, "replace", watched_replace)
    names: dict[str, int] = {}
    path = tmp_path / "new" / "table.csv"
    with whole_file(path) as unfinished:
        unfinished.write_text("new", encoding="utf-8")
        for opened in (unfinished, path.parent, tmp_path):
            names[opened.name] = os.open(opened, os.O_RDONLY)
    for descriptor in names.values():
        os.close(descriptor)
    steps = [("sync", unfinished.name), ("replace", unfinished.name), ("sync", "new"), ("sync", tmp_path.name)]
    assert done == steps
