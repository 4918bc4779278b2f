"""What an attacker with each role can do: the table of docs/service.md, row by row. One id is worth one fake event."""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("fastapi", reason="the extra vambrace[serve] is not installed")

from starlette.testclient import TestClient

from vambrace.serve import keys, tables
from vambrace.serve.app import create_app
from vambrace.serve.settings import Settings

ROLES = ("ask", "tell", "read", "admin")
SOON = 0.05  # seconds after which decisions expire


class Attacked:
    """A service with one key for each role."""

    def __init__(self, client: TestClient, secrets: dict[str, str]) -> None:
        self._client, self._secrets = client, secrets

    def call(self, role: str, method: str, path: str, body: Any = None) -> Any:
        headers = {"Authorization": f"Bearer {self._secrets[role]}"}
        answer = self._client.request(method, f"/v1/experiments{path}", json=body, headers=headers)
        return answer.json() if answer.headers["content-type"] == "application/json" else answer.text

    def create(self, name: str, **settings: Any) -> None:
        body = {"name": name, "arms": ["old", "new"], "policy": "kl-ucb-wr:budget=5"}
        assert self.call("admin", "POST", "", body | settings)["state"] == "open"

    def ask(self, name: str) -> str:
        found: str = self.call("ask", "POST", f"/{name}/ask", {})["decisions"][0]["id"]
        return found

    def tell(self, name: str, decision: str, reward: float) -> str:
        body = {"id": decision, "reward": reward}
        found: str = self.call("tell", "POST", f"/{name}/tell", body)["results"][0]["status"]
        return found

    def counted(self, name: str) -> tuple[int, float]:
        """The number of answers that the policy has learned from, and the sum of their rewards."""
        arms = self.call("read", "GET", f"/{name}/state")["arms"]
        return sum(arm["answers"] for arm in arms), sum(arm["answers"] * (arm["rate"] or 0.0) for arm in arms)


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Attacked]:
    db = f"sqlite:///{tmp_path_factory.mktemp('threats')}/shop.db"
    database = tables.opened(db)
    secrets = {role: keys.create(database, name=role, roles=[role])[0] for role in ROLES}
    database.close()
    with TestClient(create_app(Settings(db=db)), base_url="http://127.0.0.1") as client:
        yield Attacked(client, secrets)


def test_one_answer_for_each_id_and_the_first_one_counts(service: Attacked) -> None:
    service.create("once")
    decision = service.ask("once")
    assert service.tell("once", decision, 1.0) == "applied"
    assert [service.tell("once", decision, reward) for reward in (0.0, 0.5, 1.0)] == [
        "conflict",
        "conflict",
        "duplicate",
    ]
    assert service.counted("once") == (1, 1.0)


def test_ids_cannot_be_made_up_or_moved_to_another_arm_or_experiment(service: Attacked) -> None:
    service.create("forged")
    service.create("other")
    decision = service.ask("forged")
    arm, nonce, seal = decision.split("-")
    forged = [f"1-{nonce}-{seal}", f"{arm}-{'0' * 32}-{seal}", f"{arm}-{nonce}-{'0' * 16}", f"{arm}-{nonce}", "x"]
    assert {service.tell("forged", each, 1.0) for each in forged} == {"unknown"}
    assert service.tell("other", decision, 1.0) == "unknown"
    assert service.counted("forged") == service.counted("other") == (0, 0.0)


def test_a_reward_is_worth_at_most_one_event(service: Attacked) -> None:
    service.create("large")
    for reward in (1.0001, -0.0001, 1e9):
        body = {"id": service.ask("large"), "reward": reward}
        assert "reward" in service.call("tell", "POST", "/large/tell", body)
    assert service.counted("large") == (0, 0.0)


def test_who_abandons_a_decision_takes_away_one_answer(service: Attacked) -> None:
    service.create("abandoned")
    decision = service.ask("abandoned")
    results = service.call("tell", "POST", "/abandoned/abandon", {"ids": [decision]})["results"]
    assert results == [{"id": decision, "status": "abandoned"}]
    assert service.tell("abandoned", decision, 1.0) == "late"
    assert service.counted("abandoned") == (0, 0.0)


@pytest.mark.parametrize(("settings", "fakes"), [({}, 0), ({"default_reward": 0.0}, 3)])
def test_who_can_only_ask_makes_events_where_silence_counts(
    service: Attacked, settings: dict[str, Any], fakes: int
) -> None:
    name = f"silence-{fakes}"
    service.create(name, expires_after=SOON, **settings)
    decisions = [service.ask(name) for _ in range(3)]
    time.sleep(2 * SOON)
    assert service.counted(name) == (fakes, 0.0)
    assert {service.tell(name, each, 1.0) for each in decisions} == {"late"}
    assert service.counted(name) == (fakes, 0.0)  # an id does not count twice


def test_who_reads_learns_no_id_that_could_be_answered(service: Attacked) -> None:
    service.create("read")
    told, waiting = service.ask("read"), service.ask("read")
    service.tell("read", told, 1.0)
    texts = [service.call("read", "GET", f"/read{path}") for path in ("/events?format=csv", "/state", "")]
    assert told in texts[0]
    assert not any(waiting in str(text) for text in texts)


@pytest.mark.parametrize("role", ["ask", "tell", "read"])
def test_only_an_admin_can_take_an_arm_away(service: Attacked, role: str, tmp_path: Path) -> None:
    service.create("arms")
    for path, body in (("/arms/arms/retire", {"label": "old"}), ("/arms/close", None), ("/arms/arms", {"label": "x"})):
        assert "403" in str(service.call(role, "POST", path, body))
