"""The board: every entry of a folder, ranked in each contest and over all of them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf, sqrt
from pathlib import Path

from vambrace.errors import InvalidParameter
from vambrace.redteam.contests import BUDGETS, CONTESTS, Contest
from vambrace.redteam.entries import Entry, Figure, Score, read
from vambrace.theory.price import price_of_armour

RANKED_BY = 100  # the budget by whose worst regret bandits are ranked


@dataclass(frozen=True)
class Row:
    """One bandit in a contest, or in all of them.

    Attributes:
        entry: The entry.
        lost: The regret as a share of all that can be lost, for each budget; 0: without attack.
        regret: The regret for each budget; None: over all contests.
        broken: The least budget that breaks the bandit; over all contests: in the one where that is least.
        ratio: The regret without attack over the price of armour for that budget; None: there is none.
    """

    entry: Entry
    lost: Mapping[float, Figure]
    regret: Mapping[float, Figure] | None
    broken: Figure
    ratio: Figure | None


def load(folder: Path) -> list[Entry]:
    """The entries of a folder, by name.

    Args:
        folder: A folder with TOML files.
    """
    found = [read(path) for path in sorted(folder.glob("*.toml"))] if folder.is_dir() else []
    if not found:
        raise InvalidParameter(f"entries: expected a folder with TOML files, got none in {str(folder)!r}")
    names = [each.name for each in found]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise InvalidParameter(f"entries: expected each name once, got {twice!r} twice")
    return found


def ranked(entries: Sequence[Entry], contest: Contest) -> list[Row]:
    """The bandits of a contest, the smallest worst case at `RANKED_BY` fake events first.

    Args:
        entries: The entries.
        contest: The contest.
    """
    rows = [_row(each, contest) for each in entries if contest.name in each.contests]
    return sorted(rows, key=lambda row: row.lost[RANKED_BY].value)


def overall(entries: Sequence[Entry]) -> list[Row]:
    """The bandits that have played every contest, with the mean of the shares that they lost, the smallest first.

    Args:
        entries: The entries.
    """
    rows = []
    for entry in entries:
        if {*CONTESTS} <= {*entry.contests}:
            parts = [_row(entry, contest) for contest in CONTESTS.values()]
            lost = {budget: _mean([part.lost[budget] for part in parts]) for budget in (0.0, *BUDGETS)}
            broken = min((part.broken for part in parts), key=lambda each: each.value)
            rows.append(Row(entry, lost, None, broken, None))
    return sorted(rows, key=lambda row: row.lost[RANKED_BY].value)


def _row(entry: Entry, contest: Contest) -> Row:
    score = entry.contests[contest.name]
    regret = {0.0: score.regret} | {budget: score.worst(budget) for budget in BUDGETS}
    everything = contest.rounds * (max(contest.means) - min(contest.means))
    lost = {budget: Figure(*(each / everything for each in figure)) for budget, figure in regret.items()}
    return Row(entry, lost, regret, score.breakdown.events, ratio(score, contest))


def ratio(score: Score, contest: Contest) -> Figure | None:
    """The regret without attack over (K - 1) times the budget that breaks the bandit; None: there is no such budget.

    Args:
        score: What the bandit did in the contest.
        contest: The contest.

    A policy that is safe against that budget in every game pays a ratio of 1 at least, in the long run (Theorem B).
    """
    events = score.breakdown.events
    if not 0 < events.value < inf:
        return None
    least, value, most = (
        inf if cost == 0 else price / cost
        for price, cost in zip(
            (score.regret.low, score.regret.value, score.regret.high),
            (_price(contest, each) for each in (events.high, events.value, events.low)),
            strict=True,
        )
    )
    return Figure(value, least, most)


def _price(contest: Contest, budget: float) -> float:
    return inf if budget == inf else price_of_armour(contest.n_worse + 1, budget=budget).value


def _mean(figures: Sequence[Figure]) -> Figure:
    """The mean of independent figures."""
    value = sum(each.value for each in figures) / len(figures)
    wide = sqrt(sum((each.high - each.low) ** 2 for each in figures)) / 2 / len(figures)
    return Figure(value, max(0.0, value - wide), value + wide)


def answer(rows: Sequence[Row]) -> str:
    """One sentence: who has the smallest worst case, and who breaks with how few fake events.

    Args:
        rows: What `overall` returns.
    """
    if not rows:
        return "No bandit has played every contest yet."
    best, breaking = rows[0], [row for row in rows if 0 < row.broken.value < inf]
    share = f"{100 * best.lost[RANKED_BY].value:.0f} %"
    text = f"Of {len(rows)} bandit{'s' if len(rows) > 1 else ''}, {best.entry.name} loses least to the worst attacks "
    text += f"that were found: with {RANKED_BY} fake events {share} of all that can be lost, "
    text += f"on average over {len(CONTESTS)} contests"
    if not breaking:
        return f"{text}."
    first = min(breaking, key=lambda row: row.broken.value)
    few = f"{first.broken.value:,.0f} fake event{'s' if round(first.broken.value) != 1 else ''}"
    return f"{text}; {first.entry.name} breaks with {few}."
