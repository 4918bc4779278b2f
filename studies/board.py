"""Measure what is missing on the leaderboard, and write docs/leaderboard.md and its page: `make studies`.

Entries are in leaderboard/entries; a bandit that has its figures is not played again, so remove its file to do so. A run that
is ended loses the contest that it was in. All of it takes about an hour and a half on one core, two thirds of it for the
bandits that are plain Python.
"""

import argparse
from pathlib import Path
from typing import NamedTuple

import pages
from vambrace import __version__
from vambrace.cli.leaderboard import file_name
from vambrace.parameters import spec_of
from vambrace.redteam import board, leaderboard
from vambrace.redteam.candidates import every_policy
from vambrace.redteam.contests import CONTESTS
from vambrace.redteam.entries import Entry
from vambrace.report.leaderboard import OVERALL, save, table

FOLDER = pages.ROOT / "leaderboard" / "entries"
BUDGET = 100.0  # given to policies that take one
MARK = "board"


class Guest(NamedTuple):
    """A bandit of another library."""

    file: str
    made: str
    name: str


GUESTS = (
    Guest("from_river", "UCB", "River UCB"),
    Guest("from_river", "Thompson", "River Thompson sampling"),
    Guest("from_river", "EpsilonGreedy", "River epsilon-greedy"),
    Guest("from_mabwiser", "UCB1", "MABWiser UCB1"),
    Guest("from_mabwiser", "EpsilonGreedy", "MABWiser epsilon-greedy"),
    Guest("in_own_environments", "SMPyBanditsUCB", "SMPyBandits UCB"),
    Guest("in_own_environments", "SMPyBanditsThompson", "SMPyBandits Thompson sampling"),
    Guest("in_own_environments", "PyMABUCB", "PyMAB UCB"),
    Guest("in_own_environments", "PyMABThompson", "PyMAB Thompson sampling"),
    Guest("in_own_environments", "PyMABSuccessiveElimination", "PyMAB successive elimination"),
)


def wanted() -> dict[str, str]:
    """Every shipped policy, then the guests: names on the board, with the bandit of each."""
    ours = {spec_of(each): spec_of(each) for each in every_policy([BUDGET])[0]}
    return ours | {each.name: f"../bandits/{each.file}.py:{each.made}" for each in GUESTS}


def path_of(name: str) -> Path:
    """The file of an entry."""
    return FOLDER / f"{file_name(name)}.toml"


def enter_all() -> None:
    """Measure what is missing, then try the attacks on each bandit against all others."""
    names, watch = wanted(), pages.watcher("leaderboard")
    for done, (name, bandit) in enumerate(names.items()):
        watch(done, len(names))
        leaderboard.enter(bandit, path_of(name), name=name)
    watch(len(names), len(names))
    entries, watch = board.load(FOLDER), pages.watcher("leaderboard, attacks on others")
    for done, name in enumerate(names):
        leaderboard.strengthen(path_of(name), entries)
        watch(done + 1, len(names))


def page(entries: list[Entry]) -> str:
    """What docs/leaderboard.md says between its two comments."""
    rows = board.overall(entries)
    parts = [f"**{board.answer(rows)}**", pages.table([*OVERALL], table(rows))]
    best = [f"- {each.title}: {_best(entries, each.name)}" for each in CONTESTS.values()]
    parts += ["The smallest worst case in each contest, with at most 100 fake events:", "\n".join(best)]
    finished = {each.name for each in entries if {*CONTESTS} <= {*each.contests}}
    waiting = [name for name in wanted() if name not in finished]
    parts += [f"Not measured yet, or not in all contests: {', '.join(waiting)}."] if waiting else []
    return "\n\n".join(parts)


def _best(entries: list[Entry], contest: str) -> str:
    row = board.ranked(entries, CONTESTS[contest])[0]
    return f"`{row.entry.name}`, which loses {100 * row.lost[board.RANKED_BY].value:.0f} % of all that can be lost"


def main() -> None:
    """Measure, unless only the pages are wanted, and write the pages."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pages-only", action="store_true", help="write the pages from the entries that are there")
    if not parser.parse_args().pages_only:
        enter_all()
    entries = board.load(FOLDER)
    target: Path = pages.DOCS / "assets" / "leaderboard.html"
    save(entries, target, made_by=f"vambrace {__version__}")
    print(target)
    text = (pages.DOCS / "leaderboard.md").read_text(encoding="utf-8")
    pages.write("leaderboard.md", pages.between(text, MARK, page(entries)))


if __name__ == "__main__":
    main()
