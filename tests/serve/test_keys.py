import sqlite3
import time
from collections.abc import Iterator
from dataclasses import replace
from hashlib import sha256

import pytest

from serving import client, new_key
from vambrace.errors import InvalidParameter, UnknownName
from vambrace.live.sql import Database
from vambrace.serve import keys, sessions, tables


@pytest.fixture
def database(db: str) -> Iterator[Database]:
    found = tables.opened(db)
    yield found
    found.close()


def made(database: Database, **options: object) -> tuple[str, keys.Key]:
    return keys.create(database, **({"name": "shop", "roles": ["ask"]} | options))  # type: ignore[arg-type]


def test_a_key_has_256_random_bits_and_is_not_in_the_database(database: Database, db: str) -> None:
    text, key = made(database)
    assert text.startswith("vb_")
    assert len(text) == keys.LENGTH == 46
    assert text != made(database)[0]
    content = "\n".join(sqlite3.connect(db.removeprefix("sqlite:///")).iterdump())
    assert key.digest in content
    assert text not in content
    assert text[3:20] not in content


def test_only_the_right_text_matches(database: Database) -> None:
    text, key = made(database)
    known, now = keys.load(database), time.time()
    assert keys.matching(known, text, now) == key
    for wrong in ("", "vb_", text[:-1], text + "A", text.lower(), key.id, key.digest):
        assert keys.matching(known, wrong, now) is None
    impostor = {key.id: replace(key, digest="0" * 64)}  # the same id, another key
    assert keys.matching(impostor, text, now) is None


def test_keys_expire(database: Database) -> None:
    text, key = made(database, lifetime=100.0)
    known = keys.load(database)
    assert keys.matching(known, text, key.created + 99) == key
    assert keys.matching(known, text, key.created + 100) is None
    assert key.state(key.created + 100) == "expired"


def test_a_revoked_key_is_no_key(database: Database) -> None:
    text, key = made(database)
    assert keys.revoke(database, key.id).state(time.time()) == "revoked"
    assert keys.matching(keys.load(database), text, time.time()) is None
    first = keys.revoke(database, key.id).revoked
    assert keys.revoke(database, key.id).revoked == first  # again changes nothing
    with pytest.raises(UnknownName, match="unknown key 'nothing'"):
        keys.revoke(database, "nothing")


def test_rotation_has_an_overlap(database: Database) -> None:
    old_text, old = made(database, roles=["ask", "tell"], experiments=["a"], lifetime=1_000.0)
    new_text, new = keys.rotate(database, old.id, overlap=50.0)
    assert (new.name, new.roles, new.experiments) == (old.name, old.roles, old.experiments)
    known = keys.load(database)
    soon, later = new.created + 49, new.created + 51
    assert keys.matching(known, old_text, soon) is not None
    assert keys.matching(known, old_text, later) is None
    assert keys.matching(known, new_text, later) == new
    assert new.expires == pytest.approx(new.created + 1_000)
    keys.revoke(database, new.id)
    with pytest.raises(InvalidParameter, match=r"expected a valid one, got .*, which is revoked"):
        keys.rotate(database, new.id, overlap=1.0)


def test_an_overlap_does_not_lengthen_the_life_of_a_key(database: Database) -> None:
    _, old = made(database, lifetime=10.0)
    keys.rotate(database, old.id, overlap=1e6)
    assert keys.load(database)[old.id].expires == old.expires


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"roles": []}, "roles: expected some of ask, tell, read, admin, got none"),
        ({"roles": ["asks"]}, "unknown role 'asks'; did you mean 'ask'"),
        ({"experiments": []}, "experiments: expected at least one name"),
        ({"experiments": ["a b"]}, "experiment: expected letters"),
        ({"name": ""}, "name: expected 1 to 100"),
        ({"name": "a\nb"}, "name: expected 1 to 100"),
        ({"lifetime": 0.0}, "lifetime: expected a number of seconds"),
    ],
)
def test_wrong_keys_are_refused(database: Database, options: dict[str, object], message: str) -> None:
    with pytest.raises((InvalidParameter, UnknownName), match=message):
        made(database, **options)
    assert keys.load(database) == {}


def test_who_did_what_is_written_down(db: str, database: Database) -> None:
    admin, teller = new_key(db, "admin", "read"), new_key(db, "tell")
    admin_id, teller_id = (keys.digest_of(text)[:8] for text in (admin, teller))
    new = {"name": "a", "arms": ["x", "y"], "policy": "kl-ucb-wr"}
    with client(db, admin) as service:
        assert service.post("/v1/experiments", json=new).status_code == 201
        assert service.post("/v1/experiments", json=new).status_code == 200  # nothing was done
        assert service.post("/v1/experiments/a/arms", json={"label": "z"}).status_code == 200
        assert service.post("/v1/experiments/a/arms", json={"label": "z"}).status_code == 409
        assert service.post("/v1/experiments/a/arms/retire", json={"label": "x"}).status_code == 200
        assert service.post("/v1/experiments/a/close").status_code == 200
        refused = service.post("/v1/experiments/a/close", headers={"authorization": f"Bearer {teller}"})
        assert refused.status_code == 403
    keys.revoke(database, teller_id)
    found = [(each.actor, each.action, each.details) for each in reversed(tables.actions(database, 100))]
    assert [(actor, action) for actor, action, _ in found] == [
        ("command line", "create key"),
        ("command line", "create key"),
        (admin_id, "create experiment"),
        (admin_id, "add arm"),
        (admin_id, "retire arm"),
        (admin_id, "close experiment"),
        ("command line", "revoke key"),
    ]
    assert found[2][2] == {"experiment": "a", "policy": "kl-ucb-wr", "arms": 2}
    assert found[3][2] == {"experiment": "a", "arm": "z"}
    assert not any(text in str(found) for text in (admin, teller))


