import functools
import importlib
import sys

import pytest

import vambrace as vb
from command_line import Finished, Run
from vambrace import cli


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """The command line in this process; games are interpreted, which saves the compiling."""
    engine = importlib.import_module("vambrace.engine.simulation")
    assert vb.simulate is engine.simulate  # looked up before it is replaced, or vambrace would keep the replacement
    monkeypatch.setattr(engine, "simulate", functools.partial(engine.simulate, interpret=True))
    monkeypatch.delenv("COLUMNS", raising=False)  # pytest's workers set it
    monkeypatch.setattr(sys, "excepthook", sys.excepthook)  # typer sets its own

    def run(*words: str) -> Finished:
        monkeypatch.setattr(sys, "argv", ["vambrace", *words])
        with pytest.raises(SystemExit) as stopped:
            cli.main()
        return Finished(stopped.value.code, *capsys.readouterr())

    return run
