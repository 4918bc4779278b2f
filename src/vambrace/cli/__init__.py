"""The command line: parse, call, print. Each command has a module.

A user's mistake is one clear line on standard error and exit code 2, never a traceback.
"""

import sys
from importlib import import_module
from typing import Annotated, NoReturn

import typer

from vambrace import __version__
from vambrace.errors import StoreError, VambraceError

NAMES = (
    "simulate attack break leaderboard choose bounds verify plan certify list run status report reproduce "
    "learners serve keys"
)
COMMANDS = {name: import_module(f"vambrace.cli.{name}") for name in NAMES.split()}
EXAMPLES = ("vambrace list policies", "vambrace simulate ucb1 --means 0.9,0.8", "vambrace simulate --help")
INTERRUPTED = 130  # what shells expect after Ctrl-C


def _epilog(examples: tuple[str, ...]) -> str:
    """The end of a help text, with its lines as they are: that is what \\b asks for."""
    return "\n".join(["\b", "Examples:", *(f"  {example}" for example in examples)])


app = typer.Typer(
    name="vambrace",
    help="Multi-armed bandits whose feedback cannot be trusted.\n\nA budget is what an attacker may change in total: "
    "at worst, that number of fake events.\n\nParameters follow the name: se-wr:budget=100,radius=tight.",
    epilog=_epilog(EXAMPLES),
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
for _name, _module in COMMANDS.items():
    app.command(_name, epilog=_epilog(_module.EXAMPLES))(_module.command)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(__version__)
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", is_eager=True, callback=_print_version, help="Print the version and exit.")
    ] = False,
) -> None:
    pass


def main() -> None:
    """Run the command line; every mistake of the user ends in one line and exit code 2."""
    try:
        code = app(prog_name="vambrace", standalone_mode=False)
    except VambraceError as error:
        if isinstance(error, StoreError) and error.diff:
            typer.echo(error.diff, err=True)
        _fail(str(error))
    except (typer.Abort, KeyboardInterrupt):
        code = INTERRUPTED
    except MemoryError as error:
        _fail(f"memory: expected a game that fits, got {error}")
    except OSError as error:
        _fail(f"{error.filename or 'file'}: {error.strerror or error}")
    except Exception as error:
        if not hasattr(error, "format_message"):  # what the parser raises has it, wherever typer keeps the class
            raise
        if type(error).__name__ == "NoArgsIsHelpError":
            typer.echo(error.format_message())
            sys.exit(2)
        _fail(error.format_message())
    if code == INTERRUPTED:
        typer.echo("vambrace: interrupted", err=True)
    sys.exit(code or 0)


def _fail(message: str) -> NoReturn:
    typer.echo(f"vambrace: error: {' '.join(message.split())}", err=True)
    sys.exit(2)
