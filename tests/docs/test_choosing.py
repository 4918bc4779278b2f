"""The page shows what `choose` found: the winners, what armour costs, and every policy that played."""

from pathlib import Path

import choosing
import vambrace as vb
from vambrace.redteam import candidates
from vambrace.redteam.choice import number, percent
from vambrace.registry import spec_of

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/choosing.md").read_text(encoding="utf-8")
SITUATIONS = choosing.situations()


def small(*, hopeless: bool = False) -> vb.Choice:
    means = (0.52, 0.5) if hopeless else (0.9, 0.3)
    return vb.choose(
        means,
        fakes=[0, 20],
        policies=[vb.UCBWR(budget=20)] if hopeless else [vb.Thompson(), vb.KLUCBWR(budget=20)],
        attacks=[vb.Conceal()],
        horizon=100 if hopeless else 400,
        replications=4,
        interpret=True,
        progress=False,
    )


def test_a_cell_names_the_winner_its_regret_and_its_share() -> None:
    found = small()
    winner = found.winners[20]
    regret, share = found.score(winner, 20).regret, found.share(winner, 20)
    assert choosing.cell(found, 20) == (
        f"<code>{winner.replace(':', ':<wbr>')}</code><br>{number(regret)} ({percent(share)})"
    )
    assert choosing.unknown_cell(found).startswith(f"{choosing.shown(found.unknown)}<br>")
    assert choosing.unknown_cell(found).endswith(" to 20")


def test_nothing_helps_where_all_are_as_bad_as_chance() -> None:
    assert choosing.cell(small(hopeless=True), 20).startswith("nothing helps<br>(")


def test_every_row_of_the_details_is_there() -> None:
    found = small()
    text = choosing.details(found)
    for policy in found.policies:
        assert text.count(f"| {choosing.shown(policy)} |") == 1
    assert "| at random |" in text


def test_the_page_has_the_tables_of_today() -> None:
    everyone, _ = candidates.every_policy(choosing.FAKES)
    for policy in everyone:
        rows = sum(horizon == choosing.HORIZONS[0] or policy.name not in choosing.SLOW for _, horizon in SITUATIONS)
        assert PAGE.count(f"\n| {choosing.shown(spec_of(policy))} |") == rows
    for name, horizon in SITUATIONS:
        assert f"### {name.capitalize()}, T = {horizon:,}, policy by policy" in PAGE
