import functools
import json
from pathlib import Path

import pytest

import vambrace as vb
from vambrace import registry
from vambrace.lab import reproduce

SPECS = [registry.spec_of(policy) for policy in reproduce.contestants()]


@pytest.fixture(scope="module")
def found() -> list[vb.Result]:
    """The whole programme at a tiny horizon, interpreted."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reproduce, "simulate", functools.partial(vb.simulate, interpret=True))
        return list(reproduce.results(horizon=12, replications=2, seed=3))


def test_every_contestant_plays_without_and_with_an_attack(found: list[vb.Result]) -> None:
    assert len(set(SPECS)) == len(SPECS)
    assert {vb.UCB1, vb.SE, vb.SEWR, vb.SEWRStop, vb.PEWR, vb.MSSEWR} == {type(p) for p in reproduce.contestants()}
    assert [registry.spec_of(result.policy) for result in found] == 2 * SPECS
    attacks = [None] * len(SPECS) + [vb.Conceal(budget=reproduce.BUDGET)] * len(SPECS)
    assert [result.adversary for result in found] == attacks
    assert {(result.horizon, result.replications, result.seed) for result in found} == {(12, 2, 3)}
    assert {result.environment for result in found} == {vb.Bernoulli(reproduce.MEANS)}


def test_the_files_hold_the_same_table(found: list[vb.Result], tmp_path: Path) -> None:
    folder = tmp_path / "new" / "folder"
    paths = reproduce.save(found, folder)
    names = ["table.md", "table.json", "regret.svg", "regret.png", "regret.pdf", "regret.html"]
    assert paths == [folder / name for name in names]
    assert set(folder.iterdir()) == set(paths)
    assert all(path.stat().st_size > 0 for path in paths)

    rows = json.loads((folder / "table.json").read_text(encoding="utf-8"))
    assert rows == reproduce.table(found)
    for row, result in zip(rows, found, strict=True):
        assert row["policy"] == registry.spec_of(result.policy)
        assert row["adversary"] == ("conceal:budget=300" if result.adversary else "none")
        assert row["regret"] == result.pseudo_regret[:, -1].mean()
        assert row["best_arm_share"] == result.pulls[:, 0].mean() / 12
        assert row["cost"] == result.cost[:, -1].mean()

    header, line, *lines = (folder / "table.md").read_text(encoding="utf-8").splitlines()
    assert header.count("|") == line.count("|") == 7
    for text, row in zip(lines, rows, strict=True):
        policy, adversary, regret, _, share, cost = (cell.strip(" `") for cell in text.strip("|").split("|"))
        assert (policy, adversary) == (row["policy"], row["adversary"])
        assert (regret, share, cost) == (
            f"{row['regret']:,.0f}",
            f"{row['best_arm_share']:.1%}",
            f"{row['cost']:,.0f}",
        )


def test_a_text_that_cannot_be_written_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "table.md").mkdir()
    with pytest.raises(OSError, match=r"table\.md"):
        reproduce.write(tmp_path / "table.md", "text")
    assert [path.name for path in tmp_path.iterdir()] == ["table.md"]
