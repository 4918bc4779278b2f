"""Replayed logs: no event is drawn twice, every event is drawn once, and what is not the log says so."""

import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import vambrace as vb
from vambrace import data, registry
from vambrace.data import columns
from vambrace.errors import GameFault, InvalidParameter, NotApplicable
from vambrace.protocols import Round
from vambrace.report.results import figure
from vambrace.sampling import stream
from vambrace.testing import check_environment

EVENTS = "a whole number in [1, 1000000000000000]"
COUNT = "a whole number in [0, 1000000000000000]"
LEVEL = 1e-6  # the false-alarm probability of each statistical test; seeds are fixed
COUNTS = vb.Replay(events=(40, 30, 20), successes=(30, 10, 5), labels=("red", "green", "blue"))
REWARDS = vb.Replay(events=(3, 2), successes=None, rewards=(0.25, 0.5, 1.0, 0.0, 0.125))
UPWORTHY = Path(__file__).parents[3] / "shared" / "data" / "upworthy.csv"


def drawn(environment: vb.Environment, arm: int, pulls: int, seed: int = 1) -> list[float]:
    state, rng = environment.init(), stream(seed, arm)
    return [environment.draw(state, arm, rng) for _ in range(pulls)]


def bootstrapped(replay: vb.Replay) -> vb.Replay:
    return vb.Replay(
        mode="bootstrap", events=replay.events, successes=replay.successes, labels=replay.labels, rewards=replay.rewards
    )


# --------------------------------------------------------------------------------------------------------------- exact


@given(st.lists(st.tuples(st.integers(1, 60), st.integers(0, 60)), min_size=1, max_size=4), st.integers(0, 99))
def test_drawn_to_the_end_gives_the_logged_counts(arms: list[tuple[int, int]], seed: int) -> None:
    events, successes = [n for n, _ in arms], [min(n, s) for n, s in arms]
    replay = vb.Replay(events=events, successes=successes)
    for arm, (n, s) in enumerate(zip(events, successes, strict=True)):
        rewards = drawn(replay, arm, n, seed)
        assert {*rewards} <= {0.0, 1.0}
        assert sum(rewards) == s
    assert replay.arm_means().tolist() == [s / n for s, n in zip(successes, events, strict=True)]


@given(st.lists(st.lists(st.floats(0, 1), min_size=1, max_size=20), min_size=1, max_size=4), st.integers(0, 99))
def test_no_reward_is_drawn_twice_and_every_one_once(arms: list[list[float]], seed: int) -> None:
    replay = vb.Replay(events=[len(arm) for arm in arms], successes=None, rewards=[x for arm in arms for x in arm])
    state, rng = replay.init(), stream(seed)
    order = np.random.default_rng(seed).permutation([arm for arm in range(len(arms)) for _ in arms[arm]])
    found: list[list[float]] = [[] for _ in arms]
    for arm in order.tolist():  # interleaved: no arm disturbs another
        found[arm].append(replay.draw(state, arm, rng))
    assert [sorted(each) for each in found] == [sorted(arm) for arm in arms]
    assert all(np.isnan(replay.draw(state, arm, rng)) for arm in range(len(arms)))
    assert replay.arm_means() == pytest.approx([np.mean(arm) for arm in arms])


@pytest.mark.parametrize(
    "log",
    [
        vb.Replay(events=[4], successes=[2]),
        vb.Replay(events=[3], successes=None, rewards=[0.25, 0.5, 1.0]),
    ],
    ids=["counts", "rewards"],
)
def test_every_order_of_the_events_is_equally_likely(log: vb.Replay) -> None:
    """Six orders in both cases; 6,000 replays; a chi-squared test at LEVEL."""
    (events,) = log.events
    values = [0.0, 0.0, 1.0, 1.0] if log.rewards is None else log.rewards
    orders = sorted({*itertools.permutations(values)})
    found = [orders.index(tuple(drawn(log, 0, events, seed))) for seed in range(6_000)]
    assert stats.chisquare(np.bincount(found, minlength=len(orders))).pvalue > LEVEL


def spy_on(seen: list[tuple[int, float]]) -> vb.Adversary:
    class Spy(vb.Conceal):
        name = "spy"

        @staticmethod
        def alter(state: Any, round: Round, arm: int, reward: float, view: Any, rng: Any, /) -> tuple[float, Any]:
            seen.append((arm, reward))
            return reward, state

    return Spy()


