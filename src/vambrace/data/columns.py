"""Which column means what: told by the user, or by a name that leaves no doubt."""

from collections.abc import Collection, Mapping
from typing import NamedTuple

from vambrace.data.sources import Source
from vambrace.errors import InvalidParameter

ARMS = ("arm", "variant", "variation", "treatment", "group", "bucket")
REWARDS = ("reward", "converted", "conversion", "clicked", "click", "success", "outcome")
EVENTS = (
    *("events", "impressions", "views", "trials", "users", "visitors", "visits", "sessions", "exposures"),
    *("participants", "observations", "n", "count"),
)
SUCCESSES = ("successes", "conversions", "clicks", "purchases", "orders", "signups")
COUNTS = (EVENTS, SUCCESSES)
TEST = "test"  # the column that tells several tests of one file apart
MOST_NAMES = 20  # in a complaint


class Chosen(NamedTuple):
    """The columns of a log, which has a reward, or of a table, which has events and successes."""

    test: str | None
    arm: str
    reward: str | None = None
    events: str | None = None
    successes: str | None = None

    @property
    def is_table(self) -> bool:
        """Whether there is one row for each arm, not one for each event."""
        return self.reward is None

    @property
    def keys(self) -> dict[str, str]:
        """What tells arms apart."""
        return {"arm": self.arm} if self.test is None else {"test": self.test, "arm": self.arm}

    def named(self) -> dict[str, str]:
        """What each column is used for."""
        return {use: column for use, column in self._asdict().items() if column is not None}


class Wanted(NamedTuple):
    """What the user says about the columns; None: nothing."""

    arm: str | None = None
    reward: str | None = None
    events: str | None = None
    successes: str | None = None
    group: str | None = None

    def check(self) -> None:
        """Refuse what no source could satisfy."""
        for name, column in self._asdict().items():
            if not isinstance(column, str | None):
                raise InvalidParameter(f"{name}: expected the name of a column, got {column!r}")
        if self.reward is not None and (self.events is not None or self.successes is not None):
            raise InvalidParameter(
                "reward: expected the reward of a log, or the events and successes of a table, got both"
            )


class Columns:
    """The columns of a source, of which each may be used once."""

    def __init__(self, source: Source) -> None:
        self._name, self._repeated = source.name, source.repeated
        self._all = source.frame.collect_schema().names()
        self._used: set[str] = set()

    def choose(self, wanted: Wanted) -> Chosen:
        """The columns that are wanted, and where nothing was said those with the right names; a doubt is an error."""
        test = self.given(wanted.group) if wanted.group is not None else self._test(wanted)
        arm = self.given(wanted.arm) if wanted.arm is not None else self.known(ARMS)
        if wanted.reward is not None and not (len(self._found(EVENTS)) == 1 and _plain(wanted.reward) in SUCCESSES):
            return Chosen(test, arm, self.given(wanted.reward))
        if wanted.events is wanted.successes is wanted.reward is None and self._is_log():
            return Chosen(test, arm, self.known(REWARDS))
        successes = wanted.reward if wanted.successes is None else wanted.successes
        told = [None if column is None else self.given(column) for column in (wanted.events, successes)]
        found = [self.known(names) if column is None else column for column, names in zip(told, COUNTS, strict=True)]
        return Chosen(test, arm, None, *found)

    def given(self, column: str) -> str:
        """A column that the user named."""
        if column in self._used:
            raise InvalidParameter(f"{self._name}: expected a column of its own for each use, got {column!r} for two")
        if column not in self._all:
            raise InvalidParameter(f"{self._name}: expected a column {column!r}, got {_listed(self._all)}")
        return self._use(column)

    def known(self, names: Collection[str]) -> str:
        """The one column that has one of these names, in whatever case."""
        found = self._found(names)
        if not found:
            free = [column for column in self._all if column not in self._used]
            raise InvalidParameter(f"{self._name}: expected a column {_either(names)}, got {_listed(free)}")
        if len(found) > 1:
            came = " and ".join(found)
            raise InvalidParameter(
                f"{self._name}: expected one column {_either(names)}, or to be told which, got {came}"
            )
        return self._use(found[0])

    def test(self) -> str | None:
        """The column that tells tests apart, if there is one."""
        return next(iter(self._found((TEST,))), None)

    def has_counts(self) -> bool:
        """Whether one of them seems to have the events of a table."""
        return self._has(EVENTS)

    def _is_log(self) -> bool:
        """Whether there is a reward, and not both events and successes."""
        is_table, is_log = self._has(EVENTS) and self._has(SUCCESSES), self._has(REWARDS)
        if is_table and is_log:
            both = "a table of successes or a log of rewards, or to be told which columns"
            raise InvalidParameter(f"{self._name}: expected {both}, got {_listed(self._all)}")
        if not (is_table or is_log):
            table = f"the events ({_listed(EVENTS)}) and successes ({_listed(SUCCESSES)}) of a table"
            raise InvalidParameter(
                f"{self._name}: expected the reward ({_listed(REWARDS)}) of a log or {table}, "
                f"or to be told their columns, got {_listed(self._all)}"
            )
        return is_log

    def _has(self, names: Collection[str]) -> bool:
        return bool(self._found(names))

    def _found(self, names: Collection[str]) -> list[str]:
        return [column for column in self._all if _plain(column) in names and column not in self._used]

    def _use(self, column: str) -> str:
        if column in self._repeated:
            raise InvalidParameter(f"{self._name}: expected one column {column!r}, got several of this name")
        self._used.add(column)
        return column

    def _test(self, wanted: Wanted) -> str | None:
        column = self.test()
        return None if column is None or column in wanted else self._use(column)


def same(one: Mapping[str, str], other: Mapping[str, str]) -> bool:
    """Whether the same columns were chosen in two pieces of a log, but for blanks and capitals."""
    return one.keys() == other.keys() and all(_plain(one[use]) == _plain(other[use]) for use in one)


def _plain(column: str) -> str:
    return column.strip().lower()


def _either(names: Collection[str]) -> str:
    return " or ".join(names)


def _listed(names: Collection[str]) -> str:
    first = list(names)[:MOST_NAMES]
    more = f", … ({len(names):,} columns)" if len(names) > MOST_NAMES else ""
    return ", ".join(first) + more
