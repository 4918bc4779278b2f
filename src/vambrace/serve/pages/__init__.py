"""The dashboard: pages for people, made from the same experiments."""

from fastapi import FastAPI

from vambrace.serve.histories import Histories
from vambrace.serve.pages import arms, certificates, experiments, static, visitors

ROUTERS = (visitors.router, experiments.router, arms.router, certificates.router, static.router)


def install(app: FastAPI) -> None:
    """Add the pages to an application."""
    app.state.histories, app.state.vega = Histories(app.state.experiments), static.Vega()
    for router in ROUTERS:
        app.include_router(router)
