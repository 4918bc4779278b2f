"""Tables as people have them: each is read rightly, with a word where it was understood, or refused with what to do."""

import csv
import io
import json
import sqlite3
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import xlsxwriter

from vambrace import data
from vambrace.errors import InvalidParameter

AB = (("A", "B"), (1000, 1000), (21, 30))
EVERYWHERE = ("csv", "xlsx", "json", "sqlite")
TEXT = ("csv",)


class Read(NamedTuple):
    """A table that is understood: its sums, and a part of each note."""

    text: str
    sums: tuple[tuple[str, ...], tuple[int, ...], tuple[float, ...]] = AB
    notes: tuple[str, ...] = ()
    options: dict[str, Any] = {}  # noqa: RUF012
    kinds: tuple[str, ...] = EVERYWHERE


class Refused(NamedTuple):
    """A table that is refused, and a part of the line that says why and what to do."""

    text: str
    why: str
    options: dict[str, Any] = {}  # noqa: RUF012
    kinds: tuple[str, ...] = EVERYWHERE


TABLE = "variant,visitors,conversions\nA,1000,21\nB,1000,30\n"
DAILY = (
    "date,variant,views,clicks\n2026-01-01,A,400,11\n2026-01-01,B,600,10\n2026-01-02,A,600,10\n2026-01-02,B,400,20\n"
)
COLUMNS = data.Columns
SUMMED = "Rows of the same arm were added up: 4 rows, 2 arms."
RATE = "was read as a rate, from which the number of successes was computed (0.021 of 1,000 is 21)."
THOUSANDS = "(write 10000, without signs between thousands)"
NO_SIGN = "expected a number without signs between thousands"
MANY = "give the number of successes instead"
DROP = "(--drop 'Total', in Python drop='Total', leaves it out"

