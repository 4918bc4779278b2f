"""The options of late and lost answers, which several commands have."""

from typing import Annotated, Any

from vambrace.cli.common import option

Delay = Annotated[str | None, option("DELAY", "How late answers arrive: fixed:1000, geometric:1000 or batch:10000.")]
Lost = Annotated[float, option("SHARE", "Share of answers that never arrive.")]


def options(delay: str | None, lost: float) -> dict[str, Any]:
    """What they mean, by name."""
    from vambrace.engine.delays import Delay as Kind

    return {"delay": None if delay is None else Kind.parse(delay), "lost": lost}
