"""A small service for tests of clients: ask and tell over HTTP, in memory, with faults on demand.

`faults` holds what happens to the next requests, one each:

- a number: it is not done, and answered with this status;
- "drop before": the connection is cut, and nothing was done;
- "drop after": it is done, and the connection is cut before the answer;
- "slow": it is done, and answered after half a second;
- "page": it is not done, and answered with 200 and a page that is not JSON, as proxies do;
- None: it is done and answered.
"""

import json
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class FakeService:
    """What it was asked, and what it did."""

    def __init__(self, address: str) -> None:
        self.url = address
        self.faults: list[int | str | None] = []
        self.retry_after: str | None = None
        self.requests: list[tuple[str, Any, dict[str, str]]] = []  # path, body, headers
        self.connections = 0
        self.asked: dict[str, list[dict[str, Any]]] = {}
        self.rewards: dict[str, float] = {}
        self.done: Counter[str] = Counter()
        self.arms = {"old": "open", "new": "open"}
        self.guard = threading.Lock()

    def answer(self, path: str, body: Any) -> tuple[int, Any]:
        """The status and the JSON."""
        if path == "/v1/experiments":
            if body["arms"] == list(self.arms):
                return 201, body
            return 409, {"type": "about:blank", "status": 409, "detail": f"{body['name']!r} has other settings"}
        name = path.removeprefix("/v1/experiments/headlines")
        if name == path:
            return 404, {"type": "about:blank", "title": "Not Found", "status": 404, "detail": "no such experiment"}
        if name == "/ask":
            return 200, {"decisions": self._ask(body.get("count", 1), body["key"])}
        if name == "/tell":
            return 200, {"results": [self._tell(**each) for each in body.get("answers", [body])]}
        if name == "/abandon":
            return 200, {"results": [{"id": each, "status": self._abandon(each)} for each in body["ids"]]}
        if name.startswith("/arms"):
            state = "retired" if name.endswith("retire") else "open"
            if self.arms.get(body["label"]) == state:
                detail = f"arm: expected another arm, got {body['label']!r}, which is {state}"
                return 422, {"type": "about:blank", "title": "No", "status": 422, "detail": detail}
            self.arms[body["label"]] = state
            self.done[name] += 1
        arms = [{"label": label, "state": state} for label, state in self.arms.items()]
        return 200, {"name": "headlines", "arms": arms, "asked": self.done["asked"], "told": self.done["told"]}

    def _ask(self, count: int, key: str) -> list[dict[str, Any]]:
        if key not in self.asked:
            self.asked[key] = []
            for _ in range(count):
                self.done["asked"] += 1
                number = self.done["asked"]
                arm = list(self.arms)[number % 2]
                self.asked[key].append({"id": f"0-{number}", "arm": arm, "probability": None, "round": number})
        return self.asked[key]

    def _tell(self, id: str, reward: float) -> dict[str, str]:  # noqa: A002
        if not id.startswith("0-"):
            return {"id": id, "status": "unknown"}
        if id in self.rewards:
            return {"id": id, "status": "duplicate" if self.rewards[id] == reward else "conflict"}
        self.rewards[id] = reward
        self.done["told"] += 1
        return {"id": id, "status": "applied"}

    def _abandon(self, key: str) -> str:
        if not key.startswith("0-"):
            return "unknown"
        return {"applied": "abandoned"}.get(self._tell(key, -1.0)["status"], "closed")


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    fake: FakeService

    def setup(self) -> None:
        super().setup()
        self.fake.connections += 1

    def log_message(self, *parts: Any) -> None:
        pass

    def do_GET(self) -> None:
        self._reply(None)

    def do_POST(self) -> None:
        self._reply(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))

    def _reply(self, body: Any) -> None:
        fake = self.fake
        found: Any
        with fake.guard:
            fake.requests.append((self.path, body, dict(self.headers)))
            fault = fake.faults.pop(0) if fake.faults else None
            if fault == "drop before":
                self.close_connection = True
                return
            if isinstance(fault, int):
                status, found = fault, {"type": "about:blank", "status": fault, "title": "No", "detail": "as scripted"}
            else:
                status, found = fake.answer(self.path, body) if fault != "page" else (200, None)
        if fault == "drop after":
            self.close_connection = True
            return
        if fault == "slow":
            time.sleep(0.5)
        content = b"<html>" if found is None else json.dumps(found).encode()
        try:
            self.send_response(status)
            if fake.retry_after is not None:
                self.send_header("Retry-After", fake.retry_after)
            self.send_header("Location", "http://127.0.0.1:9/elsewhere")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)
        except OSError:
            self.close_connection = True  # the client has gone


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128


@contextmanager
def running(port: int = 0) -> Iterator[FakeService]:
    """A service on this machine, until the block ends."""
    handler = type("Handler", (_Handler,), {})
    server = _Server(("127.0.0.1", port), handler)
    fake = FakeService(f"http://127.0.0.1:{server.server_port}")
    handler.fake = fake  # type: ignore[attr-defined]
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield fake
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