CASES: dict[str, Read | Refused] = {
    # rates
    "a rate named as a reward": Read(
        "variant,visitors,conversion\nA,1000,0.021\nB,1000,0.03\n", notes=(f"conversion {RATE}",)
    ),
    "a rate by its name": Read("variant,visitors,conversion_rate\nA,1000,0.021\nB,1000,0.03\n", notes=(RATE,)),
    "a rate in a title": Read(
        'Variant,Visitors,"Conv. Rate"\nA,1000,0.021\nB,1000,0.03\n', notes=(f"Conv. Rate {RATE}",)
    ),
    "per cent with a sign": Read("variant,views,ctr\nA,1000,2.1 %\nB,1000,3.0%\n", notes=("(2.1 % of 1,000 is 21)",)),
    "per cent as numbers": Read("variant,views,ctr\nA,1000,2.1\nB,1000,3\n", notes=("(2.1 of 1,000 is 21)",)),
    "per cent in the title": Read(
        "variant,views,ctr (%)\nA,1000,0.1\nB,1000,0.2\n", (("A", "B"), (1000, 1000), (1, 2)), ("",)
    ),
    "a rate of exact fractions": Read(
        "variant,views,ctr\nA,3000,0.0333333333\nB,7000,0.1428571429\n",
        (("A", "B"), (3000, 7000), (100, 1000)),
        ("(0.0333333333 of 3,000 is 100)",),
        kinds=("csv", "json", "sqlite"),
    ),
    "a rate beside the number is not needed": Read(
        "variant,visitors,conversions,rate\nA,1000,21,2.1%\nB,1000,30,3.0%\n"
    ),
    "a number named as a reward": Read(
        "variant,visitors,conversion\nA,1000,21\nB,1000,30\n",
        notes=("conversion was read as the number of successes among visitors.",),
    ),
    "a rate, the events named": Read(
        "variant,traffic,conversion\nA,1000,0.021\nB,1000,0.03\n",
        notes=(RATE,),
        options={"wanted": COLUMNS(events="traffic")},
    ),
    "a rate rounded too much": Refused(
        "variant,visitors,rate\nA,10000,2.1%\nB,10000,3.0%\n", f"a rate with more decimals (of 10,000 events; {MANY})"
    ),
    "a rate that is none": Refused(
        "variant,visitors,rate\nA,1000,0.0213\nB,1000,0.0307\n", f"({MANY}), got 0.0213 in row 1"
    ),
    "a rate above one hundred": Refused("variant,visitors,rate\nA,1000,210\nB,1000,0.03\n", "expected a rate, got "),
    "a rate with a comma": Refused(
        'variant,visitors,rate\nA,1000,"2,1%"\nB,1000,"3,0%"\n', "expected a rate, got '2,1%' in row 1"
    ),
    "a rate without events": Refused("variant,ctr\nA,0.021\nB,0.03\n", "(a rate needs the number of events beside it)"),
    "a rate as successes": Refused(
        "variant,visitors,won\nA,1000,0.021\nB,1000,0.03\n",
        "expected a whole number from 0 up (a rate? give the number of successes), got ",
        {"wanted": COLUMNS(successes="won")},
    ),
    "a rate and unknown counts": Refused(
        "variant,traffic,conversion\nA,1000,0.021\nB,1000,0.03\n",
        "(in a table, name the events, such as 'traffic', and the",
    ),
    "rates of days and unknown counts": Refused(
        "day,variant,traffic,conversion\n1,A,1000,0.5\n1,B,1000,0.25\n2,A,900,0.5\n2,B,900,0.25\n",
        "column 'conversion': expected rewards that are 0 or 1 (if they are rates, give the number of successes; in a",
    ),
    "rates of days alone": Refused(
        "day,variant,converted\n1,A,0.5\n1,B,0.25\n2,A,0.5\n2,B,0\n", "column 'converted': expected rewards that are"
    ),
    "rewards that are named": Read(
        "step,variant,conversion\n1,A,0.5\n2,B,0.25\n3,A,0.5\n4,B,0.25\n",
        (("A", "B"), (2, 2), (1.0, 0.5)),
        options={"wanted": COLUMNS(reward="conversion")},
    ),
    "rewards between 0 and 1": Read(
        "step,variant,reward\n1,A,0.5\n2,B,0.25\n3,A,0.5\n4,B,0.25\n", (("A", "B"), (2, 2), (1.0, 0.5))
    ),
    "rates of days named as rewards": Refused(
        "day,variant,visitors,conversion\n1,A,1000,0.021\n1,B,1000,0.03\n2,A,900,0.02\n2,B,900,0.01\n",
        "column 'conversion': expected rewards that are 0 or 1 beside visitors (if they are rates, give the number of",
    ),
    "rates of days": Read(
        "day,variant,visitors,rate\n1,A,400,0.0125\n1,B,600,0.02\n2,A,600,0.02\n2,B,400,0.0125\n",
        (("A", "B"), (1000, 1000), (17, 17)),
        ("rate was read as a rate", "Rows of the same arm were added up"),
    ),
    # totals
    "a total": Refused(f"{TABLE}Total,2000,51\n", DROP),
    "a total that is dropped": Read(f"{TABLE}Total,2000,51\n", options={"drop": "Total"}),
    "a grand total": Refused(f"{TABLE}Grand Total,2000,51\n", "got the total 'Grand Total'"),
    "ein Gesamt": Refused(f"{TABLE}Gesamt,2000,51\n", "got the total 'Gesamt'"),
    "eine Summe": Refused(f"{TABLE}Summe:,2000,51\n", "got the total 'Summe:'"),
    "all": Refused(f"{TABLE}All,2000,51\n", "got the total 'All'"),
    "a total that is not the sum": Refused(f"{TABLE}total,2500,60\n", "got the total 'total'"),
    "a total without a word for it": Refused(
        f"{TABLE}Site,2000,51\n", "got 'Site', whose counts are the sums of the others"
    ),
    "an arm that looks like a total": Read(
        f"{TABLE}Site,2000,51\n", (("A", "B", "Site"), (1000, 1000, 2000), (21, 30, 51)), options={"drop": ""}
    ),
    "a total to be dropped that is not there": Refused(
        f"{TABLE}Total,2000,51\n", "did you mean 'Total'?", {"drop": "total"}
    ),
    "a total of all days": Refused(
        f"{DAILY}Total,A,1000,21\nTotal,B,1000,30\n", "(leave out those whose date is 'total'), got a total"
    ),
    "a total without a day": Refused(
        f"{DAILY},A,1000,21\n,B,1000,30\n",
        "column 'date': expected rows that can be added up (leave out those whose date is",
    ),
    "a day that is not known": Read(
        f"{DAILY},A,1000,22\n,B,1000,30\n", (("A", "B"), (2000, 2000), (43, 60)), ("6 rows, 2 arms",)
    ),
    "a total of each day": Refused(
        f"{DAILY}2026-01-01,Total,1000,21\n2026-01-02,Total,1000,30\n", "got the total 'Total'"
    ),
    "several tests": Read(
        "test_id,variant,views,clicks\nx,A,400,11\nx,B,600,10\ny,A,600,10\ny,B,400,20\n",
        notes=(SUMMED, "All rows were read as one test; if test_id names tests, --group test_id"),
    ),
    "one test that has a name": Read("experiment,variant,views,clicks\nx,A,1000,21\nx,B,1000,30\n"),
    # counts of each reward
    "how often each reward": Refused(
        "variant,converted,count\nA,0,979\nA,1,21\nB,0,970\nB,1,30\n",
        "expected one row for each event (if 'count' counts events, write a row for each arm, with its events and",
    ),
    "how often each reward, by another name": Refused(
        "variant,outcome,people\nA,0,979\nA,1,21\nB,0,970\nB,1,30\n",
        "(if 'people' counts events, write a row for each arm",
    ),
    "how often each reward, named": Refused(
        "variant,bought,people\nA,0,979\nA,1,21\nB,0,970\n",
        "got one row for each reward",
        {"wanted": COLUMNS(reward="bought")},
    ),
    "how often each reward on each day": Refused(
        "day,variant,converted,n\n1,A,0,979\n1,A,1,21\n1,B,0,970\n2,A,0,9\n2,A,1,0\n2,B,0,9\n", "(if 'n' counts events,"
    ),
    "visits of persons in a log": Read(
        "user_id,variant,converted,visits\n1,A,0,3\n2,A,1,1\n3,A,0,2\n4,B,1,1\n", (("A", "B"), (3, 1), (1, 1))
    ),
    "visits in a log": Read("variant,converted,visits\nA,0,3\nA,1,1\nA,0,2\nB,1,1\n", (("A", "B"), (3, 1), (1, 1))),
    "visits in a log whose reward is named": Read(
        "hour,variant,converted,visits\n1,A,0,3\n2,A,1,1\n3,A,0,2\n4,B,1,1\n",
        (("A", "B"), (3, 1), (1, 1)),
        options={"wanted": COLUMNS(reward="converted")},
    ),
    # rows that are added up
    "days": Read(DAILY, notes=(SUMMED,)),
    "days without events": Read(f"{DAILY}2026-01-03,A,0,0\n", notes=("5 rows, 2 arms",)),
    "a click of a view of yesterday": Read(
        f"{DAILY}2026-01-03,A,0,1\n", (("A", "B"), (1000, 1000), (22, 30)), ("5 rows",)
    ),
    "running totals": Read(
        "day,variant,views,clicks\n1,A,10,1\n1,B,10,1\n2,A,20,2\n2,B,20,1\n3,A,30,3\n3,B,30,2\n",
        (("A", "B"), (60, 60), (6, 4)),
        (
            "6 rows, 2 arms",
            "views and clicks never fall from row to row of an arm: if they are running totals, keep only",
        ),
    ),
    "devices": Read(
        "device,variant,views,clicks\nphone,A,400,11\nphone,B,600,10\ntv,A,600,10\ntv,B,400,20\n", notes=(SUMMED,)
    ),
    "devices and all of them": Refused(
        "device,variant,views,clicks\nphone,A,400,11\ntv,A,600,10\nAll,A,1000,21\nAll,B,1000,30\n",
        "whose device is 'all'",
    ),
    "all devices": Read("device,variant,views,clicks\nAll,A,1000,21\nAll,B,600,20\nAll,B,400,10\n", notes=("3 rows",)),
    "notes beside arms": Read("variant,visitors,conversions,seen by\nA,1000,21,all\nB,1000,30,some\n"),
    # numbers
    "thousands with a comma": Refused('variant,visitors,conversions\nA,"10,000",21\nB,"10,000",30\n', THOUSANDS),
    "thousands with a point": Refused("variant,visitors,conversions\nA,1.234.567,21\nB,1.234.567,30\n", NO_SIGN),
    "one thousand or one": Refused("variant,visitors,conversions\nA,1.000,0\nB,1.000,1\n", NO_SIGN, kinds=("csv",)),
    "thousands with an apostrophe": Refused("variant,visitors,conversions\nA,10'000,21\nB,10'000,30\n", THOUSANDS),
    "thousands with a space": Refused("variant,visitors,conversions\nA,10 000,21\nB,10 000,30\n", THOUSANDS),
    "thousands with a narrow space": Refused(
        "variant,visitors,conversions\nA,10\u202f000,21\nB,10\u202f000,30\n", THOUSANDS
    ),
    "thousands in the successes": Refused('variant,visitors,conversions\nA,20000,"1,021"\nB,20000,999\n', THOUSANDS),
    "yes and no": Refused(
        "variant,converted\nA,yes\nA,no\nB,no\n", "got 'yes' in row 1 (write 1 for yes and 0 for no)"
    ),
    "ja und nein": Refused(
        "variant,converted\nA,0\nA,Nein\nB,Ja\n", "got 'Nein' in row 2 (write 1 for yes and 0 for no)"
    ),
    "true and false": Read("variant,converted\nA,TRUE\nA,false\nB,False\n", (("A", "B"), (2, 1), (1, 0))),
    "per cent in a log": Refused("variant,reward\nA,2.0%\nA,0\nB,0\n", "got '2.0%' in row 1 (write 0.02 for 2%)"),
    "euros": Refused("variant,reward\nA,€0.41\nA,0\nB,0\n", "(write the number without the currency)"),
    "dollars after": Refused("variant,reward\nA,0.41 USD\nA,0\nB,0\n", "(write the number without the currency)"),
    "decimals with a comma": Refused(
        'variant,reward\nA,"0,5"\nA,0\nB,0\n', "got '0,5' in row 1 (write 0.5 for 0,5, with a point)"
    ),
    "a broken formula": Refused(
        "variant,visitors,conversions\nA,1000,#N/A\nB,1000,30\n",
        "(correct the formula in the spreadsheet)",
        kinds=("csv", "json", "sqlite"),
    ),
    "numbers of a data frame": Read("variant,visitors,conversions\nA,1000.0,21.0\nB,1e3,30.0\n"),
    "a negative count": Refused(
        "variant,visitors,conversions\nA,-1000,21\nB,1000,30\n", "expected a whole number in [0, "
    ),
    "negative successes": Refused(
        "variant,visitors,conversions\nA,1000,-21\nB,1000,30\n", "expected a whole number from 0 up"
    ),
    "half a visitor": Refused(
        "variant,visitors,conversions\nA,1000.5,21\nB,1000,30\n", "expected a whole number in [0, "
    ),
    "more successes than events": Refused(
        "variant,visitors,conversions\nA,20,21\nB,1000,30\n", "expected no more than visitors, got "
    ),
    "more successes than events in all": Refused(
        "day,variant,views,clicks\n1,A,10,11\n2,A,10,12\n2,B,10,3\n",
        "expected no more successes than events, got 23 of 20 of 'A'",
    ),
    "no number": Refused("variant,visitors,conversions\nA,NaN,21\nB,1000,30\n", "expected a whole number in [0, "),
    "no number among the successes": Refused(
        "variant,visitors,conversions\nA,1000,NaN\nB,1000,30\n", "expected a whole number from 0 up, got "
    ),
    "no number among the successes of a day": Refused(
        f"{DAILY}2026-01-03,A,100,NaN\n", "column 'clicks': expected a whole number from 0 up, got "
    ),
    "infinity": Refused(
        "variant,visitors,conversions\nA,inf,21\nB,1000,30\n", "expected a whole number in [0, ", kinds=("csv", "json")
    ),
    "an empty cell": Refused("variant,visitors,conversions\nA,1000,\nB,1000,30\n", "got nothing in row 1"),
    # arms
    "an arm with a blank": Refused(f"{TABLE}A ,1000,22\n", "expected one way to write each name, got 'A' and 'A '"),
    "an arm in lower case": Read(
        f"{TABLE}a,1000,22\n",
        (("A", "B", "a"), (1000, 1000, 1000), (21, 30, 22)),
        ("'A' and 'a' in variant were counted as two arms.",),
    ),
    "an arm without events": Refused(
        f"{TABLE}C,0,0\n", "expected at least one event of each arm (--drop 'C', in Python drop='C'"
    ),
    "an arm without events dropped": Read(f"{TABLE}C,0,0\n", options={"drop": ("C",)}),
    "an arm without a name": Refused(f"{TABLE},1000,22\n", "column 'variant': expected a name, got nothing in row 3"),
    "an arm that is not available": Refused(f"{TABLE}N/A,1000,22\n", "expected a name, got 'N/A' in row 3"),
    "dates as arms": Refused(
        "group,views,clicks\n2026-01-02,1000,21\n2026-02-01,1000,30\n", "if the dates are the arms, name this column"
    ),
    "dates as arms that are named": Read(
        "group,views,clicks\n2026-01-02,1000,21\n2026-02-01,1000,30\n",
        (("2026-01-02", "2026-02-01"), (1000, 1000), (21, 30)),
        options={"wanted": COLUMNS(arm="group")},
    ),
    "one arm": Read("variant,visitors,conversions\nA,1000,21\n", (("A",), (1000,), (21,))),  # `certify` refuses it
    "a column for each arm": Refused(
        "metric,A,B\nvisitors,1000,1000\nconversions,21,30\n", "each arm or event needs a row of its own"
    ),
    "numbers as arms": Read(
        "variant,visitors,conversions\n1,1000,21\n2,1000,30\n", (("1", "2"), (1000, 1000), (21, 30))
    ),
    # columns
    "titles": Read(
        'Variant,"Unique Visitors",Conversions\nA,1000,21\nB,1000,30\n',
        options={"wanted": COLUMNS(events="Unique Visitors")},
    ),
    "empty columns and rows at the end": Read(
        "variant,visitors,conversions,,\nA,1000,21,,\nB,1000,30,,\n,,,,\n,,,,\n", kinds=("csv", "xlsx")
    ),
    "a column twice": Refused(
        "variant,visitors,visitors,conversions\nA,1000,1000,21\nB,1000,1000,30\n",
        "expected one column 'visitors', got several of this name",
        kinds=("csv", "xlsx"),
    ),
    "two columns that fit": Refused(
        "variant,visitors,sessions,conversions\nA,1000,1100,21\nB,1000,1100,30\n", "(name the one that you mean)"
    ),
    "a log and a table": Refused(
        "variant,visitors,conversions,converted\nA,1000,21,1\nB,1000,30,0\n", "(name the columns that you mean)"
    ),
    "names in another language": Refused(
        "Variante,Besucher,Käufe\nA,1000,21\nB,1000,30\n", "(name yours if it has another name)"
    ),
    "nothing below the header": Refused(
        "variant,visitors,conversions\n", "expected at least one row, got none", kinds=("csv", "xlsx", "sqlite")
    ),
    # how text is written
    "semicolons": Read(TABLE.replace(",", ";"), kinds=TEXT),
    "semicolons and decimals with a comma": Refused(
        "variant;reward\nA;0,5\nA;0\nB;1\n", "(write 0.5 for 0,5, with a point)", kinds=TEXT
    ),
    "tabs": Read(TABLE.replace(",", "\t"), kinds=TEXT),
    "quoted": Read('"variant","visitors","conversions"\n"A","1000","21"\n"B","1000","30"\n', kinds=TEXT),
    "byte order mark": Read(f"\ufeff{TABLE}", kinds=TEXT),
    "spaces around numbers": Read("variant, visitors , conversions\nA, 1000 , 21\nB, 1000 ,30 \n", kinds=TEXT),
    "a title above the header": Refused(f"Report of July\n\n{TABLE}", "(remove lines above the header)", kinds=TEXT),
    "empty cells above the header": Refused(f",,\n,,\n{TABLE}", "(remove lines above the header)", kinds=TEXT),
}


