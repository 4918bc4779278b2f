"""Several processes on one PostgreSQL are one service."""

import re
import ssl
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack

import httpx2 as httpx
import pytest

from serving import client, new_key, running
from vambrace.serve import keys, sessions, tables

PATH = "/v1/experiments/headlines"
NEW = {"name": "headlines", "arms": ["old", "new"], "policy": "kl-ucb-wr:budget=2"}


@pytest.fixture(scope="module")
def db(postgres_url: str) -> str:
    import psycopg

    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute("CREATE SCHEMA two_servers")
    return f"{postgres_url}{'&' if '?' in postgres_url else '?'}options=-csearch_path%3Dtwo_servers"


@pytest.fixture(scope="module")
def urls(db: str) -> Iterator[list[str]]:
    with ExitStack() as stack:
        yield [stack.enter_context(running(db)).url for _ in range(2)]


TLS = ssl.create_default_context()  # once: a client that makes its own needs 16 ms for it


def at_once(calls: int, urls: list[str], path: str, body: object) -> list[httpx.Response]:
    """The same request, sent by many clients to both servers at the same moment."""
    found: list[httpx.Response] = []
    ready = threading.Barrier(calls)

    def send(url: str) -> None:
        with httpx.Client(timeout=60, verify=TLS) as sender:
            sender.get(f"{url}/healthz")
            ready.wait()
            found.append(sender.post(f"{url}{path}", json=body))

    threads = [threading.Thread(target=send, args=(urls[at % len(urls)],)) for at in range(calls)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return found


def test_two_servers_are_one(urls: list[str], db: str) -> None:
    first, second = urls
    created = at_once(6, urls, "/v1/experiments", NEW)
    assert Counter(each.status_code for each in created) == {201: 1, 200: 5}
    for calls in (1, 2, 10, 50):
        decision = httpx.post(f"{first}{PATH}/ask", json={}).json()["decisions"][0]["id"]
        answers = at_once(calls, urls, f"{PATH}/tell", {"id": decision, "reward": 1.0})
        statuses = Counter(each.json()["results"][0]["status"] for each in answers)
        assert statuses == Counter({"applied": 1, "duplicate": calls - 1}) - Counter()
    asked = at_once(20, urls, f"{PATH}/ask", {"key": "view-17", "count": 2})
    assert len({each.text for each in asked}) == 1
    shown = [httpx.get(f"{url}{PATH}").json() for url in urls]
    assert shown[0] == shown[1]
    assert (shown[0]["asked"], shown[0]["told"]) == (6, 4)
    assert httpx.post(f"{first}{PATH}/arms", json={"label": "newer"}).status_code == 200
    assert len(httpx.get(f"{second}{PATH}").json()["arms"]) == 3
    assert httpx.post(f"{second}{PATH}/close").status_code == 200
    assert httpx.post(f"{first}{PATH}/ask", json={}).status_code == 409
    key = new_key(db, "read")
    headers = {"authorization": f"Bearer {key}"}
    time.sleep(1.1)  # as long as a server may take to see the first key, or a revoked one
    assert [httpx.get(f"{url}{PATH}", headers=headers).status_code for url in urls] == [200, 200]
    assert [httpx.get(f"{url}{PATH}").status_code for url in urls] == [401, 401]
    with httpx.Client(base_url=first) as browser:
        browser.post("/login", data={"key": key})
        copy = {sessions.COOKIE: browser.cookies[sessions.COOKIE]}
        assert httpx.get(f"{second}{PATH}", cookies=copy).status_code == 200
        token = re.findall('name="token" value="([0-9a-f]+)"', browser.get("/").text)[0]
        assert browser.post("/logout", data={"token": token}).status_code == 303
    assert [httpx.get(f"{url}{PATH}", cookies=copy).status_code for url in urls] == [401, 401]
    database = tables.opened(db)
    keys.revoke(database, keys.digest_of(key)[:8])
    database.close()
    time.sleep(1.1)
    assert [httpx.get(f"{url}{PATH}", headers=headers).status_code for url in urls] == [401, 401]


def test_a_database_that_is_restarted_is_found_again(server: str) -> None:
    """Also by what asks without a transaction, such as the keys, and by experiments that were not used for a while."""
    import psycopg

    db = f"{server}&application_name=restarted"
    key = new_key(db, "ask", "read", "admin")
    with client(db, key) as service:
        assert service.post("/v1/experiments", json=NEW).status_code == 201
        for _ in range(2):
            with psycopg.connect(server, autocommit=True) as connection:
                ended = connection.execute(
                    "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE application_name = 'restarted'"
                ).fetchone()
            assert ended is not None
            assert ended[0] >= 2
            service.app.state.access._read = -10.0  # type: ignore[attr-defined]  # as if a second had passed
            for path in ("/readyz", "/v1/experiments", PATH, f"{PATH}/events", f"{PATH}/history"):
                assert service.get(path).status_code == 200, path
            assert service.post(f"{PATH}/ask", json={}).status_code == 200