def test_a_whole_game_uses_up_the_log_and_each_replication_starts_anew() -> None:
    log = vb.Replay(events=(25, 25), successes=(24, 3))
    seen: list[tuple[int, float]] = []
    result = vb.simulate(vb.SE(), log, spy_on(seen), horizon=50, replications=3)
    assert result.pulls.tolist() == [[25, 25]] * 3
    for r in range(3):
        game = seen[50 * r : 50 * (r + 1)]
        assert [sum(reward for arm, reward in game if arm == k) for k in range(2)] == [24, 3]


@pytest.mark.parametrize("interpret", [True, False])
def test_an_arm_that_is_used_up_ends_the_game_with_a_word(interpret: bool) -> None:
    vb.simulate(vb.SE(), COUNTS, horizon=62, replications=3, interpret=interpret)
    with pytest.raises(GameFault) as caught:
        vb.simulate(vb.SE(), COUNTS, horizon=2_000, interpret=interpret)
    assert str(caught.value) == (
        "environment replay: expected an arm with events left, got arm 2 (blue), whose 20 events are used up "
        "in round 63: use mode=bootstrap or a shorter horizon"
    )


def test_the_message_has_thousands_in_groups_and_no_idle_label() -> None:
    log = vb.Replay(events=(1_234,), successes=(10,), labels=("0",))
    with pytest.raises(GameFault, match=r"got arm 0, whose 1,234 events are used up in round 1,235:"):
        vb.simulate(vb.SE(), log, horizon=5_000)


def test_a_medium_adversary_is_shown_an_event_of_every_arm_in_every_round() -> None:
    result = vb.simulate(vb.UCB1(), COUNTS, vb.Invert(budget=3), horizon=20, replications=5)
    assert result.realized_regret.shape == result.pseudo_regret.shape
    with pytest.raises(
        GameFault, match=r"environment replay: .* arm 2 \(blue\), whose 20 events are used up in round 21"
    ):
        vb.simulate(vb.UCB1(), COUNTS, vb.Invert(budget=3), horizon=21)


def test_what_unpulled_arms_would_have_paid_is_refused() -> None:
    with pytest.raises(NotApplicable, match="realized regret: expected arms without end, got replay"):
        vb.simulate(vb.SE(), COUNTS, horizon=30, realized=True)
    with pytest.raises(vb.VambraceError, match="expected a run with realized=True"):
        _ = vb.simulate(vb.SE(), COUNTS, horizon=30).realized_regret


def test_an_exact_replay_does_not_leap() -> None:
    assert COUNTS.draw_total is None
    assert COUNTS.outcomes is None
    assert vb.simulate(vb.SE(), COUNTS, horizon=30).engine == "rounds"
    with pytest.raises(NotApplicable, match="expected independent rewards, got replay, which draws no reward twice"):
        vb.simulate(vb.SE(), COUNTS, horizon=30, engine="leap")


# ----------------------------------------------------------------------------------------------------------- bootstrap


@pytest.mark.parametrize("engine", ["rounds", "leap"])
def test_a_bootstrap_of_zeros_and_ones_is_bernoulli(engine: str) -> None:
    """Number by number."""
    replay, twin = bootstrapped(COUNTS), vb.Bernoulli(COUNTS.arm_means().tolist())
    options: dict[str, Any] = {"horizon": 2_000, "replications": 3, "engine": engine}
    one, other = (vb.simulate(vb.SE(), each, vb.Conceal(budget=9), **options) for each in (replay, twin))
    assert one.engine == engine
    assert np.array_equal(one.realized_regret, other.realized_regret)
    assert np.array_equal(one.pulls, other.pulls)


def test_a_bootstrap_draws_each_reward_equally_often() -> None:
    """30,000 draws; a chi-squared test at LEVEL."""
    replay = bootstrapped(REWARDS)
    _, counts = np.unique(drawn(replay, 0, 30_000), return_counts=True)
    assert stats.chisquare(counts).pvalue > LEVEL
    assert {*drawn(replay, 1, 200)} == {0.0, 0.125}
    assert replay.draw_total is None
    assert replay.outcomes is None


