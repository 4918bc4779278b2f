"""From a finished log to its certificate: how many events would have to be fake to overturn the winner?"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from math import inf
from typing import TYPE_CHECKING, Any, TypedDict, Unpack, overload

from vambrace import validation
from vambrace.audit.certificate import UNIT_RANGE, Certificate, certify_counts
from vambrace.audit.history import moments
from vambrace.audit.questions import DESIGNS, MOST_EVENTS, THREATS, Design, Question, Threat
from vambrace.errors import InvalidParameter
from vambrace.progress import ProgressBar, waiting

if TYPE_CHECKING:
    import polars

    from vambrace.data import Log, Reading

BUDGETS = (0, 1, 10, 100, 1000)  # those of a summary
FURTHEST = 1e100  # the largest reward, so that sums do not overflow
FIXED_OVER_TIME = (
    "a fixed design is for one look at sizes set in advance, so there is no budget over time; use the adaptive design"
)
NARROWEST = 1e-100  # the smallest range of rewards, so that parts of it do not underflow


class Options(TypedDict, total=False):
    """The options of `certify` besides the log and the group."""

    arm: str | None
    reward: str | None
    events: str | None
    successes: str | None
    delta: float
    threat: Threat
    design: Design
    reward_range: Sequence[float] | None
    unit: str
    user: str | None
    time: str | None
    drop: str | Sequence[str] | None
    sheet: str | None
    sql: str | None


class Certificates(dict[str, Certificate]):
    """The certificates of many tests, by the names of the tests.

    Attributes:
        left_out: The tests that have only one arm and can have no winner.
        notes: What the user should know about how the log was read.
    """

    left_out: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def to_frame(self) -> "polars.DataFrame":
        """A Polars frame with one row per test, the largest budget first; its columns are named as in `Certificate`."""
        import polars

        names = "winner budget overturned_at winner_mean winner_events events share_of_winner share_of_events"
        rows = []
        for test, each in firmest(self).items():
            attack = {name: getattr(each.cheapest, name, None) for name in ("rival", "on_winner", "on_rival")}
            found = {"test": test, **{name: getattr(each, name) for name in names.split()}, **attack}
            asked = {name: getattr(each, name) for name in ("more_events", "threat", "design", "delta", "unit")}
            rows.append({**found, "arms": 1 + len(each.rivals), **asked})
        number = polars.Int64 if all(each.whole for each in self.values()) else polars.Float64
        types = dict.fromkeys(("budget", "overturned_at", "on_winner", "on_rival"), number)
        others = {"share_of_winner": polars.Float64, "share_of_events": polars.Float64, "more_events": polars.Int64}
        return polars.DataFrame(rows, schema_overrides={**types, **others, "rival": polars.String}, strict=False)


@overload
def certify(log: "Log", *, group: None = None, **options: Unpack[Options]) -> Certificate: ...


@overload
def certify(log: "Log", *, group: str, **options: Unpack[Options]) -> Certificates: ...


def certify(
    log: "Log",
    *,
    arm: str | None = None,
    reward: str | None = None,
    events: str | None = None,
    successes: str | None = None,
    delta: float = 0.05,
    threat: Threat = "alter",
    design: Design = "adaptive",
    reward_range: Sequence[float] | None = None,
    unit: str = "",
    group: str | None = None,
    user: str | None = None,
    time: str | None = None,
    drop: str | Sequence[str] | None = None,
    sheet: str | None = None,
    sql: str | None = None,
) -> Certificate | Certificates:
    """Certify the winner of a finished test, some of whose events may be fake.

    Args:
        log: A file (CSV, TSV, JSON lines or Parquet, of any size; JSON, Excel, SQLite, DuckDB), a postgresql://
            address, a pattern such as logs/*.csv, a Polars or pandas frame, an Arrow table, a DuckDB relation or a
            mapping of columns, or a list of these; with one row per event or per arm.
        arm: The column of the arm; None: the one with a usual name, such as variant.
        reward: The column of the reward, in a log; None: the one with a usual name, such as converted.
        events: The column of the number of events, in a table; None: the one with a usual name, such as views.
        successes: The column of the number of successes, in a table; None: the one with a usual name, such as clicks.
        delta: The probability with which the certificate may be wrong.
        threat: "alter": rewards were changed; "inject": events were added; "suppress": events were withheld.
        design: "adaptive": for a bandit's log, or several looks; "fixed": for one look, and sizes set in advance.
        reward_range: The least and the largest possible reward, if not 0 and 1. Means and budgets are in their units.
        unit: The name of that unit, for sentences, such as "EUR".
        group: The column that names the test of each row, if there are several; each test is certified separately.
        user: The column of the person: each counts once, a success if any event was one, for the arm seen first.
        time: The column of the time: numbers, or dates such as 2026-01-31 13:45. `over_time` then has the winner and
            its budget for each time; only for an adaptive design.
        drop: The names of arms to leave out, such as "Total" in a table; "" if no row is the total of others.
        sheet: The sheet of an Excel file that has several.
        sql: The query that gives the rows, if the log is a database; it is opened for reading only.

    Returns:
        The certificate; with `group` a dict by the names of the tests, whose `left_out` has those with only one arm.

    >>> import vambrace as vb
    >>> vb.certify({"arm": ["old", "new"], "views": [50_000, 50_000], "clicks": [600, 1_000]}).columns
    {'arm': 'arm', 'events': 'views', 'successes': 'clicks'}
    """
    from vambrace import data

    options = _checked(delta, threat, design, unit, time)
    wanted, ends = (
        data.Columns(group, arm, reward, events, successes, user=user, time=time),
        _checked_range(reward_range),
    )
    with waiting("reading"):
        found = data.tally(log, wanted, ends, part=data.Part(sheet, sql), drop=drop)
    options |= {"columns": found.columns, "reward_range": ends or UNIT_RANGE}
    return _only(found, options) if group is None else _each(found, options)


def _checked(delta: Any, threat: Any, design: Any, unit: Any, time: str | None) -> dict[str, Any]:
    """The options that are the same for every test."""
    validation.choice("threat", threat, THREATS)
    validation.choice("design", design, DESIGNS)
    delta = validation.number("delta", delta, low=0.0, high=1.0, open_low=True, open_high=True)
    if not isinstance(unit, str):
        raise InvalidParameter(f"unit: expected a word, got {unit!r}")
    if time is not None and design == "fixed":
        raise InvalidParameter(f"time: {FIXED_OVER_TIME}")
    return {"delta": delta, "threat": threat, "design": design, "unit": unit}


def firmest(certificates: Mapping[str, Certificate]) -> dict[str, Certificate]:
    """The tests with the largest budgets first, those without a certified winner last."""
    return dict(sorted(certificates.items(), key=lambda item: inf if item[1].budget is None else -item[1].budget))


def standing(certificates: Iterable[Certificate], budget: float) -> int:
    """How many winners stand although this many events may be fake."""
    return sum(len(each.not_ruled_out(budget)) == 1 for each in certificates)


def _checked_range(value: Any) -> tuple[float, float] | None:
    """Two finite numbers, the smaller one first."""
    if value is None:
        return None
    if not validation.is_sequence(value) or len(value) != 2:
        raise InvalidParameter(f"reward_range: expected the least and the largest reward, got {value!r}")
    low = validation.number("reward_range[0]", value[0], low=-FURTHEST, high=FURTHEST)
    high = validation.number("reward_range[1]", value[1], low=low, high=FURTHEST, open_low=True)
    if high - low < NARROWEST:
        raise InvalidParameter(f"reward_range: expected a width of at least {NARROWEST:g}, got {high - low:g}")
    return low, high


def _only(found: "Reading", options: dict[str, Any]) -> Certificate:
    (tally, *more) = found.tests.values()
    if more:
        came = f"{len(found.tests):,} tests"
        raise InvalidParameter(f"{found.name}: expected one test, or the group 'test' to tell them apart, got {came}")
    if len(tally.labels) < 2:
        raise InvalidParameter(f"{found.name}: expected at least two arms, got one: {tally.labels[0]!r}")
    return replace(_certificate(found, next(iter(found.tests)), options), notes=found.notes)


def _each(found: "Reading", options: dict[str, Any]) -> Certificates:
    certificates = Certificates()
    with ProgressBar("certifying", len(found.tests)) as bar:
        for done, (test, tally) in enumerate(found.tests.items(), start=1):
            if len(tally.labels) > 1:
                certificates[test] = _certificate(found, test, options)
            bar.update(done)
    if not certificates:
        raise InvalidParameter(f"{found.name}: expected a test with at least two arms, got one arm in every test")
    certificates.left_out = tuple(test for test in found.tests if test not in certificates)
    certificates.notes = found.notes
    return certificates


def _certificate(found: "Reading", test: str, options: dict[str, Any]) -> Certificate:
    tally, (low, high) = found.tests[test], options["reward_range"]
    n, label = max(zip(tally.events, tally.labels, strict=True))
    if n > MOST_EVENTS:
        came = f"{n:,} of {label!r}"
        raise InvalidParameter(f"{found.name}: expected at most {MOST_EVENTS:,} events of an arm, got {came}")
    question = Question(len(tally.labels), options["delta"], options["threat"], options["design"], tally.binary)
    over_time = moments(question, found.over_time.get(test, ()), high - low)
    options = options | {"squares": tally.squares, "binary": tally.binary, "over_time": over_time}
    return certify_counts(tally.events, tally.totals, tally.labels, **options)
