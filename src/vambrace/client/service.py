"""Calls of a service over HTTP: connections that are kept, time limits, and retries.

Every call may be sent more than once: the requests of `vb.connect` carry a key or ids that make a repetition harmless.
So a call is retried whenever no answer came, or the service said that it is busy, until its patience ends. A redirect
is never followed: it could lead the key to another machine.
"""

import ipaddress
import json
import random
import ssl
import threading
import time
from collections.abc import Callable
from email.utils import parsedate_to_datetime
from functools import cache
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from typing import Any, NamedTuple
from urllib.parse import quote, urlsplit

from vambrace.errors import InvalidParameter, ServiceAway, ServiceRefused, VambraceError, shorten
from vambrace.live import forks
from vambrace.version import __version__

FIRST_PAUSE, LONGEST_PAUSE = 0.05, 2.0  # seconds before the second try at most, and before a later one
MOST_IDLE = 64  # connections that are kept
ADDRESS = "https://HOST, or http://HOST for this machine"
BUSY = {408, 425, 429, 500, 502, 503, 504}  # worth another try


class Reply(NamedTuple):
    """What the service answered."""

    status: int
    retry_after: str | None
    content: bytes


class _Key:
    """A key that no message, log or traceback shows."""

    def __init__(self, text: str) -> None:
        self._header = f"Bearer {text}"

    def __repr__(self) -> str:
        return "<key, not shown>"

    def header(self) -> str:
        """What the service needs to see."""
        return self._header


