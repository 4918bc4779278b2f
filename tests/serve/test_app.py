"""The operations, against a learner that is used directly."""

import csv
import io
import json
import math
import time
from collections.abc import Iterator, Sequence

import polars
import pytest
from starlette.testclient import TestClient

import vambrace as vb
from serving import client
from vambrace.audit.certificate import certify_counts
from vambrace.errors import JournalError
from vambrace.live.journal import Entry
from vambrace.live.sql import SqlJournal
from vambrace.serve import incidents, tables

NEW = {"name": "headlines", "arms": ["old", "new", "newer"], "policy": "kl-ucb-wr:budget=2"}
PATH = "/v1/experiments/headlines"


@pytest.fixture
def service(db: str) -> Iterator[TestClient]:
    with client(db) as found:
        yield found


def create(service: TestClient, **more: object) -> None:
    answer = service.post("/v1/experiments", json=NEW | more)
    assert answer.status_code == 201, answer.text
    assert answer.headers["location"] == PATH


def ask(service: TestClient, count: int = 1, **more: object) -> list[dict[str, object]]:
    answer = service.post(f"{PATH}/ask", json={"count": count} | more)
    assert answer.status_code == 200, answer.text
    found: list[dict[str, object]] = answer.json()["decisions"]
    return found


def tell(service: TestClient, *pairs: tuple[object, float]) -> list[str]:
    answers = [{"id": key, "reward": reward} for key, reward in pairs]
    body = answers[0] if len(answers) == 1 else {"answers": answers}
    answer = service.post(f"{PATH}/tell", json=body)
    assert answer.status_code == 200, answer.text
    results = answer.json()["results"]
    assert [each["id"] for each in results] == [key for key, _ in pairs]
    return [each["status"] for each in results]


def test_the_service_decides_as_a_learner_does(service: TestClient) -> None:
    create(service, policy="exp3-ix", horizon=1_000, seed=7)
    learner = vb.EXP3IX().learner(arms=NEW["arms"], horizon=1_000, seed=7)
    for at in range(40):
        (here,), there = ask(service), learner.ask()
        assert (here["arm"], here["probability"], here["round"]) == (there.arm, there.probability, there.round)
        reward = float(at % 3 == 0)
        assert tell(service, (here["id"], reward)) == [learner.tell(there, reward)]
    state = service.get(f"{PATH}/state").json()
    said = json.loads(json.dumps(learner.explain().to_dict()))
    assert {name: state[name] for name in said} == said
    assert (state["name"], state["state"], state["events"], state["open"], state["late"]) == (
        ("headlines", "open", 81, 0, 0)
    )


def test_an_experiment_from_its_creation_to_its_end(service: TestClient) -> None:
    create(service)
    shown = service.get(PATH).json()
    assert shown["policy"] == "kl-ucb-wr:budget=2"
    assert shown["arms"] == [{"label": label, "state": "open"} for label in ("old", "new", "newer")]
    assert (shown["state"], shown["asked"], shown["told"]) == ("open", 0, 0)
    first, second = ask(service, 2)
    assert tell(service, (first["id"], 1.0), (first["id"], 1.0), (first["id"], 0.0), ("0-00-00", 1.0)) == (
        ["applied", "duplicate", "conflict", "unknown"]
    )
    closed = service.post(f"{PATH}/close").json()
    assert (closed["state"], closed["asked"], closed["told"]) == ("closed", 2, 1)
    assert service.post(f"{PATH}/close").json() == closed  # again
    refused = service.post(f"{PATH}/ask", json={})
    assert refused.status_code == 409
    assert "closed" in refused.json()["detail"]
    assert tell(service, (second["id"], 0.0)) == ["applied"]  # answers still count


def test_creating_it_again_changes_nothing_and_other_settings_are_refused(service: TestClient) -> None:
    create(service)
    again = service.post("/v1/experiments", json=NEW)
    assert again.status_code == 200
    other = service.post("/v1/experiments", json=NEW | {"arms": ["old"]})
    assert other.status_code == 409
    assert "arms=['old', 'new', 'newer'], not ['old']" in other.json()["detail"]


