"""Break-down points for the pages, by a quick search; each is measured once and kept in out/breaking.jsonl."""

from collections.abc import Sequence
from typing import Any

import pages
import vambrace as vb
from vambrace import registry
from vambrace.redteam.breakdown import breakdown


def broken(policy: str, means: Sequence[float], horizon: int, goal: str) -> dict[str, Any]:
    """The least budget with which the search reaches a goal, and its interval, as in `vb.Breakdown.summary`."""

    def measure() -> dict[str, Any]:
        options: dict[str, Any] = {"horizon": horizon, "goal": goal, "effort": "quick", "seed": 2026, "progress": False}
        return breakdown(registry.policy(policy), vb.Bernoulli(means), **options).summary()

    return pages.remembered("breaking", f"{policy} {list(means)} {horizon} {goal}", measure)


def shown(found: dict[str, Any]) -> str:
    """The budget and its interval, for a table."""
    if found["budget"] is None:
        return "none found"
    high = "more" if found["high"] is None else f"{found['high']:,.0f}"
    return f"{found['budget']:,.0f} [{found['low']:,.0f}, {high}]"
