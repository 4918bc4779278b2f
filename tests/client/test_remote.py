"""The learner of a service: what it sends, and what it makes of the answers."""

import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import vambrace as vb
from fake_service import FakeService, running
from vambrace.client import remote
from vambrace.client.remote import RemoteLearner
from vambrace.errors import DecisionError, InvalidParameter, ServiceAway, ServiceRefused, UnknownName


@pytest.fixture
def learner(fake: FakeService) -> RemoteLearner:
    return vb.connect(fake.url, "headlines", default="old", patience=5.0)


def test_ask_and_tell(fake: FakeService, learner: RemoteLearner) -> None:
    first, second = learner.ask(), learner.ask()
    assert (first.id, first.arm, first.round, first.is_default) == ("0-1", "new", 1, False)
    assert second.id == "0-2"
    assert learner.tell(second, 1.0) == "applied"
    assert learner.tell(first.id, 0) == "applied"
    assert learner.tell(first.id, 0.0) == "duplicate"
    assert learner.tell(first.id, 0.5) == "conflict"
    assert fake.rewards == {"0-1": 0.0, "0-2": 1.0}
    assert (learner.asked, learner.arms) == (2, ("old", "new"))


@pytest.mark.parametrize("fault", ["drop after", "drop before", 503])
def test_an_ask_that_is_sent_again_is_one_decision(fake: FakeService, learner: RemoteLearner, fault: Any) -> None:
    fake.faults = [fault, fault]
    assert learner.ask().round == 1
    assert learner.ask().round == 2
    assert (fake.done["asked"], learner.retries) == (2, 2)


def test_a_tell_that_is_sent_again_counts_once(fake: FakeService, learner: RemoteLearner) -> None:
    decision = learner.ask()
    fake.faults = ["drop after"]
    assert learner.tell(decision, 1.0) == "duplicate"  # the first one counted, and its answer was lost
    assert fake.done["told"] == 1


def test_the_same_key_gets_the_same_decision(learner: RemoteLearner) -> None:
    assert learner.ask(key="view-17") == learner.ask(key="view-17")
    assert learner.ask(key="view-18").round == 2
    with pytest.raises(InvalidParameter, match="key: expected a text, got 5"):
        learner.ask(key=5)  # type: ignore[arg-type]


def test_many_go_in_requests_that_are_small_enough(fake: FakeService, learner: RemoteLearner) -> None:
    decisions = learner.ask_many(1_234, key="night")
    assert [each.round for each in decisions] == list(range(1, 1_235))
    assert learner.ask_many(1_234, key="night") == decisions
    assert [body["count"] for _, body, _ in fake.requests[:3]] == [500, 500, 234]
    assert learner.tell_many((each, 1.0) for each in decisions) == ["applied"] * 1_234
    assert fake.done["told"] == 1_234
    assert max(int(headers.get("Content-Length", 0)) for _, _, headers in fake.requests) < 2**16
    assert learner.ask_many(0) == []
    assert learner.tell_many([]) == []


def test_a_full_batch_of_real_ids_fits_into_a_request() -> None:
    from json import dumps

    from vambrace.client.outbox import BATCH
    from vambrace.live.ids import new_id

    answers = [{"id": new_id(b"key", 9_999), "reward": 0.1234567890123456} for _ in range(BATCH)]
    assert len(dumps({"answers": answers})) < 2**16


def test_an_id_that_the_service_never_gave(fake: FakeService, learner: RemoteLearner) -> None:
    decision = learner.ask()
    with pytest.raises(DecisionError, match="decision: expected an id of headlines, got 'forged'"):
        learner.tell("forged", 1.0)
    with pytest.raises(DecisionError):
        learner.abandon("forged")
    assert learner.tell_many([("forged", 1.0), (decision, 1.0)]) == ["unknown", "applied"]
    with pytest.raises(InvalidParameter, match="decision: expected a decision or its id, got 5"):
        learner.tell(5, 1.0)  # type: ignore[arg-type]


