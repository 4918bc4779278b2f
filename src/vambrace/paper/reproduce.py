"""Everything that the paper claims, again: the suites, their verdicts, and the report."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from vambrace.errors import UnknownName
from vambrace.lab import experiment as spec
from vambrace.lab.runner import run
from vambrace.lab.store import Status
from vambrace.lab.study import Study, load_all
from vambrace.paper.claims import CLAIMS, RESULTS
from vambrace.paper.figures import concealment_line, exponent_figure
from vambrace.paper.suites import ORDER, find, is_suite
from vambrace.report import experiments as report

TITLE = "Stochastic bandits robust to attacks: the claims, measured"


def reproduce(
    folder: Path,
    *,
    data: Mapping[str, Path] | None = None,
    workers: int | None = None,
    progress: bool | None = None,
) -> tuple[list[Status], Path]:
    """Run what is missing of every suite, each in a folder of its own, and write the report; returns where it is.

    Args:
        folder: Where the folders of the suites and the report are.
        data: The files that suites name; without them, what needs them is left out.
        workers: How many processes; None: one per core.
        progress: Whether to show a progress bar; None: on a terminal.
    """
    given, suites = dict(data or {}), {name: find(name) for name in ORDER}
    named = {name: {*spec.data_names(path)} for name, path in suites.items()}
    for name in given:
        if name not in (known := {each for names in named.values() for each in names}):
            raise UnknownName("file", name, known)
    found = []
    for name, path in suites.items():
        experiment = spec.read(path, {key: value for key, value in given.items() if key in named[name]})
        found.append(run(experiment, folder / name, workers=workers, progress=progress))
    return found, write(folder, progress=progress)


def write(folder: Path, *, progress: bool | None = None) -> Path:
    """Write the report of one experiment or of several; returns where it is.

    Args:
        folder: The folder of an experiment, or one with such folders in it.
        progress: Whether to show a progress bar; None: on a terminal.
    """
    studies = load_all(folder)
    studies.sort(key=lambda study: (ORDER.index(study.name) if study.name in ORDER else len(ORDER), study.name))
    return report.write(studies, folder, paper=paper(studies), progress=progress)


def paper(studies: Sequence[Study]) -> report.Paper:
    """What the paper says of these experiments: all its claims of several suites, of one those that it decides."""
    named = {study.name: study for study in studies}
    several = len({*named} & {*ORDER}) > 1
    claims = [claim.judged(named) for claim in CLAIMS if several or claim.suite in named]
    figures, lines = [], {}
    for study in filter(is_suite, studies):
        if study.name == "lower-bound":
            lines["lower-bound-worst-position"] = concealment_line(study)
        if study.name == "exponents" and len({play.game.horizon for play in study.panel("pe-wr")}) > 2:
            figures.append(exponent_figure(study))
    return report.Paper(title=TITLE if several else "", claims=claims, results=RESULTS, figures=figures, lines=lines)


def verdicts(folder: Path) -> list[dict[str, Any]]:
    """The claims that the experiments of a folder speak of, ready for JSON.

    Args:
        folder: The folder of an experiment, or one with such folders in it.
    """
    shown = [claim._asdict() for claim in paper(load_all(folder)).claims]
    return [{"claim": claim.pop("id")} | claim for claim in shown]
