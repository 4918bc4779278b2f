"""The suites: the experiments that measure what the paper claims, shipped as TOML files."""

from pathlib import Path

from vambrace.errors import UnknownName
from vambrace.lab import experiment
from vambrace.lab.study import Study

FOLDER = Path(__file__).parent / "suites"
ORDER = ("poster", "cliff", "separation", "lower-bound", "price-of-armour", "exponents", "radii", "real")  # in reports


def suites() -> dict[str, Path]:
    """The files of all suites, by name."""
    return {path.stem: path for path in sorted(FOLDER.glob("*.toml"))}


def find(name: str) -> Path:
    """The file of a suite such as "poster", or of a path.

    >>> experiment.read(find("poster")).replications
    20
    """
    path = Path(name)
    if path.suffix == ".toml" or path.is_file():
        return path
    if name not in suites():
        raise UnknownName("suite or file", name, suites())
    return suites()[name]


def is_suite(study: Study) -> bool:
    """Whether a study is of a suite as it is shipped, and not only of an experiment with its name."""
    return study.name in suites() and experiment.read(suites()[study.name]) == study.experiment