@pytest.mark.parametrize("reward", [-0.1, 1.1, float("nan"), "1", None, True])
def test_a_reward_outside_is_refused_here(fake: FakeService, learner: RemoteLearner, reward: Any) -> None:
    for tell in (learner.tell, learner.tell_later):
        with pytest.raises(InvalidParameter, match=r"reward: expected a number in \[0, 1\]"):
            tell("0-1", reward)
    assert fake.requests == []


def test_abandon(learner: RemoteLearner) -> None:
    decision = learner.ask()
    assert learner.abandon(decision) is True
    assert learner.abandon(decision.id) is False


def test_answers_are_sent_later(fake: FakeService, learner: RemoteLearner) -> None:
    decisions = learner.ask_many(700)
    for each in decisions:
        learner.tell_later(each, 1.0)
    learner.tell_later(decisions[0].id, 1.0)
    learner.tell_later("forged", 1.0)
    learner.flush()
    assert learner.waiting == 0
    assert learner.outcomes == {"applied": 700, "duplicate": 1, "unknown": 1}
    assert sum(path.endswith("/tell") for path, _, _ in fake.requests) < 20
    assert learner.close() == []


def test_nothing_is_lost_when_the_service_goes_away_and_comes_back() -> None:
    with running() as fake:
        learner = vb.connect(fake.url, "headlines", default="old", patience=0.2)
        decisions = learner.ask_many(50)
        port = int(fake.url.rpartition(":")[2])
    learner._service.close()
    for each in decisions:
        learner.tell_later(each, 1.0)
    with pytest.raises(ServiceAway, match="50 answers are not sent"):
        learner.flush(0.05)
    with running(port) as fake:
        learner.flush(10.0)
        assert fake.rewards == {each.id: 1.0 for each in decisions}
        learner.close()


def leave_an_answer(error: Exception | None) -> None:
    with vb.connect("http://127.0.0.1:9", "headlines", patience=0.05) as learner:
        learner.tell_later("0-1", 1.0)
        if error is not None:
            raise error


def test_a_block_that_ends_with_unsent_answers_raises() -> None:
    with pytest.raises(ServiceAway, match=r"^close: 1 answers were not sent"):
        leave_an_answer(None)
    with pytest.raises(KeyError, match="the first error is the one that is seen"):
        leave_an_answer(KeyError("the first error is the one that is seen"))


