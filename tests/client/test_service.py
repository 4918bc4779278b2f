"""Calls: connections that are kept, time limits, retries, and a key that nobody sees."""

import logging
import os
import ssl
import time
import traceback
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest

from fake_service import FakeService
from vambrace.client.service import Service
from vambrace.errors import InvalidParameter, ServiceAway, ServiceRefused

KEY = "vb_this-is-the-secret"
ASK = "/v1/experiments/headlines/ask"


def made(fake: FakeService, **changed: Any) -> tuple[Service, list[float]]:
    """A service, and the pauses that it made; none of them takes time."""
    pauses: list[float] = []
    settings: dict[str, Any] = {"key": KEY, "timeout": 5.0, "patience": 60.0, "sleep": pauses.append} | changed
    return Service(fake.url, **settings), pauses


@pytest.mark.parametrize("fault", [408, 429, 500, 502, 503, 504, "drop before", "drop after", "page"])
def test_what_is_worth_another_try_is_sent_again_unchanged(fake: FakeService, fault: int | str) -> None:
    fake.faults = [fault, fault]
    service, pauses = made(fake)
    found = service.call("POST", ASK, {"count": 1, "key": "view-17"})
    assert found["decisions"][0]["round"] == 1
    assert fake.done["asked"] == 1
    assert [(path, body) for path, body, _ in fake.requests] == [(ASK, {"count": 1, "key": "view-17"})] * 3
    assert (service.retries, len(pauses)) == (2, 2)


@pytest.mark.parametrize("status", [301, 302, 307, 400, 401, 403, 404, 405, 409, 413, 418])
def test_what_is_refused_is_not_sent_again(fake: FakeService, status: int) -> None:
    fake.faults = [status]
    service, _ = made(fake)
    with pytest.raises(ServiceRefused, match=f"it refused with {status}: as scripted$") as caught:
        service.call("POST", ASK, {"count": 1, "key": "a"})
    assert caught.value.status == status
    assert len(fake.requests) == 1, "no redirect is followed, and nothing is repeated"


def test_pauses_are_random_and_grow_and_have_a_limit(fake: FakeService, monkeypatch: pytest.MonkeyPatch) -> None:
    limits: list[float] = []

    def middle(low: float, high: float) -> float:
        limits.append(high)
        return high / 2

    monkeypatch.setattr("vambrace.client.service.random.uniform", middle)
    fake.faults = [503] * 8
    service, pauses = made(fake)
    service.call("GET", "/v1/experiments/headlines")
    assert limits == [0.05, 0.1, 0.2, 0.4, 0.8, 1.6, 2.0, 2.0]
    assert pauses == [limit / 2 for limit in limits]


def test_the_service_may_ask_for_a_longer_pause(fake: FakeService) -> None:
    fake.faults, fake.retry_after = [429, 503], "7"
    service, pauses = made(fake)
    service.call("GET", "/v1/experiments/headlines")
    assert pauses == [7.0, 7.0]


def test_a_pause_may_be_a_date(fake: FakeService) -> None:
    fake.faults, fake.retry_after = [503], format_datetime(datetime.now(UTC) + timedelta(seconds=20), usegmt=True)
    service, pauses = made(fake)
    service.call("GET", "/v1/experiments/headlines")
    assert 17.0 < pauses[0] <= 20.0


@pytest.mark.parametrize("text", ["soon", "", "-5", "1e9", "99999999999999999999"])
def test_a_pause_that_makes_no_sense_does_no_harm(fake: FakeService, text: str) -> None:
    fake.faults, fake.retry_after = [503], text
    service, pauses = made(fake)
    try:
        service.call("GET", "/v1/experiments/headlines")
    except ServiceAway:
        assert text.startswith("999")  # longer than our patience
    assert all(pause <= 0.05 for pause in pauses)


def test_who_would_have_to_wait_beyond_its_patience_gives_up_at_once(fake: FakeService) -> None:
    fake.faults, fake.retry_after = [503], "61"
    service, pauses = made(fake)
    with pytest.raises(ServiceAway, match=r"no answer after 1 try in 60 seconds: it answered 503 \(as scripted\)"):
        service.call("GET", "/v1/experiments/headlines")
    assert pauses == []


def test_retries_end(fake: FakeService) -> None:
    fake.faults = [503] * 10_000
    service, _ = made(fake, patience=0.3, sleep=time.sleep)
    with pytest.raises(ServiceAway, match="nothing was acknowledged"):
        service.call("GET", "/v1/experiments/headlines")
    assert 1 <= len(fake.requests) < 100


def test_one_try_ends_after_its_time(fake: FakeService) -> None:
    fake.faults = ["slow"]
    service, pauses = made(fake, timeout=0.1)
    assert service.call("POST", ASK, {"count": 1, "key": "a"})["decisions"][0]["round"] == 1
    assert (fake.done["asked"], len(fake.requests), len(pauses)) == (1, 2, 1)


def test_a_kept_connection_gets_the_time_limit_of_its_new_call(fake: FakeService) -> None:
    service, _ = made(fake, timeout=5.0)
    service.call("GET", "/v1/experiments/headlines")
    fake.faults = ["slow"]
    with pytest.raises(ServiceAway, match="timed out"):
        service.call("GET", "/v1/experiments/headlines", patience=0.1)


