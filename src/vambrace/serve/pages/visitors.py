"""Who looks at a page: login with a key, logout, and forms that only our own pages can send."""

from typing import Annotated
from urllib.parse import parse_qs

from fastapi import APIRouter, Depends
from starlette.requests import HTTPConnection, Request
from starlette.responses import RedirectResponse, Response

from vambrace.serve import sessions
from vambrace.serve.access import Access, Caller
from vambrace.serve.pages.rendering import PageRoute, page
from vambrace.serve.problems import Problem

MOST_FIELDS = 20
WRONG = "This key is unknown, expired or revoked."
FOREIGN = "form: expected one of this service's own pages, got another, or one that is too old; open the page again"
router = APIRouter(include_in_schema=False, route_class=PageRoute)


class Form(dict[str, str]):
    """The fields of a form, and who sent it."""

    caller: Caller


async def visitor(request: Request) -> Caller:
    """A dependency: who looks at a page. Without a session it is an error, which leads to the login."""
    access: Access = request.app.state.access
    caller = await access.caller_of(request)
    await _remember(request, caller)
    return caller


async def sent_form(request: Request) -> Form:
    """A dependency: a form from one of our pages, with the token of the session."""
    form = await _fields(request)
    access: Access = request.app.state.access
    token, cookie = form.pop("token", ""), request.cookies.get(sessions.COOKIE, "")
    if not sessions.is_token(await access.secret(), cookie, token):
        raise Problem(403, FOREIGN)
    header = (sessions.TOKEN_HEADER.encode(), token.encode())
    scope = {**request.scope, "headers": [*request.scope["headers"], header]}  # as if a script had sent it
    form.caller = await access.caller_of(HTTPConnection(scope))
    await _remember(request, form.caller)
    return form


async def _fields(request: Request) -> Form:
    """The fields of a form; a browser says on which site it stands."""
    origin = request.headers.get("origin")
    if origin is not None and origin.partition("://")[2] != request.headers.get("host"):
        raise Problem(403, FOREIGN)
    try:
        text = (await request.body()).decode()
        found = parse_qs(text, keep_blank_values=True, max_num_fields=MOST_FIELDS)
    except ValueError:
        raise Problem(422, f"form: expected at most {MOST_FIELDS} fields of text, got something else") from None
    return Form({name: values[-1] for name, values in found.items()})


async def _remember(request: Request, caller: Caller) -> None:
    """For the templates: who it is, and the token for the forms."""
    access: Access = request.app.state.access
    request.state.visitor = caller
    request.state.token = sessions.token_for(await access.secret(), request.cookies.get(sessions.COOKIE, ""))


Visitor = Annotated[Caller, Depends(visitor)]
SentForm = Annotated[Form, Depends(sent_form)]


@router.get("/login")
async def show_login(request: Request, next: str = "/") -> Response:  # noqa: A002
    """The form that asks for a key."""
    access: Access = request.app.state.access
    if not await access.needs_key():
        return RedirectResponse("/", 303)
    return page(request, "login.html", title="Log in", next=_inside(next), wrong="")


@router.post("/login")
async def log_in(request: Request) -> Response:
    """Begin a session, always a new one."""
    access: Access = request.app.state.access
    form = await _fields(request)
    caller, target = await access.caller_with(form.get("key", "").strip()), _inside(form.get("next", "/"))
    if caller is None:
        return page(request, "login.html", status=401, title="Log in", next=target, wrong=WRONG)
    answer = RedirectResponse(target, 303)
    answer.set_cookie(
        sessions.COOKIE,
        await access.begin_session(caller),
        max_age=sessions.LIFETIME,
        secure=_is_encrypted(request),
        httponly=True,
        samesite="strict",
    )
    return answer


@router.post("/logout")
async def log_out(request: Request, form: SentForm) -> Response:
    """End the session of this browser, also for copies of its cookie."""
    access: Access = request.app.state.access
    await access.end_session(request)
    answer = RedirectResponse("/login", 303)
    answer.delete_cookie(sessions.COOKIE, httponly=True, samesite="strict")
    return answer


def _is_encrypted(request: Request) -> bool:
    """Whether the browser speaks https, to us or to the proxy before us."""
    return "https" in (request.url.scheme, request.headers.get("x-forwarded-proto"))


def _inside(target: str) -> str:
    """An address of this service; the first page in place of any other."""
    is_path = target.startswith("/") and not target.startswith(("//", "/\\")) and target.isprintable()
    return target if is_path else "/"
