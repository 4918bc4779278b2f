"""Listen: a socket, uvicorn, one line that says where, and a clean end."""

import logging
import signal
import socket
import sys
from collections.abc import Callable
from dataclasses import replace
from types import FrameType

import uvicorn
from fastapi import FastAPI

from vambrace import validation
from vambrace.errors import InvalidParameter, JournalError
from vambrace.live.sql import open_database
from vambrace.serve import keys, tables
from vambrace.serve.app import create_app
from vambrace.serve.protocol import protocol_for
from vambrace.serve.settings import Settings, is_loopback

OTHER_FILES = 200  # of the database, of exports and of uploads: connections leave so many files free


class Server(uvicorn.Server):
    """A server that says where it listens, and ends with success after Ctrl-C or SIGTERM."""

    def __init__(self, config: uvicorn.Config, app: FastAPI, started: Callable[[], None]) -> None:
        super().__init__(config)
        self._app = app
        self._say_started = started

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to listen."""
        await super().startup(sockets)
        self._say_started()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Stop: answer what was begun. A second Ctrl-C does not wait for it."""
        self._app.state.experiments.stop_soon()
        self.force_exit = self.should_exit and sig == signal.SIGINT
        self.should_exit = True


def run(settings: Settings, say: Callable[[str], None]) -> None:
    """Serve until Ctrl-C or SIGTERM.

    Args:
        settings: What to serve and where.
        say: Called once with the line that says where it listens.
    """
    validation.whole("port", settings.port, low=0, high=65_535)
    check_address(settings)
    listener = _bound(settings.host, settings.port)
    try:
        tables.opened(settings.db).close()  # now: a database that cannot be used is a sentence, and not a traceback
    except BaseException:
        listener.close()
        raise
    logging.basicConfig(format="%(asctime)s %(levelname)s %(message)s", level=logging.WARNING)
    logging.getLogger("uvicorn.error").setLevel(logging.ERROR)  # what strangers send is not worth a line
    settings = replace(settings, most_connections=_most_connections(settings.most_connections))
    app = create_app(settings)
    config = uvicorn.Config(
        app,
        access_log=False,
        log_config=None,
        loop="auto",
        http=protocol_for(settings),
        ws="none",
        server_header=False,
        proxy_headers=False,
        backlog=2_048,
        timeout_keep_alive=int(settings.idle),
        timeout_graceful_shutdown=int(settings.drain),
    )
    Server(config, app, lambda: say(_listens(listener))).run(sockets=[listener])


def check_address(settings: Settings) -> None:
    """Refuse to listen to other machines without keys; a refusal leaves nothing behind."""
    if not is_loopback(settings.host) and not _has_keys(settings.db):
        raise InvalidParameter(
            f"host: expected 127.0.0.1, as there are no keys and everybody could do everything, got {settings.host!r}; "
            "make a key first: vambrace keys create"
        )


def _has_keys(url: str) -> bool:
    """Whether a database has keys; one that does not exist is not made."""
    try:
        database = open_database(url, create=False)
    except JournalError:  # there is no such file
        return False
    try:
        return database.version(tables.TABLES) > 0 and bool(keys.load(database))
    finally:
        database.close()


def _most_connections(wanted: int) -> int:
    """How many connections there can be, so that files are left for the database; the system allows more on demand."""
    if sys.platform == "win32":
        return wanted
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    least = wanted + OTHER_FILES
    if soft != resource.RLIM_INFINITY and soft < least:
        soft = least if hard == resource.RLIM_INFINITY else min(least, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        return max(min(wanted, soft - OTHER_FILES), 1)
    return wanted


def _bound(host: str, port: int) -> socket.socket:
    listener = None
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        family, kind, _, _, address = found[0]
        listener = socket.socket(family, kind)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
    except OSError as error:
        if listener is not None:
            listener.close()
        raise InvalidParameter(f"address: expected one that is free, got {host}:{port} ({error})") from None
    return listener


def _listens(listener: socket.socket) -> str:
    host, port = listener.getsockname()[:2]
    return f"vambrace serves on http://{f'[{host}]' if ':' in host else host}:{port} (Ctrl-C ends it)"