def test_new_keys_work_soon_and_revoked_ones_soon_not(db: str, database: Database) -> None:
    with client(db) as service:
        assert service.get("/v1/experiments").status_code == 200  # there are no keys
        text = new_key(db, "read")
        header = {"authorization": f"Bearer {text}"}
        time.sleep(0.11)  # a stranger who guesses must not cause a look into the database each time
        assert service.get("/v1/experiments", headers=header).status_code == 200
        assert service.get("/v1/experiments").status_code == 401
        keys.revoke(database, keys.digest_of(text)[:8])
        deadline = time.monotonic() + 10
        while service.get("/v1/experiments", headers=header).status_code == 200 and time.monotonic() < deadline:
            time.sleep(0.05)
        assert service.get("/v1/experiments", headers=header).status_code == 401
        assert service.get("/v1/experiments").status_code == 401  # keys that are all revoked are not "no keys"


def test_a_session_stands_for_its_key(db: str, database: Database) -> None:
    text = new_key(db, "read", "admin")
    key_id, secret, now = keys.digest_of(text)[:8], sessions.load_secret(database), time.time()
    assert sessions.load_secret(database) == secret  # for every process
    cookie = sessions.begin(database, secret, key_id, now)
    token = sessions.token_for(secret, cookie)
    assert len(cookie) == 43 + 1 + 64
    assert sessions.key_id_of(database, cookie, now) == key_id
    assert sessions.key_id_of(database, cookie, now + sessions.LIFETIME) is None
    content = "\n".join(sqlite3.connect(db.removeprefix("sqlite:///")).iterdump())
    assert cookie not in content  # who reads the database cannot use it
    digest = sha256(cookie.encode()).hexdigest()
    assert digest in content
    assert sessions.is_ours(secret, cookie)
    for wrong in (
        "",
        ".",
        "é" * 43,
        "'" * 43,
        cookie[:-1],
        cookie + "A",
        digest,
        cookie.swapcase(),
        cookie[:44] + token,
    ):
        assert sessions.key_id_of(database, wrong, now) is None
        assert not sessions.is_ours(secret, wrong)
    new = {"name": "a", "arms": ["x", "y"], "policy": "kl-ucb-wr"}
    with client(db) as service:
        service.cookies.set(sessions.COOKIE, cookie)
        assert service.get("/v1/experiments").status_code == 200
        assert service.post("/v1/experiments", json=new).status_code == 403  # another site could have sent it
        for wrong in ("", "0" * 64, cookie):
            headers = {sessions.TOKEN_HEADER: wrong}
            assert service.post("/v1/experiments", json=new, headers=headers).status_code == 403
        headers = {sessions.TOKEN_HEADER: token}
        assert service.post("/v1/experiments", json=new, headers=headers).status_code == 201
        keys.revoke(database, key_id)
        service.app.state.access._read = -1.0  # type: ignore[attr-defined]  # as if a second had passed
        assert service.get("/v1/experiments").status_code == 401


def test_sessions_are_all_different_and_their_number_is_bounded(database: Database) -> None:
    now, secret = time.time(), sessions.load_secret(database)
    of_another = sessions.begin(database, secret, "other", now)
    cookies = [sessions.begin(database, secret, "key", now + at) for at in range(sessions.MOST_OF_A_KEY + 5)]
    assert len(set(cookies)) == len(cookies)
    known = [sessions.key_id_of(database, cookie, now) == "key" for cookie in cookies]
    assert known == [False] * 5 + [True] * sessions.MOST_OF_A_KEY  # the oldest ones have ended
    assert sessions.key_id_of(database, of_another, now) == "other"
    sessions.begin(database, secret, "late", now + 2 * sessions.LIFETIME)
    assert database.run("SELECT key FROM vambrace_service_sessions") == [("late",)]


def test_a_service_for_other_machines_needs_keys_also_when_they_are_lost(db: str, database: Database) -> None:
    text = new_key(db, "read")
    with client(db, host="0.0.0.0") as service:
        assert service.get("/v1/experiments", headers={"authorization": f"Bearer {text}"}).status_code == 200
        database.run("DELETE FROM vambrace_service_keys")
        service.app.state.access._read = -10.0  # type: ignore[attr-defined]  # as if a second had passed
        assert service.get("/v1/experiments").status_code == 401  # although it says that it comes from this machine
        assert "Log in" in service.get("/").text


def test_a_stranger_who_guesses_a_session_causes_no_look_into_the_database(
    db: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    new_key(db, "read")
    looks: list[str] = []
    monkeypatch.setattr(sessions, "key_id_of", lambda database, cookie, now: looks.append(cookie))
    with client(db) as service:
        for guess in ("a" * 43 + "." + "0" * 64, "x", "a" * 43):
            service.cookies.set(sessions.COOKIE, guess)
            assert service.get("/v1/experiments").status_code == 401
    assert looks == []
