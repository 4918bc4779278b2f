"""`vambrace leaderboard`."""

import os
import re
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from vambrace import __version__, validation
from vambrace.cli import common
from vambrace.errors import InvalidParameter

ACTIONS = ("page", "enter", "check", "renew")
FOLDER = Path("leaderboard/entries")
EXAMPLES = (
    "vambrace leaderboard",
    "vambrace leaderboard enter mine.py:MyBandit",
    "vambrace leaderboard enter se-wr:budget=50 --entries entries",
    "vambrace leaderboard check mine-mybandit.toml",
)


def command(
    action: Annotated[str, typer.Argument(metavar="ACTION", help="page, enter, check or renew.")] = "page",
    names: Annotated[
        list[str] | None, typer.Argument(metavar="NAMES", help="Bandits to enter, or entries to check or renew.")
    ] = None,
    entries: Annotated[Path | None, common.option("FOLDER", f"The folder of the entries; {FOLDER} by default.")] = None,
    html: Annotated[Path, common.option("FILE", "Where page writes.")] = Path("leaderboard.html"),
    title: Annotated[str, common.option("NAME", "Its name on the page, with enter.")] = "",
    threads: common.Threads = None,
    as_json: common.Json = False,
) -> None:
    """Compare bandits under attack, and enter your own.

    page: write a page with all entries. enter: measure a policy, or a class with ask and tell in FILE.py:NAME, in every
    contest that its entry does not have yet. check: play entries again from their attacks, and compare every figure;
    that runs the Python files that they name. renew: play them again, and write the figures.
    """
    validation.choice("action", action, ACTIONS)
    if action == "enter":
        _enter(names or [], entries or Path(), title, threads, as_json)
    elif action in ("check", "renew"):
        paths = [(entries or Path()) / name for name in names or []] or sorted((entries or FOLDER).glob("*.toml"))
        _check(paths, action == "renew", threads, as_json)
    elif names:
        raise InvalidParameter(f"page: expected no names, as it shows every entry of the folder, got {names[0]}")
    else:
        _page(entries or FOLDER, html, as_json)


def _page(folder: Path, html: Path, as_json: bool) -> None:
    from vambrace.redteam import board
    from vambrace.report import leaderboard

    common.check_target(html, (".html",))
    found = board.load(folder)
    leaderboard.save(found, html, made_by=f"vambrace {__version__}")
    if as_json:
        common.print_json([_plain(each.model_dump()) for each in found])
        return
    common.print_note(board.answer(board.overall(found)))
    common.print_note(f"The page: {html}")


def _enter(bandits: list[str], folder: Path, title: str, threads: int | None, as_json: bool) -> None:
    from vambrace.progress import ProgressBar
    from vambrace.redteam import leaderboard
    from vambrace.redteam.contests import CONTESTS
    from vambrace.report.leaderboard import OVERALL, entry_table

    if not bandits or (title and len(bandits) > 1):
        raise InvalidParameter(f"name: expected one bandit, such as ucb1 or mine.py:MyBandit, got {len(bandits)}")
    found, places = [], list(CONTESTS)
    for text in bandits:
        with ProgressBar(f"measuring {text}", len(places), unit="contests") as bar:
            path, watch = folder / f"{file_name(text)}.toml", partial(_shown, bar, places)
            found.append(leaderboard.enter(_from(text, folder), path, name=title, threads=threads, watch=watch))
    if as_json:
        common.print_json([_plain(each.model_dump()) for each in found])
        return
    for entry, text in zip(found, bandits, strict=True):
        common.print_table(entry.name, ("contest", *OVERALL[1:]), entry_table(entry))
        common.print_note(f"The entry: {folder / file_name(text)}.toml")


def _shown(bar: Any, places: list[str], name: str) -> None:
    bar.update(places.index(name))


def _from(bandit: str, folder: Path) -> str:
    """A bandit whose file is seen from the folder of the entry."""
    file, found, name = bandit.rpartition(".py:")
    return f"{Path(os.path.relpath(f'{file}.py', folder)).as_posix()}:{name}" if found else bandit


def file_name(bandit: str) -> str:
    """The name of an entry's file without its ending.

    >>> file_name("se-wr:budget=100,radius=tight"), file_name("../mine.py:MyBandit")
    ('se-wr-budget-100-radius-tight', 'mine-mybandit')
    """
    return re.sub(r"[^a-z0-9.]+", "-", bandit.rpartition("/")[2].replace(".py:", ":").lower()).strip("-.")


def _check(paths: list[Path], renew: bool, threads: int | None, as_json: bool) -> None:
    from vambrace.progress import ProgressBar
    from vambrace.redteam import leaderboard

    if not paths:
        raise InvalidParameter("name: expected entries, such as mine-mybandit.toml, got none")
    found: list[str] = []
    with ProgressBar("checking", len(paths), unit="entries") as bar:
        for done, path in enumerate(paths):
            bar.update(done)
            if renew:
                leaderboard.renew(path, threads=threads)
            else:
                found += leaderboard.mistakes(path, threads=threads)
    if as_json:
        common.print_json({"entries": len(paths), "mistakes": found})
    else:
        for each in found:
            typer.echo(each)
        agree = f"{len(paths)} {'entries' if len(paths) != 1 else 'entry'}"
        result = "renewed" if renew else f"{len(found)} mistakes" if found else "every figure agrees"
        common.print_note(f"{agree} played again: {result}.")
    if found:
        raise typer.Exit(1)


def _plain(value: Any) -> Any:
    """Without infinite numbers, which JSON does not have."""
    if isinstance(value, dict):
        return {key: _plain(each) for key, each in value.items()}
    if isinstance(value, tuple | list):
        return [_plain(each) for each in value]
    return None if value == float("inf") else value