class Service:
    """The address of a service, its key, and the connections to it. Any number of threads may use it.

    Args:
        url: The address: https://HOST, or http:// for this machine.
        key: The key, or None for a service without keys.
        timeout: Seconds that one try may take.
        patience: Seconds that a call may take with all its tries.
        sleep: How to wait; for tests.
    """

    def __init__(
        self,
        url: str,
        *,
        key: str | None,
        timeout: float,
        patience: float,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.place, self._connect, self._prefix = _address(url, has_key=key is not None)
        self._key = None if key is None else _checked(key)
        self._timeout, self.patience, self._sleep = timeout, patience, sleep
        self.retries = 0  # tries after the first, of all calls
        self._guard, self._idle = threading.Lock(), list[HTTPConnection]()
        forks.watch(self)

    def pause(self) -> None:
        """Before a fork."""
        self._guard.acquire()

    def resume(self) -> None:
        """After a fork."""
        self._guard.release()

    def restart(self) -> None:
        """In a copy of the process, which must not use the connections of the first."""
        self._guard = threading.Lock()
        self.close()

    def call(self, method: str, path: str, body: Any = None, *, patience: float | None = None) -> Any:
        """The JSON that the service answers.

        Args:
            method: GET or POST.
            path: The path, its parts quoted.
            body: What is sent as JSON; None: nothing.
            patience: Seconds for all tries; None: as the service was given.
        """
        patience = self.patience if patience is None else patience
        content = None if body is None else json.dumps(body).encode()
        deadline, tries = time.monotonic() + patience, 0
        while True:
            tries += 1
            left = deadline - time.monotonic()
            found, trouble, least = self._try(method, path, content, max(left, 0.001))
            if not trouble:
                return found
            pause = max(least, random.uniform(0.0, min(LONGEST_PAUSE, FIRST_PAUSE * 2.0 ** min(tries - 1, 20))))
            if time.monotonic() + pause >= deadline:
                times = f"{tries} {'try' if tries == 1 else 'tries'} in {patience:g} seconds"
                raise ServiceAway(f"{self.place}: no answer after {times}: {trouble}; nothing was acknowledged")
            self._sleep(pause)
            with self._guard:
                self.retries += 1

    def _try(self, method: str, path: str, content: bytes | None, left: float) -> tuple[Any, str, float]:
        """What the service answers; otherwise why there is no answer, and how many seconds to wait at least."""
        try:
            reply = self._send(method, path, content, left)
        except ssl.SSLCertVerificationError as error:
            raise ServiceRefused(f"{self.place}: its certificate is not accepted: {error.verify_message}") from None
        except (OSError, HTTPException) as error:
            return None, " ".join(str(error).split()) or type(error).__name__, 0.0
        if reply.status in BUSY:
            return None, f"it answered {reply.status}{_detail(reply)}", _seconds(reply.retry_after)
        if reply.status >= 300:
            raise _problem(self.place, reply)
        try:
            return json.loads(reply.content), "", 0.0
        except ValueError:  # of a proxy in between, for example
            return None, f"it answered {reply.status} with something that is not JSON", 0.0

    def _send(self, method: str, path: str, content: bytes | None, left: float) -> Reply:
        """One try, on a connection that is idle or a new one."""
        with self._guard:
            connection = self._idle.pop() if self._idle else None
        connection = connection or self._connect()
        limit = min(self._timeout, left)
        connection.timeout = limit
        if connection.sock is not None:
            connection.sock.settimeout(limit)
        headers = {"Accept": "application/json", "User-Agent": f"vambrace/{__version__}"}
        if content is not None:
            headers["Content-Type"] = "application/json"
        if self._key is not None:
            headers["Authorization"] = self._key.header()
        try:
            connection.request(method, self._prefix + path, body=content, headers=headers)
            answer = connection.getresponse()
            reply = Reply(answer.status, answer.getheader("Retry-After"), answer.read())
        except BaseException:
            connection.close()
            self.close()  # the others were opened before the service went away, too
            raise
        with self._guard:
            if connection.sock is not None and len(self._idle) < MOST_IDLE:
                self._idle.append(connection)
                return reply
        connection.close()
        return reply

    def close(self) -> None:
        """Close the idle connections; the next call opens one again."""
        with self._guard:
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()

    def __del__(self) -> None:
        for connection in getattr(self, "_idle", ()):  # there is none if the address was refused
            connection.close()


def quoted(name: str) -> str:
    """A name as a part of a path."""
    return quote(name, safe="")


def _address(url: str, *, has_key: bool) -> tuple[str, Callable[[], HTTPConnection], str]:
    """The address as messages show it, how to connect, and the beginning of every path."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except (ValueError, AttributeError, TypeError):
        host = None
    if host is None or parts.scheme not in ("http", "https"):
        raise InvalidParameter(f"url: expected {ADDRESS}, got something else")  # not shown: it may be secret
    if parts.username is not None or parts.password is not None or parts.query or parts.fragment:
        raise InvalidParameter(
            f"url: expected {ADDRESS}, got one with a password, a query or a fragment; give the key as key="
        )
    place = f"{parts.scheme}://{parts.netloc}{parts.path.rstrip('/')}"
    if parts.scheme == "https":
        return place, lambda: HTTPSConnection(host, port, context=_certificates()), parts.path.rstrip("/")
    if has_key and not _is_loopback(host):
        raise InvalidParameter(
            f"url: expected {ADDRESS}, got {place} and a key: without TLS anybody on the way could read it"
        )
    return place, lambda: HTTPConnection(host, port), parts.path.rstrip("/")


@cache
def _certificates() -> ssl.SSLContext:
    """Whom we believe; read once, since it takes a moment."""
    return ssl.create_default_context()


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _checked(key: str) -> _Key:
    if not isinstance(key, str) or not key.isascii() or not key.isprintable() or " " in key or not key:
        raise InvalidParameter("key: expected a text of letters, digits, hyphens and underscores, got something else")
    return _Key(key)


def _fields(reply: Reply) -> dict[str, Any]:
    """A problem document; empty if it is none."""
    try:
        found = json.loads(reply.content)
    except ValueError:
        found = None
    return found if isinstance(found, dict) else {}


def _detail(reply: Reply) -> str:
    detail = _fields(reply).get("detail")
    return f" ({shorten(detail)})" if isinstance(detail, str) else ""


def _problem(place: str, reply: Reply) -> VambraceError:
    """The error that a refusal stands for."""
    detail = _fields(reply).get("detail")
    if reply.status == 422 and isinstance(detail, str):
        return InvalidParameter(shorten(detail))
    said = shorten(detail) if isinstance(detail, str) else "no reason was given"
    return ServiceRefused(f"{place}: it refused with {reply.status}: {said}", status=reply.status)


def _seconds(retry_after: str | None) -> float:
    """How long the service wants us to wait: a number of seconds, or a date."""
    text = (retry_after or "").strip()
    if text.isdecimal():
        return float(text[:9])
    try:
        return max(0.0, parsedate_to_datetime(text).timestamp() - time.time())
    except (ValueError, TypeError):
        return 0.0
