"""The methods paragraph says what the file says, and CITATION.cff what the package is."""

import dataclasses
import re
from pathlib import Path

import publishing
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


def test_late_answers_are_not_hidden() -> None:
    study = fabricated.study("radii", fabricated.plausible)
    changed = study.experiment.model_copy(update={"delay": "fixed:1000", "lost": 0.1, "arms_open": "1:1-50"})
    text = paragraph(dataclasses.replace(study, experiment=changed))
    assert "Answers came late (fixed:1000). A share of 0.1 of all answers was lost. Arms were open in these" in text


def test_the_experiment_of_the_page_is_read_and_its_pictures_are_there() -> None:
    page = (ROOT / "docs" / "publishing.md").read_text(encoding="utf-8")
    assert len({game.line for game in publishing.experiment().games}) == 8
    for name in re.findall(r"\(images/([^)]+)\)", page):
        text = (ROOT / "docs" / "images" / name).read_text(encoding="utf-8")
        assert ">kl-ucb-wr 300</text>" in text
        colours = {*re.findall(r"#[0-9a-fA-F]{6}\b", text)}
        assert all(colour[1:3] == colour[3:5] == colour[5:] for colour in colours) == ("grey" in name)


def test_the_package_can_be_cited() -> None:
    text = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    fields = dict(re.findall(r"^([a-z-]+): *(.*)$", text, re.MULTILINE))
    assert {"cff-version", "message", "title", "authors", "version", "license", "type"} <= {*fields}
    assert fields["version"].strip('"') == __version__
    assert fields["license"] == "MIT"
    assert 'include = ["CITATION.cff"' in (ROOT / "pyproject.toml").read_text(encoding="utf-8")
