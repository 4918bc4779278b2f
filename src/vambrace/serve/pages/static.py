"""Scripts and styles. Each has its fingerprint in its address, so browsers keep it until it changes."""

import asyncio
from functools import cache
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from vambrace.report import page as report_page
from vambrace.serve.jobs import SECONDS, Jobs
from vambrace.serve.problems import Problem

FOLDER = Path(__file__).parent.parent / "static"
REPORT = Path(report_page.__file__).parent / "templates"
FILES = {
    "page.css": REPORT / "page.css",  # the look of the reports
    "dashboard.css": FOLDER / "dashboard.css",
    "charts.js": FOLDER / "charts.js",
    "dashboard.js": FOLDER / "dashboard.js",
    "upload.js": FOLDER / "upload.js",
    "icon.svg": FOLDER / "icon.svg",
}
VEGA = "vega.js"  # made from an installed package
TYPES = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
KEPT = "public, max-age=31536000, immutable"
router = APIRouter(include_in_schema=False)


def address(name: str) -> str:
    """Where a file is, with its fingerprint."""
    return f"/static/{name}?{_fingerprint(name)}"


@cache
def _fingerprint(name: str) -> str:
    if name != VEGA:
        return sha256(FILES[name].read_bytes()).hexdigest()[:16]
    try:
        return version("vl-convert-python")
    except PackageNotFoundError:
        return "missing"


@router.get("/static/{name}")
async def static_file(request: Request, name: str) -> Response:
    """A script or a style."""
    if name == VEGA:
        content = await request.app.state.vega.program()
    elif name in FILES:
        content = FILES[name].read_bytes()
    else:
        raise Problem(404, "file: expected one of this service, got another")
    headers = {"Cache-Control": KEPT, "X-Content-Type-Options": "nosniff"}
    return Response(content, headers=headers, media_type=TYPES[Path(name).suffix])


class Vega:
    """The program that draws, made once, in a process of its own: it takes much memory, which is then free again."""

    def __init__(self) -> None:
        self._making, self._program = asyncio.Lock(), b""

    async def program(self) -> bytes:
        """The program; the first call takes seconds."""
        async with self._making:
            if not self._program:
                found = await Jobs().run("vega", {}, seconds=SECONDS)
                self._program = found["program"].encode()
        return self._program
