"""The methods paragraph says what the file says, and CITATION.cff what the package is."""

import re
from pathlib import Path

from paper import fabricated
from vambrace.report.methods import paragraph
from vambrace.version import __version__

ROOT = Path(__file__).parents[2]


def test_the_paragraph_names_all_that_was_played() -> None:
    study = fabricated.study("poster", fabricated.plausible)
    text = paragraph(study)
    for game in study.experiment.games:
        assert game.line in text
    for part in (
        "ten-arms (bernoulli:means=0.95/0.9",
        "against the attack jun-ucb with budgets C of 0, 3,000, 6,000 and 9,000 (0: no attack)",
        "for 200,000 rounds",
        "played 20 times",
        "the seed 2026",
        "95 % percentile bootstrap intervals of the mean over games, from 1,000 resamples",
        "simulated with vambrace 0 (python 3)",
    ):
        assert part in text
    assert text.endswith(".")
    assert ".." not in text


def test_it_says_what_is_special() -> None:
    powers = paragraph(fabricated.study("exponents", fabricated.plausible, missing=7))
    assert "C = T^β for β = 0, 0.1, 0.2" in powers
    assert "which is exact in law" in powers
    assert "the largest mean over arms and attacks at each point" in powers
    assert re.search(r"7 of [\d,]+ games had not been played", powers)


def test_the_package_can_be_cited() -> None:
    text = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    fields = dict(re.findall(r"^([a-z-]+): *(.*)$", text, re.MULTILINE))
    assert {"cff-version", "message", "title", "authors", "version", "license", "type"} <= {*fields}
    assert fields["version"].strip('"') == __version__
    assert fields["license"] == "MIT"
    assert 'include = ["CITATION.cff"' in (ROOT / "pyproject.toml").read_text(encoding="utf-8")
