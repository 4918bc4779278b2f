"""The glossary: short, in order, and what it says is in the code is there."""

import re
from pathlib import Path

import vambrace as vb

PAGE = (Path(__file__).parents[2] / "docs/glossary.md").read_text(encoding="utf-8")
ROWS = [re.split(r" (?<!\\\\)\| ", row.strip("| ")) for row in re.findall(r"^\| (?!word).+\|$", PAGE, re.MULTILINE)]


def test_it_has_at_most_forty_words_each_once_and_in_order() -> None:
    words = [row[0] for row in ROWS]
    assert 20 < len(words) <= 40
    assert words == sorted({*words}, key=str.lower)


def test_every_public_name_that_it_mentions_exists() -> None:
    named = re.findall(r"`@?vb\.(\w+)", PAGE)
    assert len(named) > 5
    assert {*named} <= {*vb.__all__}
