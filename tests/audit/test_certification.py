"""From a log to a certificate: every form of the same log gives the same one, whatever its size."""

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import vambrace as vb
from vambrace.audit.certificate import certify_counts
from vambrace.audit.certification import BUDGETS, Certificates, standing
from vambrace.errors import InvalidParameter, UnknownName

UPWORTHY = Path(__file__).parents[3] / "shared" / "data" / "upworthy.csv"
EVENTS, SUCCESSES = {"a": 4000, "b": 3000, "c": 5000}, {"a": 400, "b": 900, "c": 100}
EXPECTED = certify_counts([4000, 3000, 5000], [400, 900, 100], ["a", "b", "c"])
TABLE = pl.DataFrame({"arm": list(EVENTS), "events": EVENTS.values(), "successes": SUCCESSES.values()}, strict=False)
LOG = pl.concat(
    pl.DataFrame({"variant": [arm] * n, "converted": [1] * SUCCESSES[arm] + [0] * (n - SUCCESSES[arm])})
    for arm, n in EVENTS.items()
).sample(fraction=1, shuffle=True, seed=3)

Writer = Callable[[pl.DataFrame, Path], Any]


def compressed(write: Writer) -> Writer:
    def write_both(frame: pl.DataFrame, path: Path) -> None:
        plain = path.with_suffix("")
        write(frame, plain)
        path.write_bytes(gzip.compress(plain.read_bytes()))
        plain.unlink()

    return write_both


def write_csv(frame: pl.DataFrame, path: Path) -> None:
    frame.write_csv(path)


def write_tsv(frame: pl.DataFrame, path: Path) -> None:
    frame.write_csv(path, separator="\t")


def write_lines(frame: pl.DataFrame, path: Path) -> None:
    frame.write_ndjson(path)


def write_parquet(frame: pl.DataFrame, path: Path) -> None:
    frame.write_parquet(path, row_group_size=1000)


WRITERS: dict[str, Writer] = {
    "csv": write_csv,
    "tsv": write_tsv,
    "jsonl": write_lines,
    "parquet": write_parquet,
    "csv.gz": compressed(write_csv),
    "tsv.gz": compressed(write_tsv),
    "ndjson.gz": compressed(write_lines),
}
every_format = pytest.mark.parametrize("ending", WRITERS)


# ------------------------------------------------------------------------------------------------------------ sources


def test_the_log_is_worth_certifying() -> None:
    assert EXPECTED.certified
    assert EXPECTED.budget is not None
    assert EXPECTED.budget > 100


@every_format
@pytest.mark.parametrize("source", [TABLE, LOG], ids=["table", "log"])
def test_every_format_gives_the_same_certificate(tmp_path: Path, ending: str, source: pl.DataFrame) -> None:
    path = tmp_path / f"x.{ending}"
    WRITERS[ending](source, path)
    assert vb.certify(path) == EXPECTED
    assert vb.certify(str(path)) == EXPECTED


@pytest.mark.parametrize("source", [TABLE, LOG], ids=["table", "log"])
def test_frames_and_mappings(source: pl.DataFrame) -> None:
    for same in (
        source,
        source.lazy(),
        source.to_dict(as_series=False),
        {k: v.to_numpy() for k, v in source.to_dict().items()},
    ):
        assert vb.certify(same) == EXPECTED


@pytest.mark.parametrize("kind", [pl.Boolean, pl.UInt8, pl.Int64, pl.Float32, pl.String])
def test_rewards_of_every_type(kind: Any) -> None:
    log = LOG.with_columns(pl.col("converted").cast(pl.Boolean).cast(kind), pl.col("variant").cast(pl.Categorical))
    assert vb.certify(log) == EXPECTED


