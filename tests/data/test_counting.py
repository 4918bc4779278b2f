"""Logs added up: in one pass, in pieces, from a stream, and never more in memory than it takes."""

import gzip
import io
import re
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vambrace import data
from vambrace.data import columns, counting, text
from vambrace.errors import InvalidParameter

FRAME = pl.DataFrame({"arm": ["b", "a", "b", "b"], "reward": [1, 0, 1, 0]})
TALLY = data.Tally(("a", "b"), (1, 3), (0, 2), True)
COLUMNS = {"arm": "arm", "reward": "reward"}


def read(source: Any) -> data.Reading:
    """Without the name, which differs."""
    found = data.tally(source)
    assert found.name
    return found._replace(name="")


READING = data.Reading("", {"": TALLY}, COLUMNS)


def written(ending: str) -> bytes:
    file = io.BytesIO()
    if "parquet" in ending:
        FRAME.write_parquet(file)
    elif "jsonl" in ending:
        FRAME.write_ndjson(file)
    else:
        FRAME.write_csv(file, separator="\t" if "tsv" in ending else ",")
    return gzip.compress(file.getvalue()) if ending.endswith(".gz") else file.getvalue()


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


rewards = st.one_of(st.sampled_from([0.0, 1.0]), st.floats(0, 1))


@given(st.lists(st.tuples(st.sampled_from("xyz"), st.sampled_from("abc"), rewards), min_size=1, max_size=30), st.data())
def test_sums_are_those_of_a_plain_loop(rows: list[tuple[str, str, float]], draws: Any) -> None:
    cut = draws.draw(st.integers(0, len(rows)))
    pieces = [
        {"exp": [x for x, _, _ in part], "arm": [a for _, a, _ in part], "reward": [r for _, _, r in part]}
        for part in (rows[:cut], rows[cut:])
        if part
    ]
    found = data.tally(pieces, data.Columns(test="exp")).tests
    assert list(found) == sorted({test for test, _, _ in rows})
    for test, tally in found.items():
        mine = [(arm, reward) for name, arm, reward in rows if name == test]
        assert tally.labels == tuple(sorted({arm for arm, _ in mine}))
        per_arm = [[reward for arm, reward in mine if arm == label] for label in tally.labels]
        assert tally.events == tuple(len(each) for each in per_arm)
        assert tally.totals == pytest.approx([sum(each) for each in per_arm])
        assert tally.binary == all(reward in (0.0, 1.0) for _, reward in mine)


@given(
    st.floats(-1e6, 1e6),
    st.floats(1e-3, 1e6),
    st.lists(st.sampled_from([0.0, 1.0, 0.5]), min_size=1, max_size=20),
)
def test_a_range_is_shifted_and_stretched(low: float, width: float, units: list[float]) -> None:
    high = low + width
    values = [low if unit == 0.0 else high if unit == 1.0 else (low + high) / 2 for unit in units]
    (tally,) = data.tally({"arm": ["a"] * len(values), "reward": values}, reward_range=(low, high)).tests.values()
    assert tally.totals[0] == pytest.approx(sum(units), abs=1e-5)
    assert 0 <= tally.totals[0] <= len(units)
    assert tally.binary == (0.5 not in units)


def test_the_arms_of_a_table_keep_their_order_and_those_of_a_log_get_one() -> None:
    table = {"arm": ["10", "9", "b"], "events": [5, 5, 5], "successes": [1, 2, 3]}
    assert data.tally(table).tests[""].labels == ("10", "9", "b")
    assert data.tally({"arm": [10, 9, 11], "reward": [0, 1, 1]}).tests[""].labels == ("9", "10", "11")


def test_one_column_is_not_two() -> None:
    log = {"arm": [1, 2], "exp": [1, 1], "reward": [1, 0]}
    for arm, reward, group in (("arm", "reward", "arm"), ("arm", "arm", "exp"), ("arm", "exp", "exp")):
        with pytest.raises(InvalidParameter, match=r"dict: expected a column of its own for each use, got '(arm|exp)'"):
            data.tally(log, data.Columns(group, arm, reward))


