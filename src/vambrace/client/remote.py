"""`vb.connect`: a learner that a service runs, with the methods of a learner in this process."""

import secrets
import threading
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from vambrace import validation
from vambrace.client.decisions import DEFAULT, RemoteDecision, RemoteOutcome, id_of, is_default, reward_of
from vambrace.client.outbox import BATCH, Answer, Outbox
from vambrace.client.service import Service, quoted
from vambrace.errors import DecisionError, InvalidParameter, ServiceAway, ServiceRefused

if TYPE_CHECKING:
    from vambrace.live.explanation import Explanation

MOST_ASKED = 500  # decisions in one request
SETTINGS = ("policy", "arms", "horizon", "seed", "expires_after", "default_reward", "late")
REST = 2.0  # seconds between two tries to reach a service that is away, while its default arm is played


class RemoteLearner:
    """A learner that a service runs. Made by `vb.connect`. Any number of threads may use it.

    Args:
        service: The service, and how to call it.
        experiment: The name of the experiment.
        default: The label of the arm to play when the service is away; None: `ask` then raises `ServiceAway`.
        most_waiting: The largest number of answers of `tell_later` that wait.

    A method returns when the service has written its events to disk. `ServiceAway` means that no answer came in time:
    what it wanted may have happened or not. Call it again with the same decision, or the same `key`: it happens once.

    >>> import vambrace as vb
    >>> shop = vb.connect("http://127.0.0.1:9", "headlines", default="old", patience=0.1)  # nobody listens there
    >>> decision = shop.ask()  # so the shop goes on with its default
    >>> decision.arm, shop.tell(decision, reward=1.0), shop.defaults
    ('old', 'default', 1)
    """

    def __init__(self, service: Service, experiment: str, *, default: Any, most_waiting: int) -> None:
        self._service, self.experiment, self._default = service, experiment, default
        self._path = f"/v1/experiments/{quoted(experiment)}"
        self._outbox = Outbox(self._send_answers, most_waiting)
        self._guard = threading.Lock()
        self._rest_until = 0.0
        self.defaults = 0

    def __repr__(self) -> str:
        return f"<learner {self.experiment!r} of {self._service.place}>"

    def __enter__(self) -> "RemoteLearner":
        return self

    def __exit__(self, kind: object, error: object, traceback: object) -> None:
        left = self.close()
        if left and error is None:
            raise ServiceAway(f"close: {len(left):,} answers were not sent; call close() yourself to get them")

    @property
    def retries(self) -> int:
        """How many requests were sent again."""
        return self._service.retries

    @property
    def waiting(self) -> int:
        """The number of answers of `tell_later` that are not acknowledged yet."""
        return self._outbox.waiting

    @property
    def outcomes(self) -> Mapping[str, int]:
        """What became of the answers of `tell_later`: how many were "applied", "duplicate" and so on."""
        return Counter(self._outbox.outcomes)

    @property
    def arms(self) -> tuple[Any, ...]:
        """The labels of all arms; retired ones too."""
        return tuple(each["label"] for each in self.describe()["arms"])

    @property
    def asked(self) -> int:
        """How many decisions have been made."""
        return int(self.describe()["asked"])

    def describe(self) -> dict[str, Any]:
        """The experiment as the service describes it: policy, arms, state, and how much was asked and told."""
        return self._call("GET", "", wanted="arms")

    def explain(self) -> "Explanation":
        """What the learner knows of each arm, and what it waits for: print it, or take its `to_dict()`."""
        from vambrace.live.explanation import explanation_of

        return explanation_of(self._call("GET", "/state", wanted="arms"))

    def ask(self, *, key: str | None = None) -> RemoteDecision:
        """The next arm to play.

        Args:
            key: A name for this request, such as the id of a page view: the same key always gets the same decision.
        """
        return self.ask_many(1, key=key)[0]

    def ask_many(self, n: int, *, key: str | None = None) -> list[RemoteDecision]:
        """The next arms to play, as if asked one after the other.

        Args:
            n: How many.
            key: A name for this request: the same key always gets the same decisions.
        """
        n = validation.whole("n", n, low=0)
        if key is not None and not isinstance(key, str):
            raise InvalidParameter(f"key: expected a text, got {key!r}")
        decisions: list[RemoteDecision] = []
        if self._rests():
            return self._defaults(n)
        name = secrets.token_hex(16) if key is None else key
        try:
            while len(decisions) < n:
                count, part = min(MOST_ASKED, n - len(decisions)), len(decisions) // MOST_ASKED
                decisions += self._ask(count, name if part == 0 else f"{name}/{part}")
        except ServiceAway:
            if self._default is None:
                raise
            self._rest(REST)
            return decisions + self._defaults(n - len(decisions))
        self._rest(0.0)
        return decisions

    def _ask(self, count: int, key: str) -> list[RemoteDecision]:
        body = {"count": count, "key": key}
        found = self._call("POST", "/ask", body, wanted="decisions")["decisions"]
        if len(found) != count:
            raise ServiceRefused(f"{self._service.place}: expected {count} decisions, got {len(found)}")
        return [RemoteDecision(each["id"], each["arm"], each.get("probability"), each["round"]) for each in found]

    def _rest(self, seconds: float) -> None:
        with self._guard:
            self._rest_until = time.monotonic() + seconds if seconds else 0.0

    def _rests(self) -> bool:
        """Whether the service was away a moment ago; every few seconds one caller finds out again."""
        with self._guard:
            now = time.monotonic()
            if now < self._rest_until:
                return True
            if self._rest_until > 0.0:
                self._rest_until = now + REST  # for the others, while this caller tries
            return False

    def _defaults(self, n: int) -> list[RemoteDecision]:
        """Decisions for the default arm, which the service does not know."""
        with self._guard:
            self.defaults += n
        ids = (f"{DEFAULT}-{secrets.token_hex(16)}" for _ in range(n))
        return [RemoteDecision(each, self._default, None, 0, is_default=True) for each in ids]

    def tell(self, decision: RemoteDecision | str, reward: float) -> RemoteOutcome:
        """Report the reward of a decision, and wait until the service has it on disk.

        Args:
            decision: The decision or its id.
            reward: A number in [0, 1], as it was observed.

        Returns:
            As `Learner.tell`: "applied", "duplicate", "conflict" or "late". "default": the decision was made while the
            service was away, so nothing was sent.
        """
        outcome = self.tell_many([(decision, reward)])[0]
        if outcome == "unknown":
            raise DecisionError(f"decision: expected an id of {self.experiment}, got {id_of(decision)[:80]!r}")
        return outcome

    def tell_many(self, answers: Iterable[tuple[RemoteDecision | str, float]]) -> list[RemoteOutcome]:
        """Report many rewards, and wait until the service has them on disk.

        Args:
            answers: Pairs of a decision, or its id, and its reward.

        Returns:
            The outcome of each, as from `tell`; "unknown" for an id that the experiment never gave. The others count.
        """
        pairs = [(id_of(decision), reward_of(reward)) for decision, reward in answers]
        sent = [pair for pair in pairs if not is_default(pair[0])]
        found: list[str] = []
        for start in range(0, len(sent), BATCH):
            found += self._send_answers(sent[start : start + BATCH])
        outcomes = iter(cast("list[RemoteOutcome]", found))
        return [DEFAULT if is_default(key) else next(outcomes) for key, _ in pairs]

    def tell_later(self, decision: RemoteDecision | str, reward: float) -> None:
        """Report the reward of a decision without waiting: a thread sends what is there, many answers at a time.

        An answer waits until the service has acknowledged it, however long it is away; `outcomes` counts what became of
        them. If too many wait already, or the service refuses them, this raises, and the answer is not taken. When the
        program ends, what waits is sent within five seconds, and a warning is logged if something is left.

        Args:
            decision: The decision or its id.
            reward: A number in [0, 1], as it was observed.
        """
        key, value = id_of(decision), reward_of(reward)
        if is_default(key):
            self._outbox.count(DEFAULT)
        else:
            self._outbox.add((key, value))

    def flush(self, patience: float | None = None) -> None:
        """Wait until every answer of `tell_later` is acknowledged. An error says how many are not; they wait on.

        Args:
            patience: For how many seconds at most; None: as long as for any call.
        """
        self._outbox.flush(self._service.patience if patience is None else patience)

    def close(self, patience: float | None = None) -> list[Answer]:
        """Send what waits, and close the connections. The next call opens them again.

        Args:
            patience: For how many seconds at most; None: as long as for any call.

        Returns:
            The answers of `tell_later` that were not acknowledged, as pairs of an id and a reward, for `tell_many`.
        """
        left = self._outbox.close(self._service.patience if patience is None else patience)
        self._service.close()
        return left

    def abandon(self, decision: RemoteDecision | str) -> bool:
        """Close an open decision whose answer will never come, for example because the arm was not shown.

        Args:
            decision: The decision or its id.

        Returns:
            Whether it was open. If a request had to be sent again, it may have been the first that closed it.
        """
        key = id_of(decision)
        if is_default(key):
            return False
        status = self._call("POST", "/abandon", {"ids": [key]}, wanted="results")["results"][0]["status"]
        if status == "unknown":
            raise DecisionError(f"decision: expected an id of {self.experiment}, got {key[:80]!r}")
        return bool(status == "abandoned")

    def add_arm(self, label: Any) -> None:
        """Open a new arm, or a retired one again. It needs a key with the role admin.

        Args:
            label: Its label.
        """
        self._change_arm("/arms", label, "open")

    def retire_arm(self, label: Any) -> None:
        """Play an arm no more. Answers to its open decisions are still counted. It needs a key with the role admin.

        Args:
            label: Its label.
        """
        self._change_arm("/arms/retire", label, "retired")

    def _change_arm(self, path: str, label: Any, state: str) -> None:
        """Change an arm. If no answer came to the first request, it may have done so, and the second is refused."""
        before = self.retries
        try:
            self._call("POST", path, {"label": label}, wanted="arms")
        except InvalidParameter:
            now = {each["label"]: each["state"] for each in self.describe()["arms"]}
            if self.retries == before or now.get(label) != state:
                raise

    def _send_answers(self, answers: Sequence[Answer]) -> list[str]:
        body = {"answers": [{"id": key, "reward": reward} for key, reward in answers]}
        results = self._call("POST", "/tell", body, wanted="results")["results"]
        if [each["id"] for each in results] != [key for key, _ in answers]:
            raise ServiceRefused(f"{self._service.place}: expected one result for each answer, got others")
        return [each["status"] for each in results]

    def _call(self, method: str, path: str, body: Any = None, *, wanted: str) -> dict[str, Any]:
        found = self._service.call(method, self._path + path, body)
        if not isinstance(found, dict) or not isinstance(found.get(wanted), list):
            raise ServiceRefused(f"{self._service.place}: expected a service of vambrace, got another answer")
        return found


