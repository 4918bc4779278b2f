"""The journals in databases: what is committed is there, for everybody, and nothing else is."""

import multiprocessing
import os
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from vambrace.errors import InvalidParameter, JournalError, UnknownName
from vambrace.live import sql
from vambrace.live.journal import Entry
from vambrace.live.sql import open_database, open_journal


def entry(number: int, **changed: Any) -> Entry:
    return Entry(number, 100.5 + number, "asked", f"id-{number}", None, f"[{number},0.5]")._replace(**changed)


def write(journal: Any, *entries: Entry) -> None:
    with journal.transaction():
        journal.append(entries)


def test_what_is_appended_is_read(url: str) -> None:
    journal = open_journal(url, "a", create=True)
    written = [
        entry(1),
        entry(2, key="k", payload='["Ω ? %s \\u0000"]'),
        entry(3, decision=None),
        entry(4, decision="id-1"),
    ]
    write(journal, *written[:2])
    write(journal, *written[2:])
    again = open_journal(url, "a", create=False)
    assert list(again.read()) == written
    assert list(again.read(after=2)) == written[2:]
    assert again.find(decision="id-1") == [written[0], written[3]]
    assert again.find(keys=["k"]) == [written[1]]
    assert again.find(decision="id-9") == again.find(keys=["id-1"]) == again.find() == []


def test_long_journals_are_read_in_chunks(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sql, "CHUNK", 3)
    journal = open_journal(url, "a", create=True)
    for count in range(8):
        assert [each.number for each in journal.read()] == list(range(1, count + 1))
        write(journal, entry(count + 1))


def test_learners_of_one_database_are_apart(url: str) -> None:
    first, second = (open_journal(url, name, create=True) for name in "ab")
    write(first, entry(1, key="k"))
    assert sql.learners(open_database(url, create=False)) == ["a"]  # the other has not begun
    write(second, entry(1, kind="told", key="k"))
    with second.transaction():
        second.save_snapshot(1, "second")
    assert [each.kind for each in first.read()] == ["asked"]
    assert [each.kind for each in second.find(decision="id-1")] == ["told"]
    assert (first.load_snapshot(), second.load_snapshot()) == (None, (1, "second"))
    assert sql.learners(open_database(url, create=False)) == ["a", "b"]


def test_a_snapshot_replaces_an_older_one(url: str) -> None:
    journal = open_journal(url, "a", create=True)
    for number, text in ((5, "old"), (10**12, "new" * 10**5)):
        with journal.transaction():
            journal.save_snapshot(number, text)
    assert open_journal(url, "a", create=False).load_snapshot() == (10**12, "new" * 10**5)


@pytest.mark.parametrize("fault", [ValueError, KeyboardInterrupt])
def test_an_error_undoes_the_transaction(url: str, fault: type[BaseException]) -> None:
    journal = open_journal(url, "a", create=True)
    write(journal, entry(1))
    with pytest.raises(fault), journal.transaction():  # noqa: PT012
        journal.append([entry(2)])
        journal.save_snapshot(2, "no")
        assert len(list(journal.read())) == 2
        raise fault
    assert list(journal.read()) == [entry(1)]
    assert journal.load_snapshot() is None
    write(journal, entry(2))
    assert len(list(journal.read())) == 2


@pytest.mark.parametrize("twice", [{"number": 1}, {"key": "k"}])
def test_a_number_and_a_key_exist_once(url: str, twice: dict[str, Any]) -> None:
    journal = open_journal(url, "a", create=True)
    write(journal, entry(1, key="k"))
    with pytest.raises(JournalError, match=r"(?i)unique.*nothing was acknowledged"):
        write(journal, entry(2)._replace(**twice))
    assert list(journal.read()) == [entry(1, key="k")]