def test_names_that_differ_in_case_only_can_both_be_named() -> None:
    log = {"Arm": ["x", "y"], "arm": ["a", "b"], "reward": [1, 0]}
    assert data.tally(log, data.Columns(arm="Arm")).tests[""].labels == ("x", "y")
    assert data.tally(log, data.Columns(arm="arm")).tests[""].labels == ("a", "b")


def test_the_page_lists_the_names_that_are_understood() -> None:
    page = (Path(__file__).parents[2] / "docs" / "certify.md").read_text(encoding="utf-8")
    for name in (*columns.ARMS, *columns.REWARDS, *columns.EVENTS, *columns.SUCCESSES):
        assert f"`{name}`" in page


def test_pieces_that_belong_to_different_tests_are_not_mixed() -> None:
    pieces = [FRAME.with_columns(test=pl.lit(name)) for name in ("one", "two")]
    for wanted in (data.Columns(), data.Columns(test="test")):
        assert data.tally(pieces, wanted).tests == {"one": TALLY, "two": TALLY}
    assert data.tally(pieces[0]).tests == {"one": TALLY}


def test_a_log_is_read_in_one_pass(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One aggregation."""
    path = tmp_path / "log.parquet"
    FRAME.write_parquet(path)
    collected: list[str] = []
    collect = pl.LazyFrame.collect

    def watched(frame: pl.LazyFrame, **options: Any) -> Any:
        assert options["engine"] == "streaming"
        plan = frame.explain()
        if "log.parquet" in plan:
            collected.append(plan)
        return collect(frame, **options)

    monkeypatch.setattr(pl.LazyFrame, "collect", watched)
    data.tally(path)
    assert len(collected) == 1
    assert "AGGREGATE" in collected[0]


def test_nothing_at_all() -> None:
    with pytest.raises(InvalidParameter, match="log: expected at least one file, got none"):
        data.tally([])
    with pytest.raises(InvalidParameter, match="log: expected the name of a file, a Polars or pandas frame"):
        data.tally(3)  # type: ignore[arg-type]
    with pytest.raises(InvalidParameter, match="dict: expected at least one row, got none"):
        data.tally({"arm": [], "reward": []})


# ----------------------------------------------------------------------------------------------------------- text files

LINES = "arm,reward,note\nb,1,x\na,0,y\nb,1,z\nb,0,w\n"
SAME = {  # other ways to write LINES
    "byte order mark": f"\ufeff{LINES}",
    "windows": LINES.replace("\n", "\r\n"),
    "no end of line": LINES[:-1],
    "blank lines": "\n" + LINES.replace("a,", "\na,") + "\n\n\n",
    "windows' blank lines": f"{LINES}\n\n".replace("\n", "\r\n"),
    "rows of a spreadsheet": f"{LINES},,\n,,\n",
    "semicolons": LINES.replace(",", ";"),
    "tabs": LINES.replace(",", "\t"),
    "comma in a header": LINES.replace(",", "\t").replace("note", "note, if any"),
    "quoted": '"' + LINES.replace(",", '","').replace("\n", '"\n"')[:-1],
    "line feeds in a field": LINES.replace(",y", ',"say ""y"",\n\nor z"'),
    "words": LINES.replace(",1,", ",True,").replace(",0,", ", false ,"),
}


@pytest.mark.parametrize("text", SAME.values(), ids=SAME)
@pytest.mark.parametrize("stream", [False, True])
def test_a_text_may_be_written_in_many_ways(tmp_path: Path, text: str, stream: bool) -> None:
    path = tmp_path / ("x.tsv" if "if any" in text else "x.csv")
    path.write_text(text, encoding="utf-8", newline="")
    if not stream:
        assert read(path) == READING
        return
    with path.open("rb") as file, data.spooled(file, "standard input") as spooled:
        assert read(spooled) == READING


BAD_TEXTS: dict[str, tuple[bytes, str]] = {
    "too many fields": (
        b"arm,reward,x,y\na,1,2,3\nb,0,1,2,3\n",
        "line 3: expected 4 fields, as many as the header has",
    ),
    "too few fields": (b"user,arm,reward,x\n1,a,1,0\na,1,0\n", "line 3: expected 4 fields, .*, got 3"),
    "blanks": (b"arm,reward\na,1\nb,0\n  \n", "line 4: expected 2 fields, .*, got 1"),
    "quotation mark in a field": (
        b'arm,reward,x\na,1,5" y\nb,0,z\nb,1,6" y\n',
        "line 2: expected quotation marks around",
    ),
    "and after one": (b'arm,reward,x\na,1,z\nb,0,"x"y\n', "line 3: expected quotation marks around whole fields"),
    "open quotation mark": (b'arm,reward,x\na,1,z\nb,0,"x\nb,1,z\n', "line 3: expected a closing quotation mark"),
    "latin-1": (b"arm,reward\na,1\nb,0\n\xe9,1\n", "line 4: expected text in UTF-8, got the byte 0xe9"),
    "zero byte": (b"arm,reward\na,1\nb\0,0\n", "line 3: expected text in UTF-8, got a byte 0x00"),
    "carriage returns": (b"arm,reward\ra,1\rb,0\r", "expected lines that end in a line feed"),
    "utf-16": ("arm,reward\na,1\nb,0\n".encode("utf-16"), "expected text, got UTF-16, which can be saved as UTF-8"),
    "spreadsheet": (b"PK\x03\x04...", "expected text, got a ZIP archive or a spreadsheet"),
    "packed twice": (gzip.compress(gzip.compress(LINES.encode())), "expected text, got a file compressed twice"),
    "packed junk": (gzip.compress(bytes(range(256)) * 9), "line 1: expected text in UTF-8, got a byte 0x00"),
    "cut": (gzip.compress(LINES.encode() * 99)[:-9], "expected a table that can be read, got Compressed file ended"),
    "damaged": (
        gzip.compress(LINES.encode() * 99)[:10] + b"\xff" * 90,
        "expected a table that can be read, got Error -3",
    ),
    "a name without end": (
        b"x" * 200_000 + b",arm,reward\n1,a,1\n",
        "expected a table that can be read, got field larger",
    ),
    "one column": (
        b"arm|reward\na|1\n",
        r"expected columns with commas or tabs or semicolons between them, got 'arm\|r",
    ),
    "nothing but line feeds": (b"\n\r\n\n", "expected a header and rows, got an empty file"),
    "two rewards": (b"arm,reward,reward\na,1,0\nb,0,1\n", "expected one column 'reward', got several of this name"),
    "decimal commas": (b"arm;reward\na;0,5\nb;1,0\n", r"expected a number in \[0, 1\] .* got '0,5' in row 1"),
    "a bad row after blank ones": (b"arm,reward\na,1\n\n\nb,7\n", r"expected a number .*, got '7' in row 4"),
}


@pytest.mark.parametrize(("content", "message"), BAD_TEXTS.values(), ids=BAD_TEXTS)
def test_what_is_wrong_with_a_text_is_said_with_its_line(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "x.csv"
    path.write_bytes(content)
    with pytest.raises(InvalidParameter, match=f"^{path}: (column 'reward': )?{message}"):
        data.tally(path)


BAD_JSON = {
    b'{"arm": "b", "reward": 0\n': """line 2001: expected a JSON object, got '{"arm": "b", "reward": 0'""",
    b'{"arm": "b", "reward": 0} {}\n': "line 2001: expected a JSON object, got ",
    b'{"arm": "b", "reward": NaN}\n': "line 2001: expected numbers, got NaN, which JSON does not know",
    b'{"arm": "\xe9", "reward": 0}\n': "line 2001: expected text in UTF-8, got the byte 0xe9",
    b"[1, 2]\n": "line 2001: expected a JSON object, got '[1, 2]'",
    b'{"arm": "b"}\n': "column 'reward': expected a number in [0, 1] (a reward range rescales others), got nothing in",
    b'{"arm": null, "reward": 0}\n': "column 'arm': expected a name, got nothing in row 2001",
    b"{}\n": "column 'arm': expected a name, got nothing in row 2001",
}


@pytest.mark.parametrize("first", [False, True])
@pytest.mark.parametrize(("line", "message"), BAD_JSON.items())
def test_a_bad_json_line_is_named(tmp_path: Path, line: bytes, message: str, first: bool) -> None:
    path = tmp_path / "x.jsonl"
    good = b'{"arm": "a", "reward": 1}\n' * 2000  # more than the lines that tell the columns
    path.write_bytes(line + good if first else good + line)
    with pytest.raises(InvalidParameter) as caught:
        data.tally(path)
    assert (
        str(caught.value)
        .replace("2,001", "2001")
        .startswith(f"{path}: {message.replace('2001', '1') if first else message}")
    )


@pytest.mark.parametrize("junk", [b"\xef\xbb\xbf" + written(".jsonl"), b"", b"[\n", written(".parquet")])
def test_what_no_json_line_begins_with(tmp_path: Path, junk: bytes) -> None:
    path = tmp_path / "x.jsonl"
    path.write_bytes(junk)
    with pytest.raises(InvalidParameter, match=r"expected .+, got (a byte order|an empty file|'\['|a Parquet file)"):
        data.tally(path)


def test_a_text_is_looked_over_in_pieces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Wherever they end: in a field, in a line or after it."""
    path = tmp_path / "x.csv"
    row = 'a,"1","two\nlines, ""or"" three"\n'
    path.write_text("arm,reward,x\n" + row * 20 + "b,0,x\n\n" + row + 'b,0,"x"y\n', encoding="utf-8")
    for piece in range(1, 70):
        monkeypatch.setattr(text, "PIECE", max(piece, 40) if piece > 40 else piece + 40)
        with pytest.raises(InvalidParameter, match="line 46: expected quotation marks around whole fields"):
            data.tally(path)
    path.write_text("arm,reward,x\n" + row * 20 + "b,0,x\n", encoding="utf-8")
    for piece in range(40, 110):
        monkeypatch.setattr(text, "PIECE", piece)
        assert data.tally(path).tests[""] == data.Tally(("a", "b"), (20, 1), (20, 0), True)


def test_lines_and_fields_without_an_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "x.csv"
    path.write_text(f"arm,reward\na,1\nb,{'0' * 200}\n", encoding="utf-8")
    monkeypatch.setattr(text, "PIECE", 100)
    with pytest.raises(InvalidParameter, match="after line 1: expected rows shorter than 100 bytes"):
        data.tally(path)
    monkeypatch.setattr(text, "LONGEST_FIELD", 10)
    path.write_text('arm,reward,x\na,1,z\nb,0,"x\n' + "b,1,z\n" * 50 + 'b,1,"\n', encoding="utf-8")
    with pytest.raises(InvalidParameter, match="line 3: expected a closing quotation mark"):
        data.tally(path)


# ---------------------------------------------------------------------------------------------------- names of the arms


@pytest.mark.parametrize("missing", [None, "", "  ", "nan", "NaN", "NULL", "<NA>"])
@pytest.mark.parametrize("key", ["arm", "test"])
def test_a_missing_name_is_no_arm(missing: str | None, key: str) -> None:
    log = FRAME.with_columns(test=pl.lit("t"))
    bad = log.with_columns(pl.when(pl.int_range(4) == 2).then(pl.lit(missing)).otherwise(pl.col(key)).alias(key))
    came = "nothing" if missing is None else repr(missing)
    for source in (bad, bad[1:3].select("test", "arm", events=1, successes="reward")):
        with pytest.raises(InvalidParameter, match=f"column '{key}': expected a name, got {came} in row"):
            data.tally(source, data.Columns(test="test"))


def test_a_number_that_is_none_is_no_arm() -> None:
    with pytest.raises(InvalidParameter, match="column 'arm': expected a name, got 'NaN' in row 2"):
        data.tally({"arm": [1.0, float("nan")], "reward": [0, 1]})
    assert data.tally({"arm": ["none", "NA"], "reward": [0, 1]}).tests[""].labels == ("NA", "none")


@pytest.mark.parametrize("twin", ["b ", " b", "b\u00a0", "b\u200b", "b\t"])
def test_names_that_look_alike_are_not_two_arms(twin: str, tmp_path: Path) -> None:
    both = re.escape(f"{'b'!r} and {twin!r}")
    parts = [FRAME, FRAME.with_columns(pl.col("arm").replace("b", twin))]
    for source in (pl.concat(parts), parts):
        with pytest.raises(InvalidParameter, match=f"column 'arm': expected one way to write each name, got {both}"):
            data.tally(source)
    with pytest.raises(InvalidParameter, match=f"expected one way to write each name, got {both}"):
        data.tally({"exp": ["b", "b", twin], "arm": [1, 2, 1], "reward": [0, 1, 1]}, data.Columns(test="exp"))
    table = {"arm": ["b", twin], "events": [5, 5], "successes": [1, 2]}
    with pytest.raises(InvalidParameter, match=f"expected one way to write each name, got {both}"):
        data.tally(table)
    with pytest.raises(InvalidParameter, match="expected one way to write each name, got"):
        data.read_test(pl.concat(parts), data.Columns())


def test_names_that_are_seen_to_differ_are_arms() -> None:
    with pytest.raises(InvalidParameter, match=r"got '1' and '1\.0'"):
        data.tally([{"arm": [1, 2], "reward": [0, 1]}, {"arm": [1.0], "reward": [1]}])
    for names in (["a", "A"], ["7", "007"], ["1.5", "1.50"], ["a b", "ab"], ["e\u0301", "e"], ["1e2", "100"]):
        assert set(data.tally({"arm": names, "reward": [0, 1]}).tests[""].labels) == {*names}


# -------------------------------------------------------------------------------------------------------------- sources


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


def test_pieces_are_pieces_of_the_same(tmp_path: Path) -> None:
    other = FRAME.rename({"reward": "clicked"})
    with pytest.raises(
        InvalidParameter, match=r"dataframe: expected the columns of dataframe \(arm, reward; .*\), got arm, clicked"
    ):
        data.tally([FRAME, other])
    with pytest.raises(InvalidParameter, match=r"got arm, events, successes"):
        data.tally([FRAME, {"arm": ["a", "b"], "events": [5, 5], "successes": [1, 2]}])
    assert data.tally([FRAME, FRAME.rename({"arm": " ARM "})]).tests[""].events == (2, 6)


def test_no_column_is_in_the_way() -> None:
    names = ["row of the source", "row", "empty", "room", "number", "written", "total", "between", "len"]
    log = FRAME.with_columns(pl.lit(7).alias(name) for name in names)
    assert read(log) == READING
    assert data.read_test(log, data.Columns()) == (TALLY, None)
    assert data.read_test(log.with_columns(reward=pl.col("reward") / 4 + 0), data.Columns())[1] == (
        0.0,
        0.0,
        0.25,
        0.25,
    )
    with pytest.raises(InvalidParameter, match="got 9 in row 5"):
        data.tally(log.vstack(log[:1].with_columns(reward=pl.lit(9, pl.Int64))))
    table = pl.DataFrame({"arm": ["a", "b"], "events": [5, 6], "successes": [1, 2]})
    table = table.with_columns(pl.lit(7).alias(name) for name in names)
    assert data.tally(table).tests[""] == data.Tally(("a", "b"), (5, 6), (1, 2), True)


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


def test_a_log_that_looks_like_a_table_need_not_fit_into_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counting, "MOST_ROWS", 2)
    log = {"arm": ["a", "b", "a"], "views": [1, 1, 1], "clicks": [0, 1, 1]}
    with pytest.raises(InvalidParameter, match=r"expected one row for each arm .*, got more"):
        data.tally(log)
    with pytest.raises(InvalidParameter, match=r"expected one row for each arm .*, got 'a' in row 2"):
        data.tally({**log, "arm": ["a", "a", "b"]})


def test_a_narrow_range_is_a_range() -> None:
    for low, high in ((0.0, 1e-300), (-1e-200, 1e-200), (1e6, 1e6 + 1e-9), (0.0, 49.0), (-0.1, 0.2)):
        log = {"arm": ["a", "a", "b"], "reward": [low, high, high]}
        assert data.tally(log, reward_range=(low, high)).tests[""] == data.Tally(("a", "b"), (2, 1), (1, 1), True)
    inside = {"arm": ["a", "b"], "reward": [0.0, 1e-200]}
    assert data.tally(inside, reward_range=(-1e-200, 3e-200)).tests[""].totals == (0.25, 0.5)
    with pytest.raises(InvalidParameter, match="got 1e-200 in row 2"):
        data.tally(inside, reward_range=(-1e-200, 0.9e-200))
