"""Ask and tell have two ways through the service: the quick one, and that of the framework. They must be one."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("fastapi", reason="the extra vambrace[serve] is not installed")

from starlette.testclient import TestClient

from vambrace.serve import quick
from vambrace.serve.app import create_app
from vambrace.serve.settings import Settings

BASE = "/v1/experiments/headlines"
QUICK, OTHER = "application/json", "application/json; charset=utf-8"  # the second goes to the framework


@contextmanager
def started(folder: Path) -> Iterator[TestClient]:
    app = create_app(Settings(db=f"sqlite:///{folder}/shop.db", most_open=200))
    with TestClient(app, base_url="http://127.0.0.1") as found:
        body = {"name": "headlines", "arms": ["old", "new"], "policy": "kl-ucb-wr:budget=5"}
        assert found.post("/v1/experiments", json=body).status_code == 201
        yield found


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    with started(tmp_path_factory.mktemp("quick")) as found:
        yield found


@pytest.fixture
def fresh(tmp_path: Path) -> Iterator[TestClient]:
    with started(tmp_path) as found:
        yield found


@pytest.fixture
def quick_ones(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The operations that were answered on the quick way."""
    answered: list[str] = []
    original = quick.Quick._content

    async def noted(self: Any, name: str, operation: Any, *rest: Any) -> bytes:
        found = await original(self, name, operation, *rest)
        answered.append(operation.__name__)
        return found

    monkeypatch.setattr(quick.Quick, "_content", noted)
    return answered


def shape(value: Any) -> Any:
    """An answer without its ids, rounds and arms, which differ each time."""
    if isinstance(value, dict):
        return {key: shape(each) for key, each in value.items() if key not in ("id", "round", "arm")} | {
            key: type(value[key]).__name__ for key in ("id", "round", "arm") if key in value
        }
    return [shape(each) for each in value] if isinstance(value, list) else value


def both(client: TestClient, path: str, body: str | bytes) -> Any:
    """The answer to a request on the quick way, if that is the same as on the other."""
    answers = [client.post(path, content=body, headers={"Content-Type": kind}) for kind in (QUICK, OTHER)]
    first, second = answers
    assert first.status_code == second.status_code
    assert shape(first.json()) == shape(second.json())
    assert {*first.headers} == {*second.headers}
    assert first.headers["content-type"] == second.headers["content-type"]
    return first


ASKS = [
    "{}", '{"count":3}', '{"count":1,"key":"view-1"}', '{"count":2,"key":"\\u00e9\\ud83d\\ude00"}',
    "", "[]", "null", "{", '{"count":0}', '{"count":1001}', '{"count":"1"}', '{"count":1.0}', '{"count":true}',
    '{"key":""}', '{"key":"a\\u0000"}', '{"key":5}', '{"more":1}', '{"count":1,"count":2}', '{"key":"\\ud800"}',
    '{"count":' + "9" * 5_000 + "}", "[" * 5_000, b"\xff\xfe", b'{"key":"\xff"}',
]  # fmt: skip


@pytest.mark.parametrize("body", ASKS, ids=lambda body: str(body)[:30])
def test_an_ask(client: TestClient, body: str | bytes) -> None:
    both(client, f"{BASE}/ask", body)


@pytest.mark.parametrize(
    "reward", ["0", "1", "0.5", "1.0", "-0.1", "1.1", "NaN", "Infinity", '"1"', "null", "true", "1e-400"]
)
@pytest.mark.parametrize(
    "form", ['{"id":"ID","reward":R}', '{"answers":[{"id":"ID","reward":R},{"id":"forged","reward":R}]}']
)
def test_a_tell(client: TestClient, form: str, reward: str) -> None:
    text = form.replace("R", reward)
    ids = [client.post(f"{BASE}/ask", json={}).json()["decisions"][0]["id"] for _ in range(2)]
    answers = [
        client.post(f"{BASE}/tell", content=text.replace("ID", each), headers={"Content-Type": kind})
        for each, kind in zip(ids, (QUICK, OTHER), strict=True)
    ]
    assert answers[0].status_code == answers[1].status_code
    assert shape(answers[0].json()) == shape(answers[1].json())


TELLS = [
    "{}", '{"id":"a"}', '{"reward":1}', '{"answers":[]}', '{"answers":[{}]}', '{"id":"a","reward":1,"answers":[]}',
    '{"id":"","reward":1}', '{"id":5,"reward":1}', '{"id":"forged","reward":1,"more":2}', "", "5",
]  # fmt: skip


@pytest.mark.parametrize("body", TELLS)
def test_a_tell_that_is_wrong(client: TestClient, body: str) -> None:
    both(client, f"{BASE}/tell", body)


NOWHERE = ["/v1/experiments/none/ask", "/v1/experiments/a%20b/ask", "/v1/experiments//ask", "/v1/experiments/%0aa/ask"]


@pytest.mark.parametrize("path", [*NOWHERE, f"{BASE}/ask/", f"{BASE}//ask"])
def test_a_path_that_leads_nowhere(client: TestClient, path: str) -> None:
    assert both(client, path, "{}").status_code in (404, 405, 422)


def test_a_closed_experiment_and_one_that_is_full(fresh: TestClient) -> None:
    assert both(fresh, f"{BASE}/ask", '{"count":201}').status_code == 429
    fresh.post(f"{BASE}/close")
    assert both(fresh, f"{BASE}/ask", "{}").status_code == 409
    assert both(fresh, f"{BASE}/tell", '{"id":"forged","reward":1}').json()["results"][0]["status"] == "unknown"


def test_each_way_is_taken(fresh: TestClient, quick_ones: list[str]) -> None:
    decision = fresh.post(f"{BASE}/ask", json={}).json()["decisions"][0]
    fresh.post(f"{BASE}/tell", json={"id": decision["id"], "reward": 1.0})
    assert quick_ones == ["ask", "tell"]
    both(fresh, f"{BASE}/ask", "{}")
    assert quick_ones == ["ask", "tell", "ask"]


def test_both_ways_are_counted_as_one_operation(fresh: TestClient) -> None:
    both(fresh, f"{BASE}/ask", "{}")
    text = fresh.get("/metrics").text
    assert 'vambrace_requests_total{method="POST",route="/v1/experiments/{name}/ask",status="200"} 2' in text
    assert 'vambrace_events_total{kind="asked"} 2' in text
