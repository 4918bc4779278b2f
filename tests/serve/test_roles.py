"""Every role against every operation, with an experiment of its own, a foreign one and a missing one: no leak."""

import time
from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest
from fastapi import FastAPI
from fastapi.routing import APIRoute
from starlette.testclient import TestClient

from serving import client, new_key
from vambrace.serve import keys, tables
from vambrace.serve.app import create_app
from vambrace.serve.guard import PROTECTED
from vambrace.serve.keys import ROLES
from vambrace.serve.openapi import role_of
from vambrace.serve.settings import Settings

EXPERIMENT = {"arms": ["old", "new"], "policy": "kl-ucb-wr:budget=2"}
UNKNOWN_ID = "0-00-00"


class Row(NamedTuple):
    """How an operation is called so that it works, and the role that it needs."""

    role: str
    body: Any = None
    query: dict[str, Any] = {}  # noqa: RUF012
    content: bytes | None = None


ROWS = {
    "create_experiment": Row("admin", EXPERIMENT | {"name": "{name}"}),
    "list_experiments": Row("read"),
    "show_experiment": Row("read"),
    "close_experiment": Row("admin"),
    "add_arm": Row("admin", {"label": "newer"}),
    "retire_arm": Row("admin", {"label": "old"}),
    "ask": Row("ask", {}),
    "tell": Row("tell", {"id": UNKNOWN_ID, "reward": 1.0}),
    "abandon": Row("tell", {"ids": [UNKNOWN_ID]}),
    "show_state": Row("read"),
    "watch_changes": Row("read", query={"wait": 0}),
    "show_certificate": Row("read"),
    "export_events": Row("read"),
    "show_history": Row("read"),
    "certify_table": Row("read", query={"name": "table.csv"}, content=b"arm,events,successes\na,9,1\nb,9,8\n"),
    "choose_policy": Row("read", {}),
    "show_metrics": Row("read"),
}
PUBLIC = {"is_alive", "is_ready"}


def operations(app: FastAPI) -> dict[str, APIRoute]:
    found = {}
    for route in app.routes:
        if isinstance(route, APIRoute) and (route.path.startswith(PROTECTED) or route.name in PUBLIC):
            found[route.name] = route
    return found


def call(service: TestClient, route: APIRoute, key: str | None, name: str) -> Any:
    row = ROWS[route.name]
    body = row.body
    if isinstance(body, dict) and "name" in body:
        body = body | {"name": name}
    headers = {} if key is None else {"authorization": f"Bearer {key}"}
    method = next(iter(route.methods or ()))
    path = route.path.replace("{name}", name)
    sent = {"content": row.content} if row.content is not None else {} if body is None else {"json": body}
    return service.request(method, path, params=row.query, headers=headers, **sent)


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    db = f"sqlite:///{tmp_path_factory.mktemp('roles')}/service.db"
    with client(db) as found:
        for name in ("own", "foreign"):
            assert found.post("/v1/experiments", json=EXPERIMENT | {"name": name}).status_code == 201

        async def run(job: str, options: Any, **_: Any) -> dict[str, Any]:  # a process of its own takes seconds
            return {"winner": "b", "budget": 1, "verdict": "", "sentences": []}

        found.app.state.jobs.run = run  # type: ignore[attr-defined]
        found.app.state.db = db  # type: ignore[attr-defined]
        yield found


@pytest.fixture(scope="module")
def own_keys(service: TestClient) -> dict[str, str]:
    db = service.app.state.db  # type: ignore[attr-defined]
    found: dict[str, str] = {role: new_key(db, role, experiments=["own", "missing"]) for role in ROLES}
    service.app.state.access._read = -1.0  # type: ignore[attr-defined]  # as if a second had passed
    return found


def test_every_operation_has_a_row_and_every_row_an_operation(db: str) -> None:
    found = operations(create_app(Settings(db=db)))
    assert set(found) - PUBLIC <= set(ROWS), "a new operation needs a row in this file"
    assert len(found) >= len(ROWS) - 1 + len(PUBLIC)  # the history comes with the dashboard
    for name, route in found.items():
        assert role_of(route) == (None if name in PUBLIC else ROWS[name].role), name