def fields(text: str) -> list[list[Any]]:
    """The rows of a CSV text, with numbers, truths and empty cells as other formats have them."""

    def typed(field: str) -> Any:
        if field.lower() in ("true", "false"):
            return field.lower() == "true"
        try:
            number = float(field)
        except ValueError:
            return field or None
        return (
            field
            if number != number or number in (float("inf"), float("-inf"))
            else int(number)
            if number.is_integer()
            else number
        )

    header, *rows = csv.reader(io.StringIO(text))
    return [list[Any](header), *([typed(field) for field in row] for row in rows)]


def write(path: Path, text: str) -> dict[str, Any]:
    """The table as a file of the kind that its name says; returns what is needed to read it."""
    if path.suffix == ".csv":
        path.write_text(text, encoding="utf-8", newline="")
        return {}
    header, *rows = fields(text)
    if path.suffix == ".json":
        path.write_text(json.dumps([dict(zip(header, row, strict=True)) for row in rows]), encoding="utf-8")
        return {}
    if path.suffix == ".sqlite":
        with sqlite3.connect(path) as database:
            database.execute(f"CREATE TABLE t ({', '.join(json.dumps(name) for name in header)})")
            database.executemany(f"INSERT INTO t VALUES ({', '.join('?' * len(header))})", rows)
        database.close()
        return {"part": data.Part(sql="SELECT * FROM t")}
    with xlsxwriter.Workbook(path, {"strings_to_numbers": False}) as book:
        sheet = book.add_worksheet("Sheet")
        for at, row in enumerate([header, *rows]):
            for column, field in enumerate(row):
                if field not in (None, ""):
                    sheet.write(at, column, field)
    return {}