def test_the_pieces_of_a_log(tmp_path: Path) -> None:
    pieces = [LOG[:5000], LOG[5000:5001], LOG[5001:]]
    WRITERS["csv"](pieces[0], tmp_path / "1.csv")
    WRITERS["parquet"](pieces[1], tmp_path / "2.parquet")
    WRITERS["csv.gz"](pieces[2].select("converted", "variant"), tmp_path / "3.csv.gz")
    assert vb.certify(str(tmp_path / "*")) == EXPECTED
    assert vb.certify([tmp_path / "1.csv", pieces[1], str(tmp_path / "3*")]) == EXPECTED
    with pytest.raises(InvalidParameter, match=r"3\.csv: expected a file, got nothing there"):
        vb.certify([tmp_path / "1.csv", tmp_path / "3.csv"])


def test_a_name_with_the_signs_of_a_pattern_is_a_name(tmp_path: Path) -> None:
    WRITERS["csv"](LOG, tmp_path / "log[1].csv")
    assert vb.certify(tmp_path / "log[1].csv") == EXPECTED


# ------------------------------------------------------------------------------------------------------------ columns


@pytest.mark.parametrize("arm", ["arm", "Variant", "variation", "treatment", "group", "bucket"])
@pytest.mark.parametrize("reward", ["reward", "converted", "Conversion", "clicked", "click", "success"])
def test_obvious_names_are_guessed(arm: str, reward: str) -> None:
    assert vb.certify(LOG.rename({"variant": arm, "converted": reward})) == EXPECTED


def test_other_names_must_be_given() -> None:
    log = LOG.rename({"variant": "page", "converted": "bought"})
    assert vb.certify(log, arm="page", reward="bought") == EXPECTED
    with pytest.raises(InvalidParameter, match=r"dataframe: expected a column arm or variant .* got page, bought"):
        vb.certify(log)
    with pytest.raises(InvalidParameter, match="dataframe: expected a column 'pag', got page, bought"):
        vb.certify(log, arm="pag", reward="bought")


def test_a_doubtful_guess_is_refused() -> None:
    log = LOG.with_columns(pl.col("variant").alias("group"), pl.col("converted").alias("clicked"))
    with pytest.raises(InvalidParameter, match=r"expected one column arm or variant .* got variant and group"):
        vb.certify(log)
    with pytest.raises(InvalidParameter, match=r"expected one column reward or .* got converted and clicked"):
        vb.certify(log, arm="variant")
    assert vb.certify(log, arm="variant", reward="clicked") == EXPECTED
    with pytest.raises(InvalidParameter, match=r"\(name the one that you mean\), got variant and group and arm"):
        vb.certify(log.with_columns(arm="variant"))
    both = {"arm": ["A", "B"], "views": [1000, 1000], "clicks": [100, 300], "successes": [500, 100]}
    with pytest.raises(InvalidParameter, match=r"expected one column successes or .* got clicks and successes"):
        vb.certify(both)
    assert [vb.certify(both, reward=column).winner for column in ("clicks", "successes")] == ["B", "A"]
    with pytest.raises(InvalidParameter, match=r"expected one column events or .* got views and events"):
        vb.certify({"arm": ["A", "B"], "views": [9, 9], "events": [9, 9], "clicks": [1, 2]})
    with pytest.raises(InvalidParameter, match=r"expected one column arm or .* got Arm and arm"):
        vb.certify({"Arm": ["A", "B"], "arm": ["A", "B"], "reward": [0, 1]})
    with pytest.raises(InvalidParameter, match="expected a table of successes or a log of rewards"):
        vb.certify({"arm": ["A", "B"], "views": [9, 9], "clicks": [1, 2], "reward": [0, 1]})


def test_a_file_name_with_brackets_is_that_file(tmp_path: Path) -> None:
    for name, winner in (("n[1].jsonl", "B"), ("n1.jsonl", "A")):
        rows = [{"arm": arm, "events": 1000, "successes": 900 if arm == winner else 100} for arm in "AB"]
        (tmp_path / name).write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    assert vb.certify(tmp_path / "n[1].jsonl").winner == "B"


@pytest.mark.parametrize("name", ["arm", "reward"])
def test_a_column_that_is_no_name(name: str) -> None:
    with pytest.raises(InvalidParameter, match=f"{name}: expected the name of a column, got 5"):
        vb.certify(LOG, **{name: 5})  # type: ignore[call-overload]


