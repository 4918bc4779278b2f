"""What the service is started with: its database, its address and its limits."""

import ipaddress
from dataclasses import dataclass

KILOBYTE, MEGABYTE = 1_000, 1_000_000


@dataclass(frozen=True, kw_only=True)
class Settings:
    """What the service is started with.

    Args:
        db: The address of the database: sqlite:///FILE or postgresql://USER:PASSWORD@HOST/DATABASE.
        host: The address to listen on.
        port: The port to listen on; 0: a free one.
        most_body: Bytes of a request.
        most_upload: Bytes of a table that is uploaded.
        most_waiting: Decisions and answers that may wait for one writer; more are refused with 503.
        most_open: Open decisions of one experiment; more are refused with 429, since each needs memory.
        most_readers: Exports, certificates and uploads at a time; more are refused with 503.
        most_connections: Connections at a time.
        patience: Seconds that a client may take to send a request, or to take the next part of an answer.
        idle: Seconds after which a connection without a request is closed.
        drain: Seconds that requests get to end when the service stops.
    """

    db: str = "sqlite:///vambrace.db"
    host: str = "127.0.0.1"
    port: int = 8000
    most_body: int = 64 * KILOBYTE
    most_upload: int = 50 * MEGABYTE
    most_waiting: int = 10_000
    most_open: int = 100_000
    most_readers: int = 4
    most_connections: int = 5_000
    patience: float = 20.0
    idle: float = 75.0
    drain: float = 10.0


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach an address."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
