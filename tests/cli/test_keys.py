import json
from pathlib import Path

import pytest

from command_line import Run
from vambrace.serve import keys, tables


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path}/service.db"


def test_the_life_of_a_key(run: Run, url: str) -> None:
    made = run("keys", "create", "shop", "--role", "ask", "--role", "tell", "--days", "365", "--db", url)
    assert made.code == 0
    (text,) = made.out.splitlines()  # so that KEY=$(vambrace keys create ...) works
    assert len(text) == keys.LENGTH
    key_id = keys.digest_of(text)[:8]
    assert made.err.strip() == f"This is key {key_id}. Keep it: it is not shown again."
    (listed,) = json.loads(run("keys", "list", "--db", url, "--json").out)
    assert (listed["id"], listed["roles"], listed["experiments"], listed["state"]) == (
        (key_id, "ask tell", "all", "valid")
    )
    again = json.loads(run("keys", "rotate", key_id, "--overlap", "7", "--db", url, "--json").out)
    assert again["key"] != text
    assert "revoked" in run("keys", "revoke", key_id, "--db", url).out
    table = run("keys", "list", "--db", url).out
    assert text not in table
    assert again["key"] not in table
    log = json.loads(run("keys", "log", "--db", url, "--json").out)
    assert [each["action"] for each in log] == ["revoke key", "rotate key", "create key"]
    assert {each["actor"] for each in log} == {"command line"}
    assert "rotate key" in run("keys", "log", "--db", url).out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("make shop", "unknown action 'make'; known: create, list"),
        ("create", "name: expected one with create, revoke and rotate only, got none with create"),
        ("list shop", "name: expected one with create, revoke and rotate only, got 'shop' with list"),
        ("create shop", "roles: expected some of ask, tell, read, admin, got none"),
        ("create shop --role asks", "unknown role 'asks'; did you mean 'ask'?"),
        ("revoke 12345678", "unknown key '12345678'"),
    ],
)
def test_mistakes(run: Run, url: str, words: str, message: str) -> None:
    tables.opened(url).close()
    done = run("keys", *words.split(), "--db", url)
    assert done.code == 2
    assert message in done.err


@pytest.mark.parametrize("words", ["list", "log", "revoke 12345678", "rotate 12345678"])
def test_only_a_new_key_makes_a_new_database(run: Run, url: str, words: str) -> None:
    done = run("keys", *words.split(), "--db", url)
    assert done.code == 2
    assert "there is no such file" in done.err
    assert not Path(url.removeprefix("sqlite:///")).exists()


def test_other_addresses_need_keys(run: Run, url: str) -> None:
    done = run("serve", "--host", "0.0.0.0", "--db", url)
    assert done.code == 2
    assert "host: expected 127.0.0.1, as there are no keys" in done.err
    assert "port: expected a whole number" in run("serve", "--port", "http", "--db", url).err
