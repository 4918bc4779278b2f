"""A full disk, a file that may only be read, a lost connection, a clock that jumps: a clear error and nothing lost."""

import resource
import sqlite3
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from functools import partial
from itertools import count, pairwise
from pathlib import Path
from typing import Any

import pytest

import vambrace as vb
from vambrace.errors import DecisionError, JournalError
from vambrace.live import sqlite
from vambrace.live.clock import Clock
from vambrace.live.durable import DurableLearner
from vambrace.live.fold import Fold, snapshot_text
from vambrace.live.sql import open_journal

DAY = 86_400.0
LOST = r"postgresql://.*(terminating|closed the) connection.*; nothing was acknowledged"


def opened(url: str, **changed: Any) -> DurableLearner:
    return vb.open(url, "headlines", policy=vb.KLUCBWR(budget=5), arms=["old", "new"], **changed)


def check_nothing_lost(url: str, learner: DurableLearner, told: dict[str, float]) -> None:
    """Every acknowledged reward is in the journal once, with its arm, and the live state is the fold of the journal."""
    journal = open_journal(url, "headlines", create=False)
    found = {entry.decision: entry.payload for entry in journal.read() if entry.kind == "told"}
    assert {key: f"[{reward}]" for key, reward in told.items()}.items() <= found.items()
    assert len(found) == sum(entry.kind == "told" for entry in journal.read())
    assert learner._look(snapshot_text) == snapshot_text(Fold(journal).load(from_snapshot=False))


def play(learner: DurableLearner, told: dict[str, float], rounds: int) -> None:
    for _ in range(rounds):
        decision = learner.ask()
        reward = float(len(told) % 2)
        learner.tell(decision, reward)
        told[str(decision.id)] = reward


def check_stops_and_goes_on(
    url: str, learner: DurableLearner, fault: Any, message: str, rounds: int = 1, told: dict[str, float] | None = None
) -> None:
    told = {} if told is None else told
    play(learner, told, 10)
    open_one = learner.ask()
    with fault():
        before = len(told)
        with pytest.raises(JournalError, match=message):
            play(learner, told, rounds)
        assert len(told) < before + rounds
        with pytest.raises(JournalError, match=message):
            learner.tell(open_one, 1.0)
    assert learner.tell(open_one, 1.0) in ("applied", "duplicate")
    told[str(open_one.id)] = 1.0
    play(learner, told, 10)
    check_nothing_lost(url, learner, told)


@pytest.fixture
def file_url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path}/shop.db"


def test_a_full_disk(file_url: str) -> None:
    """The operating system refuses to make a file longer, as it does when the disk is full."""
    learner = opened(file_url)

    @contextmanager
    def full() -> Iterator[None]:
        soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (4_096, hard))
        try:
            yield
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))

    check_stops_and_goes_on(
        file_url, learner, full, r"shop\.db: (disk I/O error|database or disk is full); nothing", 100
    )


