"""Wall time against the horizon for both engines: a table, the fitted growth, and the figure of docs/leap.md."""

import argparse
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

import vambrace as vb
from vambrace.report.figures import LABEL, save

ENVIRONMENT = vb.Bernoulli([0.9] + [0.8] * 9)
ATTACK = vb.Conceal(budget=1000)
POLICIES: Sequence[vb.Policy] = (vb.SEWR(budget=1000), vb.SEWR(budget=1000, radius="kl"), vb.PEWR())
LONGEST = {"rounds": 10**7, "leap": 10**12}


def milliseconds(policy: vb.Policy, engine: str, horizon: int, environment: vb.Environment = ENVIRONMENT) -> float:
    """The best of several runs, for one replication on one thread, Python's share included."""
    options: dict[str, Any] = {"horizon": horizon, "engine": engine, "threads": 1}
    vb.simulate(policy, environment, ATTACK, seed=0, **options)
    replications = 10 if engine == "leap" else 1
    best = float("inf")
    for seed in range(1, 6):
        start = time.perf_counter()
        vb.simulate(policy, environment, ATTACK, seed=seed, replications=replications, **options)
        best = min(best, (time.perf_counter() - start) / replications)
    return best * 1e3


def label(policy: vb.Policy) -> str:
    return f"{policy.name} {getattr(policy, 'radius', '')}".strip()


def measure() -> list[dict[str, Any]]:
    rows = []
    for policy in POLICIES:
        for engine, longest in LONGEST.items():
            for horizon in (10**e for e in range(3, 13)):
                if horizon <= longest:
                    found = milliseconds(policy, engine, horizon)
                    rows.append({"policy": label(policy), "engine": engine, "horizon": horizon, "ms": found})
    return rows


def growth(rows: list[dict[str, Any]], policy: str, engine: str, start: int) -> float:
    """The slope of ln(time) against ln(T) from `start` on: 1 is linear, 0 is polylogarithmic."""
    chosen = [row for row in rows if row["policy"] == policy and row["engine"] == engine and row["horizon"] >= start]
    return float(np.polyfit([np.log(r["horizon"]) for r in chosen], [np.log(r["ms"]) for r in chosen], 1)[0])


def figure(rows: list[dict[str, Any]]) -> Any:
    import altair

    alt = "Wall time of one replication against the horizon: rounds grow linearly, leaps stay near a millisecond"
    log_scale = altair.Scale(type="log")
    decades = {"x": [10.0**e for e in range(3, 13)], "y": [10.0**e for e in range(-1, 4)]}
    data = altair.Data(values=rows)  # type: ignore[no-untyped-call]
    stroke = altair.Legend(symbolType="M-1,0L1,0", symbolSize=900, symbolStrokeColor="black", symbolFillColor="black")
    colours = altair.Scale(range=["#0072B2", "#D55E00", "#009E73"])
    wide = altair.Legend(labelLimit=200)
    return (
        altair.Chart(data, title="One replication, K = 10, gap 0.1, C = 1000, against Conceal")
        .mark_line(point=True)
        .encode(
            x=altair.X(
                "horizon:Q",
                title="horizon T (rounds)",
                axis=altair.Axis(labelExpr=LABEL, values=decades["x"]),
                scale=log_scale,
            ),
            y=altair.Y(
                "ms:Q", title="wall time (ms)", axis=altair.Axis(format="~g", values=decades["y"]), scale=log_scale
            ),
            color=altair.Color("policy:N", title="policy", scale=colours, legend=wide),
            strokeDash=altair.StrokeDash("engine:N", title="engine", sort=["leap", "rounds"], legend=stroke),
        )
        .properties(width=500, height=280, description=alt, padding={"left": 5, "top": 5, "right": 25, "bottom": 5})
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--figure", type=Path, help="write the figure here")
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="write the tables there")
    arguments = parser.parse_args()
    rows = measure()
    text = ["| policy | engine | " + " | ".join(f"10^{e}" for e in range(3, 13)) + " | slope from 10^7 |"]
    text.append("|---|---|" + "--:|" * 11)
    for policy in dict.fromkeys(row["policy"] for row in rows):
        for engine in LONGEST:
            found = {r["horizon"]: r["ms"] for r in rows if (r["policy"], r["engine"]) == (policy, engine)}
            cells = [f"{found[10**e]:,.2f}" if 10**e in found else "" for e in range(3, 13)]
            slope = growth(rows, policy, engine, 10**7 if engine == "leap" else 10**5)
            text.append(f"| {policy} | {engine} (ms) | {' | '.join(cells)} | {slope:.3f} |")

    def at(policy: str, engine: str, horizon: int) -> float:
        return next(r["ms"] for r in rows if (r["policy"], r["engine"], r["horizon"]) == (policy, engine, horizon))

    tiny = milliseconds(vb.SEWR(budget=1000), "leap", 10**12, vb.Bernoulli([0.5] + [0.499] * 9))
    speedup = at("se-wr paper", "rounds", 10**7) / at("se-wr paper", "leap", 10**7)
    targets = [
        ("SE-WR at T = 10^12, ms a replication", at("se-wr paper", "leap", 10**12), "<=", 5.0),
        ("PE-WR at T = 10^12, ms a replication", at("pe-wr paper", "leap", 10**12), "<=", 1.0),
        ("leap over rounds, SE-WR at T = 10^7", speedup, ">=", 50.0),
        ("SE-WR, gap 10^-3 at T = 10^12, ms", tiny, "<=", 1000.0),
    ]
    text += ["", "| target | measured | wanted | |", "|---|--:|--:|---|"]
    for name, value, relation, bound in targets:
        met = value <= bound if relation == "<=" else value >= bound
        text.append(f"| {name} | {value:,.2f} | {relation} {bound:,.0f} | {'ok' if met else 'MISSED'} |")
    print("\n".join(text))
    if arguments.markdown:
        arguments.markdown.write_text("\n".join([*text, ""]), encoding="utf-8")
    if arguments.figure:
        save(figure(rows), arguments.figure)
        print(f"\n{arguments.figure}")


if __name__ == "__main__":
    main()
