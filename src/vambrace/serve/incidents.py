"""What alarms are made of: how many answers each key sent in each minute, and how many of them were strange.

The journal has no place for an answer that changes nothing. So these numbers have a table of their own. It is written
with the next transaction, at most once a second. A killed process loses the numbers of its last second, and no answer.
"""

from collections import Counter
from typing import Literal, NamedTuple, get_args

from vambrace.live.sql import Database

Kind = Literal["answer", "conflict", "late", "unknown", "refused"]
KINDS: tuple[Kind, ...] = get_args(Kind)
MINUTE = 60
EVERY = 1.0  # seconds between two writes
ADD = (
    "INSERT INTO vambrace_service_incidents VALUES (?, ?, ?, ?, ?) ON CONFLICT (experiment, minute, actor, kind)"
    " DO UPDATE SET number = vambrace_service_incidents.number + excluded.number"
)


class Incident(NamedTuple):
    """A number of answers of one kind, from one key, in one minute.

    Attributes:
        minute: When: minutes since 1970.
        actor: The id of the key; "nobody" where there are no keys.
        kind: "answer": any answer; among them "conflict": another reward was there before, "late", "unknown": an id
            that was never given; and besides them "refused": a request with an invalid reward or id.
        number: How many.
    """

    minute: int
    actor: str
    kind: Kind
    number: int


class Incidents:
    """What is not written yet, of one experiment.

    Args:
        experiment: Its name.
    """

    def __init__(self, experiment: str) -> None:
        self._experiment = experiment
        self._counts: Counter[tuple[int, str, str]] = Counter()
        self._written = 0.0
        self.every = EVERY

    def add(self, now: float, actor: str, kind: Kind, number: int = 1) -> None:
        """Count something."""
        self._counts[int(now // MINUTE), actor, kind] += number

    def is_due(self, now: float) -> bool:
        """Whether there is something to write, and the last time was a while ago."""
        return bool(self._counts) and abs(now - self._written) >= self.every

    def write(self, database: Database, now: float) -> None:
        """Write with the transaction of the caller."""
        self._written = now
        for (minute, actor, kind), number in self._counts.items():
            database.run(ADD, self._experiment, minute, actor, kind, number)

    def forget(self) -> None:
        """After the transaction: it is written."""
        self._counts.clear()


def of(database: Database, experiment: str, since: float = 0.0) -> list[Incident]:
    """The incidents of an experiment since a time in seconds since 1970, oldest first."""
    statement = (
        "SELECT minute, actor, kind, number FROM vambrace_service_incidents WHERE experiment = ? AND minute >= ?"
    )
    rows = database.run(f"{statement} ORDER BY minute, actor, kind", experiment, int(since // MINUTE))
    return [Incident(*row) for row in rows]
