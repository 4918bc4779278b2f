"""Work in processes of its own."""

import asyncio
import io
import json
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

from vambrace.errors import InvalidParameter
from vambrace.serve import child, jobs
from vambrace.serve.jobs import Jobs
from vambrace.serve.problems import Problem


def test_only_a_few_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    async def slow(*_: Any) -> str:
        await asyncio.sleep(0.05)
        return "done"

    monkeypatch.setattr(Jobs, "_run", slow)

    async def main() -> list[Any]:
        found = Jobs()
        calls = (found.run("certify", {}, seconds=1) for _ in range(5))
        first = await asyncio.gather(*calls, return_exceptions=True)
        return [*first, await found.run("certify", {}, seconds=1)]

    *first, later = asyncio.run(main())
    assert first[: jobs.MOST_JOBS] == ["done"] * jobs.MOST_JOBS
    assert {each.status for each in first[jobs.MOST_JOBS :]} == {503}
    assert later == "done"


@pytest.mark.parametrize(
    ("program", "message"),
    [
        ("import time; time.sleep(60)", "certify: expected work of at most 0.5 seconds"),
        ("raise SystemExit(3)", "expected work that fits into"),
        ("import os; os.abort()", "expected work that fits into"),
        ("import json; print(json.dumps({'error': 'table: no arms'}))", "table: no arms"),
    ],
)
def test_a_process_that_ends_badly(monkeypatch: pytest.MonkeyPatch, program: str, message: str) -> None:
    plain = asyncio.create_subprocess_exec

    async def other(*command: str, **options: Any) -> Any:
        return await plain(sys.executable, "-c", program, **options)

    monkeypatch.setattr(asyncio, "create_subprocess_exec", other)
    with pytest.raises(Problem, match=message) as error:
        asyncio.run(Jobs().run("certify", {}, seconds=0.5 if "sleep" in program else 30))
    assert error.value.status == 422


def test_a_workbook_that_is_a_bomb(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "bomb.xlsx"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as book:
        book.writestr("xl/workbook.xml", b" " * 10**6)
    assert path.stat().st_size < 5_000
    child._check_unpacked(path)
    monkeypatch.setattr(child, "MOST_UNPACKED", 10**6 - 1)
    with pytest.raises(InvalidParameter, match="expected at most 999,999 bytes when it is unpacked, got 1,000,000"):
        child._check_unpacked(path)
    path.write_bytes(b"PK nonsense")
    with pytest.raises(InvalidParameter, match="expected an Excel workbook"):
        child._check_unpacked(path)


@pytest.mark.parametrize(
    ("options", "wanted"),
    [({"value": float("inf")}, {"result": [None]}), ({"value": (1, {"a": 2})}, {"result": [[1, {"a": 2}]]})],
)
def test_results_are_json(monkeypatch: pytest.MonkeyPatch, options: dict[str, Any], wanted: Any) -> None:
    said = io.StringIO()
    content = {"job": "echo", "options": {}, "memory": 1, "seconds": 1}
    monkeypatch.setattr(child, "JOBS", {"echo": lambda: [options["value"]]})
    monkeypatch.setattr(child, "_limit", lambda *_: None)
    monkeypatch.setattr(sys, "stdin", io.StringIO(json.dumps(content)))
    monkeypatch.setattr(sys, "stdout", said)
    child.main()
    assert json.loads(said.getvalue()) == wanted
