"""Who calls, and what that key may do. Without keys in the database everybody on this machine may do everything."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated
from urllib.parse import urlsplit

from fastapi import Depends, Request
from starlette.requests import HTTPConnection

from vambrace.serve import keys, sessions
from vambrace.serve.experiments import Experiments
from vambrace.serve.keys import ROLES, Key, Role
from vambrace.serve.problems import Problem, not_found
from vambrace.serve.settings import is_loopback

FRESH = 1.0  # seconds after which the keys are read again: a revoked key works no longer than this
SAFE = ("GET", "HEAD", "OPTIONS")
LOOPBACK = ("127.0.0.1", "localhost", "::1")
CHALLENGE = {"WWW-Authenticate": 'Bearer realm="vambrace"'}


@dataclass(frozen=True, slots=True)
class Caller:
    """Who calls.

    Attributes:
        id: The id of the key; "nobody" where there are no keys.
        name: Its name.
        roles: What it may do.
        experiments: With which experiments; None: all.
    """

    id: str
    name: str
    roles: frozenset[str]
    experiments: frozenset[str] | None = None

    def sees(self, experiment: str) -> bool:
        """Whether an experiment exists for this caller."""
        return self.experiments is None or experiment in self.experiments

    def check(self, role: Role, experiment: str | None = None) -> None:
        """Refuse what this caller must not do."""
        if role not in self.roles:
            raise Problem(403, f"role: expected a key with the role {role}, got {', '.join(sorted(self.roles))}")
        if experiment is not None and not self.sees(experiment):
            raise not_found(experiment)


EVERYBODY = Caller("nobody", "", frozenset(ROLES))


class Access:
    """The keys of a service, read again every second.

    Args:
        experiments: The experiments, whose database has the keys.
        host: The address on which the service listens. Others than this machine always need a key, also if the keys
            are lost while it runs, as when a database is restored from a copy without them.
    """

    def __init__(self, experiments: Experiments, host: str) -> None:
        self._experiments, self._is_here = experiments, is_loopback(host)
        self._known: dict[str, Key] = {}
        self._read = -FRESH
        self._reading = asyncio.Lock()
        self._secret = b""

    async def known(self, *, now: bool = False) -> dict[str, Key]:
        """All keys by id; `now`: also one that was made a tenth of a second ago."""
        age = FRESH / 10 if now else FRESH
        if time.monotonic() - self._read >= age:
            async with self._reading:
                if time.monotonic() - self._read >= age:
                    begun = time.monotonic()
                    self._known = await self._experiments.on_database(keys.load)
                    self._read = begun
        return self._known

    async def needs_key(self) -> bool:
        """Whether nobody may do anything without a key."""
        return bool(await self.known()) or not self._is_here

    async def caller_with(self, text: str) -> Caller | None:
        """The caller with this key; None: it is not valid."""
        found = keys.matching(await self.known(), text, time.time())
        if found is None and len(text) == keys.LENGTH:
            found = keys.matching(await self.known(now=True), text, time.time())
        return None if found is None else _caller(found)

    async def caller_of(self, connection: HTTPConnection) -> Caller:
        """Who sent a request: by its key, or by the session of the dashboard; nobody in particular without keys."""
        headers = (value for name, value in connection.scope["headers"] if name == b"authorization")
        header = next(headers, None)  # past Starlette's Headers, which decodes all of them
        if header is not None:
            scheme, _, text = header.decode("latin-1").partition(" ")
            caller = await self.caller_with(text.strip()) if scheme.lower() == "bearer" else None
        else:
            caller = await self.caller_of_session(connection)
        if caller is not None:
            return caller
        if await self.needs_key():
            wanted = "a key" if header is None else "another key: this one is unknown, expired or revoked"
            raise Problem(401, f"authorization: expected {wanted}", CHALLENGE)
        _check_local(connection)
        return EVERYBODY

    async def caller_of_session(self, connection: HTTPConnection) -> Caller | None:
        """Who is logged in to the dashboard; changes need the token of the session in a header."""
        cookie, now = connection.cookies.get(sessions.COOKIE), time.time()
        if cookie is None or not sessions.is_ours(await self.secret(), cookie):
            return None
        key_id = await self._experiments.on_database(lambda database: sessions.key_id_of(database, cookie, now))
        key = (await self.known()).get(key_id)
        if key is None or key.state(now) != "valid":
            return None
        token = connection.headers.get(sessions.TOKEN_HEADER, "")
        if connection.scope["method"] not in SAFE and not sessions.is_token(await self.secret(), cookie, token):
            raise Problem(403, f"{sessions.TOKEN_HEADER}: expected the token of this session, got another or none")
        return _caller(key)

    async def begin_session(self, caller: Caller) -> str:
        """The cookie of a new session."""
        secret, now = await self.secret(), time.time()
        cookie: str = await self._experiments.on_database(
            lambda database: sessions.begin(database, secret, caller.id, now)
        )
        return cookie

    async def end_session(self, connection: HTTPConnection) -> None:
        """End the session of a browser, also for copies of its cookie and for other processes."""
        cookie = connection.cookies.get(sessions.COOKIE, "")
        await self._experiments.on_database(lambda database: sessions.end(database, cookie))

    async def secret(self) -> bytes:
        """What seals the tokens of forms."""
        if not self._secret:
            self._secret = await self._experiments.on_database(sessions.load_secret)
        return self._secret


def needs(role: Role) -> Callable[[Request], Awaitable[Caller]]:
    """A dependency: the caller, who has this role, and for whom the experiment of the path exists."""

    async def check(request: Request) -> Caller:
        caller: Caller = request.state.caller  # whom the guard let in
        caller.check(role, request.path_params.get("name"))
        return caller

    check.role = role  # type: ignore[attr-defined]  # for OpenAPI, and for the test that looks at every route
    return check


Asker = Annotated[Caller, Depends(needs("ask"))]
Teller = Annotated[Caller, Depends(needs("tell"))]
Reader = Annotated[Caller, Depends(needs("read"))]
Admin = Annotated[Caller, Depends(needs("admin"))]


def _caller(key: Key) -> Caller:
    return Caller(key.id, key.name, key.roles, key.experiments)


def _check_local(connection: HTTPConnection) -> None:
    """Without keys, refuse what a page of another site could make a browser on this machine send."""
    host, origin = connection.headers.get("host", ""), connection.headers.get("origin")
    if not _is_here(f"//{host}") or (origin is not None and not _is_here(origin)):
        raise Problem(403, "address: expected a request to and from this machine, as there are no keys, got another")


@lru_cache(maxsize=100)
def _is_here(address: str) -> bool:
    try:
        return urlsplit(address).hostname in LOOPBACK
    except ValueError:  # half an address of version 6, for example
        return False