@pytest.mark.parametrize("role", ROLES)
def test_matrix(service: TestClient, own_keys: dict[str, str], role: str) -> None:
    cases = 0
    for name, route in operations(service.app).items():  # type: ignore[arg-type]
        if name in PUBLIC:
            continue
        scoped = "{name}" in route.path or name == "create_experiment"
        for place in ("own", "foreign") if scoped else ("own",):
            answer = call(service, route, own_keys[role], place)
            cases += 1
            if role != ROWS[name].role:
                assert answer.status_code == 403, (name, place, answer.text)
            elif place == "own":
                # no two arms have answers, and the last open arm cannot be retired twice: refused, but not for its role
                assert answer.status_code in (200, 201, 409, 422), (name, answer.text)
            elif name == "create_experiment":
                assert answer.status_code == 403, answer.text
            else:
                assert answer.status_code == 404, (name, answer.text)
            if place == "foreign":
                nowhere = call(service, route, own_keys[role], "nowhere")
                assert nowhere.status_code == answer.status_code
                assert nowhere.text.replace("nowhere", "foreign") == answer.text  # as if it did not exist
                plain = {"content-length", "date"}
                assert set(nowhere.headers) - plain == set(answer.headers) - plain
    assert cases >= 25


def test_the_foreign_experiment_is_unchanged(service: TestClient, own_keys: dict[str, str]) -> None:
    key = new_key(service.app.state.db, "read")  # type: ignore[attr-defined]
    service.app.state.access._read = -1.0  # type: ignore[attr-defined]  # as if a second had passed
    found = service.get("/v1/experiments/foreign", headers={"authorization": f"Bearer {key}"}).json()
    assert (found["state"], found["asked"], len(found["arms"])) == ("open", 0, 2)


def test_lists_and_metrics_have_only_what_the_key_sees(service: TestClient, own_keys: dict[str, str]) -> None:
    headers = {"authorization": f"Bearer {own_keys['read']}"}
    names = [each["name"] for each in service.get("/v1/experiments", headers=headers).json()["experiments"]]
    assert names == ["own"]
    assert "foreign" not in service.get("/metrics", headers=headers).text


@pytest.mark.parametrize("kind", ["none", "empty", "basic", "wrong", "cut", "expired", "revoked", "in the address"])
def test_nothing_works_without_a_valid_key(service: TestClient, own_keys: dict[str, str], kind: str) -> None:
    db = service.app.state.db  # type: ignore[attr-defined]
    good = new_key(db, *ROLES)
    header: str | None = f"Bearer {good}"
    if kind == "expired":
        header = f"Bearer {new_key(db, *ROLES, lifetime=1e-6)}"
        time.sleep(0.001)
    elif kind == "revoked":
        database = tables.opened(db)
        keys.revoke(database, keys.digest_of(good)[:8])
        database.close()
        service.app.state.access._read = -1.0  # type: ignore[attr-defined]
    else:
        other = {"empty": "", "basic": f"Basic {good}", "wrong": f"Bearer {good[:-1]}{'A' if good[-1] != 'A' else 'B'}"}
        header = (other | {"cut": f"Bearer {good[:-1]}"}).get(kind)
    for name, route in operations(service.app).items():  # type: ignore[arg-type]
        path = route.path.replace("{name}", "own")
        asked = f"{path}?key={good}&access_token={good}" if kind == "in the address" else path
        method = next(iter(route.methods or ()))
        # no body, or one that is no JSON: the key comes first
        answer = service.request(method, asked, headers={} if header is None else {"authorization": header})
        assert answer.status_code == (200 if name in PUBLIC else 401), (name, answer.text)
        if answer.status_code == 401:
            assert answer.headers["www-authenticate"].startswith("Bearer")
            assert answer.headers["content-type"] == "application/problem+json"
    assert service.get("/openapi.json").status_code == 401
    assert service.get("/v1/nothing").status_code == 401
