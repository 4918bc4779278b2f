"""Compare the search for the worst attack with the fixed suite, policy by policy: is it ever weaker, and how slow?

    python benchmarks/search.py out/search.jsonl             # every policy, about an hour; continues where it stopped
    python benchmarks/search.py out/search.jsonl --table     # what is in the file, as Markdown

Each policy is attacked at each budget with standard effort, on two threads, after a short search that compiles. The
worst attack of the suite is found in games of another seed. Then it and the winner of the search play the same fresh
games; many more if the suite lies above it there, since some attacks rarely succeed. The search is *weaker* if the
suite lies above it by more than two standard errors of the difference.
"""

import argparse
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import vambrace as vb
from vambrace import registry
from vambrace.parameters import declared
from vambrace.redteam import suite
from vambrace.redteam.games import Games, sized
from vambrace.redteam.goals import Goal
from vambrace.redteam.race import standard_error
from vambrace.redteam.search import EFFORTS
from vambrace.redteam.team import FRESH

ARMS = vb.Bernoulli([0.9, 0.8, 0.7, 0.6, 0.5])
HORIZON = 100_000
BUDGETS = (10.0, 100.0, 1000.0)
GIVEN = 100.0  # what a policy that takes a budget is given
THREADS = 2
MOST = 10  # improvements in the list
CHANCE = 2.0  # standard errors
FRESH_GAMES = 4 * EFFORTS["standard"].report
AGAIN = 8  # times as many
LOSS = Goal.parse("loss 50%")
BEST = 5  # attacks of the suite that play more games


def policies() -> Iterator[vb.Policy]:
    """Every shipped policy; with the budget GIVEN if it takes one, and with radius=tight as well if it has radii."""
    for cls in registry.known("policy").values():
        names = {each.name for each in declared(cls)}
        given: dict[str, Any] = {"budget": GIVEN} if "budget" in names else {}
        yield cls(**given)
        if "radius" in names:
            yield cls(**given, radius="tight")
    yield vb.BARBAR(scale=100)  # as printed it only explores in a game of this length
    yield vb.MSSEWR(share=True, radius="tight")


def measured(policy: vb.Policy, budget: float) -> dict[str, Any]:
    """One cell: the search, how long it took, and the suite in the same fresh games."""
    options: dict[str, Any] = {"horizon": HORIZON, "threads": THREADS, "progress": False}
    vb.red_team(policy, ARMS, budgets=budget, effort="quick", games=60, seed=1, **options)  # compiles
    started, worked = time.perf_counter(), time.process_time()
    found = vb.red_team(policy, ARMS, budgets=budget, **options)
    seconds, cpu = time.perf_counter() - started, time.process_time() - worked
    winner = found.worst[budget]
    name, attack = worst_of_suite(policy, budget, found)
    games = Games(policy, ARMS, horizon=HORIZON, goal=LOSS, threads=THREADS)
    fixed, own = games.play([attack, winner.attack], FRESH, FRESH_GAMES)
    if fixed.regret > own.regret:
        fixed, own = games.play([attack, winner.attack], "again", AGAIN * FRESH_GAMES)
    behind = fixed.regrets - own.regrets
    row = {"policy": registry.spec_of(policy), "budget": budget, "seconds": round(seconds, 1), "cpu": round(cpu, 1)}
    row |= {"suite": fixed.regret, "suite_attack": name, "search": own.regret, "games": found.games}
    row |= {"error": standard_error(own.regrets), "behind": float(behind.mean())}
    return row | {"behind_error": standard_error(behind), "clean": found.clean.regret, "attack": winner.spec}


def worst_of_suite(policy: vb.Policy, budget: float, found: vb.RedTeam) -> tuple[str, vb.Adversary]:
    """The attack of the suite that does most harm in games of another seed: a few for all, more for the best."""
    games = Games(policy, ARMS, horizon=HORIZON, goal=LOSS, seed=1, threads=THREADS)
    every = {registry.spec_of(each, without="budget"): sized(each, budget) for each in suite.every_attack()[0]}
    names = [name for name in every if name not in found.skipped]
    for count in (FRESH_GAMES // 4, FRESH_GAMES):
        played = dict(zip(names, games.play([every[name] for name in names], FRESH, count), strict=True))
        names = sorted(played, key=lambda each: -played[each].regret)[:BEST]
    return names[0], every[names[0]]


def is_weaker(row: dict[str, Any]) -> bool:
    """Whether the suite lies above the search by more than chance."""
    return bool(row["behind"] > CHANCE * row["behind_error"])


def table(rows: list[dict[str, Any]]) -> str:
    """Every cell, and the largest improvements."""
    head = "| policy | budget | no attack | worst of the suite | search | attack | seconds of two cores |"
    lines = [
        f"| {row['policy']} | {row['budget']:,.0f} | {row['clean']:,.0f} | {row['suite']:,.0f} ({row['suite_attack']}) "
        f"| {row['search']:,.0f} ± {row['error']:,.0f}{' WEAKER' if is_weaker(row) else ''} | {row['attack']} "
        f"| {row['cpu'] / THREADS:.0f} |"
        for row in rows
    ]
    best = sorted(rows, key=lambda row: row["search"] - row["suite"], reverse=True)[:MOST]
    improved = [
        f"- {row['policy']}, {row['budget']:,.0f} fakes: {row['suite']:,.0f} ({row['suite_attack']}) → "
        f"{row['search']:,.0f} ({row['attack']})"
        for row in best
    ]
    weaker, slow = sum(map(is_weaker, rows)), max(row["cpu"] for row in rows) / THREADS
    verdict = f"{len(rows)} cells; the search is weaker in {weaker}; the longest needs {slow:.0f} s of two cores."
    return "\n".join([head, "|---|--:|--:|--:|--:|---|--:|", *lines, "", verdict, "", *improved])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    parser.add_argument("--table", action="store_true", help="only print what is there")
    parser.add_argument("--policy", action="append", help="only these, as specs")
    options = parser.parse_args()
    options.file.parent.mkdir(parents=True, exist_ok=True)
    rows = [json.loads(line) for line in options.file.read_text().splitlines()] if options.file.exists() else []
    done = {(row["policy"], row["budget"]) for row in rows}
    for policy in [] if options.table else policies():
        for budget in BUDGETS:
            spec = registry.spec_of(policy)
            if (spec, budget) not in done and spec in (options.policy or [spec]):
                rows.append(measured(policy, budget))
                with options.file.open("a") as file:
                    file.write(json.dumps(rows[-1]) + "\n")
    print(table(rows))


if __name__ == "__main__":
    main()
