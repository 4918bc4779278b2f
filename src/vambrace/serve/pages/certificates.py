"""A page on which a table is dropped, and the certificate of it."""

import re

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from vambrace.errors import shorten
from vambrace.serve import uploads
from vambrace.serve.pages.rendering import PageRoute, page
from vambrace.serve.pages.visitors import Visitor
from vambrace.serve.problems import Problem

ENDINGS = (".csv", ".tsv", ".json", ".jsonl", ".ndjson", ".parquet", ".xlsx")
router = APIRouter(include_in_schema=False, route_class=PageRoute)


@router.get("/certify")
async def show_upload(request: Request, caller: Visitor) -> Response:
    """The page on which a table is dropped."""
    caller.check("read")
    most = request.app.state.settings.most_upload // 1_000_000
    return page(request, "certify.html", title="Certify a finished test", endings=",".join(ENDINGS), most=most)


@router.post("/certify")
async def certify_upload(request: Request, caller: Visitor, name: str = "table.csv") -> Response:
    """The certificate of the table in the body, as a part of a page."""
    caller.check("read")
    if not re.fullmatch(uploads.FILE_NAME.removesuffix("$"), name):
        raise Problem(422, f"name: expected one that ends in {', '.join(ENDINGS)}, got {shorten(name)!r}")
    found = await uploads.certified(request, name, {"source": name}, job="certify_as_page")
    return HTMLResponse(found["page"])
