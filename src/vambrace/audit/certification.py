"""From a finished log to its certificate: how many events would have to be fake to overturn the winner?"""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from vambrace import data, validation
from vambrace.audit.certificate import DESIGNS, MOST_EVENTS, Certificate, certify_counts
from vambrace.audit.limits import THREATS
from vambrace.errors import InvalidParameter
from vambrace.progress import ProgressBar, waiting

BUDGETS = (0, 1, 10, 100, 1000)  # those of a summary
FURTHEST = 1e100  # a reward; sums of such numbers are still numbers
NARROWEST = 1e-100  # a range of rewards; likewise parts of it


class Certified(NamedTuple):
    """Many tests: their certificates, and those that have one arm only and can have no winner."""

    tests: dict[str, Certificate]
    left_out: tuple[str, ...]


def certify(
    log: Any,
    *,
    arm: str | None = None,
    reward: str | None = None,
    events: str | None = None,
    successes: str | None = None,
    delta: float = 0.05,
    threat: str = "alter",
    design: str = "adaptive",
    reward_range: Sequence[float] | None = None,
) -> Certificate:
    """Certify the winner of a finished test, whose events may partly be fake.

    Args:
        log: A file (CSV, TSV, JSON lines, also with .gz, or Parquet), a pattern such as logs/*.csv, a Polars or pandas
            frame or a mapping of columns, or a list of these; with one row for each event (arm, reward), or one for
            each arm (arm, events, successes). Files may be larger than the memory.
        arm: The columns of a log; None: those whose names say it, such as variant and converted.
        reward: The columns of a log; None: those whose names say it, such as variant and converted.
        events: The columns of a table, with `arm`; None: those whose names say it, such as views and clicks.

    successes
    Args:
        delta: How likely the certificate may be wrong.
        threat: "alter": rewards were changed; "inject": events were added; "suppress": events were withheld.
        design: "adaptive": a bandit's log, or one that was looked at before it ended; "fixed": this is the only look,
            and neither results nor an attacker had a say in how many genuine events each arm has.
        reward_range: The least and the largest possible reward, where these are not 0 and 1. One unit of the budget is
            then one event altered over the full range.

    >>> import vambrace as vb
    >>> certificate = vb.certify({"arm": ["old", "new"], "views": [50_000, 50_000], "clicks": [600, 1_000]})
    >>> certificate.winner, certificate.certified
    ('new', True)
    >>> certificate.columns
    {'arm': 'arm', 'events': 'views', 'successes': 'clicks'}
    """
    _check(delta, threat, design)
    wanted = data.Wanted(arm, reward, events, successes)
    with waiting("reading"):
        found = data.tally(log, wanted, checked_range(reward_range))
    (tally,) = found.tests.values()
    if len(tally.labels) < 2:
        raise InvalidParameter(f"{data.title(log)}: expected at least two arms, got one: {tally.labels[0]!r}")
    return _certificate(log, tally, found.columns, delta, threat, design)


def certify_each(
    log: Any,
    group: str,
    *,
    arm: str | None = None,
    reward: str | None = None,
    events: str | None = None,
    successes: str | None = None,
    delta: float = 0.05,
    threat: str = "alter",
    design: str = "adaptive",
    reward_range: Sequence[float] | None = None,
) -> Certified:
    """Certify many tests of one log, which the column `group` tells apart; each by itself errs with chance delta."""
    _check(delta, threat, design)
    wanted = data.Wanted(arm, reward, events, successes, group)
    with waiting("reading"):
        read = data.tally(log, wanted, checked_range(reward_range))
    found: dict[str, Certificate] = {}
    with ProgressBar("certifying", len(read.tests)) as bar:
        for done, (test, tally) in enumerate(read.tests.items(), start=1):
            if len(tally.labels) > 1:
                found[test] = _certificate(log, tally, read.columns, delta, threat, design)
            bar.update(done)
    if not found:
        raise InvalidParameter(f"{data.title(log)}: expected a test with at least two arms, got one arm in every test")
    return Certified(found, tuple(test for test in read.tests if test not in found))


def standing(certificates: Iterable[Certificate], budget: float) -> int:
    """How many of the winners stand although so many events may be fake."""
    return sum(len(each.not_ruled_out(budget)) == 1 for each in certificates)


def checked_range(value: Any) -> tuple[float, float] | None:
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


def _check(delta: Any, threat: Any, design: Any) -> None:
    """Before a large file is read, not after."""
    validation.choice("threat", threat, THREATS)
    validation.choice("design", design, DESIGNS)
    validation.number("delta", delta, low=0.0, high=1.0, open_low=True, open_high=True)


def _certificate(
    log: Any, tally: data.Tally, columns: dict[str, str], delta: float, threat: str, design: str
) -> Certificate:
    for label, n in zip(tally.labels, tally.events, strict=True):
        if n > MOST_EVENTS:
            came = f"{n:,} of {label!r}"
            raise InvalidParameter(f"{data.title(log)}: expected at most {MOST_EVENTS:,} events of an arm, got {came}")
    options: dict[str, Any] = {"delta": delta, "threat": threat, "design": design, "binary": tally.binary}
    return certify_counts(tally.events, tally.totals, tally.labels, columns=columns, **options)
