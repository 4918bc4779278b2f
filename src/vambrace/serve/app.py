"""The application: its parts, put together."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI
from starlette.middleware import Middleware

from vambrace.serve import openapi, pages, problems, routes
from vambrace.serve.access import Access
from vambrace.serve.experiments import Experiments
from vambrace.serve.guard import Guard
from vambrace.serve.jobs import Jobs
from vambrace.serve.metrics import Metrics
from vambrace.serve.quick import Quick
from vambrace.serve.settings import Settings
from vambrace.version import __version__


def create_app(settings: Settings) -> FastAPI:
    """The service as an ASGI application.

    Args:
        settings: Its database and its limits.
    """
    experiments, metrics = Experiments(settings), Metrics()
    access = Access(experiments, settings.host)

    @asynccontextmanager
    async def life(app: FastAPI) -> AsyncIterator[None]:
        await experiments.start()
        try:
            yield
        finally:
            await experiments.stop()

    app = FastAPI(
        title="vambrace",
        version=__version__,
        summary="Multi-armed bandits whose feedback cannot be trusted, as a service.",
        docs_url=None,  # these pages would load scripts from elsewhere
        redoc_url=None,
        lifespan=life,
        middleware=[
            Middleware(Guard, access=access, metrics=metrics, settings=settings),
            Middleware(Quick, experiments=experiments, metrics=metrics),
        ],
        redirect_slashes=False,
    )
    app.state.settings, app.state.experiments, app.state.access = settings, experiments, access
    app.state.metrics, app.state.jobs, app.state.uploads = metrics, Jobs(), 0
    problems.install(app)
    for router in routes.ALL:
        app.router.routes.extend(router.routes)  # one flat list: an included router is another one to search
    pages.install(app)
    openapi.install(app)
    return app