def connect(
    url: str,
    experiment: str,
    *,
    key: str | None = None,
    default: Any = None,
    timeout: float = 5.0,
    patience: float = 10.0,
    most_waiting: int = 10_000,
    **settings: Any,
) -> RemoteLearner:
    """A learner that a service runs (`vambrace serve`), with the methods of `vb.open`.

    A request without an answer is sent again, with the same ids and keys, so that it counts once: after a random pause
    that grows, or after the time that the service asks for. Without `settings` nothing is sent before the first use.

    Args:
        url: The address of the service: https://HOST, or http:// for this machine. A key is never sent without TLS to
            another machine.
        experiment: The name of the experiment.
        key: A key with the roles that you use: ask, tell, read, admin. None: the service has no keys.
        default: The label of the arm to play while the service is away. Such decisions have `is_default`, and telling
            them changes nothing. After a failed call the service is tried again every two seconds.
        timeout: Seconds that one try may take.
        patience: Seconds that a call may take with all its tries.
        most_waiting: The largest number of answers of `tell_later` that wait.
        settings: To make the experiment, as with `vb.open`: policy, arms, horizon, seed, expires_after,
            default_reward, late. It needs a key with the role admin. If the experiment is there, it must have these
            settings.

    >>> import vambrace as vb
    >>> vb.connect("https://bandit.example", "headlines", key="vb_secret")
    <learner 'headlines' of https://bandit.example>
    """
    timeout = validation.number("timeout", timeout, low=0.0, high=3_600.0, open_low=True)
    patience = validation.number("patience", patience, low=0.0, high=86_400.0, open_low=True)
    most_waiting = validation.whole("most_waiting", most_waiting, low=1, high=10**7)
    if not isinstance(experiment, str) or not experiment:
        raise InvalidParameter(f"experiment: expected its name, got {experiment!r}")
    service = Service(url, key=key, timeout=timeout, patience=patience)
    if settings:
        service.call("POST", "/v1/experiments", {"name": experiment} | _settings(settings))
    return RemoteLearner(service, experiment, default=default, most_waiting=most_waiting)


def _settings(given: dict[str, Any]) -> dict[str, Any]:
    """What a new experiment is made with, for JSON."""
    for name in given:
        validation.choice("setting", name, SETTINGS)
    policy = given.get("policy")
    if policy is not None and not isinstance(policy, str):
        from vambrace.registry import spec_of

        given = given | {"policy": spec_of(policy)}
    return given