def test_more_events_than_the_search_can_bear() -> None:
    with pytest.raises(InvalidParameter, match=r"dict: expected at most 1,000,000,000 events .+, got 10,000,000,000"):
        vb.certify({"arm": ["A", "B"], "views": [10**10, 10**10], "clicks": [10, 10**9]})


def test_the_least_delta_there_is() -> None:
    assert vb.certify(LOG, delta=5e-324).delta == 5e-324


def test_a_named_reward_makes_it_a_log() -> None:
    log = LOG.with_columns(views=pl.lit(1), clicks=pl.lit(1))
    assert vb.certify(log, reward="converted") == EXPECTED
    clicks = LOG.rename({"converted": "clicks"}).with_columns(views=pl.lit(1))
    assert vb.certify(clicks, reward="clicks") == EXPECTED
    assert vb.certify(clicks).budget == EXPECTED.budget  # each row is a table of one event
    assert vb.certify({"arm": ["A", "B"], "views": [900, 900], "clicks": [1, 99]}, reward="clicks").events == 1800


@pytest.mark.parametrize(
    "events", ["users", "Visitors", "visits", "sessions", "exposures", "participants", "n", "count"]
)
@pytest.mark.parametrize("successes", ["purchases", "orders", "Signups"])
def test_the_counts_of_a_table_have_many_names(events: str, successes: str) -> None:
    found = vb.certify(TABLE.rename({"events": events, "successes": successes}))
    assert found == EXPECTED
    assert found.columns == {"arm": "arm", "events": events, "successes": successes}


def test_the_columns_of_a_table_can_be_named() -> None:
    table = TABLE.rename({"events": "people", "successes": "converted"}).with_columns(sessions=7)
    assert vb.certify(table, events="people", successes="converted") == EXPECTED
    assert vb.certify(table.rename({"converted": "clicks"}), events="people") == EXPECTED
    assert vb.certify(table.drop("sessions").rename({"people": "n"}), successes="converted") == EXPECTED
    with pytest.raises(InvalidParameter, match="column 'converted': expected no more than sessions, got 400"):
        vb.certify(table)
    with pytest.raises(InvalidParameter, match="expected a column 'persons', got arm, people, converted, sessions"):
        vb.certify(table, events="persons", successes="converted")
    with pytest.raises(
        InvalidParameter, match=r"expected the reward \(reward, .* or the events \(events, .* got arm, people"
    ):
        vb.certify(table.drop("converted"))
    with pytest.raises(
        InvalidParameter, match="reward: expected the reward of a log, or the events and successes of a"
    ):
        vb.certify(table, events="people", reward="converted")
    many = TABLE.with_columns(exp=pl.lit("x")).rename({"events": "people", "successes": "won"})
    assert vb.certify(many, group="exp", events="people", successes="won") == {"x": EXPECTED}


def test_a_log_says_which_columns_it_used() -> None:
    assert vb.certify(LOG).columns == {"arm": "variant", "reward": "converted"}
    many = LOG.with_columns(exp=pl.lit("x"))
    assert vb.certify(many, group="exp")["x"].columns == {"test": "exp", "arm": "variant", "reward": "converted"}
    assert certify_counts([9, 9], [1, 2]).columns == {}


# -------------------------------------------------------------------------------------------------------- parameters


@pytest.mark.parametrize("threat", ["alter", "inject", "suppress"])
@pytest.mark.parametrize("design", ["adaptive", "fixed"])
def test_the_options_reach_the_certificate(threat: str, design: str) -> None:
    options: dict[str, Any] = {"threat": threat, "design": design, "delta": 0.01}
    assert vb.certify(TABLE, **options) == certify_counts(
        [4000, 3000, 5000], [400, 900, 100], ["a", "b", "c"], **options
    )


