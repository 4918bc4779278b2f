"""A journal as a log of events, for `vambrace certify` and other tools."""

from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vambrace.errors import JournalError
from vambrace.files import whole_file
from vambrace.live import events
from vambrace.live.fold import Fold, event_of
from vambrace.live.ids import arm_of
from vambrace.live.journal import Journal

if TYPE_CHECKING:
    import polars

COLUMNS = ("arm", "reward", "time", "id", "probability", "status")
ENDINGS = (".csv", ".parquet", ".ndjson")


def rows(journal: Journal) -> Iterator[tuple[Any, ...]]:
    """One row for each decision that has a reward: arm, reward, time of the decision, id, probability, status.

    The status is "told", "late" (told after it was closed) or "expired" (nothing was told, and a default reward
    counts). Decisions without a reward have no row. Only open decisions are in memory: what happens to a closed one
    later is looked up.
    """
    settings = Fold(journal).settings()
    if settings is None:
        raise JournalError("journal: expected at least the first event, got none")
    labels, default = list(settings["arms"]), settings["default_reward"]
    waiting: dict[events.Id, events.Asked] = {}  # asked, and open

    def row(asked: events.Asked, reward: float, status: str) -> tuple[Any, ...]:
        return labels[asked.arm], reward, asked.time, asked.id, asked.probability, status

    for event in map(event_of, journal.read(after=1)):
        match event:
            case events.ArmAdded(_, label) if label not in labels:
                labels.append(label)
            case events.Asked():
                waiting[event.id] = event
            case events.Told(_, key, reward):
                yield row(waiting.pop(key), reward, "told")
            case events.ToldLate(_, key, reward, _, _, _):
                yield row(_asked(journal, key), reward, "late")
            case events.Abandoned(_, key):
                del waiting[key]
            case events.Expired(_, key):
                asked = waiting.pop(key)
                if default is not None and not _was_told(journal, key):
                    yield row(asked, default, "expired")


def _history(journal: Journal, key: events.Id) -> list[events.Event]:
    return [event_of(entry) for entry in journal.find(decision=str(key))]


def _asked(journal: Journal, key: events.Id) -> events.Asked:
    for event in _history(journal, key):
        if isinstance(event, events.Asked):
            return event
    raise JournalError(f"journal: expected the decision {key}, got none: it is damaged")


def _was_told(journal: Journal, key: events.Id) -> bool:
    return any(isinstance(event, events.ToldLate) for event in _history(journal, key))


def schema() -> "dict[str, Any]":
    """The types of the columns, for Polars; arms are texts."""
    import polars

    return dict.fromkeys(COLUMNS, polars.String) | dict.fromkeys(("reward", "time", "probability"), polars.Float64)


def frame(journal: Journal) -> "polars.DataFrame":
    """The rows as a Polars frame; arms are texts."""
    import polars

    return polars.DataFrame([(str(row[0]), *row[1:]) for row in rows(journal)], schema=schema(), orient="row")


def squares(journal: Journal, upto: int) -> dict[int, float]:
    """For each arm, by its number, the sum of the squares of the rewards that its policy learned from.

    Args:
        journal: The journal.
        upto: The number of the last event to read.
    """
    settings = Fold(journal).settings() or {}
    counts_late, default = settings["late"] == "count", settings["default_reward"]
    found: defaultdict[int, float] = defaultdict(float)
    for event in map(event_of, journal.read(after=1, upto=upto)):
        match event:
            case events.Told(_, key, reward):
                found[arm_of(key)] += reward**2
            case events.ToldLate(_, _, reward, arm, _, _) if counts_late:
                found[arm] += reward**2
            case events.Expired(_, key) if default is not None:
                found[arm_of(key)] += default**2
            case events.WarmStarted(_, counts):
                for arm, _, won in counts:
                    found[arm] += won
    return dict(found)


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
