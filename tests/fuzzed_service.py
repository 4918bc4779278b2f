"""A service for Schemathesis: as it is, but nobody waits. Jobs run in a thread, and changes are answered at once.

The processes of jobs take seconds to start; tests/serve/test_jobs.py has those. ``python fuzzed_service.py SETTINGS``
"""

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

from vambrace.serve import child, experiments, server
from vambrace.serve.jobs import Jobs
from vambrace.serve.settings import Settings


async def run(self: Jobs, job: str, options: dict[str, Any], *, seconds: float, folder: Path | None = None) -> Any:
    if job == "choose":
        return {}
    path = str((folder or Path()) / options.pop("path"))
    return child._plain(await asyncio.to_thread(child._certify, path, **options))


watch = experiments.Experiments.watch


async def watch_briefly(self: experiments.Experiments, name: str, after: int, wait: float) -> Any:
    return await watch(self, name, after, min(wait, 0.01))


if __name__ == "__main__":
    Jobs.run = run  # type: ignore[method-assign]
    experiments.Experiments.watch = watch_briefly  # type: ignore[method-assign]
    server.run(Settings(**json.loads(sys.argv[1])), say=lambda line: print(line, flush=True))
