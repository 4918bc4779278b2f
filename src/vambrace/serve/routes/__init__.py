"""The operations of the service, one module for each group. `ALL` lists their routers."""

from vambrace.serve.routes import analysis, decisions, experiments, operation, reports

ALL = (experiments.router, decisions.router, reports.router, analysis.router, operation.router)
