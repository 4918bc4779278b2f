"""The calls that every visitor of a shop causes, ask and tell, on a short way past the framework.

FastAPI looks for the route in several steps, prepares arguments, and wraps requests and answers, which takes longer
than the decision. Here the path is compared, and the operation gets its body. What is not plain, such as a wrong body,
goes on to the framework, where the same operation refuses it. A test sends every request both ways.
"""

import re
from typing import Any

from pydantic import BaseModel, ValidationError
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from vambrace.errors import VambraceError
from vambrace.serve import models
from vambrace.serve.access import Caller
from vambrace.serve.experiments import Experiments
from vambrace.serve.metrics import Metrics
from vambrace.serve.problems import problem_of
from vambrace.serve.routes.decisions import ask, tell

OPERATIONS: dict[str, Any] = {"ask": ask, "tell": tell}
PATH = re.compile(rf"/v1/experiments/({models.NAME[1:-1]})/({'|'.join(OPERATIONS)})")
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
        name, operation = found[1], OPERATIONS[found[2]]
        message = await receive()  # all of it: the guard has read it
        try:
            content = await self._content(name, operation, scope["state"]["caller"], message["body"])
        except ValidationError:
            await self._app(scope, _again(message, receive), send)
            return
        except VambraceError as error:
            raise problem_of(error) from error
        scope["route"] = operation  # what the request is counted as
        headers = [JSON, (b"content-length", b"%d" % len(content))]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": content})

    async def _content(self, name: str, operation: Any, caller: Caller, body: bytes) -> bytes:
        caller.check(operation.role, name)
        given = operation.body.validate_json(body)
        answer: BaseModel = await operation.work(self._experiments, name, caller, given, self._metrics)
        return answer.model_dump_json().encode()


def _again(message: Message, receive: Receive) -> Receive:
    """Receive a message that was received already, and then what follows."""
    waiting = [message]

    async def replay() -> Message:
        return waiting.pop() if waiting else await receive()

    return replay