def test_a_range_makes_the_same_log_of_rescaled_rewards() -> None:
    log = LOG.with_columns(pl.when(pl.col("converted") == 1).then(0.2).otherwise(-0.1).alias("converted"))
    with pytest.raises(
        InvalidParameter, match=r"expected a number in \[0, 1\] \(a reward range rescales others\), got"
    ):
        vb.certify(log)
    found = vb.certify(log, reward_range=(-0.1, 0.2))  # whole counts again, in spite of rounding
    assert (found.binary, found.budget, found.cheapest) == (True, EXPECTED.budget, EXPECTED.cheapest)
    assert found.winner_mean == pytest.approx(-0.1 + 0.3 * EXPECTED.winner_mean)
    assert found.rivals[0].high == pytest.approx(-0.1 + 0.3 * EXPECTED.rivals[0].high)
    wider = vb.certify(log, reward_range=(-0.1, 0.5))
    assert not wider.binary
    assert wider.winner_mean == found.winner_mean  # in the units of the log
    with pytest.raises(InvalidParameter, match="expected a log, whose rewards have a range, got a table"):
        vb.certify(TABLE, reward_range=(0, 2))


def test_rewards_between_the_ends_are_no_coin_flips() -> None:
    tenth = LOG.filter(pl.int_range(pl.len()).over("variant", "converted") % 10 == 0)
    found = vb.certify(tenth.with_columns(pl.col("converted") * 0.999), reward="converted")
    totals = [0.999 * each for each in (40, 90, 10)]
    squares = [0.999**2 * each for each in (40, 90, 10)]
    expected = certify_counts([400, 300, 500], totals, ["a", "b", "c"], squares=squares, binary=False)
    assert not found.binary
    assert found.budget == pytest.approx(expected.budget, abs=1e-6)
    almost = pl.concat([LOG.cast({"converted": pl.Float64}), pl.DataFrame({"variant": ["a"], "converted": [1e-300]})])
    assert not vb.certify(almost, reward="converted").binary


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"delta": 0}, r"delta: expected a number in \(0, 1\), got 0"),
        ({"threat": "altr"}, "unknown threat 'altr'; did you mean 'alter'"),
        ({"design": "peek"}, "unknown design 'peek'"),
        ({"reward_range": 3}, "reward_range: expected the least and the largest reward, got 3"),
        ({"reward_range": (1, 1)}, r"reward_range\[1\]: expected a number in \(1, 1e\+100\], got 1"),
        ({"reward_range": (0, 1e-200)}, "reward_range: expected a width of at least 1e-100, got 1e-200"),
        ({"reward_range": (0, float("inf"))}, r"reward_range\[1\]: expected a number in \(0, 1e\+100\], got inf"),
    ],
)
def test_what_cannot_be_meant_is_refused_before_anything_is_read(options: dict[str, Any], message: str) -> None:
    with pytest.raises(vb.VambraceError, match=message):
        vb.certify("gone.csv", **options)


@pytest.mark.parametrize(
    ("events", "successes", "options"),
    [
        ([9], [1], {}),
        ([], [], {}),
        ([9, 0], [1, 0], {}),
        ([9, 8.5], [1, 0], {}),
        ([9, 8], [1], {}),
        ([9, 8], [1, 9], {}),
        ([9, 8], [1, -1], {}),
        ([9, 8], [1, 2.5], {}),
        ([9, 8], [1, float("nan")], {}),
        ([9, 8], [1, 2], {"delta": 0}),
        ([9, 8], [1, 2], {"delta": 1}),
        ([9, 8], [1, 2], {"delta": None}),
        ([9, 8], [1, 2], {"threat": 3}),
        ([9, 8], [1, 2], {"group": 3}),
        (["x", 8], [1, 2], {}),
    ],
)
def test_counts_that_cannot_be_meant_are_refused(events: Any, successes: Any, options: dict[str, Any]) -> None:
    table = {"arm": list("AB")[: len(events)], "events": events, "successes": successes}
    with pytest.raises(InvalidParameter, match=r"expected .+, got "):
        vb.certify(table, **options)


