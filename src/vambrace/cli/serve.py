"""`vambrace serve`."""

from typing import Annotated

import typer

from vambrace.cli import common
from vambrace.cli.common import option
from vambrace.errors import MissingExtra

EXAMPLES = (
    "vambrace serve",
    "vambrace serve --db postgresql://shop@localhost/shop --port 8080",
    "vambrace keys create shop --role ask --role tell --db sqlite:///vambrace.db",
)
Database = Annotated[str, option("URL", "sqlite:///FILE or postgresql://USER@HOST/DATABASE.")]


def command(
    db: Database = "sqlite:///vambrace.db",
    host: Annotated[str, option("ADDRESS", "Where to listen; others than 127.0.0.1 need keys.")] = "127.0.0.1",
    port: Annotated[str, option("NUMBER", "The port; 0 is a free one.")] = "8000",
) -> None:
    """Serve the experiments of a database over HTTP, until Ctrl-C.

    Without keys only this machine is served. vambrace keys makes keys.
    """
    try:
        from vambrace.serve import server
        from vambrace.serve.settings import Settings
    except ImportError as error:
        raise MissingExtra(f"serve: expected the extra vambrace[serve], got none ({error})") from None
    server.run(Settings(db=db, host=host, **common.whole(port=port)), say=lambda line: typer.echo(line))