@pytest.mark.parametrize("name", ["日本", "é", "-a.b_"])
def test_a_name_in_any_language_leads_to_its_experiment(service: TestClient, name: str) -> None:
    made = service.post("/v1/experiments", json=NEW | {"name": name})
    assert made.status_code == 201
    assert service.get(made.headers["location"]).json()["name"] == name
    assert service.post(f"{made.headers['location']}/ask", json={}).status_code == 200
    assert name in service.get("/v1/experiments").json()["experiments"][0]["name"]
    assert service.get(f"/experiments/{name}").status_code == 200


def test_the_same_key_gets_the_same_decisions(service: TestClient) -> None:
    create(service)
    first = ask(service, 3, key="view-17")
    assert ask(service, 3, key="view-17") == first
    assert ask(service, 2, key="view-17") == first[:2]
    assert ask(service, 4, key="view-17")[:3] == first
    assert service.get(PATH).json()["asked"] == 4
    assert ask(service, 1, key="view-18") != first[:1]


def test_a_repeated_request_is_answered_also_if_a_new_one_would_be_refused(db: str) -> None:
    """Its first answer may have been lost on the way."""
    with client(db, most_open=3) as service:
        create(service)
        first = ask(service, 3, key="view-17")
        assert service.post(f"{PATH}/ask", json={"count": 4, "key": "view-17"}).status_code == 429
        assert ask(service, 3, key="view-17") == first
        service.post(f"{PATH}/close")
        assert service.post(f"{PATH}/ask", json={"key": "view-18"}).status_code == 409
        assert ask(service, 3, key="view-17") == first
        assert service.get(PATH).json()["asked"] == 3


