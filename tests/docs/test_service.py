"""What the page of the service and the README show: its commands and its script do that, with a real service."""

import json
import os
import re
import shutil
import subprocess
import sys
import venv
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("fastapi", reason="the extra vambrace[serve] is not installed")

from fake_service import running
from http_traffic import free_port

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/service.md").read_text(encoding="utf-8")
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
ID = re.compile(r"\d+-[0-9a-f]{32}-[0-9a-f]{16}")


def blocks(page: str) -> list[tuple[str, str]]:
    return [(found[1], found[2]) for found in BLOCK.finditer(page)]


@pytest.fixture
def port(tmp_path: Path) -> Iterator[int]:
    """The port of a service in a folder of its own, started as the page says."""
    found = free_port()
    command = [sys.executable, "-m", "vambrace.cli", "serve", "--port", str(found)]
    process = subprocess.Popen(command, cwd=tmp_path, env=environment(), stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == f"vambrace serves on http://127.0.0.1:{found} (Ctrl-C ends it)\n"
    yield found
    process.terminate()
    assert process.wait() == 0
    process.stdout.close()


def environment(**more: str) -> dict[str, str]:
    return os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))} | more


def run(source: str, folder: Path, **more: str) -> str:
    done = subprocess.run(
        ["bash", "-e", "-c", source], cwd=folder, env=environment(**more), capture_output=True, text=True, timeout=1_200
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def shape(value: Any) -> Any:
    """JSON without what differs each time: ids and times."""
    if isinstance(value, dict):
        return {key: "time" if key == "created" else shape(each) for key, each in value.items()}
    if isinstance(value, list):
        return [shape(each) for each in value]
    return f"{value.split('-')[0]}-id" if isinstance(value, str) and ID.fullmatch(value) else value


@pytest.mark.skipif(not shutil.which("curl") or not shutil.which("bash"), reason="no curl or bash")
def test_every_curl_prints_what_the_page_shows(port: int, tmp_path: Path) -> None:
    known: dict[str, str] = {}  # the ids of the page, and what they are now
    pairs = list(zip(blocks(PAGE), [*blocks(PAGE)[1:], ("", "")], strict=True))
    ran = 0
    for (language, source), (kind, shown) in pairs:
        if language != "sh" or not re.search("curl (--|127)", source):
            continue
        commands = source[source.index("curl") :].replace(":8000", f":{port}").replace("curl ", "curl -sS ")
        for before, now in known.items():
            commands = commands.replace(before, now)
        printed = run(commands, tmp_path)
        ran += 1
        if kind == "json":
            assert shape(json.loads(printed)) == shape(json.loads(shown))
            known |= dict(zip(ID.findall(shown), ID.findall(printed), strict=True))
        else:
            assert "armoured" in json.loads(printed)["arms"][0]
    assert ran == 5


@pytest.mark.skipif(not shutil.which("bash"), reason="no bash")
def test_the_commands_for_keys(tmp_path: Path) -> None:
    [source] = [source for language, source in blocks(PAGE) if language == "sh" and "vambrace keys" in source]
    words = f'vambrace() {{ "{sys.executable}" -m vambrace.cli "$@"; }}\n'
    assert re.fullmatch(r"(vb_[\w-]{43}\n){2}", run(words + source, tmp_path))


def snippets() -> tuple[str, str]:
    first, second = [source for language, source in blocks(PAGE) if language == "js"]
    return first, second


def node(program: str) -> Any:
    done = subprocess.run(
        ["node", "--input-type=module", "--eval", program], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


needs_node = pytest.mark.skipif(not shutil.which("node"), reason="no node")


@needs_node
def test_the_script_of_a_page_asks_and_tells(port: int) -> None:
    import vambrace as vb

    learner = vb.connect(f"http://127.0.0.1:{port}", "headlines", policy="kl-ucb-wr:budget=5", arms=["old", "new"])
    page = """
    const heading = {}, link = { addEventListener: (name, act) => { link[name] = act; } };
    const document = { querySelector: (name) => (name === "h1" ? heading : link) };
    """
    first, second = snippets()
    second = second.replace('bandit("headlines", { ', f'bandit("headlines", {{ base: "http://127.0.0.1:{port}", ')
    end = """
    const clicked = await link.click(), again = await headlines.tell(decision, 1);
    const views = [await headlines.ask("view-1"), await headlines.ask("view-1")];
    console.log(JSON.stringify({ heading: heading.textContent, clicked, again, same: views[0].id === views[1].id }));
    """
    found = node(page + first + second + end)
    assert found == {"heading": "old", "clicked": "applied", "again": "duplicate", "same": True}
    assert learner.asked == 2
    assert sum(report.answers for report in learner.explain().arms) == 1
    learner.close()


@needs_node
def test_the_script_goes_on_without_the_service_and_retries() -> None:
    first, _ = snippets()
    end = """
    const away = bandit("headlines", { base: "http://127.0.0.1:9", fallback: "old" });
    const decision = await away.ask();
    const outcome = await away.tell(decision, 1), unsent = await away.tell({ id: "0-1" }, 1);
    console.log(JSON.stringify({ decision, outcome, unsent }));
    """
    found = node(first + end)
    assert found == {"decision": {"id": None, "arm": "old"}, "outcome": "default", "unsent": "unsent"}
    with running() as fake:
        fake.faults = [503, "drop after", None, 403, "drop before"]
        end = f"""
        const shop = bandit("headlines", {{ base: "{fake.url}", key: "vb_secret", fallback: "old" }});
        const first = await shop.ask("view-1"), second = await shop.ask("view-2");
        console.log(JSON.stringify([first.id, second.arm, await shop.tell(first, 1)]));
        """
        assert node(first.replace("{ key: view }", "{ count: 1, key: view }") + _listed(end)) == [
            "0-1",
            "old",
            "applied",
        ]
        assert fake.done == {"asked": 1, "told": 1}
        assert {headers["Authorization"] for _, _, headers in fake.requests if "Authorization" in headers}
        assert len(fake.requests) == 6


def _listed(program: str) -> str:
    return program


def three_lines() -> str:
    [found] = [source for language, source in blocks(README) if language == "sh" and "vambrace serve" in source]
    return found


def test_the_readme_has_the_three_lines_of_the_page() -> None:
    [shown] = [source for language, source in blocks(PAGE) if "vambrace serve &" in source]
    assert three_lines() == shown


@pytest.mark.slow  # some minutes: a fresh environment
@pytest.mark.skipif(not shutil.which("curl") or not shutil.which("bash"), reason="no curl or bash")
def test_the_three_lines_on_a_fresh_machine(tmp_path: Path) -> None:
    venv.create(tmp_path / "venv", with_pip=True)
    port = free_port()
    source = three_lines().replace("'.[serve]'", f"'{ROOT}[serve]' --quiet").replace(":8000", f":{port}")
    source = source.replace("vambrace serve &", f"vambrace serve --port {port} > serve.log 2>&1 &\ntrap 'kill %1' EXIT")
    path = f"{tmp_path / 'venv/bin'}{os.pathsep}{os.environ['PATH']}"
    printed = run(source, tmp_path, PATH=path, PYTHONPATH="")
    assert json.loads(printed.splitlines()[-1])["name"] == "headlines"
