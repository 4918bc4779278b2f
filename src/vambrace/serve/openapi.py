"""The description of the API: what FastAPI makes of the operations, with keys and problems added in one place."""

from typing import Any

from fastapi import FastAPI
from fastapi.routing import APIRoute
from pydantic import TypeAdapter

from vambrace.serve.problems import ProblemModel, declared

SCHEME = "key"
EVERYWHERE = (400, 408, 413, 422)  # what any request may get
WITH_KEY = (401, 403, 503)
DESCRIPTION = "vb_ and 43 characters; `vambrace keys create` makes one. Where there are no keys, none is needed."


def install(app: FastAPI) -> None:
    """Replace the description of an application."""
    plain = app.openapi

    def described() -> dict[str, Any]:
        if app.openapi_schema is None:
            app.openapi_schema = _completed(plain(), app)
        return app.openapi_schema

    app.openapi = described  # type: ignore[method-assign]


def role_of(route: APIRoute) -> str | None:
    """The role that an operation needs; None: it is for everybody."""
    own: str | None = getattr(route.endpoint, "role", None)
    if own is not None:
        return own
    for dependency in route.dependant.dependencies:
        role: str | None = getattr(dependency.call, "role", None)
        if role is not None:
            return role
    return None


def _completed(schema: dict[str, Any], app: FastAPI) -> dict[str, Any]:
    parts = schema.setdefault("components", {})
    parts["securitySchemes"] = {SCHEME: {"type": "http", "scheme": "bearer", "description": DESCRIPTION}}
    schemas = parts.setdefault("schemas", {})
    schemas["ProblemModel"] = ProblemModel.model_json_schema()
    for unused in ("HTTPValidationError", "ValidationError"):
        schemas.pop(unused, None)
    for route in app.routes:
        if isinstance(route, APIRoute) and route.include_in_schema:
            for method in route.methods or ():
                operation = schema["paths"][route.path_format][method.lower()]
                _complete(operation, role_of(route))
                if hasattr(route.endpoint, "body"):
                    operation["requestBody"] = _body(route.endpoint.body, schemas)
    return schema


def _body(body: "TypeAdapter[Any]", schemas: dict[str, Any]) -> dict[str, Any]:
    """The body of an operation that reads it itself."""
    found = body.json_schema(ref_template="#/components/schemas/{model}")
    schemas.update(found.pop("$defs", {}))
    return {"required": True, "content": {"application/json": {"schema": found}}}


def _complete(operation: dict[str, Any], role: str | None) -> None:
    given = {str(status): value for status, value in declared(*EVERYWHERE).items()}
    if role is not None:
        given |= {str(status): value for status, value in declared(*WITH_KEY).items()}
        operation["security"] = [{SCHEME: []}]
        operation["description"] = f"{operation.get('description', '')} Needs the role {role}.".strip()
    operation["responses"] = operation["responses"] | given
