"""What docs/experiments.md shows is an experiment, and so is every spec that it quotes."""

import re
from pathlib import Path

import pytest

import vambrace as vb
from vambrace.lab import cells
from vambrace.lab import experiment as spec

PAGE = (Path(__file__).parents[2] / "docs" / "experiments.md").read_text(encoding="utf-8")
TOML = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)
QUOTED = sorted({*re.findall(r"""[`"]((?:se-wr|bernoulli|replay):[^`"]*)[`"]""", PAGE)})


def test_the_file_of_the_page_is_read(tmp_path: Path) -> None:
    (text,) = TOML
    path = tmp_path / "mine.toml"
    path.write_text(text, encoding="utf-8")
    experiment = spec.read(path)
    assert len(cells.expand(experiment).cells) == 9  # three policies at three budgets
    assert {game.line for game in experiment.games} == {"ucb1", "se-wr:budget=C", "pe-wr"}
    assert {game.environment for game in experiment.games} == {vb.Bernoulli([0.9, 0.8, 0.7, 0.6, 0.5])}


@pytest.mark.parametrize("text", QUOTED)
def test_a_quoted_spec_is_understood(text: str, tmp_path: Path) -> None:
    kind = "policies" if text.startswith("se-wr") else "environments"
    log = tmp_path / "clicks.csv"
    log.write_text("page,bought\na,1\nb,0\n", encoding="utf-8")
    document: dict[str, object] = {
        "name": "one",
        "horizons": [1000],
        "budgets": [10.0],
        "adversaries": ["conceal"],
        "policies": [text] if kind == "policies" else ["ucb1"],
        "environments": {"arms": text if kind == "environments" else "bernoulli:means=0.9/0.5"},
    }
    if "{clicks}" in text:
        document["data"] = {"clicks": ""}
    path = tmp_path / "one.toml"
    path.write_text(_toml(document), encoding="utf-8")
    (game,) = spec.read(path, {"clicks": log} if "{clicks}" in text else None).games
    assert game.environment.n_arms >= 2


def test_the_page_quotes_one_of_each_kind() -> None:
    assert {text.partition(":")[0] for text in QUOTED} == {"se-wr", "bernoulli", "replay"}


def _toml(document: dict[str, object]) -> str:
    tables = {key: value for key, value in document.items() if isinstance(value, dict)}
    lines = [f"{key} = {value!r}" for key, value in document.items() if key not in tables]
    for name, table in tables.items():
        lines += [f"[{name}]", *(f"{key} = {value!r}" for key, value in table.items())]
    return "\n".join(lines) + "\n"
