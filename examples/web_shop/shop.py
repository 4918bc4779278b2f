"""A small web shop that asks a service which checkout page to show, and tells it whether the customer paid.

It needs nothing but the standard library and `vb.connect`. demo.py starts it, with customers and bots.
"""

import html
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs

import vambrace as vb
from vambrace.errors import DecisionError

PAGE = """<!doctype html><html lang="en"><title>Checkout</title>
<h1>Checkout: the {arm} page</h1>
<form method="post" action="/pay"><input type="hidden" name="decision" value="{decision}"><button>Pay</button></form>
"""


class Shop(ThreadingHTTPServer):
    """The shop: GET /checkout shows a page, POST /pay and POST /leave say how it ended."""

    daemon_threads, request_queue_size = True, 128

    def __init__(self, learner: vb.RemoteLearner) -> None:
        self.learner = learner
        super().__init__(("127.0.0.1", 0), Customer)


class Customer(BaseHTTPRequestHandler):
    """One customer, or bot: nobody can tell."""

    protocol_version, disable_nagle_algorithm, wbufsize = "HTTP/1.1", True, -1
    server: Shop

    def do_GET(self) -> None:
        """Show a checkout page: the one that the learner chooses, or the default while the service is away."""
        decision = self.server.learner.ask()
        self._send(PAGE.format(arm=html.escape(decision.arm), decision=decision.id))

    def do_POST(self) -> None:
        """The customer paid or left. The id comes from outside, so it may be forged, repeated or nonsense."""
        text = self.rfile.read(min(int(self.headers.get("Content-Length", 0)), 1_000)).decode(errors="replace")
        decision = parse_qs(text).get("decision", ["none"])[0]
        try:
            outcome = self.server.learner.tell(decision, reward=1.0 if self.path == "/pay" else 0.0)
        except DecisionError:
            outcome = "unknown"
        self._send(outcome)  # a real shop would thank the customer in any case

    def _send(self, text: str) -> None:
        content = text.encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *values: Any) -> None:  # noqa: A002
        """Nothing on the console."""
