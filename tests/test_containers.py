"""The Dockerfile and compose.yaml: linted where hadolint is there, and what matters is checked in any case."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from fake_service import running

ROOT = Path(__file__).parents[1]
DOCKERFILE = (ROOT / "Dockerfile").read_text(encoding="utf-8")


def instructions() -> list[tuple[str, str]]:
    """What the Dockerfile does, without comments, one line each."""
    text = re.sub(r"\\\n\s*", "", "\n".join(line for line in DOCKERFILE.splitlines() if not line.startswith("#")))
    return [(line.split(maxsplit=1)[0], line.split(maxsplit=1)[1]) for line in text.splitlines() if line]


def last(name: str) -> str:
    return next(rest for kind, rest in reversed(instructions()) if kind == name)


@pytest.fixture(scope="module")
def compose() -> Any:
    return yaml.safe_load((ROOT / "compose.yaml").read_text(encoding="utf-8"))


HADOLINT = shutil.which("hadolint", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")


@pytest.mark.skipif(HADOLINT is None, reason="no hadolint here")
def test_hadolint_finds_nothing() -> None:
    done = subprocess.run([str(HADOLINT), "--format", "json", str(ROOT / "Dockerfile")], capture_output=True, text=True)
    assert (done.returncode, json.loads(done.stdout)) == (0, [])


def test_the_image_is_small_and_the_service_is_not_root() -> None:
    assert [rest.split()[0] for kind, rest in instructions() if kind == "FROM"] == ["python:3.12-slim"] * 2
    user = last("USER")
    assert re.fullmatch(r"[1-9]\d*:[1-9]\d*", user), "a number that is not 0"
    after = [kind for kind, _ in instructions()][[kind for kind, _ in instructions()].index("USER") :]
    assert "RUN" not in after
    assert "COPY" not in after


def test_it_copies_only_what_the_build_may_see() -> None:
    ignored = [line for line in (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines() if line[:1] != "#"]
    allowed = {line[1:] for line in ignored if line.startswith("!")}
    sources = [
        name.removeprefix("./").rstrip("/")
        for kind, rest in instructions()
        if kind == "COPY" and "--from" not in rest
        for name in rest.split()[:-1]
    ]
    assert ignored[0] == "*"
    assert {*sources} == allowed
    assert all((ROOT / name).exists() for name in sources)


def test_the_commands_exist() -> None:
    from vambrace.cli import COMMANDS

    assert json.loads(last("ENTRYPOINT")) == ["vambrace"]
    words = json.loads(last("CMD"))
    assert words[0] == "serve"
    assert words[0] in COMMANDS
    assert "keys" in COMMANDS


def test_the_extras_that_are_installed_exist() -> None:
    import tomllib

    known = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    found = re.search(r"\.\[([\w,]+)\]", DOCKERFILE)
    assert found is not None
    assert {*found[1].split(",")} <= {*known}


def test_the_health_check_tells_a_service_from_none() -> None:
    words = json.loads(last("HEALTHCHECK").partition("CMD ")[2])
    assert words[:2] == ["python", "-c"]
    with running() as fake:
        port = fake.url.rpartition(":")[2]
        fake.faults = [200]
        program = words[2].replace(":8000", f":{port}")
        assert subprocess.run([sys.executable, "-c", program], capture_output=True).returncode == 0
        fake.faults = [503]
        assert subprocess.run([sys.executable, "-c", program], capture_output=True).returncode != 0
    assert subprocess.run([sys.executable, "-c", program], capture_output=True).returncode != 0
    assert fake.requests[0][0] == "/healthz"


def test_compose_is_closed_to_the_world(compose: Any) -> None:
    service, database = compose["services"]["service"], compose["services"]["database"]
    assert all(port.startswith("127.0.0.1:") for port in service["ports"])
    assert "ports" not in database
    assert (service["read_only"], service["cap_drop"]) == (True, ["ALL"])
    assert all("no-new-privileges:true" in each["security_opt"] for each in (service, database))


def test_compose_holds_no_password(compose: Any) -> None:
    service, database = compose["services"]["service"], compose["services"]["database"]
    for value in (service["environment"]["PGPASSWORD"], database["environment"]["POSTGRES_PASSWORD"]):
        assert value.startswith("${POSTGRES_PASSWORD:?")
    assert "vambrace@database" in service["command"][-1], "and none in the address, which others can see"


def test_compose_waits_for_a_database_that_answers_and_keeps_its_events(compose: Any) -> None:
    service, database = compose["services"]["service"], compose["services"]["database"]
    assert service["depends_on"]["database"]["condition"] == "service_healthy"
    assert database["healthcheck"]["test"][:2] == ["CMD", "pg_isready"]
    volumes = [each.split(":")[0] for one in (service, database) for each in one["volumes"]]
    assert {*volumes} == {*compose["volumes"]}
    assert service["command"][0] == "serve"
    assert service["command"][1:5] == ["--host", "0.0.0.0", "--port", "8000"]


def test_images_are_plain_names() -> None:
    text = DOCKERFILE + (ROOT / "compose.yaml").read_text(encoding="utf-8")
    images = re.findall(r"(?m)^(?:FROM|\s+image:) (\S+)", text)
    assert all(re.fullmatch(r"[a-z]+(:[\w.-]+)?", name) for name in images)
    assert "latest" not in text
