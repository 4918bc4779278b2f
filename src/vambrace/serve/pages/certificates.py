"""A page on which a table is dropped, and the certificate of it."""

import asyncio
import tempfile
from pathlib import Path
from typing import Any

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from vambrace.audit.certificate import Certificate
from vambrace.audit.certification import certify
from vambrace.report.certificates import contents
from vambrace.serve.guard import too_large
from vambrace.serve.pages.rendering import PageRoute, page
from vambrace.serve.pages.visitors import Visitor
from vambrace.version import __version__

ENDINGS = (".csv", ".tsv", ".json", ".ndjson", ".parquet", ".xlsx")
router = APIRouter(include_in_schema=False, route_class=PageRoute)


@router.get("/certify")
async def show_upload(request: Request, caller: Visitor) -> Response:
    """The page on which a table is dropped."""
    caller.check("read")
    endings = ",".join(ENDINGS)
    most = request.app.state.settings.most_upload // 1_000_000
    return page(request, "certify.html", title="Certify a finished test", endings=endings, most=most)


@router.post("/certify")
async def certify_upload(request: Request, caller: Visitor, name: str = "table.csv") -> Response:
    """The certificate of the table in the body, as a part of a page."""
    caller.check("read")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, f"table{_ending(name)}")
        await _receive(request, path)
        certificate: Certificate = await asyncio.to_thread(certify, str(path))
        values: dict[str, Any] = await asyncio.to_thread(
            contents, {"": certificate}, source=name[:200], notes=certificate.notes
        )
    values |= {"layout": "bare.html", "footer": f"vambrace {__version__}"}
    return page(request, "templates/certificate.html", **values)


async def _receive(request: Request, path: Path) -> None:
    """Write the body to a file, which has a limit."""
    most, size = request.app.state.settings.most_upload, 0
    with path.open("wb") as file:
        async for piece in request.stream():
            size += len(piece)
            if size > most:
                raise too_large(most)
            file.write(piece)


def _ending(name: str) -> str:
    ending = Path(name).suffix.lower()
    return ending if ending in ENDINGS else ".csv"