def test_nobody_listens() -> None:
    service = Service("http://127.0.0.1:9", key=None, timeout=1.0, patience=0.1)
    with pytest.raises(ServiceAway, match="Connection refused"):
        service.call("GET", "/healthz")


def test_connections_are_kept(fake: FakeService) -> None:
    service, _ = made(fake)
    for _ in range(10):
        service.call("GET", "/v1/experiments/headlines")
    assert fake.connections == 1


def test_threads_have_connections_of_their_own(fake: FakeService) -> None:
    service, _ = made(fake)
    with ThreadPoolExecutor(8) as pool:
        rounds = pool.map(lambda at: service.call("POST", ASK, {"count": 1, "key": str(at)}), range(400))
    assert sorted(each["decisions"][0]["round"] for each in rounds) == list(range(1, 401))
    assert 1 <= fake.connections <= 8


def test_after_a_fault_no_older_connection_is_used(fake: FakeService) -> None:
    service, pauses = made(fake)
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda at: service.call("POST", ASK, {"count": 1, "key": str(at)}), range(100)))
    opened = fake.connections
    fake.faults = ["drop before"]
    service.call("GET", "/v1/experiments/headlines")
    assert fake.connections == opened + 1
    assert len(pauses) == 1


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_a_copy_of_the_process_opens_its_own_connections(fake: FakeService) -> None:
    service, _ = made(fake)
    service.call("GET", "/v1/experiments/headlines")
    if (child := os.fork()) == 0:  # pragma: no cover
        try:
            service.call("GET", "/v1/experiments/headlines")
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    service.call("GET", "/v1/experiments/headlines")
    assert fake.connections == 2
    assert len(fake.requests) == 3


def test_the_key_is_sent_and_never_shown(fake: FakeService, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    service, _ = made(fake)
    shown = [repr(service), repr(vars(service)), str(vars(service))]
    for fault in (401, 403, 404, "drop before", "page"):
        fake.faults = [fault] * 50
        try:
            service.call("GET", "/v1/experiments/headlines", patience=0.05)
        except (ServiceAway, ServiceRefused) as error:
            shown.append("".join(traceback.format_exception(error)))
    shown.append(caplog.text)
    assert {headers["Authorization"] for _, _, headers in fake.requests} == {f"Bearer {KEY}"}
    assert len(shown) == 9
    assert not any("secret" in text for text in shown)


@pytest.mark.parametrize("key", ["", "vb secret", "secret\nX: y", "secret\r", "sécret", 7, b"secret"])
def test_a_key_that_is_none_is_refused_and_not_shown(key: Any) -> None:
    with pytest.raises(InvalidParameter, match=r"^key: expected") as caught:
        Service("https://bandit.example", key=key, timeout=1.0, patience=1.0)
    assert "cret" not in str(caught.value)


@pytest.mark.parametrize(
    "host",
    [
        "bandit.example",
        "10.0.0.7",
        "192.168.1.2:8000",
        "[2001:db8::1]",
        "localhost.evil.example",
        "127.0.0.1.evil.example",
    ],
)
def test_no_key_without_tls_to_another_machine(host: str) -> None:
    with pytest.raises(InvalidParameter, match="without TLS") as caught:
        Service(f"http://{host}", key=KEY, timeout=1.0, patience=1.0)
    assert KEY not in str(caught.value)
    Service(f"http://{host}", key=None, timeout=1.0, patience=1.0)
    Service(f"https://{host}", key=KEY, timeout=1.0, patience=1.0)


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:8000", "127.0.0.1", "127.8.8.8:1", "[::1]:8000"])
def test_a_key_may_be_sent_to_this_machine(host: str) -> None:
    Service(f"http://{host}", key=KEY, timeout=1.0, patience=1.0)


ADDRESSES = "bandit.example ftp://x https:// http://h:99999999 http://h:x https://me:pw@h https://h?key=pw https://h#pw http://["


@pytest.mark.parametrize("url", ["", 5, None, *ADDRESSES.split()])
def test_an_address_that_is_none(url: Any) -> None:
    with pytest.raises(InvalidParameter, match=r"^url: expected https://HOST") as caught:
        Service(url, key=None, timeout=1.0, patience=1.0)
    assert "pw" not in str(caught.value)


def test_a_path_before_the_service(fake: FakeService) -> None:
    fake.url += "/bandit/"
    service, _ = made(fake)
    with pytest.raises(ServiceRefused):
        service.call("GET", "/healthz")
    assert fake.requests[0][0] == "/bandit/healthz"


def test_certificates_are_checked() -> None:
    service = Service("https://127.0.0.1:9", key=KEY, timeout=1.0, patience=0.1)
    context = service._connect()._context  # type: ignore[attr-defined]
    assert (context.verify_mode, context.check_hostname) == (ssl.CERT_REQUIRED, True)


def test_a_wrong_value_is_what_it_is_in_python(fake: FakeService) -> None:
    fake.faults = [422]
    service, _ = made(fake)
    with pytest.raises(InvalidParameter, match=r"^as scripted$"):
        service.call("POST", ASK, {"count": 0, "key": "a"})
