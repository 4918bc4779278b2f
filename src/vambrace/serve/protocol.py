"""Connections that do not wait for ever: uvicorn's protocol, with limits before a request has begun.

uvicorn waits without end for the first request of a connection, for the rest of its headers, and for a client that does
not read its answer. Here all of this must happen in time, and there are limits for the size of headers, the number of
connections, and the requests of one connection that wait: uvicorn reads any number of them. Bodies are up to `guard`.
"""

import json
from asyncio import AbstractEventLoop, TimerHandle, Transport
from http import HTTPStatus
from typing import Any, ClassVar

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from vambrace.serve.problems import MEDIA_TYPE, RETRY_AFTER
from vambrace.serve.settings import Settings

MOST_HEADERS = 32_000  # bytes
MOST_WAITING = 10  # requests of one connection that were sent before the answers to those before them
NO_HTTP = "request: expected HTTP, got something that is not"


class OneWrite:
    """A transport that sends what is written in one turn of the loop at once: headers and body are one packet.

    Args:
        transport: What sends.
        loop: The loop.
    """

    def __init__(self, transport: Transport, loop: AbstractEventLoop) -> None:
        self._transport, self._loop = transport, loop
        self._pieces: list[bytes] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    def write(self, data: bytes) -> None:
        """Send this soon."""
        if not self._pieces:
            self._loop.call_soon(self._flush)
        self._pieces.append(data)

    def close(self) -> None:
        """Send what was written, and close."""
        self._flush()
        self._transport.close()

    def _flush(self) -> None:
        pieces, self._pieces = self._pieces, []
        if pieces and not self._transport.is_closing():  # the client may have gone since
            self._transport.write(b"".join(pieces))


class Protocol(HttpToolsProtocol):
    """A connection with limits, which `protocol_for` sets."""

    most_connections: ClassVar[int]
    patience: ClassVar[float]  # seconds for headers, and for a client that does not read

    _deadline: TimerHandle | None = None  # of headers
    _stalled: TimerHandle | None = None  # the end of a client that does not read
    _header_size = 0
    _wrong = NO_HTTP

    def connection_made(self, transport: Transport) -> None:  # type: ignore[override]
        """Somebody connected."""
        super().connection_made(OneWrite(transport, self.loop))  # type: ignore[arg-type]  # it does what is used
        if len(self.connections) > self.most_connections:
            self._refuse(503, "connections: expected fewer, got as many as there can be")
        else:
            self._expect_headers()

    def connection_lost(self, exc: Exception | None) -> None:
        """The connection has ended."""
        self._headers_are_there()
        self._is_read()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """A piece of a request."""
        if self._deadline is None and (self.cycle is None or self.cycle.response_complete):
            self._expect_headers()
        self._header_size += len(data)
        super().data_received(data)
        if self._deadline is not None and self._header_size > MOST_HEADERS:
            self._refuse(431, f"headers: expected at most {MOST_HEADERS:,} bytes, got more")

    def on_headers_complete(self) -> None:
        """The headers of a request are there."""
        self._headers_are_there()
        if len(self.pipeline) >= MOST_WAITING:
            self.pipeline.clear()
            self._wrong = f"requests: expected at most {MOST_WAITING} that wait for an answer, got more"
            raise ValueError(self._wrong)  # ends the parser, which would read on; then `send_400_response` is called
        super().on_headers_complete()

    def send_400_response(self, msg: str) -> None:
        """Refuse what is not HTTP, and too many requests at once."""
        self._refuse(400, self._wrong)

    def pause_writing(self) -> None:
        """The client does not take what is sent: wait, but not for ever."""
        super().pause_writing()
        self._stalled = self.loop.call_later(self.patience, self.transport.abort)

    def resume_writing(self) -> None:
        """The client goes on."""
        super().resume_writing()
        self._is_read()

    def _is_read(self) -> None:
        if self._stalled is not None:
            self._stalled.cancel()
            self._stalled = None

    def _expect_headers(self) -> None:
        self._header_size = 0
        self._deadline = self.loop.call_later(self.patience, self.transport.close)

    def _headers_are_there(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _refuse(self, status: int, detail: str) -> None:
        self._headers_are_there()
        if not self.transport.is_closing():
            self.transport.write(_answer(status, detail))
            self.transport.close()


def protocol_for(settings: Settings) -> type[Protocol]:
    """The protocol with the limits of a service."""
    limits = {"most_connections": settings.most_connections, "patience": settings.patience}
    return type("Protocol", (Protocol,), limits)


def _answer(status: int, detail: str) -> bytes:
    title = HTTPStatus(status).phrase
    content: dict[str, Any] = {"type": "about:blank", "title": title, "status": status, "detail": detail}
    body = json.dumps(content).encode()
    lines = [f"HTTP/1.1 {status} {title}", f"content-type: {MEDIA_TYPE}", f"content-length: {len(body)}"]
    lines += [f"retry-after: {RETRY_AFTER}"] if status == 503 else []
    return "\r\n".join([*lines, "connection: close", "", ""]).encode() + body
