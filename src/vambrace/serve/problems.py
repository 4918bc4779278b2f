"""Errors of the service, as application/problem+json (RFC 9457)."""

import logging
import time
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, Response

from vambrace.errors import HorizonReached, JournalError, UnknownName, VambraceError, shorten

MEDIA_TYPE = "application/problem+json"
RETRY_AFTER = "1"  # seconds
STATUSES: dict[type[Exception], int] = {HorizonReached: 409, UnknownName: 422, JournalError: 503, VambraceError: 422}
AWAY = "The database cannot be used now, and nothing was acknowledged; send the request again."
log = logging.getLogger("vambrace.serve")


class Seldom(logging.Filter):
    """Lets the same sentence through once a second: a database that is away concerns every request."""

    def __init__(self) -> None:
        super().__init__()
        self._last = "", 0.0

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether a sentence is written."""
        text, now = record.getMessage(), time.monotonic()
        if self._last[0] == text and now - self._last[1] < 1.0:
            return False
        self._last = text, now
        return True


log.addFilter(Seldom())


class ProblemModel(BaseModel):
    """What went wrong."""

    type: str = Field(description="Always about:blank: the status says what kind of problem it is.")
    title: str = Field(description="The status in words.")
    status: int = Field(description="The status code.")
    detail: str = Field(description="One sentence: what was expected, and what came.")
    errors: list[str] | None = Field(None, description="One sentence for each part of the request that is wrong.")


class Problem(Exception):
    """An answer that is an error.

    Args:
        status: The status code.
        detail: One sentence.
        headers: More headers of the answer.
    """

    def __init__(self, status: int, detail: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(detail)
        self.status, self.detail, self.headers = status, detail, dict(headers or {})


def busy(detail: str) -> Problem:
    """The service cannot do more at the moment: the client should come again."""
    return Problem(503, detail, {"Retry-After": RETRY_AFTER})


def not_found(name: str) -> Problem:
    """An experiment that does not exist, or that this key must not see: the two look the same."""
    return Problem(404, f"experiment: expected the name of an experiment, got {shorten(name)!r}, which is none")


def answer(problem: Problem, errors: list[str] | None = None) -> Response:
    """A problem as an answer."""
    content: dict[str, Any] = {"type": "about:blank", "title": HTTPStatus(problem.status).phrase}
    content |= {"status": problem.status, "detail": problem.detail} | ({} if errors is None else {"errors": errors})
    return JSONResponse(content, problem.status, headers=problem.headers, media_type=MEDIA_TYPE)


def problem_of(error: Exception) -> Problem:
    """The problem that an error of the package is for a client."""
    for kind, status in STATUSES.items():
        if isinstance(error, kind):
            if status == 503:
                log.warning("%s", error)  # it names files, hosts and users: that is for those who run the service
                return busy(AWAY)
            return Problem(status, str(error))
    return Problem(500, "The service made a mistake; it is in its log.")


def declared(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """How an operation declares its problems, for OpenAPI."""
    content = {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/ProblemModel"}}}
    return {status: {"description": HTTPStatus(status).phrase, "content": content} for status in statuses}


def install(app: FastAPI) -> None:
    """Make every error of an application a problem."""

    @app.exception_handler(Problem)
    async def _problem(request: Request, error: Problem) -> Response:
        return answer(error)

    @app.exception_handler(VambraceError)
    async def _mistake(request: Request, error: VambraceError) -> Response:
        return answer(problem_of(error))

    @app.exception_handler(HTTPException)
    async def _framework(request: Request, error: HTTPException) -> Response:
        headers = {"Allow": _allowed(request)} if error.status_code == 405 else error.headers
        return answer(Problem(error.status_code, str(error.detail), headers))

    @app.exception_handler(RequestValidationError)
    async def _invalid(request: Request, error: RequestValidationError) -> Response:
        found = [_sentence(each) for each in error.errors()[:20]]
        return answer(Problem(422, found[0] if found else "request: expected a valid one"), found)

    @app.exception_handler(Exception)
    async def _unexpected(request: Request, error: Exception) -> Response:
        log.error("%s %r failed", request.method, request.url.path, exc_info=error)
        return answer(problem_of(error))


def _allowed(request: Request) -> str:
    """The methods of all operations at the path of a request; the framework names those of the first one."""
    routes = (each for each in request.app.routes if hasattr(each, "path_regex"))
    methods = (each.methods or () for each in routes if each.path_regex.match(request.scope["path"]))
    return ", ".join(sorted({method for some in methods for method in some}))


def _sentence(error: Mapping[str, Any]) -> str:
    """What one part of a request should be; what came is not repeated, since it may be long or secret."""
    parts = [str(part) for part in error["loc"] if part not in ("body", "query", "path", "header")]
    place = ".".join(part for part in parts if part.isidentifier() or part.isdigit())  # others name types
    return shorten(f"{place or 'body'}: {error['msg'][0].lower()}{error['msg'][1:]}")
