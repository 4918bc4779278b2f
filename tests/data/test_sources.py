"""Files, patterns, streams and frames: what can be read, and what is refused."""

import hashlib
import io
from pathlib import Path

import pytest

from small_log import FRAME, READING, read, written
from vambrace import data
from vambrace.errors import InvalidParameter


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".jsonl", ".parquet", ".csv.gz", ".tsv.gz", ".jsonl.gz"])
def test_a_stream_shows_what_it_is(ending: str) -> None:
    with data.spooled(io.BytesIO(written(ending)), "standard input") as spooled:
        assert spooled.path.name == f"spooled{ending.removesuffix('.gz')}"
        assert read(spooled) == read([spooled]) == READING
        assert data.title([spooled, FRAME]) == "standard input and 1 more"
    assert not spooled.path.parent.exists()


@pytest.mark.parametrize("content", [b"", b"\x1f\x8b", b"\x1f\x8bjunk", b"PAR1", b"\xff\xfe\x00", b"{"])
def test_a_stream_of_anything_is_one_line(content: bytes) -> None:
    with data.spooled(io.BytesIO(content), "standard input") as spooled:
        with pytest.raises(InvalidParameter) as caught:
            data.tally(spooled)
        assert str(caught.value).startswith("standard input: ")
        assert "\n" not in str(caught.value)


def test_nothing_at_all() -> None:
    with pytest.raises(InvalidParameter, match="log: expected at least one file, got none"):
        data.tally([])
    with pytest.raises(InvalidParameter, match="log: expected the name of a file, a Polars or pandas frame"):
        data.tally(3)  # type: ignore[arg-type]
    with pytest.raises(InvalidParameter, match="dict: expected at least one row, got none"):
        data.tally({"arm": [], "reward": []})


def test_a_file_counts_once(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    FRAME.write_csv(path)
    (tmp_path / "link.csv").symlink_to(path)
    link, pattern = tmp_path / "link.csv", str(tmp_path / "x*")
    different: list[data.Log] = [[path, str(path)], [path, link], [path, pattern], str(tmp_path / "*")]
    for twice in different:
        with pytest.raises(InvalidParameter, match="expected each file once, got the same file as"):
            data.tally(twice)
    assert read(tmp_path / "link.csv") == READING


def test_files_have_a_size_and_a_fingerprint(tmp_path: Path) -> None:
    paths = [tmp_path / "x.csv", tmp_path / "y.csv"]
    for path in paths:
        path.write_bytes(path.name.encode() + b",arm,reward\n1,a,1\n2,b,0\n")
    found = data.files([*paths, FRAME])
    assert [(each.name, each.size) for each in found] == [(str(path), path.stat().st_size) for path in paths]
    assert [each.sha256() for each in found] == [hashlib.sha256(path.read_bytes()).hexdigest() for path in paths]
    assert data.files(FRAME) == []


def test_pandas_frames() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(FRAME.to_dict(as_series=False))
    kinds = [
        frame,
        frame.astype({"arm": "category", "reward": "Int64"}),
        frame.astype({"reward": bool}),
        frame.astype({"arm": object, "reward": float}),
    ]
    for kind in kinds:
        assert read(kind) == READING
    frame.loc[2, "arm"] = None
    with pytest.raises(InvalidParameter, match="dataframe: column 'arm': expected a name, got nothing in row 3"):
        data.tally(frame)
    frame = kinds[1].copy()
    frame.loc[1, "reward"] = pandas.NA
    with pytest.raises(InvalidParameter, match=r"column 'reward': expected a number in .*, got nothing in row 2"):
        data.tally(frame)
    with pytest.raises(InvalidParameter, match="expected a name of its own for each column"):
        data.tally(pandas.concat([kinds[0], kinds[0]], axis=1))
    with pytest.raises(InvalidParameter, match="log: expected the name of a file, a Polars or pandas frame"):
        data.tally(kinds[0]["arm"])


@pytest.mark.parametrize("name", ["", "x" * 5000, "[x]" * 3000, "a\0b"])
def test_a_name_that_can_be_no_file(name: str) -> None:
    with pytest.raises(InvalidParameter, match=r"expected .+, got "):
        data.tally(name)