@pytest.mark.slow  # 3 s
def test_a_bootstrap_says_so_in_every_report(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from vambrace import cli

    note, replay = "replay:mode=bootstrap", bootstrapped(COUNTS)
    spec = registry.spec_of(replay)
    assert spec == f"{note},events=40/30/20,successes=30/10/5,labels=red/green/blue"
    assert registry.environment(spec) == replay
    result = vb.simulate(vb.SE(), replay, horizon=100, replications=2)
    assert result.summary()["environment"] == spec
    assert f"se without attack ({note}): regret" in str(result)
    assert figure([result], title="Armour").to_dict()["title"]["text"] == f"Armour – {note}"  # noqa: RUF001
    report = vb.attack_suite(vb.SE(), replay, budgets=[0], horizon=100, replications=2, attacks=[vb.Conceal()])
    assert f"rounds, {note}: worst" in str(report)
    for words in (
        ["simulate", "se"],
        ["attack", "se", "--budgets", "5"],
        ["attack", "se", "--suite", "--budgets", "0"],
    ):
        few = ["--env", spec, "--horizon", "100", "--replications", "2"]
        monkeypatch.setattr("sys.argv", ["vambrace", *words, *few])
        with pytest.raises(SystemExit):
            cli.main()
        assert note in capsys.readouterr().out
    exact = vb.simulate(vb.SE(), COUNTS, horizon=30)
    assert "replay" not in str(exact)
    assert "replay" not in str(figure([exact]).to_dict()["title"])


# ---------------------------------------------------------------------------------------------------------- conformance


@pytest.mark.parametrize("log", [COUNTS, REWARDS, vb.Replay(events=(30_000, 5), successes=(450, 5))], ids=repr)
def test_both_modes_conform(log: vb.Replay) -> None:
    check_environment(log)
    check_environment(bootstrapped(log))


def test_an_arm_that_pays_beyond_its_supply_is_caught() -> None:
    class Generous(vb.Replay):
        @property
        def supply(self) -> Any:  # type: ignore[override]
            return tuple(n - 1 for n in self.events)

    with pytest.raises(AssertionError, match="more often than its supply allows"):
        check_environment(Generous(events=(9,), successes=(0,)))


def test_a_limited_supply_that_claims_independence_is_caught() -> None:
    class Claiming(vb.Bernoulli):
        supply = (10, 10)

    with pytest.raises(AssertionError, match="a limited supply are not independent"):
        check_environment(Claiming([0.5, 0.4]))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"events": 3, "successes": (1,)}, "events: expected a sequence, one value for each arm, got 3"),
        ({"events": (), "successes": ()}, "events: expected at least one arm, got none"),
        ({"events": (0,), "successes": (0,)}, f"events[0]: expected {EVENTS}, got 0"),
        ({"events": (5, 2.5), "successes": (1, 1)}, f"events[1]: expected {EVENTS}, got 2.5"),
        ({"events": (5, 2), "successes": (1, 3)}, "successes[1]: expected a whole number in [0, 2], got 3"),
        ({"events": (5,), "successes": (-1,)}, "successes[0]: expected a whole number in [0, 5], got -1"),
        ({"events": (5,), "successes": (True,)}, "successes[0]: expected a whole number, got True"),
        ({"events": (5,), "successes": (1, 1)}, "successes: expected 1 values, got 2"),
        ({"events": (5,), "successes": None}, "successes: expected either these or rewards, got neither"),
        ({"events": (1,), "successes": (1,), "rewards": (1,)}, "successes: expected either these or rewards, got both"),
        ({"events": (2,), "successes": None, "rewards": (1,)}, "rewards: expected 2 values, got 1"),
        ({"events": (1,), "successes": None, "rewards": (1.5,)}, "rewards[0]: expected a number in [0, 1], got 1.5"),
        ({"events": (1,), "successes": None, "rewards": (np.nan,)}, "rewards[0]: expected a number in [0, 1], got nan"),
        ({"events": (1, 1), "successes": (1, 1), "labels": ("a",)}, "labels: expected 2 values, got 1"),
        ({"events": (1,), "successes": (1,), "labels": (3,)}, "labels[0]: expected a text, got 3"),
        ({"events": (1, 1), "successes": (1, 1), "labels": ("a", "a")}, "labels[1]: expected a text that"),
        ({"events": (1,), "successes": (1,), "mode": "exct"}, "unknown mode 'exct'; did you mean 'exact'?"),
    ],
)
def test_what_cannot_be_meant_is_refused(parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(vb.VambraceError) as caught:
        vb.Replay(**parameters)
    assert str(caught.value).startswith(message)


# --------------------------------------------------------------------------------------------------------------- files


Writer = Callable[[pl.DataFrame, Path], None]
WRITERS: dict[str, Writer] = {
    "csv": lambda frame, path: frame.write_csv(path),
    "tsv": lambda frame, path: frame.write_csv(path, separator="\t"),
    "parquet": lambda frame, path: frame.write_parquet(path),
    "jsonl": lambda frame, path: frame.write_ndjson(path),
}
every_format = pytest.mark.parametrize("ending", WRITERS)


def write(frame: pl.DataFrame, folder: Path, ending: str) -> Path:
    path = folder / f"log.{ending}"
    WRITERS[ending](frame, path)
    return path


@every_format
@pytest.mark.parametrize(
    "names", ["arm events successes", "Arm impressions clicks", "variant visitors conversions", "bucket n signups"]
)
def test_tables_from_files(tmp_path: Path, ending: str, names: str) -> None:
    frame = pl.DataFrame({"arm": ["red", "green", "blue"], "events": [40, 30, 20], "successes": [30, 10, 5]})
    frame = frame.rename(dict(zip(frame.columns, names.split(), strict=True)))
    assert vb.Replay.from_table(write(frame, tmp_path, ending)) == COUNTS
    assert vb.Replay.from_table(frame, mode="bootstrap") == bootstrapped(COUNTS)


@every_format
def test_one_test_of_many(tmp_path: Path, ending: str) -> None:
    columns = {"test": [1, 1, 2, 2], "arm": [0, 1, 0, 1], "events": [9, 8, 7, 6], "successes": [1, 2, 3, 4]}
    frame = pl.DataFrame({**columns, "more": list("abcd")})
    path = write(frame, tmp_path, ending)
    assert vb.Replay.from_table(path, test=2) == vb.Replay(events=[7, 6], successes=[3, 4], labels=["0", "1"])
    assert vb.Replay.from_table(str(path), test="1").events == (9, 8)
    assert vb.Replay.from_table(frame.filter(pl.col("test") == 1)).events == (9, 8)
    for wrong in (None, 3):
        with pytest.raises(InvalidParameter) as caught:
            vb.Replay.from_table(path, test=wrong)
        assert str(caught.value) == (
            f"{path}: column 'test': expected the name of one of its 2 tests, such as '1', got {wrong}"
        )


@every_format
@pytest.mark.parametrize("kind", [pl.Int64, pl.Boolean, pl.Float64])
def test_a_log_of_zeros_and_ones_becomes_counts(tmp_path: Path, ending: str, kind: Any) -> None:
    frame = pl.DataFrame({"variant": ["b", "a", "b", "b", "a"], "converted": [1, 0, 1, 0, 0]})
    path = write(frame.with_columns(pl.col("converted").cast(kind)), tmp_path, ending)
    expected = vb.Replay(events=(2, 3), successes=(0, 2), labels=("a", "b"))
    assert vb.Replay.from_log(path) == vb.Replay.from_log(path, arm="variant", reward="converted") == expected
    assert registry.environment(f"replay:file={path}") == expected
    assert registry.environment(f"replay:file={path},arm=variant,reward=converted") == expected


@pytest.mark.slow  # 4 s
def test_what_certify_reads_can_be_replayed() -> None:
    """One reader, one dictionary of names: every name of a column, and the pieces of a log."""
    for arm, events, successes in itertools.product(columns.ARMS, columns.EVENTS, columns.SUCCESSES):
        table = {arm: ["red", "green", "blue"], events: [40, 30, 20], successes: [30, 10, 5]}
        assert vb.Replay.from_table(table) == COUNTS
        assert vb.certify(table).winner == "red"
    for arm, reward in itertools.product(columns.ARMS, columns.REWARDS):
        log = {arm: ["b", "a"], reward: [1, 0]}
        replay = vb.Replay.from_log([log, {arm: ["a"], reward: [1]}])
        assert (replay.labels, replay.events, replay.successes) == (("a", "b"), (2, 1), (1, 1))
        replay = vb.Replay.from_log([{arm: ["b", "a"], reward: [1, 0.5]}, {arm: ["a"], reward: [0.25]}], reward=reward)
        assert (replay.labels, replay.events, replay.rewards) == (("a", "b"), (2, 1), (0.25, 0.5, 1.0))


def test_columns_with_other_names(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text("page,people,replied\nred,40,30\ngreen,30,10\nblue,20,5\n", encoding="utf-8")
    assert registry.environment(f"replay:file={path},arm=page,events=people,successes=replied") == COUNTS
    with pytest.raises(InvalidParameter, match="expected a column events or impressions or"):
        vb.Replay.from_table({"arm": ["a", "b"], "reward": [0, 1]})
    with pytest.raises(InvalidParameter, match="expected a column reward or converted or"):
        vb.Replay.from_log({"arm": ["a", "b"], "views": [9, 9], "clicks": [0, 1]})


def test_rewards_of_one_test_of_many() -> None:
    log = {"test": [1, 1, 2, 2, 1], "arm": list("abaab"), "reward": [0.5, 1, 0.75, 0.25, 0]}
    tally, rewards = data.read_test(log, data.Columns(), test=2)
    assert (tally.labels, rewards) == (("a",), (0.25, 0.75))
    tally, rewards = data.read_test(log, data.Columns(), test=1)
    assert (tally.labels, rewards) == (("a", "b"), (0.5, 0.0, 1.0))


@every_format
def test_a_log_of_other_rewards_keeps_them(tmp_path: Path, ending: str) -> None:
    """The first 200 are whole numbers: nobody may guess the type of a column from them."""
    rewards = [0.0, 1.0] * 100 + [0.125, 0.5, 1e-300]
    frame = pl.DataFrame({"arm": [10, 9] * 100 + [9, 10, 10], "reward": rewards})
    replay = vb.Replay.from_log(write(frame, tmp_path, ending))
    assert replay.labels == ("9", "10")
    assert replay.rewards is not None
    assert replay.rewards == (0.125, *([1.0] * 100), *([0.0] * 100), 1e-300, 0.5)
    assert vb.Replay.from_log(frame.sample(fraction=1, shuffle=True, seed=1)) == replay
    assert replay.arm_means().tolist() == [100.125 / 101, 0.5 / 102]
    assert registry.environment(registry.spec_of(replay)) == replay


def test_text_files_are_taken_as_written(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_text('\ufeffarm,reward\r\n007,True\r\n7,false\r\n007, 1 \r\n"a,b",0\r\n', encoding="utf-8")
    assert vb.Replay.from_log(path) == vb.Replay(events=(2, 1, 1), successes=(2, 0, 0), labels=("007", "7", "a,b"))


BAD_TABLES = {
    "arm,events\na,1": "expected a column successes or conversions or clicks or",
    "arm,views,trials,clicks\na,1,1,1": "expected one column events or impressions or views or",
    "arm,events,clicks\na,5,1\nb,0,0": "expected at least one event of each arm (--drop 'b', ",
    "arm,events,clicks\na,x,1": f"column 'events': expected {COUNT}, got 'x' in row 1",
    "arm,events,clicks\na,,1": f"column 'events': expected {COUNT}, got nothing in row 1",
    "arm,events,clicks\na,9,1.5": "column 'clicks': expected a whole number from 0 up, got '1.5' in row 1",
    "arm,events,clicks\na,9,-1": "column 'clicks': expected a whole number from 0 up, got '-1' in row 1",
    "arm,events,clicks\na,9,9\nb,9,10": "column 'clicks': expected no more than events, got '10' in row 2",
    "arm,events,clicks\na,9,9\ntotal,9,9": "column 'arm': expected arms, got the total 'total' (--drop 'total', ",
    "arm,events,clicks\n,9,9": "column 'arm': expected a name, got nothing in row 1",
    "arm,events,clicks": "expected at least one row, got none",
    "": "expected a header and rows, got an empty file",
    "arm,events,clicks\na,1,1,1": "line 2: expected 3 fields, as many as the header has, got 4",
}


@pytest.mark.parametrize(("text", "message"), BAD_TABLES.items())
def test_a_bad_table_is_one_line_with_file_and_column(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "table.csv"
    path.write_text(text + "\n" if text else "", encoding="utf-8")
    with pytest.raises(InvalidParameter) as caught:
        vb.Replay.from_table(path)
    assert str(caught.value).startswith(f"{path}: {message}")
    assert "\n" not in str(caught.value)


def test_the_row_is_that_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text("test,arm,events,clicks\none,a,1,1\none,b,1,1\ntwo,a,1,2\n", encoding="utf-8")
    with pytest.raises(InvalidParameter, match="got '2' in row 3"):
        vb.Replay.from_table(path, test="two")


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("log.csv", "arm,reward\na,1\na,2\n", "column 'reward': expected a number in [0, 1], got '2' in row 2"),
        ("log.csv", "arm,reward\na,nan\n", "column 'reward': expected a number in [0, 1], got 'nan' in row 1"),
        ("log.csv", "arm,bought\na,1\n", "expected a column reward or converted or "),
        (
            "log.jsonl",
            '{"arm": "a", "reward": [1]}\n',
            "column 'reward': expected a number in [0, 1], got '[1]' in row 1",
        ),
        ("log.jsonl", '{"arm": "a", "reward"\n', "line 1: expected a JSON object, got "),
        ("log.parquet", "no parquet at all", "expected a table that can be read, got "),
        ("log.txt", "arm,reward\na,1\n", "expected a file ending in .csv, .tsv, .json, .jsonl, .ndjson, "),
        ("gone.csv", None, "expected a file, got nothing there"),
    ],
)
def test_a_bad_log_is_one_line_with_file_and_column(tmp_path: Path, name: str, text: str | None, message: str) -> None:
    path = tmp_path / name
    if text is not None:
        path.write_text(text, encoding="utf-8")
    with pytest.raises(InvalidParameter) as caught:
        vb.Replay.from_log(path)
    assert str(caught.value).startswith(f"{path}: {message}")
    assert "\n" not in str(caught.value)


def test_other_sources_are_refused() -> None:
    with pytest.raises(InvalidParameter, match="log: expected the name of a file, a Polars or pandas frame"):
        vb.Replay.from_log(3)  # type: ignore[arg-type]
    with pytest.raises(InvalidParameter, match="frame: expected a column 'test' that tells 'x' from others, got none"):
        vb.Replay.from_table(pl.DataFrame({"arm": [1], "events": [2], "clicks": [1]}), test="x")


# ----------------------------------------------------------------------------------------------------------- real data


def headline_test(mode: Literal["exact", "bootstrap"] = "exact") -> vb.Replay:
    """A test of the Upworthy Research Archive (Matias et al. 2021) with click rates .0152, .0134, .0131 and .0073."""
    if not UPWORTHY.is_file():
        pytest.skip(f"needs {UPWORTHY}, which is not distributed with vambrace")
    return vb.Replay.from_table(UPWORTHY, test="54d4caab66336500260f0000", mode=mode)


def test_a_real_headline_test_is_replayed_exactly() -> None:
    replay = headline_test()
    assert replay.arm_means().round(4).tolist() == [0.0152, 0.0134, 0.0131, 0.0073]
    for arm, (events, clicks) in enumerate(zip(replay.events, (32, 27, 26, 15), strict=True)):
        assert sum(drawn(replay, arm, events)) == clicks
    result = vb.simulate(vb.SE(radius="kl"), replay, horizon=4 * min(replay.events), replications=20)
    assert (result.pulls.sum(axis=1) == result.horizon).all()


def test_small_click_rates_need_the_kl_radius() -> None:
    """At a million rounds and 100 fake events the paper's radius drops no headline, and kl drops the worst of them."""
    replay = headline_test("bootstrap")
    pulls = {
        radius: vb.simulate(vb.SEWR(budget=100, radius=radius), replay, horizon=10**6, replications=20, seed=3).pulls
        for radius in ("paper", "kl")
    }
    assert (pulls["paper"] == 250_000).all()
    assert (pulls["kl"][:, 3] < 125_000).all()
