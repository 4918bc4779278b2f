"""What the operations share. These dependencies are coroutines, since FastAPI sends functions to threads."""

from typing import Annotated

from fastapi import Depends, Path, Request

from vambrace.serve.experiments import Experiments
from vambrace.serve.metrics import Metrics
from vambrace.serve.models import NAME

ExperimentName = Annotated[str, Path(pattern=NAME, description="The name of the experiment.", examples=["headlines"])]


async def _experiments(request: Request) -> Experiments:
    found: Experiments = request.app.state.experiments
    return found


async def _metrics(request: Request) -> Metrics:
    found: Metrics = request.app.state.metrics
    return found


Service = Annotated[Experiments, Depends(_experiments)]
Counts = Annotated[Metrics, Depends(_metrics)]
