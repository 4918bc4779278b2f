"""What every request passes first: a key is checked, and its body is read, within limits of size and time."""

import asyncio
import time

from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from vambrace.errors import VambraceError
from vambrace.serve import problems
from vambrace.serve.access import Access
from vambrace.serve.metrics import Metrics
from vambrace.serve.problems import Problem
from vambrace.serve.settings import Settings

PROTECTED = ("/v1/", "/metrics", "/openapi.json")  # pages ask for a login instead; /healthz and /readyz are for all
UPLOADS = ("/v1/certify", "/certify")  # read in pieces by the operation
CLOSE = {"Connection": "close"}  # the rest of the request is not read


class Guard:
    """A middleware: who calls, and how much they send. Nothing of the application runs before.

    Args:
        app: The application.
        access: The keys.
        metrics: What is counted.
        settings: The limits.
    """

    def __init__(self, app: ASGIApp, access: Access, metrics: Metrics, settings: Settings) -> None:
        self._app, self._access, self._metrics, self._settings = app, access, metrics, settings

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        status: int | None = None
        begun = time.perf_counter()

        async def counted(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            guarded = await self._enter(scope, receive)
            await self._app(scope, guarded, counted)
        except (Problem, VambraceError) as error:
            if status is not None:  # half of an answer is sent: only the connection can end
                raise
            problem = error if isinstance(error, Problem) else problems.problem_of(error)
            await problems.answer(problem)(scope, receive, counted)
        except asyncio.CancelledError:  # the service stops, and the time to answer is over
            if status is not None:
                raise
            await problems.answer(problems.busy("The service is stopping."))(scope, receive, counted)
        finally:
            route = getattr(scope.get("route"), "path", "")
            self._metrics.count(scope["method"], route, status or 500, time.perf_counter() - begun)

    async def _enter(self, scope: Scope, receive: Receive) -> Receive:
        path: str = scope["path"]
        if path.startswith(PROTECTED):
            scope.setdefault("state", {})["caller"] = await self._access.caller_of(HTTPConnection(scope))
        if path in UPLOADS:
            return receive
        return await self._whole_body(scope, receive)

    async def _whole_body(self, scope: Scope, receive: Receive) -> Receive:
        """Read the body, which must be small and arrive soon; then give it in one piece."""
        check_length(scope, self._settings.most_body)
        pieces: list[bytes] = []
        size, more = 0, True
        try:
            async with asyncio.timeout(self._settings.patience):
                while more:
                    message = await receive()
                    if message["type"] != "http.request":
                        raise Problem(400, "body: expected the whole request, got a part", CLOSE)
                    pieces.append(message.get("body", b""))
                    size, more = size + len(pieces[-1]), message.get("more_body", False)
                    if size > self._settings.most_body:
                        raise too_large(self._settings.most_body)
        except TimeoutError:
            raise too_slow(self._settings.patience) from None
        body: list[bytes] = [b"".join(pieces)]

        async def replay() -> Message:
            if body:
                return {"type": "http.request", "body": body.pop(), "more_body": False}
            return await receive()

        return replay


def check_length(scope: Scope, most: int) -> None:
    """Refuse a request that says that it is too large."""
    for name, value in scope["headers"]:
        if name == b"content-length" and (not value.isdigit() or len(value) > 18 or int(value) > most):
            raise too_large(most)


def too_large(most: int) -> Problem:
    """A request that is too large."""
    return Problem(413, f"body: expected at most {most:,} bytes, got more", CLOSE)


def too_slow(patience: float) -> Problem:
    """A request that does not arrive."""
    return Problem(408, f"body: expected the whole request within {patience:g} seconds", CLOSE)
