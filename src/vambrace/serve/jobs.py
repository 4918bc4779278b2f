"""Jobs in processes of their own, a few at a time, with limits of time and memory."""

import asyncio
import json
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

from vambrace.serve import problems
from vambrace.serve.problems import Problem

MOST_JOBS = 2  # at a time
SECONDS = 120.0  # of one
MEMORY = 3_000_000_000  # bytes of one
MOST_ANSWER = 50_000_000  # bytes


class Jobs:
    """Runs jobs of `vambrace.serve.child`."""

    def __init__(self) -> None:
        self._running = 0

    async def run(self, job: str, options: dict[str, Any], *, seconds: float, folder: Path | None = None) -> Any:
        """The result of a job.

        Args:
            job: Its name.
            options: Its arguments, for JSON.
            seconds: How long it may take.
            folder: Where it runs; names of files are relative to it.
        """
        if self._running >= MOST_JOBS:
            raise problems.busy("The service does as many of these jobs as it can now; send the request again.")
        self._running += 1
        try:
            return await self._run(job, options, seconds, folder)
        finally:
            self._running -= 1

    async def _run(self, job: str, options: dict[str, Any], seconds: float, folder: Path | None) -> Any:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-P", "-m", "vambrace.serve.child"),  # -P: imports nothing from the folder it runs in
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            cwd=folder,
        )
        content = {"job": job, "options": options, "memory": MEMORY, "seconds": seconds}
        try:
            async with asyncio.timeout(seconds):
                output, _ = await process.communicate(json.dumps(content).encode())
        except TimeoutError:
            raise Problem(422, f"{job}: expected work of at most {seconds:g} seconds, got more") from None
        finally:
            if process.returncode is None:
                with suppress(ProcessLookupError):
                    process.kill()
                await process.wait()
        if process.returncode != 0 or len(output) > MOST_ANSWER:
            raise Problem(422, f"{job}: expected work that fits into {MEMORY:,} bytes of memory, got more")
        answer = json.loads(output)
        if "error" in answer:
            raise Problem(422, answer["error"])
        return answer["result"]
