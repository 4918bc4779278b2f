"""The description of the API, and Schemathesis, which sends what it describes, what it forbids, and what follows."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from serving import new_key, running
from vambrace.serve.app import create_app
from vambrace.serve.keys import ROLES
from vambrace.serve.settings import Settings

PHASES = "examples,coverage,fuzzing,stateful"
HERE = Path(__file__).parent


def test_every_operation_has_an_example_and_declares_its_problems(db: str) -> None:
    schema = create_app(Settings(db=db)).openapi()
    assert schema["openapi"].startswith("3.1")
    for path, operations in schema["paths"].items():
        for method, operation in operations.items():
            assert operation["summary"], path
            assert operation["description"], path
            public = path in ("/healthz", "/readyz")
            assert ("security" in operation) != public, path
            wanted = {"400", "408", "413", "422"} | (set() if public else {"401", "403", "503"})
            assert wanted <= set(operation["responses"]), path
            for status, response in operation["responses"].items():
                if status >= "400":
                    assert list(response["content"]) == ["application/problem+json"], (path, status)
            if method == "post" and "requestBody" in operation:
                assert "example" in json.dumps(_resolved(schema, operation["requestBody"])), path


def _resolved(schema: dict[str, object], part: object) -> object:
    """A part of the description, with what it refers to."""
    text = json.dumps(part)
    names = re.findall(r"#/components/schemas/(\w+)", text)
    return [part, *(schema["components"]["schemas"][name] for name in names)]  # type: ignore[index]


@contextmanager
def fuzzed(db: str) -> Iterator[str]:
    with running(db, program=HERE.parent / "fuzzed_service.py") as service:
        yield service.url


def schemathesis(db: str, *, examples: int, folder: Path) -> str:
    """Run it with a key that may do everything, and say how many requests it made; an error shows what is wrong."""
    key = new_key(db, *ROLES)
    with fuzzed(db) as url:
        command = [sys.executable, "-m", "schemathesis.cli", "--config-file", str(HERE / "schemathesis.toml"), "run"]
        command += [f"{url}/openapi.json", "--header", f"Authorization: Bearer {key}", "--phases", PHASES, "--no-color"]
        command += ["--max-examples", str(examples), "--seed", "1", "--mode", "all", "--suppress-health-check", "all"]
        done = subprocess.run(command, capture_output=True, text=True, cwd=folder, env=dict(os.environ))
    shown = done.stdout[done.stdout.find("= FAILURES") :]
    assert done.returncode == 0, "\n".join(line[:300] for line in shown.splitlines()) + done.stderr
    return done.stdout


def cases(output: str) -> int:
    found = re.search(r"([\d,]+) generated, ([\d,]+) passed", output)
    assert found is not None, output[-2_000:]
    assert found[1] == found[2]
    return int(found[1].replace(",", ""))


def test_schemathesis_finds_nothing(db: str, tmp_path: Path) -> None:
    assert cases(schemathesis(db, examples=1, folder=tmp_path)) >= 500


@pytest.mark.slow  # about 10 minutes
def test_schemathesis_finds_nothing_in_twenty_thousand_requests(db: str, tmp_path: Path) -> None:
    output = schemathesis(db, examples=2_000, folder=tmp_path)
    print(output[-600:])
    assert cases(output) >= 20_000