def test_a_server_that_undid_the_transaction_did_not_commit_it(url: str) -> None:
    """PostgreSQL undoes all after a statement that failed, and then answers COMMIT without an error."""
    journal = open_journal(url, "a", create=True)
    write(journal, entry(1))
    with suppress(JournalError):
        _append_with_a_fault(journal)
        assert len(list(journal.read())) == 2  # SQLite undoes the statement only
        return
    assert list(journal.read()) == [entry(1)]


def _append_with_a_fault(journal: Any) -> None:
    with journal.transaction():
        journal.append([entry(2)])
        with suppress(JournalError):
            journal.append([entry(1)])


def test_one_transaction_at_a_time(url: str) -> None:
    """Each of four threads with its own connection adds one to what it read; without the lock numbers would clash."""
    open_journal(url, "a", create=True)
    faults: list[BaseException] = []

    def add() -> None:
        journal = open_journal(url, "a", create=False)
        try:
            for _ in range(25):
                with journal.transaction():
                    journal.append([entry(1 + len(list(journal.read())))])
        except BaseException as error:
            faults.append(error)

    threads = [threading.Thread(target=add) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert faults == []
    assert [each.number for each in open_journal(url, "a", create=False).read()] == list(range(1, 101))


def _create(url: str, start: Any) -> None:
    start.wait()
    write(open_journal(url, f"of-{os.getpid()}", create=True), entry(1))


def test_tables_and_learners_are_made_once_by_processes_that_start_together(url: str) -> None:
    context = multiprocessing.get_context("spawn")
    start = context.Barrier(4)
    processes = [context.Process(target=_create, args=(url, start)) for _ in range(4)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert [process.exitcode for process in processes] == [0] * 4
    assert len(sql.learners(open_database(url, create=False))) == 4


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.filterwarnings("ignore:This process.*multi-threaded:DeprecationWarning")
def test_a_copy_of_the_process_has_its_own_connection(url: str) -> None:
    """While another thread of the parent is in a transaction: the copy begins after it."""
    journal = open_journal(url, "a", create=True)
    write(journal, entry(1))
    inside, go_on = threading.Event(), threading.Event()

    def slowly() -> None:
        with journal.transaction():
            inside.set()
            go_on.wait()
            journal.append([entry(2)])

    thread = threading.Thread(target=slowly)
    thread.start()
    inside.wait()
    threading.Timer(0.05, go_on.set).start()
    child = os.fork()
    if child == 0:
        code = 1
        with suppress(BaseException):
            write(journal, entry(1 + len(list(journal.read()))))
            code = 0
        os._exit(code)
    thread.join()
    assert os.waitpid(child, 0)[1] == 0
    write(journal, entry(4))
    assert [each.number for each in journal.read()] == [1, 2, 3, 4]


def test_tables_of_a_newer_version_are_refused(url: str) -> None:
    open_journal(url, "a", create=True)
    open_database(url, create=False).run("UPDATE vambrace_schema SET version = 99")
    for create in (True, False):
        with pytest.raises(JournalError, match="expected tables of version 1, got 99, from a newer vambrace"):
            open_journal(url, "a", create=create)


def with_migrations(*more: tuple[str, ...]) -> sql.Tables:
    return sql.LEARNERS._replace(migrations=(*sql.LEARNERS.migrations, *more))


def test_older_tables_are_brought_forward_and_keep_what_they_have(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    old = open_journal(url, "a", create=True)
    write(old, entry(1))
    second = ("ALTER TABLE vambrace_learners ADD COLUMN note TEXT", "UPDATE vambrace_learners SET note = 'from 1'")
    third = ("UPDATE vambrace_learners SET note = note || ' to 3'",)
    monkeypatch.setattr(sql, "LEARNERS", with_migrations(second, third))
    new = open_journal(url, "a", create=False)
    assert list(new.read()) == [entry(1)]
    database = open_database(url, create=False)
    assert database.version(sql.LEARNERS) == 3
    assert database.run("SELECT note FROM vambrace_learners") == [("from 1 to 3",)]
    open_journal(url, "a", create=True)  # and not again
    assert database.run("SELECT note FROM vambrace_learners") == [("from 1 to 3",)]


def test_a_migration_that_fails_changes_nothing(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    write(open_journal(url, "a", create=True), entry(1))
    monkeypatch.setattr(sql, "LEARNERS", with_migrations(("CREATE TABLE half (n INTEGER)", "SELECT nonsense")))
    with pytest.raises(JournalError, match="nonsense"):
        open_journal(url, "a", create=False)
    monkeypatch.undo()
    assert list(open_journal(url, "a", create=False).read()) == [entry(1)]
    assert not open_database(url, create=False).has_table("half")


def test_a_missing_learner_is_an_error_with_the_nearest_name(url: str) -> None:
    write(open_journal(url, "headlines", create=True), entry(1))
    with pytest.raises(UnknownName, match="did you mean 'headlines'"):
        open_journal(url, "headline", create=False)


@pytest.mark.parametrize("wrong", ["shop.db", "sqlite://shop.db", "sqlite:///", "mysql://x/y", "postgresql://", 3])
def test_an_address_that_is_none(wrong: Any) -> None:
    with pytest.raises(InvalidParameter, match=r"url: expected sqlite:///FILE or postgresql://"):
        open_database(wrong, create=True)


@pytest.mark.parametrize("wrong", ["", "a b", "a/b", "x" * 101, None])
def test_a_name_that_is_none(wrong: Any, tmp_path: Path) -> None:
    with pytest.raises(InvalidParameter, match="name: expected 1 to 100 letters"):
        open_journal(f"sqlite:///{tmp_path}/a.db", wrong, create=True)


def test_a_closed_journal_opens_again(url: str) -> None:
    journal = open_journal(url, "a", create=True)
    write(journal, entry(1))
    journal.close()
    assert list(journal.read()) == [entry(1)]


def test_a_commit_is_on_disk_when_it_returns(url: str) -> None:
    """Killed processes cannot show this, only power cuts can: so the settings that promise it are looked at."""
    database = open_database(url, create=True)
    if url.startswith("sqlite"):
        found = [database.run(f"PRAGMA {name}")[0][0] for name in ("journal_mode", "synchronous", "wal_autocheckpoint")]
        assert found == ["wal", 2, 0]  # 2 is FULL
    else:
        assert database.run("SHOW synchronous_commit") == [("on",)]
        assert database.run("SHOW idle_in_transaction_session_timeout") == [("30s",)]


def test_a_mistyped_address_does_not_show_its_password() -> None:
    with pytest.raises(InvalidParameter, match=r"got 'postgresq://\.\.\.@host/shop'"):
        open_database("postgresq://shop:secret@host/shop", create=False)


def test_a_connection_that_the_server_ended_is_made_again_but_nothing_is_done_twice(server: str) -> None:
    database, other = open_database(server, create=True), open_database(server, create=True)
    database.run("CREATE TABLE numbers (number INTEGER)")

    def end_the_connection() -> None:
        other.run("SELECT pg_terminate_backend(?)", database.connection.info.backend_pid)

    end_the_connection()
    assert database.run("SELECT 1") == [(1,)]  # a question may be asked twice
    end_the_connection()
    with pytest.raises(JournalError, match="nothing was acknowledged"):
        database.run("INSERT INTO numbers VALUES (1)")
    database.run("INSERT INTO numbers VALUES (2)")
    with pytest.raises(JournalError), database.transaction(1):  # noqa: PT012
        database.run("INSERT INTO numbers VALUES (3)")
        end_the_connection()
        with suppress(JournalError):
            database.run("SELECT 1")
        database.run("INSERT INTO numbers VALUES (4)")  # half of a transaction must not be done
    assert database.run("SELECT number FROM numbers") == [(2,)]
    database.close()
    other.close()
