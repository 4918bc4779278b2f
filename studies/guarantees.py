"""Search for attacks that break a guarantee, on random games with thorough effort, and write it into docs/truth.md.

    python studies/guarantees.py            # what is missing in out/guarantees.jsonl is played first; about half an hour

The arms, the policy's budget and what the attacker may spend are random. Arms are far enough apart that a bound with
constants is at most half of all that can be lost: otherwise nobody could break it.
"""

from collections.abc import Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np

import pages
import vambrace as vb
from vambrace import theory
from vambrace.redteam.team import EffortName
from vambrace.registry import spec_of

GAMES = 54
HORIZON = 20_000
SHARE = 0.5  # of all that can be lost: a bound beyond it says too little
SPENT = (0.3, 1.0)  # of the policy's budget, at least and at most


class RandomGame(NamedTuple):
    """One game, and the bounds that hold in it."""

    number: int
    policy: vb.Policy
    means: tuple[float, ...]
    spent: float
    bounds: tuple[theory.Bound, ...]


def policies(budget: float) -> list[vb.Policy]:
    """Every policy with a guarantee under attack; PE-WR is not given a budget."""
    known: list[vb.Policy] = [vb.SEWR(budget=budget), vb.SEWR(budget=budget, radius="tight"), vb.KLUCBWR(budget=budget)]
    known += [vb.SEWRStop(budget=budget, stop=stop) for stop in ("additive", "multiplicative")]
    return [*known, vb.PEWR()]


def games(count: int = GAMES, seed: int = 2026) -> Iterator[RandomGame]:
    """Random games, the same for the same seed: the policies in turn."""
    rng, number = np.random.default_rng(seed), 0
    while number < count:
        means = tuple(rng.uniform(0.05, 0.95, int(rng.integers(2, 6))).round(2).tolist())
        budget = float(round(np.exp(rng.uniform(np.log(5.0), np.log(200.0)))))
        spent = float(round(budget * rng.uniform(*SPENT), 1))
        options = policies(budget)
        policy = options[number % len(options)]
        gaps = sorted(max(means) - mean for mean in means)[1:]
        bounds = tuple(theory.promises(policy, gaps, horizon=HORIZON, budget=spent))
        limit = SHARE * HORIZON * max(gaps)
        if max(gaps) > 0.0 and all(not each.explicit or each.value <= limit for each in bounds[:1]):
            yield RandomGame(number, policy, means, spent, bounds)
            number += 1


def measured(game: RandomGame, effort: EffortName = "thorough") -> dict[str, Any]:
    """The worst attack that the search finds, and its fresh games beside each bound."""
    goal: dict[str, Any] = {"goal": "regret 1", "horizon": HORIZON, "effort": effort, "progress": False}
    found = vb.red_team(game.policy, vb.Bernoulli(game.means), budgets=game.spent, **goal)
    worst = found.worst[game.spent]
    row: dict[str, Any] = {
        "number": game.number,
        "policy": spec_of(game.policy),
        "means": game.means,
        "spent": game.spent,
    }
    row |= {"attack": worst.spec, "mean": worst.regret, "largest": float(worst.played.regrets.max())}
    row |= {"games": found.games, "clean": found.clean.regret, "everything": found.everything}
    return row | {
        "bounds": [{"name": each.name, "value": each.value, "explicit": each.explicit} for each in game.bounds]
    }


def rows() -> list[dict[str, Any]]:
    """Every game, from out/guarantees.jsonl where it is there."""
    return [pages.remembered("guarantees", f"{game.number}", partial(measured, game)) for game in games()]


def table(found: list[dict[str, Any]]) -> str:
    """For each bound: in how many games, the largest ratio of a mean and of a single game, and how often it is broken."""
    names = list(dict.fromkeys((each["name"], each["explicit"]) for row in found for each in row["bounds"]))
    lines = []
    for name, explicit in names:
        own = [(row, each["value"]) for row in found for each in row["bounds"] if each["name"] == name]
        means, singles = ([row[key] / value for row, value in own] for key in ("mean", "largest"))
        added = [(row["mean"] - row["clean"]) / row["spent"] for row, _ in own]
        broken = f"{sum(ratio > 1.0 for ratio in singles)}" if explicit else "an order: no constants"
        lines.append([name, f"{len(own)}", f"{max(means):.3f}", f"{max(singles):.3f}", f"{max(added):.2f}", broken])
    columns = ["bound", "games", "largest mean regret / bound", "largest regret of one game / bound"]
    return pages.table([*columns, "largest extra regret per fake event", "broken"], lines)


def main() -> None:
    text = (pages.DOCS / "truth.md").read_text(encoding="utf-8")
    pages.write("truth.md", pages.between(text, "guarantees", table(rows())))


if __name__ == "__main__":
    main()
