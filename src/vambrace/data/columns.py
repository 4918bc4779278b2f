"""What each column means: the user names it, or its own name is clear."""

import re
from collections.abc import Collection
from typing import Literal, NamedTuple

from vambrace.data.sources import Source
from vambrace.errors import InvalidParameter

TESTS = ("test",)  # the column that names the test of each row
ARMS = ("arm", "variant", "variation", "treatment", "group", "bucket")
REWARDS = ("reward", "converted", "conversion", "clicked", "click", "success", "outcome")
EVENTS = (
    *("events", "impressions", "views", "trials", "users", "visitors", "visits", "sessions", "exposures"),
    *("participants", "observations", "n", "count"),
)
SUCCESSES = ("successes", "conversions", "clicks", "purchases", "orders", "signups")
RATES = (
    *("rate", "conversion rate", "conv rate", "click rate", "click through rate", "success rate", "ctr", "cr", "cvr"),
    *("open rate", "purchase rate", "signup rate", "response rate"),
)
USERS = (
    *("user", "user id", "userid", "visitor", "visitor id", "visitorid", "session", "session id", "sessionid"),
    *("customer", "customer id", "client", "client id", "person", "person id", "device", "device id", "cookie"),
    *("account", "account id", "member", "member id", "anonymous id", "distinct id", "uid"),
)
MOST_NAMES = 20  # in an error
Layout = Literal["log", "table"]  # one row per event, or one per arm


class Columns(NamedTuple):
    """Which column is used for what: as the user names them, or as they were chosen in a source."""

    test: str | None = None  # names the test of each row
    arm: str | None = None
    reward: str | None = None  # of a log
    events: str | None = None  # of a table
    successes: str | None = None  # of a table
    rate: str | None = None  # of a table: successes as a share of the events
    user: str | None = None  # of a log: the person of each event
    time: str | None = None

    @property
    def is_table(self) -> bool:
        """Whether there are counts of events, not one row per event."""
        return self.reward is None

    @property
    def keys(self) -> dict[str, str]:
        """The columns that identify an arm."""
        return {use: column for use, column in self.named().items() if use in ("test", "arm")}

    def named(self) -> dict[str, str]:
        """The uses that have a column."""
        return {use: column for use, column in self._asdict().items() if column is not None}

    def check(self) -> None:
        """Refuse what no source could satisfy."""
        for use, column in self.named().items():
            if not isinstance(column, str) or not column:
                use = "group" if use == "test" else use  # as `certify` calls it
                raise InvalidParameter(f"{use}: expected the name of a column, got {column!r}")
        if self.reward is not None and (self.events, self.successes) != (None, None):
            either = "the reward of a log, or the events and successes of a table"
            raise InvalidParameter(f"reward: expected {either}, got both")


class Header:
    """The names of the columns of a source; each may be used once."""

    def __init__(self, source: Source) -> None:
        self._name, self._repeated = source.name, source.repeated
        self._all = source.frame.collect_schema().names()
        self._used: set[str] = set()

    def choose(self, wanted: Columns, layout: Layout | None = None) -> Columns:
        """The columns that the user names, and for other uses those with usual names; an unclear choice is an error."""
        wanted.check()
        named = {use: self._use(column) for use, column in wanted.named().items()}

        def pick(use: str, names: Collection[str]) -> str:
            return named[use] if use in named else self._known(names)

        test = pick("test", TESTS) if "test" in named or self.found(TESTS) else None
        arm = pick("arm", ARMS)
        used = {"user": wanted.user, "time": wanted.time}
        if self._is_log(wanted, layout):
            return Columns(test, arm, pick("reward", REWARDS), **used)
        events, successes = pick("events", EVENTS), "reward" if "reward" in named else "successes"
        if successes not in named and not self.found(SUCCESSES):
            if self.found(RATES):
                return Columns(test, arm, None, events, rate=self._known(RATES), **used)
            if self.found(REWARDS):  # such as conversion: a number or a rate
                return Columns(test, arm, None, events, self._known(REWARDS), **used)
        return Columns(test, arm, None, events, pick(successes, SUCCESSES), **used)

    def found(self, names: Collection[str]) -> list[str]:
        """The columns that are not used yet and have one of these names, in upper or lower case."""
        return [column for column in self._all if _plain(column) in names and column not in self._used]

    def is_named(self, column: str, names: Collection[str]) -> bool:
        """Whether a column has one of these names."""
        return _plain(column) in names

    def _is_log(self, wanted: Columns, layout: Layout | None) -> bool:
        if wanted.reward is not None:  # the user may mean the successes of a table
            return not (len(self.found(EVENTS)) == 1 and _plain(wanted.reward) in SUCCESSES)
        if layout is not None or wanted.events is not None or wanted.successes is not None:
            return layout == "log"
        is_table = bool(self.found(EVENTS) and (self.found(SUCCESSES) or self.found(RATES)))
        is_log = bool(self.found(REWARDS))
        if is_table and is_log:
            both = "a table of successes or a log of rewards (name the columns that you mean)"
            raise InvalidParameter(f"{self._name}: expected {both}, got {_listed(self._all)}")
        if not (is_table or is_log):
            table = f"the events ({_listed(EVENTS)}) and successes ({_listed(SUCCESSES)}) of a table"
            either = f"the reward ({_listed(REWARDS)}) of a log or {table}, or the names of these columns"
            rates = " (a rate needs the number of events beside it)" if self.found(RATES) else ""
            raise InvalidParameter(f"{self._name}: expected {either}, got {_listed(self._all)}{rates}")
        return is_log

    def _use(self, column: str) -> str:
        if column in self._used:
            raise InvalidParameter(f"{self._name}: expected a column of its own for each use, got {column!r} for two")
        if column not in self._all:
            raise InvalidParameter(f"{self._name}: expected a column {column!r}, got {_listed(self._all)}")
        if column in self._repeated:
            raise InvalidParameter(f"{self._name}: expected one column {column!r}, got several of this name")
        self._used.add(column)
        return column

    def _known(self, names: Collection[str]) -> str:
        """The one column that has one of these names."""
        found = self.found(names)
        if not found:
            free = [column for column in self._all if column not in self._used]
            wanted = f"a column {' or '.join(names)} (name yours if it has another name)"
            wide = "; each arm or event needs a row of its own" if names is ARMS else ""
            raise InvalidParameter(f"{self._name}: expected {wanted}, got {_listed(free)}{wide}")
        if len(found) > 1:
            one = f"one column {' or '.join(names)} (name the one that you mean)"
            raise InvalidParameter(f"{self._name}: expected {one}, got {' and '.join(found)}")
        return self._use(found[0])


def same(one: Columns, other: Columns) -> bool:
    """Whether the same columns were chosen in two pieces of a log; spaces and upper case are ignored."""
    return [each and _plain(each) for each in one] == [each and _plain(each) for each in other]


def _plain(column: str) -> str:
    """A name in lower case, with spaces for signs: "Conv. Rate (%)" and conv_rate are the same."""
    return re.sub(r"[\s_\-./()%]+", " ", column).strip().lower()


def _listed(names: Collection[str]) -> str:
    more = f", … ({len(names):,} columns)" if len(names) > MOST_NAMES else ""
    return ", ".join([*names][:MOST_NAMES]) + more
