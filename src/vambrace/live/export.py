"""A journal as a log of events, for `vambrace certify` and other tools."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vambrace.errors import JournalError
from vambrace.files import whole_file
from vambrace.live import events
from vambrace.live.fold import Fold, event_of
from vambrace.live.journal import Journal

if TYPE_CHECKING:
    import polars

COLUMNS = ("arm", "reward", "time", "id", "probability", "status")
ENDINGS = (".csv", ".parquet", ".ndjson")


def rows(journal: Journal) -> Iterator[tuple[Any, ...]]:
    """One row for each decision that has a reward: arm, reward, time of the decision, id, probability, status.

    The status is "told", "late" (told after it was closed) or "expired" (nothing was told, and a default reward
    counts). Decisions without a reward have no row.
    """
    settings = Fold(journal).settings()
    if settings is None:
        raise JournalError("journal: expected at least the first event, got none")
    labels, default = list(settings["arms"]), settings["default_reward"]
    waiting: dict[events.Id, events.Asked] = {}  # asked, and not answered
    expired: set[events.Id] = set()
    for event in map(event_of, journal.read(after=1)):
        match event:
            case events.ArmAdded(_, label) if label not in labels:
                labels.append(label)
            case events.Asked():
                waiting[event.id] = event
            case events.Expired(_, key):
                expired.add(key)
            case events.Told(_, key, reward) | events.ToldLate(_, key, reward, _, _, _):
                asked = waiting.pop(key)
                status = "told" if isinstance(event, events.Told) else "late"
                yield labels[asked.arm], reward, asked.time, asked.id, asked.probability, status
    if default is not None:
        for key, asked in waiting.items():
            if key in expired:
                yield labels[asked.arm], default, asked.time, asked.id, asked.probability, "expired"


def frame(journal: Journal) -> "polars.DataFrame":
    """The rows as a Polars frame; arms are texts."""
    import polars

    kinds = dict.fromkeys(COLUMNS, polars.String) | dict.fromkeys(("reward", "time", "probability"), polars.Float64)
    return polars.DataFrame([(str(row[0]), *row[1:]) for row in rows(journal)], schema=kinds, orient="row")


def save(journal: Journal, path: Path) -> int:
    """Write the rows to a file, and say how many they are; its name ends in .csv, .parquet or .ndjson."""
    found = frame(journal)
    with whole_file(path) as unfinished:
        if path.suffix == ".csv":
            found.write_csv(unfinished)
        elif path.suffix == ".parquet":
            found.write_parquet(unfinished)
        else:
            found.write_ndjson(unfinished)
    return found.height
