"""The operations of the service, one module for each group. `ALL` lists their routers, the busiest one first."""

from vambrace.serve.routes import analysis, decisions, experiments, history, operation, reports

ALL = (decisions.router, experiments.router, reports.router, history.router, analysis.router, operation.router)
