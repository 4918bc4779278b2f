"""Everything that the paper claims, again: the suites, then the report."""

from collections.abc import Mapping
from pathlib import Path

from vambrace.errors import UnknownName
from vambrace.lab import experiment as spec
from vambrace.lab.runner import run
from vambrace.lab.store import Status
from vambrace.report import experiments as report


def reproduce(
    folder: Path,
    *,
    data: Mapping[str, Path] | None = None,
    workers: int | None = None,
    progress: bool | None = None,
) -> tuple[list[Status], Path]:
    """Run what is missing of every suite, each in a folder of its own, and write the report; returns where it is.

    Args:
        data: The files that suites name; without them, what needs them is left out.
    """
    given, suites = dict(data or {}), {name: spec.find(name) for name in report.SUITES}
    named = {name: {*spec.data_names(path)} for name, path in suites.items()}
    for name in given:
        if name not in (known := {each for names in named.values() for each in names}):
            raise UnknownName("file", name, known)
    found = []
    for name, path in suites.items():
        experiment = spec.read(path, {key: value for key, value in given.items() if key in named[name]})
        found.append(run(experiment, folder / name, workers=workers, progress=progress))
    return found, report.write(folder, progress=progress)
