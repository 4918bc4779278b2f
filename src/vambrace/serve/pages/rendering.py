"""How pages are made: templates, headers, and errors that are pages too.

A page may load scripts, styles and data from this service only, and none of them stands in the page itself: the header
Content-Security-Policy says so to the browser. Jinja2 escapes every value.
"""

from collections.abc import Callable, Coroutine
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import quote

from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from vambrace.errors import VambraceError
from vambrace.report import page as report_page
from vambrace.serve.access import Caller
from vambrace.serve.pages import static, words
from vambrace.serve.problems import Problem, problem_of
from vambrace.version import __version__

HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    "Cache-Control": "no-store",
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
TITLES = {
    403: "This is not allowed",
    404: "There is no such page",
    413: "That is too large",
    503: "The service is busy",
}
FOLDER = Path(__file__).parent.parent / "templates"


class PageRoute(APIRoute):
    """A route whose answers have the headers of a page, and whose errors are pages."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """The handler with both."""
        handle = super().get_route_handler()

        async def handled(request: Request) -> Response:
            try:
                answer = await handle(request)
            except (Problem, VambraceError, HTTPException) as error:
                answer = _error(request, error)
            except RequestValidationError:
                answer = _error(request, Problem(404, "address: expected that of a page, got another"))
            for name, value in HEADERS.items():
                answer.headers.setdefault(name, value)
            return answer

        return handled


def _error(request: Request, error: Exception) -> Response:
    problem = Problem(error.status_code, str(error.detail)) if isinstance(error, HTTPException) else _problem(error)
    if problem.status == 401:
        back = quote(request.url.path) if request.method == "GET" else "/"
        return RedirectResponse(f"/login?next={back}", 303)
    title = TITLES.get(problem.status, "That did not work")
    return page(request, "problem.html", status=problem.status, title=title, detail=problem.detail)


def _problem(error: Exception) -> Problem:
    return error if isinstance(error, Problem) else problem_of(error)


def page(request: Request, template: str, *, status: int = 200, **values: Any) -> HTMLResponse:
    """A page from a file in templates/.

    Args:
        request: The request that it answers; who sent it stands in its state, if that is known.
        template: The name of the file.
        status: The status code.
        values: What the template speaks of.
    """
    caller: Caller | None = getattr(request.state, "visitor", None)
    known = {"caller": caller, "token": getattr(request.state, "token", ""), "path": request.url.path}
    text = environment().get_template(template).render({**known, **values})
    return HTMLResponse(text, status)


@cache
def environment() -> Any:
    """The templates of the dashboard, and those of the reports."""
    found = report_page.templates(FOLDER)
    found.globals |= {"version": __version__, "static": static.address, "words": words}
    found.filters |= {"moment": moment, "count": lambda value: f"{value:,}"}
    return found


def moment(seconds: float) -> str:
    """A time in words."""
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d %H:%M} UTC"