def test_the_keys_of_a_batch_are_one_question_to_the_database(
    service: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    questions: list[int] = []
    real = SqlJournal.find

    def find(self: SqlJournal, *, decision: str | None = None, keys: Sequence[str] = ()) -> list[Entry]:
        questions.append(len(keys))
        return real(self, decision=decision, keys=keys)

    monkeypatch.setattr(SqlJournal, "find", find)
    create(service)
    first = ask(service, 1_000, key="batch")
    assert ask(service, 1_000, key="batch") == first
    assert questions == [1_000, 1_000]


def test_abandon(service: TestClient) -> None:
    create(service)
    (decision,) = ask(service)
    ids = [decision["id"], decision["id"], "0-00-00"]
    found = service.post(f"{PATH}/abandon", json={"ids": ids}).json()["results"]
    assert [each["status"] for each in found] == ["abandoned", "closed", "unknown"]
    assert tell(service, (decision["id"], 1.0)) == ["late"]


def test_arms_come_and_go(service: TestClient) -> None:
    create(service)
    added = service.post(f"{PATH}/arms", json={"label": "newest"}).json()
    assert added["arms"][-1] == {"label": "newest", "state": "open"}
    retired = service.post(f"{PATH}/arms/retire", json={"label": "old"}).json()
    assert retired["arms"][0] == {"label": "old", "state": "retired"}
    assert service.post(f"{PATH}/arms", json={"label": "newest"}).status_code == 409  # it is open
    assert service.post(f"{PATH}/arms/retire", json={"label": "none"}).status_code == 409
    assert {each["arm"] for each in ask(service, 12)} == {"new", "newer", "newest"}


def test_pages_of_the_list(service: TestClient) -> None:
    for at in range(5):
        service.post("/v1/experiments", json=NEW | {"name": f"e{at}"})
    first = service.get("/v1/experiments", params={"limit": 2}).json()
    assert [each["name"] for each in first["experiments"]] == ["e0", "e1"]
    last = service.get("/v1/experiments", params={"limit": 3, "after": first["next"]}).json()
    assert [each["name"] for each in last["experiments"]] == ["e2", "e3", "e4"]
    assert last["next"] is None


@pytest.mark.parametrize("late", ["record", "count"])
def test_expired_and_late_answers(service: TestClient, late: str) -> None:
    default = {"default_reward": 0.0} if late == "record" else {}
    create(service, expires_after=0.05, late=late, **default)
    first, second = ask(service, 2)
    time.sleep(0.06)
    state = service.get(f"{PATH}/state").json()
    assert (state["open"], sum(arm["answers"] for arm in state["arms"])) == (0, 2 if default else 0)
    assert tell(service, (first["id"], 1.0)) == ["late"]
    rows = list(csv.DictReader(io.StringIO(service.get(f"{PATH}/events").text)))
    found = {(row["id"], row["reward"], row["status"]) for row in rows}
    assert found == {(first["id"], "1.0", "late")} | ({(second["id"], "0.0", "expired")} if default else set())


@pytest.mark.parametrize("binary", [True, False])
def test_the_certificate_is_that_of_the_counts(service: TestClient, binary: bool) -> None:
    create(service)
    counts = {label: [0, 0.0, 0.0] for label in ("old", "new", "newer")}
    for _ in range(10):
        decisions = ask(service, 60)
        pairs = []
        for at, each in enumerate(decisions):
            reward = float(each["arm"] == "new") if binary else (0.9 if each["arm"] == "new" else 0.1 + at / 1_000)
            pairs.append((each["id"], reward))
            for sum_at, value in enumerate((1, reward, reward**2)):
                counts[str(each["arm"])][sum_at] += value
        tell(service, *pairs)
    found = service.get(f"{PATH}/certificate", params={"delta": 0.01}).json()
    events, totals, squares = zip(*counts.values(), strict=True)
    options = {"squares": squares, "binary": binary, "delta": 0.01}
    wanted = certify_counts([int(n) for n in events], totals, list(counts), **options)  # type: ignore[arg-type]
    assert found["winner"] == wanted.winner == "new"
    assert found["budget"] == wanted.budget
    assert found["verdict"] == str(wanted)
    assert wanted.budget is not None


def test_a_certificate_needs_answers_of_every_open_arm(service: TestClient) -> None:
    create(service)
    assert service.get(f"{PATH}/certificate").status_code == 409
    tell(service, *((each["id"], float(each["arm"] == "new")) for each in ask(service, 30)))
    assert {each["label"] for each in service.get(f"{PATH}/certificate").json()["rivals"]} == {"old", "newer"}
    service.post(f"{PATH}/arms/retire", json={"label": "old"})
    assert {each["label"] for each in service.get(f"{PATH}/certificate").json()["rivals"]} == {"newer"}
    service.post(f"{PATH}/arms", json={"label": "newest"})
    unknown = service.get(f"{PATH}/certificate")
    assert unknown.status_code == 409
    assert "none of 'newest'" in unknown.json()["detail"]


def test_the_export_has_every_answer_in_each_format(service: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    from vambrace.serve import exports

    monkeypatch.setattr(exports, "ROWS", 7)  # several pieces
    create(service, arms=["=1+1", 'a "b", c', "😀"])
    decisions = ask(service, 30)
    tell(service, *((each["id"], at / 29) for at, each in enumerate(decisions)))
    columns = ["arm", "reward", "time", "id", "probability", "status"]
    lines = service.get(f"{PATH}/events", params={"format": "ndjson"})
    assert lines.headers["content-type"] == "application/x-ndjson"
    rows = [json.loads(line) for line in lines.text.splitlines()]
    assert [(row["id"], row["arm"], row["reward"]) for row in rows] == (
        [(each["id"], each["arm"], at / 29) for at, each in enumerate(decisions)]
    )
    table = polars.read_csv(service.get(f"{PATH}/events", params={"format": "csv"}).content)
    assert table.columns == columns
    assert table.rows() == [tuple(row[name] for name in columns) for row in rows]
    parquet = polars.read_parquet(service.get(f"{PATH}/events", params={"format": "parquet"}).content)
    assert parquet.equals(table)


def test_an_export_without_answers_is_a_table_without_rows(service: TestClient) -> None:
    create(service)
    assert service.get(f"{PATH}/events").text.count("\n") == 1
    assert polars.read_parquet(service.get(f"{PATH}/events", params={"format": "parquet"}).content).height == 0


def test_waiting_for_changes(service: TestClient) -> None:
    create(service)
    now = service.get(f"{PATH}/changes", params={"after": 0}).json()
    assert now == {"events": 1, "asked": 0, "told": 0}
    assert service.get(f"{PATH}/changes", params={"after": 1, "wait": 0.01}).json() == now
    ask(service)
    assert service.get(f"{PATH}/changes", params={"after": 1}).json() == {"events": 2, "asked": 1, "told": 0}


def test_strange_answers_are_counted_for_alarms(db: str) -> None:
    with client(db) as service:
        create(service)
        (decision,) = ask(service)
        tell(service, (decision["id"], 1.0), (decision["id"], 0.0), ("0-00-00", 1.0), ("0-00-01", 1.0))
        assert service.post(f"{PATH}/tell", json={"id": "x", "reward": 7}).status_code == 422
    database = tables.opened(db)
    found = {(each.actor, each.kind): each.number for each in incidents.of(database, "headlines")}
    database.close()
    wanted = {"answer": 4, "conflict": 1, "unknown": 2, "refused": 1}
    assert found == {("nobody", kind): number for kind, number in wanted.items()}


def test_health_and_metrics(service: TestClient) -> None:
    assert service.get("/healthz").json() == service.get("/readyz").json() == {"status": "ok"}
    create(service)
    ask(service, 3)
    text = service.get("/metrics").text
    assert 'vambrace_events_total{kind="asked"} 3' in text
    assert 'vambrace_requests_total{method="POST",route="/v1/experiments/{name}/ask",status="200"} 1' in text
    assert "headlines" not in text
    buckets = [int(line.split()[-1]) for line in text.splitlines() if "_bucket" in line]
    assert buckets == sorted(buckets)
    assert f"vambrace_request_seconds_count {buckets[-1]}" in text


def test_every_error_is_a_problem(service: TestClient) -> None:
    create(service)
    for method, path, body, status in (
        ("GET", "/nothing", None, 404),
        ("GET", "/v1/experiments/none/state", None, 404),
        ("PUT", "/v1/experiments", None, 405),
        ("POST", f"{PATH}/ask", b"{", 422),
        ("POST", f"{PATH}/ask", b'{"count": true}', 422),
        ("POST", f"{PATH}/tell", b'{"id": "x", "reward": true}', 422),
        ("POST", f"{PATH}/tell", b'{"id": "x", "reward": NaN}', 422),
        ("POST", f"{PATH}/tell", b'{"id": "x", "reward": 1e400}', 422),
        ("POST", "/v1/experiments", json.dumps(NEW | {"name": "a", "policy": "ucb2"}).encode(), 422),
    ):
        answer = service.request(method, path, content=body, headers={"content-type": "application/json"})
        assert answer.status_code == status, (path, answer.text)
        assert answer.headers["content-type"] == "application/problem+json"
        content = answer.json()
        assert (content["status"], content["type"]) == (status, "about:blank")
        assert content["detail"]
    assert "did you mean 'ucb1'" in answer.json()["detail"]
    assert service.put("/v1/experiments").headers["allow"] == "GET, POST"
    plain = service.post(f"{PATH}/ask", content=b"{}", headers={"content-type": "text/plain"})
    assert plain.status_code == 415  # what a form of another site could send


def test_without_keys_only_this_machine_is_served(service: TestClient) -> None:
    for headers in ({"host": "shop.example"}, {"origin": "https://shop.example"}, {"host": "["}, {"origin": "null"}):
        answer = service.get("/v1/experiments", headers=headers)
        assert answer.status_code == 403, headers
    for headers in ({"host": "localhost:8000"}, {"host": "[::1]:8000"}, {"origin": "http://127.0.0.1:9"}):
        assert service.get("/v1/experiments", headers=headers).status_code == 200, headers


def test_without_its_database_the_service_says_so(
    service: TestClient, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    create(service)

    async def away(_: object) -> None:
        raise JournalError("postgresql://10.1.2.3/shop: password of user carla is wrong; nothing was acknowledged")

    monkeypatch.setattr(service.app.state.experiments, "on_database", away)  # type: ignore[attr-defined]
    service.app.state.access._read = -1.0  # type: ignore[attr-defined]  # as if a second had passed
    assert service.get("/healthz").status_code == 200
    for answer in (service.get("/readyz"), service.get(PATH), service.post(f"{PATH}/ask", json={})):
        assert answer.status_code == 503
        assert answer.headers["retry-after"] == "1"
        assert "cannot be used now, and nothing was acknowledged" in answer.json()["detail"]
        assert "carla" not in answer.text  # /readyz is for everybody
        assert "10.1.2.3" not in answer.text
    assert "carla" in caplog.text  # those who run the service learn the reason, and not once for each request
    assert caplog.text.count("WARNING") < 3


def test_a_fault_of_the_service_is_a_problem_too(service: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> float:
        return math.sqrt(-1)

    monkeypatch.setattr(service.app.state.metrics, "text", fail)  # type: ignore[attr-defined]
    answer = service.get("/metrics")
    assert answer.status_code == 500
    assert answer.json()["detail"] == "The service made a mistake; it is in its log."