@pytest.mark.parametrize(
    ("rewards", "came"),
    [
        ([0, None], "nothing"),
        ([0, float("nan")], "nan"),
        ([0, float("inf")], "inf"),
        ([0, -1e-9], "-1e-09"),
        ([1, 2], "2"),
    ],
)
def test_the_first_bad_reward_is_named(rewards: list[Any], came: str) -> None:
    log = {"arm": ["a", "b"] * 50, "reward": [1, 0] * 49 + rewards}
    with pytest.raises(InvalidParameter) as caught:
        vb.certify(log)
    assert str(caught.value).startswith("dict: column 'reward': expected a number in [0, 1]")
    assert str(caught.value).endswith(f", got {came} in row 100") or came == "inf"


def test_a_type_checker_knows_what_can_be_meant() -> None:
    """Were a wrong word or a number accepted, mypy would report an ignore that is not needed."""
    with pytest.raises(UnknownName, match="did you mean 'alter'"):
        vb.certify(TABLE, threat="altr")  # type: ignore[call-overload]
    with pytest.raises(UnknownName, match="did you mean 'fixed'"):
        vb.certify(TABLE, design="fixd")  # type: ignore[call-overload]
    with pytest.raises(InvalidParameter, match=r"expected the name of a file, .*, got 42"):
        vb.certify(42)  # type: ignore[call-overload]
    many = {"exp": ["x", "x"], "arm": ["a", "b"], "views": [900, 900], "clicks": [100, 300]}
    one: vb.Certificate = vb.certify(many)
    each: Certificates = vb.certify(many, group="exp")
    assert one == each["x"]


# --------------------------------------------------------------------------------------------------------- many tests


def test_each_test_of_many_is_certified_by_itself() -> None:
    other = pl.DataFrame({"arm": ["x", "y"], "events": [50, 60], "successes": [20, 10], "test": ["two"] * 2})
    alone = pl.DataFrame({"arm": ["x"], "events": [50], "successes": [20], "test": ["three"]})
    many = pl.concat([TABLE.with_columns(test=pl.lit("one")), other, alone])
    found = vb.certify(many, group="test")
    assert found == {"one": EXPECTED, "two": vb.certify(other)}
    assert found.left_out == ("three",)
    assert [standing(found.values(), budget) for budget in BUDGETS] == [1, 1, 1, 1, 0]
    with pytest.raises(InvalidParameter, match="expected one test, or the group 'test' to tell them apart, got 3"):
        vb.certify(many)
    with pytest.raises(InvalidParameter, match="expected a test with at least two arms, got one arm in every test"):
        vb.certify(alone, group="test")


def test_a_log_of_many_tests() -> None:
    many = LOG.with_columns(experiment=pl.lit(10)).vstack(LOG.with_columns(experiment=pl.lit(9)))
    assert list(vb.certify(many, group="experiment").items()) == [("9", EXPECTED), ("10", EXPECTED)]


def test_every_test_of_a_real_archive() -> None:
    """The Upworthy Research Archive (Matias et al. 2021)."""
    if not UPWORTHY.is_file():
        pytest.skip(f"needs {UPWORTHY}, which is not distributed with vambrace")
    for design, certified, robust in (("fixed", 389, 341), ("adaptive", 19, 17)):
        found = vb.certify(UPWORTHY, group="test", design=design)  # type: ignore[call-overload]
        assert (len(found), found.left_out) == (4873, ())
        assert sum(each.certified for each in found.values()) == standing(found.values(), 0) == certified
        assert standing(found.values(), 1) == robust
        assert sum(each.events for each in found.values()) == 81_024_151


def test_json_is_plain() -> None:
    assert json.loads(json.dumps(EXPECTED.to_dict()))["winner"] == "b"
    numbers = {"arm": np.array([7, 9]), "views": np.array([900, 1000]), "clicks": np.array([100, 900])}
    found = vb.certify(numbers, delta=np.float64(0.1)).to_dict()  # NumPy's numbers must not get through
    assert json.loads(json.dumps(found, allow_nan=False))["winner"] == "9"
