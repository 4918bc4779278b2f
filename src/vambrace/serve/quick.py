"""The two calls that every visitor of a shop causes, ask and tell, on a short way past the framework.

For each request FastAPI looks for the route, resolves dependencies and checks its own answer, which takes longer than
the decision. Here the path is compared, the body is checked by the same models, and the answer is written. What is not
plain, such as another content type or a wrong body, goes on to the framework, whose operations of the same names
describe and refuse it. A test compares the two ways.
"""

import re
from types import SimpleNamespace

from pydantic import TypeAdapter, ValidationError
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from vambrace.errors import VambraceError
from vambrace.serve import models
from vambrace.serve.access import Caller
from vambrace.serve.experiments import Experiments
from vambrace.serve.metrics import Metrics
from vambrace.serve.problems import problem_of
from vambrace.serve.routes import decisions

PREFIX, ROUTE = "/v1/experiments/", "/v1/experiments/{name}/"
PATH = re.compile(rf"{PREFIX}({models.NAME[1:-1]})/(ask|tell)")
ROUTES = {name: SimpleNamespace(path=ROUTE + name) for name in ("ask", "tell")}  # what requests are counted as
TELL: TypeAdapter[models.Answer | models.Answers] = TypeAdapter(models.Answer | models.Answers)
JSON = (b"content-type", b"application/json")


class Quick:
    """A middleware that answers ask and tell.

    Args:
        app: The application, for all other requests.
        experiments: The experiments.
        metrics: What is counted.
    """

    def __init__(self, app: ASGIApp, experiments: Experiments, metrics: Metrics) -> None:
        self._app, self._experiments, self._metrics = app, experiments, metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request."""
        found = PATH.fullmatch(scope["path"]) if scope["type"] == "http" and scope["method"] == "POST" else None
        if found is None or JSON not in scope["headers"]:
            await self._app(scope, receive, send)
            return
        message = await receive()  # all of it: the guard has read it
        try:
            content = await self._content(scope, message["body"], *found.groups())
        except ValidationError:
            await self._app(scope, _again(message, receive), send)
            return
        except VambraceError as error:
            raise problem_of(error) from error
        headers = [JSON, (b"content-length", b"%d" % len(content))]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": content})

    async def _content(self, scope: Scope, body: bytes, name: str, operation: str) -> bytes:
        caller: Caller = scope["state"]["caller"]
        answer: models.Decisions | models.Results
        if operation == "ask":
            ask = models.Ask.model_validate_json(body)
            caller.check("ask", name)
            answer = await decisions.ask(name, ask, caller, self._experiments, self._metrics)
        else:
            told = TELL.validate_json(body)
            caller.check("tell", name)
            answer = await decisions.tell(name, told, caller, self._experiments, self._metrics)
        scope["route"] = ROUTES[operation]
        return answer.model_dump_json().encode()


def _again(message: Message, receive: Receive) -> Receive:
    """Receive a message that was received already, and then what follows."""
    waiting = [message]

    async def replay() -> Message:
        return waiting.pop() if waiting else await receive()

    return replay
