"""Text files: many ways to write the same log, and each mistake with its line."""

import gzip
from pathlib import Path

import pytest

from small_log import READING, read, written
from vambrace import data
from vambrace.data import text
from vambrace.errors import InvalidParameter

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
    "utf-16": (
        "arm,reward\na,1\nb,0\n".encode("utf-16"),
        "expected text, got UTF-16 \\(save it as UTF-8, which Excel calls CSV UTF-8\\)",
    ),
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
        assert data.tally(path).tests[""] == data.Tally(("a", "b"), (20, 1), (20, 0), (20, 0), True)


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