def test_a_default_arm_while_the_service_is_away(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [1_000.0]
    monkeypatch.setattr("vambrace.client.remote.time.monotonic", lambda: now[0])
    learner = vb.connect("http://127.0.0.1:9", "headlines", default="old", patience=0.05)
    calls: list[str] = []
    answers: list[Any] = []

    def call(method: str, path: str, body: Any = None) -> Any:
        calls.append(path)
        if not answers:
            raise ServiceAway("away")
        return answers.pop()

    monkeypatch.setattr(learner._service, "call", call)
    decision = learner.ask()
    assert (decision.arm, decision.probability, decision.round, decision.is_default) == ("old", None, 0, True)
    assert len({each.id for each in learner.ask_many(3)} | {decision.id}) == 4
    assert len(calls) == 1, "while it rests nobody waits for the service"
    assert learner.tell(decision, 1.0) == "default"
    assert learner.tell(decision.id, 1.0) == "default"
    assert learner.tell_many([(decision, 1.0)]) == ["default"]
    assert learner.abandon(decision) is False
    learner.tell_later(decision, 1.0)
    assert (learner.outcomes, learner.waiting, len(calls), learner.defaults) == ({"default": 1}, 0, 1, 4)
    now[0] += 1.9
    assert learner.ask().is_default
    now[0] += 0.2
    assert learner.ask().is_default
    assert len(calls) == 2, "after two seconds one caller tries again"
    now[0] += 2.1
    answers.append({"decisions": [{"id": "0-1", "arm": "new", "probability": 0.5, "round": 1}]})
    assert learner.ask() == vb.RemoteDecision("0-1", "new", 0.5, 1)
    answers.append({"decisions": [{"id": "0-2", "arm": "new", "probability": 0.5, "round": 2}]})
    assert learner.ask().id == "0-2", "it is back at once"
    assert (len(calls), learner.defaults) == (4, 6)


def test_while_it_is_away_only_one_thread_waits_for_it() -> None:
    learner = vb.connect("http://127.0.0.1:9", "headlines", default="old", patience=0.3)
    learner.ask()
    learner._rest_until = time.monotonic() - 1.0  # the rest is over
    with ThreadPoolExecutor(8) as pool:
        decisions = list(pool.map(lambda _: learner.ask(), range(64)))
    assert all(each.is_default for each in decisions)
    assert learner.defaults == 65


def test_a_refusal_is_no_reason_for_the_default(fake: FakeService, learner: RemoteLearner) -> None:
    for status in (401, 403, 404, 409):
        fake.faults = [status]
        with pytest.raises(ServiceRefused, match=str(status)):
            learner.ask()
    assert learner.defaults == 0


def test_without_a_default_it_raises() -> None:
    learner = vb.connect("http://127.0.0.1:9", "headlines", patience=0.05)
    for _ in range(2):
        with pytest.raises(ServiceAway, match="Connection refused"):
            learner.ask()


def test_arms_come_and_go(fake: FakeService, learner: RemoteLearner) -> None:
    fake.faults = ["drop after"]
    learner.add_arm("newer")  # the first request did it, the second was refused
    fake.faults = ["drop after"]
    learner.retire_arm("old")
    assert fake.arms == {"old": "retired", "new": "open", "newer": "open"}
    assert (fake.done["/arms"], fake.done["/arms/retire"]) == (1, 1)
    with pytest.raises(InvalidParameter, match="'newer', which is open"):
        learner.add_arm("newer")


@pytest.mark.parametrize("reply", [[], {}, {"decisions": 5}, {"decisions": []}, None, 7])
def test_an_answer_of_something_else(learner: RemoteLearner, monkeypatch: pytest.MonkeyPatch, reply: Any) -> None:
    monkeypatch.setattr(learner._service, "call", lambda *arguments: reply)
    with pytest.raises(ServiceRefused, match="expected"):
        learner.ask()
    with pytest.raises(ServiceRefused, match="expected"):
        learner.tell("0-1", 1.0)


def test_what_it_shows_of_itself() -> None:
    learner = vb.connect("https://bandit.example/a", "head lines", key="vb_secret")
    assert repr(learner) == "<learner 'head lines' of https://bandit.example/a>"
    assert learner._path == "/v1/experiments/head%20lines"
    assert "secret" not in repr(vars(learner))


@pytest.mark.parametrize(
    "wrong",
    [{"timeout": 0}, {"patience": -1}, {"most_waiting": 0}, {"timeout": "5"}, {"experiment": ""}, {"experiment": 5}],
)
def test_settings_that_make_no_sense(wrong: dict[str, Any]) -> None:
    settings: dict[str, Any] = {"experiment": "headlines"} | wrong
    with pytest.raises(InvalidParameter, match=next(iter(wrong))):
        vb.connect("https://bandit.example", **settings)


def test_an_experiment_is_made_with_its_settings(fake: FakeService) -> None:
    arms = ["old", "new"]
    for policy in ("kl-ucb-wr:budget=20", vb.KLUCBWR(budget=20)):
        vb.connect(fake.url, "headlines", policy=policy, arms=arms, default_reward=0.0)
        path, body, _ = fake.requests.pop()
        assert path == "/v1/experiments"
        assert body["policy"].startswith("kl-ucb-wr:budget=20")
        assert {**body, "policy": ""} == {"name": "headlines", "policy": "", "arms": arms, "default_reward": 0.0}
    with pytest.raises(ServiceRefused, match="409: 'headlines' has other settings"):
        vb.connect(fake.url, "headlines", policy="ucb1", arms=["other"])
    with pytest.raises(UnknownName, match=r"unknown setting 'polcy'; did you mean 'policy'\?"):
        vb.connect(fake.url, "headlines", polcy="ucb1")


def test_it_needs_only_the_standard_library() -> None:
    import ast
    import sys

    for path in (Path(remote.__file__).parent).glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import | ast.ImportFrom):
                names = [node.module or ""] if isinstance(node, ast.ImportFrom) else [each.name for each in node.names]
                for name in names:
                    assert name.partition(".")[0] in {*sys.stdlib_module_names, "vambrace"}, f"{path.name}: {name}"