def test_a_database_that_may_not_grow(file_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    learner = opened(file_url)
    connect = sqlite3.connect

    @contextmanager
    def limited() -> Iterator[None]:
        def small(*args: Any, **options: Any) -> sqlite3.Connection:
            connection = connect(*args, **options)
            connection.execute("PRAGMA max_page_count = 1")  # not below what it has
            return connection

        learner.close()
        with monkeypatch.context() as patch:
            patch.setattr(sqlite3, "connect", small)
            told: dict[str, float] = {}
            with pytest.raises(JournalError, match="database or disk is full"):
                play(learner, told, 2_000)
            check_nothing_lost(file_url, learner, told)
            yield
        learner.close()

    check_stops_and_goes_on(file_url, learner, limited, "database or disk is full; nothing was acknowledged", 2_000)


def test_a_file_that_may_only_be_read(file_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    learner = opened(file_url)
    connect = sqlite3.connect

    @contextmanager
    def read_only() -> Iterator[None]:
        learner.close()
        with monkeypatch.context() as patch:
            patch.setattr(
                sqlite3, "connect", lambda path, **options: connect(f"file:{path}?mode=ro", uri=True, **options)
            )
            yield

    check_stops_and_goes_on(file_url, learner, read_only, "attempt to write a readonly database; nothing was ack")


def test_a_folder_that_may_only_be_read(file_url: str, tmp_path: Path) -> None:
    """The lock beside the database cannot be opened."""
    learner = opened(file_url)
    lock = tmp_path / "shop.db-lock"

    @contextmanager
    def blocked() -> Iterator[None]:
        lock.unlink()
        lock.mkdir()
        yield
        lock.rmdir()

    check_stops_and_goes_on(file_url, learner, blocked, r"shop\.db: .*shop\.db-lock.*; nothing was acknowledged")


def test_another_process_that_hangs(file_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite, "PATIENCE", 0.05)
    learner, other = opened(file_url), open_journal(file_url, "headlines", create=False)
    check_stops_and_goes_on(file_url, learner, other.transaction, "another process has kept it locked for 0.05 seconds")


def test_the_log_is_moved_into_the_database(file_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also if that fails, nobody is told an error: what is acknowledged is in the log."""
    monkeypatch.setattr(sqlite, "CHECKPOINT_AFTER", 40_000)
    learner, log = opened(file_url), tmp_path / "shop.db-wal"
    told: dict[str, float] = {}
    sizes = []
    for _ in range(60):
        play(learner, told, 1)
        sizes.append(log.stat().st_size)
    assert max(sizes) < 100_000
    assert sum(later < earlier for earlier, later in pairwise(sizes)) >= 5
    check_nothing_lost(file_url, learner, told)
    reader = sqlite3.connect(tmp_path / "shop.db")
    reader.execute("BEGIN")
    reader.execute("SELECT COUNT(*) FROM vambrace_events").fetchone()  # somebody who reads for a long time
    play(learner, told, 60)
    assert log.stat().st_size > 100_000
    reader.close()
    play(learner, told, 20)
    assert log.stat().st_size < 100_000
    monkeypatch.setattr(sqlite.SqliteDatabase, "_checkpoint", _raise)
    play(learner, told, 30)
    check_nothing_lost(file_url, learner, told)


def _raise(self: Any) -> None:
    raise sqlite3.OperationalError("disk I/O error")


# ------------------------------------------------------------------------------------------------------- PostgreSQL


def end_connections(url: str) -> None:
    import psycopg

    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(
            "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity"
            " WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'"
        )


def test_a_connection_that_was_lost_between_two_calls_is_made_again(server: str) -> None:
    learner = opened(server)
    told: dict[str, float] = {}
    for _ in range(3):
        play(learner, told, 5)
        end_connections(server)
    play(learner, told, 1)
    check_nothing_lost(server, learner, told)


@pytest.mark.parametrize("when", ["append", "find", "commit"])
def test_a_connection_that_is_lost_in_a_transaction(server: str, when: str, monkeypatch: pytest.MonkeyPatch) -> None:
    learner = opened(server)
    journal: Any = learner._fold.journal

    def losing(real: Callable[..., Any]) -> Callable[..., Any]:
        def method(*args: Any, **options: Any) -> Any:
            if when != "commit":
                end_connections(server)
                return real(*args, **options)
            result = real(*args, **options)
            end_connections(server)  # COMMIT follows
            return result

        return method

    @contextmanager
    def lost() -> Iterator[None]:
        with monkeypatch.context() as patch:
            name = "append" if when == "commit" else when
            patch.setattr(journal, name, losing(getattr(journal, name)))
            if when == "find":
                with pytest.raises(JournalError, match=LOST):
                    learner.ask(key="view")
                patch.setattr(journal, "append", losing(journal.append))
            yield

    check_stops_and_goes_on(server, learner, lost, LOST)
    assert "password" not in str(journal._database.place)


def test_a_password_is_in_no_message() -> None:
    with pytest.raises(JournalError) as caught:
        vb.open("postgresql://shop:secret@127.0.0.1:9/shop?connect_timeout=2", "headlines")
    assert "secret" not in str(caught.value)
    assert "127.0.0.1" in str(caught.value)


# ------------------------------------------------------------------------------------------------------------ clocks


class Watch:
    """A clock that a test sets."""

    def __init__(self) -> None:
        self.now, self.elapsed = 1_800_000_000.0, 0.0

    def pass_by(self, seconds: float) -> None:
        self.now += seconds
        self.elapsed += seconds

    def clock(self) -> Clock:
        return Clock(lambda: self.now, lambda: self.elapsed)


@pytest.mark.parametrize("jump", [DAY, -DAY])
def test_a_clock_that_jumps_a_day(file_url: str, jump: float) -> None:
    watch = Watch()
    learner = opened(file_url, expires_after=3_600.0, clock=watch.clock())

    @contextmanager
    def jumped() -> Iterator[None]:
        watch.now += jump
        yield
        watch.now -= jump

    check_stops_and_goes_on(
        file_url, learner, jumped, r"clock: expected about .* it jumped by [+-]86,400 s.*nothing was"
    )
    assert sum(record.expired for record in learner._look(lambda core: core.arms)) == 0


def test_a_machine_whose_clock_is_a_day_behind_does_no_harm(file_url: str) -> None:
    """Nor does one whose clock was a day ahead block the others when it is set right: time stands still for a day."""
    watch = Watch()
    told: dict[str, float] = {}
    learner = opened(file_url, expires_after=3_600.0, clock=watch.clock())
    play(learner, told, 3)
    waiting = learner.ask()
    behind = opened(file_url, expires_after=3_600.0, clock=Clock(lambda: watch.now - DAY, lambda: watch.elapsed))
    play(behind, told, 3)
    assert behind.tell(waiting, 1.0) == "applied"
    told[str(waiting.id)] = 1.0
    watch.pass_by(60.0)
    play(learner, told, 3)
    assert learner._look(lambda core: core.time) == watch.now
    check_nothing_lost(file_url, learner, told)


def test_small_differences_and_long_pauses_are_no_jumps(file_url: str) -> None:
    watch = Watch()
    learner = opened(file_url, expires_after=3_600.0, clock=watch.clock())
    told: dict[str, float] = {}
    other = opened(file_url, expires_after=3_600.0, clock=Clock(lambda: watch.now - 30.0, lambda: watch.elapsed))
    for _ in range(100):
        play(learner, told, 1)
        watch.now += 5.0  # corrected in small steps
        play(other, told, 1)
    decision = learner.ask()
    watch.pass_by(30 * DAY)  # nobody came
    assert other.tell(decision, 1.0) == "late"
    play(learner, told, 1)
    check_nothing_lost(file_url, learner, told)


def test_after_a_correction_the_learner_is_opened_again(file_url: str) -> None:
    watch = Watch()
    learner = opened(file_url, clock=watch.clock())
    watch.now += DAY  # it was wrong before, and is right now
    with pytest.raises(JournalError, match="if it is right now, open the learner"):
        learner.ask()
    assert opened(file_url, clock=watch.clock()).ask().round == 1


def test_a_stranger_who_does_not_know_our_lock_cannot_write_within_a_transaction(file_url: str, tmp_path: Path) -> None:
    learner = opened(file_url)
    stranger = sqlite3.connect(tmp_path / "shop.db", timeout=0.0, isolation_level=None)
    journal: Any = learner._fold.journal
    with journal.transaction():
        list(journal.read())
        with pytest.raises(sqlite3.OperationalError, match="database is locked"):
            stranger.execute("INSERT INTO vambrace_learners VALUES (7, 'x')")
    stranger.execute("INSERT INTO vambrace_learners VALUES (7, 'x')")
    stranger.close()


# --------------------------------------------------------------------------------- a database that is another one now


def test_a_file_that_was_removed_is_not_written_to(file_url: str, tmp_path: Path) -> None:
    """SQLite would go on in a file without a name, and each of those answers would be lost."""
    learner = opened(file_url)
    decision = learner.ask()
    away = tmp_path / "away"
    away.mkdir()
    files = [each for each in tmp_path.iterdir() if each.is_file()]
    for each in files:
        each.rename(away / each.name)
    for _ in range(2):
        with pytest.raises(JournalError, match="o such file"):
            learner.tell(decision, 1.0)
    for each in files:
        (away / each.name).rename(each)
    assert learner.tell(decision, 1.0) == "applied"
    assert vb.open(file_url, "headlines").tell(decision, 1.0) == "duplicate"


def test_a_file_that_was_replaced_by_an_older_copy(file_url: str, tmp_path: Path) -> None:
    learner = opened(file_url)
    old = learner.ask()
    path = Path(file_url.removeprefix("sqlite:///"))
    with closing(sqlite3.connect(path)) as source, closing(sqlite3.connect(tmp_path / "copy")) as copy:
        source.backup(copy)
    new = learner.ask()
    for each in [*tmp_path.glob(f"{path.name}*")]:
        each.unlink()
    (tmp_path / "copy").rename(path)
    with pytest.raises(JournalError, match="another file is in its place"):
        learner.tell(new, 1.0)
    with pytest.raises(DecisionError, match="not in this journal"):
        learner.tell(new, 1.0)
    assert learner.tell(old, 1.0) == "applied"
    assert vb.open(file_url, "headlines").asked == 1


def test_a_journal_that_lost_its_last_events_gets_no_hole(url: str) -> None:
    """A server that was restored from a copy: what a process knows of the lost events must not be built upon."""
    learner, other = opened(url), vb.open(url, "headlines")
    old = learner.ask()
    assert other.asked == 1
    new = learner.ask()
    journal: Any = learner._fold.journal
    with journal.transaction():
        journal._database.run("DELETE FROM vambrace_events WHERE learner = ? AND number > 2", journal._learner)
    other.ask()  # as many events as before, and another one in the same place
    with pytest.raises(JournalError, match="expected event 3 as it was, got another"):
        learner.ask()
    with pytest.raises(DecisionError, match="not in this journal"):
        learner.tell(new, 1.0)
    assert learner.tell(old, 1.0) == "applied"
    with journal.transaction():
        journal._database.run("DELETE FROM vambrace_events WHERE learner = ? AND number > 2", journal._learner)
    with pytest.raises(JournalError, match="expected event 4 as it was, got none"):
        learner.ask()
    learner.ask()
    assert vb.open(url, "headlines").asked == 2


class Signalled(Exception):
    """What a handler of a signal may raise, anywhere."""


def raising_at(place: int) -> tuple[Any, list[str]]:
    """A trace function that raises before this line of the core, counted from the start, and where it did."""
    passed = count(1)
    raised: list[str] = []

    def line(frame: Any, event: str, _: Any) -> Any:
        if event == "line" and next(passed) == place:
            raised.append(f"{frame.f_code.co_name}, line {frame.f_lineno}")
            raise Signalled
        return line

    def call(frame: Any, event: str, _: Any) -> Any:
        return line if frame.f_code.co_filename.endswith(("live/core.py", "live/knowledge.py")) else None

    return call, raised


@pytest.mark.parametrize("command", ["ask", "tell", "abandon", "expire"])
def test_an_error_at_any_line_of_the_core_leaves_what_the_journal_says(command: str, tmp_path: Path) -> None:
    for place in range(1, 200):
        url = f"sqlite:///{tmp_path}/{place}.db"
        late: dict[str, Any] = {"expires_after": 1e-6, "default_reward": 0.0} if command == "expire" else {}
        learner = vb.open(url, "shop", policy=vb.EXP3(), n_arms=3, horizon=100, seed=1, **late)
        decision = learner.ask_many(2)[0]
        commands: dict[str, Any] = {
            "tell": partial(learner.tell, decision, 1.0),
            "abandon": partial(learner.abandon, decision),
        }
        trace, raised = raising_at(place)
        sys.settrace(trace)
        try:
            commands.get(command, getattr(learner, command))()
        except Signalled:
            pass
        finally:
            sys.settrace(None)
        learner.tell(learner.ask(), 1.0)
        folded = Fold(open_journal(url, "shop", create=False)).load(from_snapshot=False)
        assert snapshot_text(folded) == snapshot_text(learner._fold.load()), raised
        learner.close()
        if not raised:
            break
    assert place > 20
