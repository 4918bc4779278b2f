"""A process of its own for work that may take long, much memory, or end badly: strangers' tables and simulations.

It reads a job as JSON from standard input and writes ``{"result": ...}`` or ``{"error": "..."}``. If a table is a bomb,
this process ends, and the service goes on.
"""

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zipfile import BadZipFile, ZipFile

from vambrace.errors import InvalidParameter, VambraceError

if TYPE_CHECKING:
    from vambrace.audit.certificate import Certificate

MOST_UNPACKED = 500_000_000  # bytes of a workbook when it is unpacked


def main() -> None:
    """Do one job."""
    job = json.load(sys.stdin)
    _limit(job["memory"], job["seconds"])
    try:
        content: dict[str, Any] = {"result": JOBS[job["job"]](**job["options"])}
    except VambraceError as error:
        content = {"error": str(error)}
    except MemoryError:
        content = {"error": f"memory: expected work that needs at most {job['memory']:,} bytes, got more"}
    json.dump(_plain(content), sys.stdout, allow_nan=False)


def _limit(memory: int, seconds: float) -> None:
    """Take no more than this from the machine, and let others go first."""
    if sys.platform != "win32":
        import resource

        resource.setrlimit(resource.RLIMIT_DATA, (memory, memory))
        resource.setrlimit(resource.RLIMIT_CPU, (int(2 * seconds), int(2 * seconds)))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        os.nice(5)


def _certify(path: str, **options: Any) -> dict[str, Any]:
    return _certificate(path, **options).to_dict()


def _certify_as_page(path: str, source: str) -> dict[str, Any]:
    from vambrace.report.certificates import part

    return {"page": part(_certificate(path), source=source)}


def _certificate(path: str, **options: Any) -> "Certificate":
    from vambrace.audit.certification import certify

    if path.endswith(".xlsx"):
        _check_unpacked(Path(path))
    return certify(path, **options)


def _vega() -> dict[str, Any]:
    from vambrace.report.page import vega_program

    return {"program": vega_program()}


def _choose(policies: list[str], attacks: list[str], **options: Any) -> dict[str, Any]:
    from vambrace import registry
    from vambrace.redteam.choosing import choose

    against = [registry.adversary(spec) for spec in attacks]
    found = choose(
        policies=[registry.policy(spec) for spec in policies],
        attacks=[attack for attack in against if attack is not None],
        progress=False,
        **options,
    )
    return found.to_dict()


def _check_unpacked(path: Path) -> None:
    """Refuse a workbook that says itself that it is a bomb; one that lies meets the limit of memory."""
    try:
        with ZipFile(path) as book:
            size = sum(each.file_size for each in book.infolist())
    except (BadZipFile, OSError, ValueError) as error:
        raise InvalidParameter(f"{path}: expected an Excel workbook (.xlsx), got {error}") from None
    if size > MOST_UNPACKED:
        raise InvalidParameter(f"{path}: expected at most {MOST_UNPACKED:,} bytes when it is unpacked, got {size:,}")


def _plain(value: Any) -> Any:
    """A value for JSON, which has no infinite numbers: they become null."""
    if isinstance(value, dict):
        return {str(key): _plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):
        return None
    return value


JOBS: dict[str, Callable[..., dict[str, Any]]] = {
    "certify": _certify,
    "certify_as_page": _certify_as_page,
    "choose": _choose,
    "vega": _vega,
}

if __name__ == "__main__":
    main()
