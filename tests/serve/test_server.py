"""The service as a process: where it listens, how it ends, and what nobody can do to it."""

import json
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
import time
import zipfile
from collections.abc import Iterator
from contextlib import ExitStack, closing, suppress
from pathlib import Path
from typing import Any

import httpx2 as httpx
import pytest

import vambrace as vb
from serving import PROGRAM, Running, new_key, running, started
from vambrace.errors import InvalidParameter, JournalError
from vambrace.serve import server
from vambrace.serve.protocol import MOST_HEADERS, MOST_WAITING
from vambrace.serve.settings import Settings

NEW = {"name": "headlines", "arms": ["old", "new"], "policy": "kl-ucb-wr:budget=2"}
PATH = "/v1/experiments/headlines"
PATIENCE = 1.0


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A service that loses its patience soon."""
    folder = tmp_path_factory.mktemp("server")
    with running(f"sqlite:///{folder}/service.db", patience=PATIENCE, most_connections=1_200) as found:
        assert httpx.post(f"{found.url}/v1/experiments", json=NEW).status_code == 201
        yield found


@pytest.fixture(autouse=True)
def _it_lives_on(request: pytest.FixtureRequest) -> Iterator[None]:
    yield
    if "service" in request.fixturenames:
        found: Running = request.getfixturevalue("service")
        assert httpx.post(f"{found.url}{PATH}/ask", json={}, timeout=20).status_code == 200


def connected(service: Running) -> socket.socket:
    return socket.create_connection(("127.0.0.1", service.port), timeout=20)


def answered(connection: socket.socket) -> bytes:
    """All that comes until the service closes the connection."""
    found = b""
    try:
        while piece := connection.recv(65_536):
            found += piece
    except ConnectionResetError:
        pass  # it was closed while we were still sending
    connection.close()
    return found


def head(path: str = f"{PATH}/ask", **headers: Any) -> bytes:
    lines = [f"POST {path} HTTP/1.1", "host: 127.0.0.1", "content-type: application/json"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return "\r\n".join([*lines, "", ""]).encode()


def test_a_connection_without_a_request_is_closed(service: Running) -> None:
    assert answered(connected(service)) == b""


def test_headers_that_do_not_end_are_not_waited_for(service: Running) -> None:
    connection = connected(service)
    connection.sendall(b"GET /healthz HTTP/1.1\r\nhost: 127")
    assert answered(connection) == b""


def test_headers_one_byte_at_a_time_are_not_waited_for(service: Running) -> None:
    connection = connected(service)
    connection.sendall(b"GET /healthz HTTP/1.1\r\n")
    with pytest.raises(OSError, match=r"Broken pipe|reset by peer"):  # noqa: PT012
        for _ in range(200):
            connection.sendall(b"x")
            time.sleep(0.05)
    connection.close()


def test_a_second_request_that_does_not_come_is_not_waited_for(service: Running) -> None:
    connection = connected(service)
    connection.sendall(b"GET /healthz HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n")
    received = b""
    while not received.endswith(b'{"status":"ok"}'):  # head and body may come in two pieces
        piece = connection.recv(65_536)
        assert piece, received
        received += piece
    connection.sendall(b"GET /heal")
    assert answered(connection) == b""


def test_a_body_that_does_not_come_is_not_waited_for(service: Running) -> None:
    connection = connected(service)
    connection.sendall(head(content_length=10) + b"{")
    assert answered(connection).startswith(b"HTTP/1.1 408")


def test_an_upload_that_stops_is_not_waited_for(service: Running) -> None:
    connection = connected(service)
    connection.sendall(head("/v1/certify?name=a.csv", content_length=1_000) + b"arm,")
    assert answered(connection).startswith(b"HTTP/1.1 408")


def test_uploads_that_arrive_slowly_do_not_fill_the_disk(tmp_path: Path) -> None:
    db = f"sqlite:///{tmp_path}/a.db"
    with running(db, most_readers=3) as few, ExitStack() as stack:
        for _ in range(3):
            connection = stack.enter_context(connected(few))
            connection.sendall(head("/v1/certify?name=a.csv", content_length=10_000) + b"arm,")
        time.sleep(0.3)
        for length in (10_000, 40_000_000):
            fourth = connected(few)
            fourth.sendall(head("/v1/certify?name=a.csv", content_length=length) + b"arm,")
            refused = answered(fourth)  # at once, and not after it was received
            assert refused.startswith(b"HTTP/1.1 503")
            assert b"retry-after: 1" in refused
        stack.close()
        deadline = time.monotonic() + 20
        while True:  # those who went leave their places to others: this one is refused for its size
            last = connected(few)
            last.sendall(head("/v1/certify?name=a.csv", content_length=60_000_000))
            if not (refused := answered(last)).startswith(b"HTTP/1.1 503") or time.monotonic() > deadline:
                break
        assert refused.startswith(b"HTTP/1.1 413")


def test_a_client_that_goes_in_the_middle_of_a_request(service: Running) -> None:
    for _ in range(20):
        connection = connected(service)
        connection.sendall(head(content_length=10) + b"{")
        connection.close()


def test_a_thousand_idle_connections(service: Running) -> None:
    with ExitStack() as stack:
        for _ in range(1_000):
            stack.enter_context(connected(service))
        assert httpx.get(f"{service.url}/healthz", timeout=20).status_code == 200


def test_connections_leave_files_for_the_database(tmp_path: Path) -> None:
    """Many systems allow a process 1,024 files: strangers who connect must not use them up."""
    resource = pytest.importorskip("resource")
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (300, limits[1]))
    try:
        assert server._most_connections(80) == 80
        assert resource.getrlimit(resource.RLIMIT_NOFILE)[0] == 300
        assert server._most_connections(500) == 500  # the system allows more on demand
        assert resource.getrlimit(resource.RLIMIT_NOFILE)[0] == 700
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)
    command = "ulimit -Hn 300; exec"
    program = [sys.executable, "-c", PROGRAM, json.dumps({"db": f"sqlite:///{tmp_path}/a.db", "port": 0})]
    process = subprocess.Popen(["sh", "-c", f'{command} "$@"', "sh", *program], stdout=subprocess.PIPE, text=True)
    try:
        few = started(process)
        httpx.post(f"{few.url}/v1/experiments", json=NEW)
        with httpx.Client(base_url=few.url, timeout=20) as client, ExitStack() as stack:
            assert client.post(f"{PATH}/ask", json={}).status_code == 200
            for _ in range(400):
                stack.enter_context(connected(few))
            time.sleep(0.3)
            assert client.post(f"{PATH}/ask", json={}).status_code == 200
            assert client.get(f"{PATH}/events").status_code == 200
    finally:
        process.terminate()
        process.communicate(timeout=20)


def test_more_connections_than_there_can_be(tmp_path: Path) -> None:
    with running(f"sqlite:///{tmp_path}/a.db", most_connections=5) as few, ExitStack() as stack:
        for _ in range(5):
            stack.enter_context(connected(few))
        answer = answered(connected(few))
    assert answer.startswith(b"HTTP/1.1 503")
    assert b"retry-after: 1" in answer


@pytest.mark.parametrize("size", [64_001, 10**10, 10**30])
def test_a_body_that_says_that_it_is_too_large(service: Running, size: int) -> None:
    connection = connected(service)
    connection.sendall(head(content_length=size) + b"{}")
    assert answered(connection).startswith((b"HTTP/1.1 413", b"HTTP/1.1 400"))


def test_a_body_that_does_not_say_that_it_is_too_large(service: Running) -> None:
    def pieces() -> Iterator[bytes]:
        for _ in range(70):
            yield b"x" * 1_000

    answer = httpx.post(f"{service.url}{PATH}/ask", content=pieces(), headers={"content-type": "application/json"})
    assert answer.status_code == 413


def test_an_upload_of_ten_gigabytes(service: Running) -> None:
    sent = 0

    def pieces() -> Iterator[bytes]:
        nonlocal sent
        for _ in range(10_000):
            sent += 1_000_000
            yield b"x" * 1_000_000

    try:
        answer = httpx.post(f"{service.url}/v1/certify", params={"name": "a.csv"}, content=pieces(), timeout=60)
        assert answer.status_code == 413
    except httpx.WriteError:
        pass  # it did not listen any longer
    assert 50_000_000 < sent < 200_000_000
    memory = Path(f"/proc/{service.process.pid}/status")
    if memory.exists():
        kilobytes = int(memory.read_text().split("VmHWM:")[1].split()[0])
        assert kilobytes < 600_000  # of which numpy and numba take most


def test_a_client_may_send_a_few_requests_before_it_reads(service: Running) -> None:
    connection = connected(service)
    one = b"GET /healthz HTTP/1.1\r\nhost: 127.0.0.1\r\n"
    connection.sendall((one + b"\r\n") * MOST_WAITING + one + b"connection: close\r\n\r\n")
    assert answered(connection).count(b'{"status":"ok"}') == MOST_WAITING + 1


def test_requests_without_end_are_not_kept_in_memory(service: Running) -> None:
    """Nobody reads the answers: uvicorn would keep what it has read, a gigabyte in seconds."""
    status = Path(f"/proc/{service.process.pid}/status")
    for path in ("/healthz", f"{PATH}/changes?after=1000000"):
        connection = connected(service)
        with suppress(OSError):
            for _ in range(1_000):
                connection.sendall(f"GET {path} HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n".encode() * 1_000)
        found = answered(connection)
        assert not found or b"expected at most 10 that wait for an answer" in found  # or it was closed while we sent
    if status.exists():
        assert int(status.read_text().split("VmHWM:")[1].split()[0]) < 600_000


def test_headers_that_are_too_large(service: Running) -> None:
    connection = connected(service)
    connection.sendall(b"GET /healthz HTTP/1.1\r\nx: " + b"y" * (2 * MOST_HEADERS))
    assert answered(connection).startswith(b"HTTP/1.1 431")


@pytest.mark.parametrize("sent", [b"\x16\x03\x01\x02\x00\x01\x00", b"nonsense\r\n\r\n", b"\x00" * 100])
def test_what_is_not_http(service: Running, sent: bytes) -> None:
    connection = connected(service)
    connection.sendall(sent)
    found = answered(connection)
    assert found.startswith(b"HTTP/1.1 400")
    assert b"application/problem+json" in found


@pytest.mark.parametrize(
    "body",
    [
        b"[" * 30_000,
        b'{"a":' * 10_000 + b"1" + b"}" * 10_000,
        b'{"count": ' + b"9" * 60_000 + b"}",
        b'{"count": 1e' + b"9" * 60_000 + b"}",
        b'{"key": "\\u0000"}',
        b'{"key": "\\ud800"}',
        b'{"key": "\xff"}',
        b"\x00",
        b"",
    ],
)
def test_json_that_nobody_should_send(service: Running, body: bytes) -> None:
    for path in (f"{PATH}/ask", f"{PATH}/tell", f"{PATH}/arms", "/v1/experiments", "/v1/choose"):
        answer = httpx.post(f"{service.url}{path}", content=body, headers={"content-type": "application/json"})
        assert answer.status_code in (400, 422), (path, answer.text)


def test_a_number_of_a_million_digits(service: Running) -> None:
    body = b'{"count": ' + b"9" * 10**6 + b"}"
    answer = httpx.post(f"{service.url}{PATH}/ask", content=body, headers={"content-type": "application/json"})
    assert answer.status_code == 413


def test_strange_labels_are_served_or_refused(service: Running) -> None:
    labels = ["😀", "é", "a\u202eb", "<script>", "'; DROP TABLE x; --", "=1+1", " a ", "x" * 200]
    new = NEW | {"name": "strange", "arms": labels}
    assert httpx.post(f"{service.url}/v1/experiments", json=new).status_code == 201
    shown = httpx.get(f"{service.url}/v1/experiments/strange").json()
    assert [each["label"] for each in shown["arms"]] == labels
    for label in ("\0", "a\0b", "a\nb", "", " ", "x" * 201, True, None, 1.5, -1, ["a"]):
        answer = httpx.post(f"{service.url}/v1/experiments/strange/arms", json={"label": label})
        assert answer.status_code == 422, label


def test_ten_thousand_arms_and_no_more(service: Running) -> None:
    for number, status in ((10_000, 201), (10_001, 422)):
        body = json.dumps(NEW | {"name": "many", "arms": list(range(number))}, separators=(",", ":"))
        headers = {"content-type": "application/json"}
        answer = httpx.post(f"{service.url}/v1/experiments", content=body, headers=headers, timeout=60)
        assert answer.status_code == status, answer.text
    assert httpx.post(f"{service.url}/v1/experiments/many/arms", json={"label": "x"}, timeout=60).status_code == 409


def test_batches_have_a_largest_size(service: Running) -> None:
    for count, status in ((1_000, 200), (1_001, 422)):
        answer = httpx.post(f"{service.url}{PATH}/ask", json={"count": count}, timeout=20)
        assert answer.status_code == status
    ids = [{"id": "x", "reward": 1}] * 1_001
    assert httpx.post(f"{service.url}{PATH}/tell", json={"answers": ids}, timeout=20).status_code == 422


def test_too_many_open_decisions(tmp_path: Path) -> None:
    with running(f"sqlite:///{tmp_path}/a.db", most_open=10) as few:
        httpx.post(f"{few.url}/v1/experiments", json=NEW)
        found = httpx.post(f"{few.url}{PATH}/ask", json={"count": 10}).json()["decisions"]
        refused = httpx.post(f"{few.url}{PATH}/ask", json={})
        assert refused.status_code == 429
        assert int(refused.headers["retry-after"]) > 0
        httpx.post(f"{few.url}{PATH}/tell", json={"id": found[0]["id"], "reward": 1.0})
        assert httpx.post(f"{few.url}{PATH}/ask", json={}).status_code == 200


@pytest.mark.slow  # 8 seconds
def test_a_client_that_does_not_read_an_export(tmp_path: Path) -> None:
    """It is given up, so that others can read: there are only a few readers at a time."""
    db = f"sqlite:///{tmp_path}/a.db"
    learner = vb.open(db, "long", policy=vb.KLUCBWR(budget=2), arms=["old", "new"])
    for _ in range(8):
        learner.tell_many((decision, 1.0) for decision in learner.ask_many(5_000))
    learner.close()
    with running(db, patience=0.5, most_readers=2) as service, ExitStack() as stack:
        path = f"{service.url}/v1/experiments/long/events?format=ndjson"
        for _ in range(2):
            connection = stack.enter_context(socket.socket())
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2_048)
            connection.connect(("127.0.0.1", service.port))
            connection.sendall(f"GET {path} HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n".encode())
        assert httpx.get(path, timeout=60).text.count("\n") == 40_000


@pytest.mark.slow  # 10 seconds
@pytest.mark.parametrize("lies", [False, True])
def test_a_zip_bomb(service: Running, tmp_path: Path, lies: bool) -> None:
    path = tmp_path / "bomb.xlsx"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as book:
        for name in ("[Content_Types].xml", "xl/workbook.xml", "xl/worksheets/sheet1.xml"):
            with book.open(name, "w", force_zip64=False) as file:
                for _ in range(40):
                    file.write(b" " * 10**7)
    content = path.read_bytes()
    assert len(content) < 5_000_000
    if lies:
        content = content.replace((4 * 10**8).to_bytes(4, "little"), (1_000).to_bytes(4, "little"))
    answer = httpx.post(f"{service.url}/v1/certify", params={"name": "bomb.xlsx"}, content=content, timeout=120)
    assert answer.status_code == 422
    assert ("when it is unpacked" in answer.json()["detail"]) != lies


def test_a_table_is_certified_in_a_process_of_its_own(service: Running) -> None:
    table = b"arm,events,successes\nold,1000,30\nnew,1000,90\n"
    answer = httpx.post(f"{service.url}/v1/certify", params={"name": "A.CSV"}, content=table, timeout=60)
    assert answer.status_code == 422  # endings are written small
    answer = httpx.post(f"{service.url}/v1/certify", params={"name": "a.csv"}, content=table, timeout=60)
    counts = {"arm": ["old", "new"], "events": [1000, 1000], "successes": [30, 90]}
    assert answer.json()["verdict"] == str(vb.certify(counts))


@pytest.mark.slow  # 30 seconds, for the first compilation
def test_a_choice(service: Running) -> None:
    body = {"means": [0.6, 0.4], "horizon": 1_000, "replications": 2}
    answer = httpx.post(f"{service.url}/v1/choose", json=body, timeout=120)
    assert answer.status_code == 200
    assert set(answer.json()["policies"]) == {"thompson", "kl-ucb-wr:budget=20"}


@pytest.mark.parametrize("sign", [signal.SIGTERM, signal.SIGINT])
def test_what_was_acknowledged_before_the_end_is_there(tmp_path: Path, sign: int) -> None:
    db = f"sqlite:///{tmp_path}/a.db"
    acknowledged: set[str] = set()

    def shop(url: str) -> None:
        with httpx.Client(base_url=f"{url}{PATH}") as client:
            try:
                while True:
                    for each in client.post("/ask", json={}).json().get("decisions", ()):
                        done = client.post("/tell", json={"id": each["id"], "reward": 1.0})
                        if done.status_code == 200:
                            acknowledged.add(each["id"])
            except httpx.HTTPError:
                pass  # it has stopped

    with running(db) as found:
        httpx.post(f"{found.url}/v1/experiments", json=NEW)
        threads = [threading.Thread(target=shop, args=(found.url,)) for _ in range(8)]
        for thread in threads:
            thread.start()
        while len(acknowledged) < 100:
            time.sleep(0.01)
        watcher = threading.Thread(target=lambda: _quietly(f"{found.url}{PATH}/changes?after=1000000"))
        watcher.start()
        found.process.send_signal(sign)
        assert found.process.wait(timeout=20) == 0
        for thread in (*threads, watcher):
            thread.join()
    learner = vb.open(db, "headlines")
    assert {learner.tell(each, 1.0) for each in acknowledged} == {"duplicate"}


def test_who_cannot_be_answered_before_the_end_should_come_again(tmp_path: Path) -> None:
    """The database is locked by somebody else, and the time to end is over: 503, and not a mistake of the service."""
    found: list[int] = []
    with running(f"sqlite:///{tmp_path}/a.db", drain=1.0) as service:
        httpx.post(f"{service.url}/v1/experiments", json=NEW)
        with closing(sqlite3.connect(tmp_path / "a.db", isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            asks = threading.Thread(
                target=lambda: found.append(httpx.post(f"{service.url}{PATH}/ask", json={}, timeout=60).status_code)
            )
            asks.start()
            time.sleep(0.3)
            service.process.send_signal(signal.SIGTERM)
            asks.join()
        assert service.process.wait(timeout=20) == 0
    assert found == [503]


def _quietly(url: str) -> None:
    with suppress(httpx.HTTPError):
        httpx.get(url, timeout=30)


def test_the_command_says_where_it_listens_and_nothing_secret(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "vambrace.cli", "serve", "--port", "0"]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    process = subprocess.Popen(command, cwd=tmp_path, text=True, **pipes)  # type: ignore[call-overload]
    try:
        found = started(process)
        assert httpx.get(f"{found.url}/readyz").json() == {"status": "ok"}
        key = new_key(f"sqlite:///{tmp_path}/vambrace.db", "read")
        for path in ("/v1/experiments", f"/v1/experiments?key={key}", "/metrics", "/v1/experiments/none"):
            for text in (key, f"{key}x"):
                httpx.get(f"{found.url}{path}", headers={"authorization": f"Bearer {text}"})
    finally:
        process.send_signal(signal.SIGTERM)
        out, err = process.communicate(timeout=20)
    assert (process.returncode, out, err) == (0, "", "")


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "shop.example", ""])
def test_without_keys_other_addresses_are_refused(db: str, tmp_path: Path, host: str) -> None:
    with pytest.raises(InvalidParameter, match=r"host: expected 127\.0\.0\.1, as there are no keys"):
        server.run(Settings(db=db, host=host), say=lambda line: None)
    assert list(tmp_path.iterdir()) == []  # a refusal leaves no empty database behind
    vb.open(db, "headlines", policy=vb.KLUCBWR(budget=2), n_arms=2).close()  # a database without tables of a service
    with pytest.raises(InvalidParameter, match=r"host: expected 127\.0\.0\.1, as there are no keys"):
        server.check_address(Settings(db=db, host=host))
    new_key(db, "read")
    server.check_address(Settings(db=db, host=host))


@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.2", "::1", "localhost"])
def test_this_machine_needs_no_keys(db: str, host: str) -> None:
    server.check_address(Settings(db=db, host=host))


def test_an_address_that_is_taken(db: str, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(InvalidParameter, match=f"address: expected one that is free, got 127.0.0.1:{port}"):
            server.run(Settings(db=db, port=port), say=lambda line: None)
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(InvalidParameter, match="port: expected"):
        server.run(Settings(db=db, port=10**6), say=lambda line: None)


def test_a_database_that_cannot_be_used_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "a.db").write_text("not a database, but long enough to be looked at as one" * 100)
    with pytest.raises(JournalError, match="file is not a database"):
        server.run(Settings(db=f"sqlite:///{tmp_path}/a.db", port=0), say=lambda line: None)