EACH = [(name, kind) for name, case in CASES.items() for kind in case.kinds]


@pytest.mark.parametrize(("name", "kind"), EACH, ids=[f"{name}.{kind}" for name, kind in EACH])
def test_a_table_is_read_rightly_or_refused(name: str, kind: str, tmp_path: Path) -> None:
    case, path = CASES[name], tmp_path / f"x.{kind}"
    options = write(path, case.text) | case.options
    if isinstance(case, Refused):
        with pytest.raises(InvalidParameter) as caught:
            data.tally(path, **options)
        assert case.why in str(caught.value)
        assert "\n" not in str(caught.value)
        return
    found = data.tally(path, **options)
    tally = found.tests[""]
    assert (tally.labels, tally.events, tally.totals) == case.sums
    assert len(found.notes) == len(case.notes)
    for note, part in zip(found.notes, case.notes, strict=True):
        assert part in note


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (TABLE.encode("utf-16"), "got UTF-16 (save it as UTF-8, which Excel calls CSV UTF-8)"),
        (
            TABLE.replace("B", "Käse").encode("windows-1252"),
            "line 3: expected text in UTF-8, got the byte 0xe4 (save it as UTF-8)",
        ),
    ],
)
def test_other_encodings(content: bytes, why: str, tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_bytes(content)
    with pytest.raises(InvalidParameter) as caught:
        data.tally(path)
    assert why in str(caught.value)
