"""What a reader sees at a glance and a program does not: totals among the arms, dates for arms, counts in a log."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches

import polars

from vambrace.data import values
from vambrace.data.columns import EVENTS, REWARDS, SUCCESSES, USERS, Columns, Header, Layout
from vambrace.data.logs import UNIT, Range
from vambrace.data.sources import Source
from vambrace.data.times import DATE, Sums
from vambrace.errors import InvalidParameter, displayed

FIRST_ROWS = 10_000  # show whether arms repeat
FIRST_EVENTS = 100_000  # show whether persons repeat
TOTALS = (
    *("total", "totals", "all", "sum", "overall", "grand total", "subtotal", "sub total", "all variants", "all arms"),
    *("gesamt", "summe", "gesamtergebnis", "gesamtsumme", "insgesamt", "somme", "total général", "suma", "totale"),
    *("total general", "totaal", "ergebnis", "alle", "everyone"),
)
MANY_TESTS = ("test id", "test name", "experiment", "experiment id", "experiment name")  # may name tests
NOT_SURE = ("conversion", "converted", "clicked", "click", "success")  # names of rewards that may be rates


def check_totals(name: str, column: str, arms: Sums) -> None:
    """Refuse a row that holds the sum of the others."""
    for label in arms:
        if _is_total(label):
            raise InvalidParameter(
                f"{name}: column {column!r}: expected arms, got the total {label!r} (--drop {label!r}, in Python "
                f"drop={label!r}, leaves it out; if it is an arm, give it another name)"
            )
    if len(arms) < 3:
        return
    events, total = (sum(each[at] for each in arms.values()) for at in (0, 1))
    for label, (n, won, _) in arms.items():
        if won > 0 and (2 * n, 2 * won) == (events, total):
            raise InvalidParameter(
                f"{name}: column {column!r}: expected arms, got {label!r}, whose counts are the sums of the others "
                f"(--drop {label!r}, in Python drop={label!r}, leaves it out; if it is an arm, --drop '')"
            )


def check_other_totals(source: Source, chosen: Columns) -> None:
    """Refuse a total among rows that are added up, such as that of all days."""
    schema, used = source.frame.collect_schema(), set(chosen.named().values())
    texts = [each for each, kind in schema.items() if kind == polars.String and each not in used]
    for column in texts:
        lower = source.frame.select(polars.col(column).str.strip_chars().str.to_lowercase()).unique()
        words = source.collect(lower)[column].drop_nulls()
        for word in words if len(words) > 1 else ():
            if _is_total(word):
                rows = f"rows that can be added up (leave out those whose {column} is {word!r})"
                raise InvalidParameter(f"{source.name}: column {column!r}: expected {rows}, got a total")
    for column in schema if chosen.successes is not None else ():
        if column not in used and _has_blank_totals(source, chosen, column):
            rows = f"rows that can be added up (leave out those whose {column} is empty)"
            raise InvalidParameter(f"{source.name}: column {column!r}: expected {rows}, got totals")


def _has_blank_totals(source: Source, chosen: Columns, column: str) -> bool:
    """Whether the rows where a column is empty are, for each arm, the sums of the others."""
    counts = {use: values.numbers(source, str(getattr(chosen, use))) for use in ("events", "successes")}
    rows = source.rows({**values.names(chosen), "label": polars.col(column).cast(polars.String), **counts})
    blank = polars.col("label").str.strip_chars().fill_null("") == ""
    halves = rows.group_by(*chosen.keys).agg(
        *((polars.col(each).filter(blank).sum() * 2 == polars.col(each).sum()).alias(each) for each in counts),
        polars.col("label").filter(~blank).n_unique().alias("labels"),
    )
    is_total = polars.col("events") & polars.col("successes") & (polars.col("labels") > 1)
    return bool(source.collect(halves.select(is_total.all())).item())


def check_drop(sources: Sequence[Source], chosen: Sequence[Columns], drop: Sequence[str]) -> None:
    """Refuse to leave out what is not there."""
    labels: set[str] = set()
    for source, columns in zip(sources, chosen, strict=True):
        arm = values.names(columns)["arm"].str.strip_chars()
        labels.update(source.collect(source.frame.select(arm=arm).unique())["arm"].drop_nulls())
    for each in drop:
        if each not in labels:
            near = get_close_matches(each, labels, n=1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            raise InvalidParameter(f"drop: expected the names of arms of {sources[0].name}, got {each!r}{hint}")


def check_dates(name: str, column: str, labels: Iterable[str]) -> None:
    """Refuse dates as arms, unless the user named their column."""
    labels = list(labels)
    if all(re.match(DATE.removesuffix("$"), label) for label in labels):
        wanted = "names of arms (if the dates are the arms, name this column)"
        raise InvalidParameter(f"{name}: column {column!r}: expected {wanted}, got dates, such as {labels[0]!r}")


def settled(source: Source, header: Header, chosen: Columns, wanted: Columns, layout: Layout | None) -> Columns:
    """The columns of a log or a table, after a look at the rows where the names leave it open."""
    if chosen.is_table:
        if wanted.reward is not None and repeats(source, chosen):
            return Columns(chosen.test, chosen.arm, wanted.reward, user=chosen.user, time=chosen.time)
        doubtful = chosen.successes is not None and not header.is_named(chosen.successes, SUCCESSES)
        if (
            doubtful
            and wanted.successes is None
            and wanted.reward is None
            and _holds(source, chosen.successes) == "rates"
        ):
            return chosen._replace(successes=None, rate=chosen.successes)
        return chosen
    events = header.found(EVENTS)
    if not events or repeats(source, chosen):
        return chosen
    held = _holds(source, chosen.reward)
    if held == "zeros and ones":
        return chosen
    if layout == "log" or len(events) > 1:
        one = "a row for each event (in a table of counts, name its events and successes)"
        raise InvalidParameter(f"{source.name}: expected {one}, got one row for each arm")
    use = "rate" if held == "rates" else "successes"
    return Columns(chosen.test, chosen.arm, None, events[0], user=chosen.user, time=chosen.time)._replace(
        **{use: chosen.reward}
    )


def repeats(source: Source, chosen: Columns) -> bool:
    """Whether an arm has more than one row."""
    keys = {key: polars.col(column) for key, column in chosen.keys.items()}
    rows = source.rows(keys)
    for part in (rows.head(FIRST_ROWS), rows):
        if source.collect(part.group_by(*keys).len().select((polars.col("len") > 1).any())).item():
            return True
    return False


def _holds(source: Source, column: str | None) -> str:
    """What the numbers of a small table are: "zeros and ones", "rates" or "counts"; texts such as 2% are rates."""
    number = values.numbers(source, str(column))
    found = source.collect(source.rows({"number": number, "written": polars.col(str(column))}))
    if found["written"].dtype == polars.String and found["written"].str.contains("%").any():
        return "rates"
    known = found["number"].drop_nulls()
    if known.is_in([0.0, 1.0]).all():
        return "zeros and ones"
    return "counts" if (known == known.round()).all() else "rates"


def check_log(
    source: Source, header: Header, chosen: Columns, wanted: Columns, ends: Range, rows: polars.DataFrame
) -> None:
    """Refuse a log whose rewards look like rates, or whose rows look like counts of events."""
    if rows["room"].sum() > 0:
        _check_one_row_each(source, chosen, rows)
        _check_rates(source, header, chosen, wanted, ends)
    else:
        _check_weights(source, header, chosen, wanted, rows)


def _check_rates(source: Source, header: Header, chosen: Columns, wanted: Columns, ends: Range) -> None:
    """Refuse rewards that are not all 0 or 1, if their name or the count beside them says that they are rates."""
    if wanted.reward is not None:
        return
    events, named = header.found(EVENTS), header.is_named(str(chosen.reward), NOT_SURE)
    if events or (named and ends == UNIT and chosen.user is None):
        rates = "if they are rates, give the number of successes; in a log of events, name the reward"
        wanted_rewards = f"rewards that are 0 or 1{f' beside {events[0]}' if events else ''} ({rates})"
        raise InvalidParameter(f"{source.name}: column {chosen.reward!r}: expected {wanted_rewards}, got others")


def _check_one_row_each(source: Source, chosen: Columns, rows: polars.DataFrame) -> None:
    """Refuse a log with one row for each arm, rewards that look like rates, and counts in another column."""
    if (rows["events"] != 1).any() or rows.height < 2:
        return
    for column, least, _ in _whole_numbers(source, chosen):
        if least > 1:
            table = f"a row for each event (in a table, name the events, such as {column!r}, and the successes)"
            raise InvalidParameter(f"{source.name}: expected {table}, got one row for each arm")


def _check_weights(source: Source, header: Header, chosen: Columns, wanted: Columns, rows: polars.DataFrame) -> None:
    """Refuse rows that say how often an arm had a reward of 0 or 1: how often is in another column, such as count.

    Either each arm has one row for each reward, or no two rows are equal without a column that is named as a count.
    """
    one_each = rows["step"].n_unique() == 1 and (rows["events"] <= 2).all() and (rows["events"] == 2).any()
    one_each = one_each and (rows.filter(events=2)["total"] == 1).all()
    has_persons = chosen.user is not None or header.found(USERS)
    events = header.found(EVENTS) if wanted.reward is None and not has_persons else []
    if events and not one_each:
        others = source.frame.select(polars.exclude(events)).head(FIRST_ROWS)
        if source.collect(others.select(polars.struct(polars.all()).is_duplicated().any())).item():
            return
    for column, _, largest in _whole_numbers(source, chosen) if one_each or events else ():
        if largest > 1 and (column in events or (one_each and not header.is_named(column, USERS))):
            table = "a row for each arm, with its events and its successes"
            log = f"one row for each event (if {column!r} counts events, write {table}; otherwise name the reward)"
            raise InvalidParameter(f"{source.name}: expected {log}, got one row for each reward")


def _whole_numbers(source: Source, chosen: Columns) -> Iterator[tuple[str, float, float]]:
    """The columns that are not used and hold whole numbers from 0 up: the least and the largest number of each."""
    schema, used = source.frame.collect_schema(), set(chosen.named().values())
    for column, kind in schema.items():
        if column not in used and (kind.is_numeric() or kind == polars.String):
            number = polars.col("number")
            whole = (number == number.round()) & (number >= 0)
            found = source.rows({"number": values.numbers(source, column)}).select(
                whole.fill_null(False).all(), number.min().alias("least"), number.max().alias("largest")
            )
            is_whole, least, largest = source.collect(found).row(0)
            if is_whole:
                yield column, least, largest


def notes_on_table(header: Header, chosen: Columns, wanted: Columns) -> list[str]:
    """That a column which may hold something else was read as the number of successes."""
    if wanted.successes is None and chosen.successes is not None and header.is_named(chosen.successes, REWARDS):
        return [f"{chosen.successes} was read as the number of successes among {chosen.events}."]
    return []


def notes_on_log(source: Source, header: Header, chosen: Columns) -> list[str]:
    """What the user of a log should know."""
    notes = []
    people = header.found(USERS) if chosen.user is None else []
    for column in people[:1]:
        first = source.collect(source.frame.select(polars.col(column)).head(FIRST_EVENTS)).drop_nulls()
        again = first.height - first.n_unique()
        if again:
            notes.append(
                f"{column} repeats ({again:,} times in the first {first.height:,} rows): events of one person are not "
                "independent, and the answer may be too certain; "
                f"--user {column} (in Python user={column!r}) counts each person once."
            )
    return notes


def notes_on_tests(source: Source, header: Header, chosen: Columns) -> list[str]:
    """That a column seems to name several tests, which were read as one."""
    for column in header.found(MANY_TESTS) if chosen.test is None else ():
        first = source.collect(source.frame.select(polars.col(column)).head(FIRST_EVENTS))[column]
        if first.drop_nulls().n_unique() > 1:
            return [
                f"All rows were read as one test; if {column} names tests, --group {column} (in Python "
                f"group={column!r}) certifies each."
            ]
    return []


def notes_on_names(column: str, tests: Mapping[str, Sums]) -> list[str]:
    """Names that differ in upper and lower case only."""
    for arms in tests.values():
        seen: dict[str, str] = {}
        for label in arms:
            first = seen.setdefault(label.casefold(), label)
            if first != label:
                return [f"{displayed(first)} and {displayed(label)} in {column} were counted as two arms."]
    return []


def _is_total(label: str) -> bool:
    plain = " ".join(label.lower().replace(":", " ").replace("-", " ").split())
    return plain in TOTALS or plain.endswith((" total", " totals", " subtotal", " gesamt", " ergebnis", " summe"))
