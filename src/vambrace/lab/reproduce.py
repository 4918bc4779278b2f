"""The paper's policies and two that trust every reward, with and without an attacker: a table and a figure."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from vambrace import adversaries, environments, policies
from vambrace.engine.result import Result
from vambrace.engine.simulate import simulate
from vambrace.files import whole_file
from vambrace.protocols import Adversary, Policy
from vambrace.registry import spec_of

MEANS = tuple(0.9 - 0.1 * k for k in range(5))
BUDGET = 300
HORIZON = 1_000_000
REPLICATIONS = 20
SEED = 2026


def contestants() -> list[Policy]:
    """UCB1 and SE, which trust every reward, and the paper's four."""
    return [
        policies.UCB1(),
        policies.SE(),
        policies.SEWR(budget=BUDGET),
        policies.SEWRStop(budget=BUDGET, stop="additive"),
        policies.PEWR(),
        policies.MSSEWR(),
        policies.MSSEWR(share=True),
    ]


def results(horizon: int = HORIZON, replications: int = REPLICATIONS, seed: int = SEED) -> Iterator[Result]:
    """Every contestant against no adversary and against Conceal, one game after the other."""
    environment = environments.Bernoulli(MEANS)
    attacks: list[Adversary | None] = [None, adversaries.Conceal(budget=BUDGET)]
    for attack in attacks:
        for policy in contestants():
            yield simulate(policy, environment, attack, horizon=horizon, replications=replications, seed=seed)


def table(found: list[Result]) -> list[dict[str, Any]]:
    """One row for each game."""
    rows = []
    for result in found:
        summary = result.summary()
        rows.append(
            {
                "policy": spec_of(result.policy),
                "adversary": "none" if result.adversary is None else spec_of(result.adversary),
                "regret": summary["pseudo_regret"]["mean"],
                "standard_error": summary["pseudo_regret"]["standard_error"],
                "best_arm_share": summary["share_of_pulls"][0],
                "cost": summary["cost"]["mean"],
            }
        )
    return rows


def markdown(rows: list[dict[str, Any]]) -> str:
    """The rows as a Markdown table."""
    lines = ["| policy | adversary | regret | ± | share of the best arm | cost |", "|---|---|--:|--:|--:|--:|"]
    lines += [
        f"| `{row['policy']}` | `{row['adversary']}` | {row['regret']:,.0f} | {row['standard_error']:,.0f} "
        f"| {row['best_arm_share']:.1%} | {row['cost']:,.0f} |"
        for row in rows
    ]
    return "\n".join(lines) + "\n"


def write(path: Path, text: str) -> None:
    """Write a text file."""
    with whole_file(path) as unfinished:
        unfinished.write_text(text, encoding="utf-8")


def save(found: list[Result], folder: Path) -> list[Path]:
    """The table as Markdown and JSON, the figure as SVG, PNG, PDF and HTML; returns where they are."""
    from vambrace.report import figures

    rows = table(found)
    write(folder / "table.md", markdown(rows))
    write(folder / "table.json", json.dumps(rows, indent=2) + "\n")
    figure = figures.regret_figure(found, title=f"{BUDGET} fake events in {found[0].horizon:,} rounds")
    names = [f"regret{ending}" for ending in (".svg", ".png", ".pdf", ".html")]
    for name in names:
        figures.save(figure, folder / name)
    return [folder / name for name in ("table.md", "table.json", *names)]
