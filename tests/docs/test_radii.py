"""The gain of the tighter radii, as ratios, on the suite itself. `make docs` runs these tests."""

from pathlib import Path

import pytest

import radii
from vambrace import lab
from vambrace.lab.study import Play, Study
from vambrace.paper.suites import find

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Study:
    folder = tmp_path_factory.mktemp("radii")
    lab.run(lab.parse(lab.read(find("radii")).canonical() | {"replications": 10}), folder, workers=1)
    return lab.load(folder)


def games(study: Study, place: str, budget: float) -> list[Play]:
    found = [play for play in study.plays if (play.game.place, play.game.budget) == (place, budget)]
    assert [play.game.policy.radius for play in found] == ["paper", "tight", "kl"]  # type: ignore[attr-defined]
    return found


@pytest.mark.parametrize("place", ["wide", "level"])
def test_tight_needs_at_most_a_third_where_gaps_are_a_tenth_or_more(study: Study, place: str) -> None:
    paper, tight, kl = plays = games(study, place, 0)
    assert tight.regret <= paper.regret / 3
    assert kl.regret <= paper.regret * 0.6
    assert not any(radii.dropped(play)[:, 0].any() for play in plays)


def test_kl_resolves_small_rates_that_the_others_cannot(study: Study) -> None:
    paper, _, kl = games(study, "rare", 100)
    assert [radii.dropped(play).sum(axis=1).mean() for play in (paper, kl)] == [0.0, 3.0]
    assert kl.regret < paper.regret / 3


def test_the_table_has_a_row_for_each_game(study: Study) -> None:
    table = radii.rows(study.plays, radii.means)
    assert [row[0] for row in table[::4]] == [
        "0.9/0.8/0.7/0.6/0.5, C = 0",
        "0.5/0.4/0.4/0.4, C = 100",
        "0.03/0.02/0.02/0.01, C = 1,000",
    ]
    paper, tight, _ = games(study, "wide", 0)
    assert table[0][1:3] == [f"{paper.regret:,.0f}", f"{tight.regret:,.0f}"]
    assert table[0][4] == f"{paper.regret / tight.regret:.1f}"
    assert {len(row) for row in table} == {1 + len(radii.COLUMNS)}


def test_the_headlines_are_an_experiment(tmp_path: Path) -> None:
    lines = [f"{test},{arm},{50 * test + arm},{arm}" for test in range(7) for arm in (1, 2)]
    lines += [f"{radii.KNOWN},{arm},9,{arm}" for arm in (1, 2)]
    path = tmp_path / "tests.csv"
    path.write_text("test,arm,impressions,clicks\n" + "\n".join(lines), encoding="utf-8")
    games = lab.parse(radii.headline_experiment(path)).games
    assert len(games) == 6 * 3 * 3  # tests, lengths, radii
    assert {game.horizon for game in games if game.place.startswith("exact")} == {9, 101, 151, 201, 251, 301}
