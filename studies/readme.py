"""Draw the picture of the README, docs/images/fake-events.svg, and write what stands below it: `make studies`.

Each policy is shown under the worst attack that a search finds, in games that had no part in it.
"""

import textwrap
from typing import Any

import altair
import numpy as np

import pages
import vambrace as vb
from vambrace.files import whole_file
from vambrace.registry import spec_of

MEANS = [0.9, 0.8, 0.7, 0.6, 0.5]
BUDGET = 100
GAME: dict[str, Any] = {"horizon": 1_000_000, "replications": 20, "seed": 2026}
SEARCH: dict[str, Any] = {"horizon": 1_000_000, "seed": 2025}
POLICIES = {
    "Thompson": vb.Thompson(),
    "KL-UCB-WR": vb.KLUCBWR(budget=BUDGET),
    "UCB1": vb.UCB1(),
    "SE-WR": vb.SEWR(budget=BUDGET),
}
SHOWN = ("Thompson", "KL-UCB-WR")  # the best without armour, and the best with it
README = pages.DOCS.parent / "README.md"
BEGIN, END = "<!-- written by make studies -->", "<!-- until here -->"
# These stand out on white and on black: the background is that of the page.
COLOURS = {"Thompson": "#D55E00", "KL-UCB-WR": "#1A7FC1"}
GREY = "#7A7F87"


def main() -> None:
    env = vb.Bernoulli(MEANS)
    points = np.linspace(0, GAME["horizon"], 101)[1:].astype(int)
    results, clean = {}, {}
    for name, policy in POLICIES.items():
        effort: Any = "quick" if policy.quiet is None else "standard"  # games that leap are quick
        found = vb.red_team(policy, env, budgets=BUDGET, effort=effort, **SEARCH).worst[BUDGET].attack
        results[name] = vb.simulate(policy, env, found, checkpoints=points, **GAME)
        clean[name] = mean_regret(vb.simulate(policy, env, checkpoints=1, **GAME))
    lost = {name: mean_regret(result) for name, result in results.items()}
    alt = (
        f"Reward lost in a million rounds with {BUDGET} fake events: Thompson climbs steadily to {lost['Thompson']:,.0f}, "
        f"KL-UCB-WR soon levels off at {lost['KL-UCB-WR']:,.0f}"
    )
    pages.draw("fake-events.svg", figure({name: results[name] for name in SHOWN}, lost).properties(description=alt))
    picture = f"![{alt}](docs/images/fake-events.svg)"
    before, rest = README.read_text(encoding="utf-8").split(BEGIN)
    words = [BEGIN, filled(picture), "", filled(caption(results, lost, clean)), END]
    with whole_file(README) as unfinished:
        unfinished.write_text(before + "\n".join(words) + rest.split(END)[1], encoding="utf-8")
    print(README)


def figure(results: dict[str, vb.Result], lost: dict[str, float]) -> Any:
    """Two lines with their names beside them, large enough for a telephone."""
    rows = [{"round": 0, "regret": 0.0, "policy": name} for name in results] + [
        {"round": int(t), "regret": float(mean), "policy": name}
        for name, result in results.items()
        for t, mean in zip(result.checkpoints, result.pseudo_regret.mean(axis=0), strict=True)
    ]
    colours = {f"{part}Color": GREY for part in ("label", "title", "domain", "tick", "grid")}
    axis: dict[str, Any] = {**colours, "gridOpacity": 0.25, "labelFontSize": 17, "titleFontSize": 17, "format": ",d"}
    scale = altair.Scale(domain=list(COLOURS), range=list(COLOURS.values()))
    lines = (
        altair.Chart(altair.Data(values=rows))  # type: ignore[no-untyped-call]
        .mark_line(strokeWidth=5, strokeCap="round")
        .encode(
            x=altair.X("round:Q", title="rounds", axis=altair.Axis(values=[0, 5e5, 1e6], grid=False, **axis)),
            y=altair.Y("regret:Q", title="reward lost", axis=altair.Axis(tickCount=3, titlePadding=16, **axis)),
            color=altair.Color("policy:N", legend=None, scale=scale),
        )
    )
    # above its line: where the name ends, as shares of the axes
    places = {"Thompson": (0.54, 0.76), "KL-UCB-WR": (0.99, 0.24)}
    labels = [
        altair.Chart(altair.Data(values=[{"round": x * GAME["horizon"], "regret": y * max(lost.values())}]))  # type: ignore[no-untyped-call]
        .mark_text(align="right", text=text, dy=dy, fontSize=size, fontWeight="bold", color=COLOURS[name])
        .encode(x="round:Q", y="regret:Q")
        for name, (x, y) in places.items()
        for text, dy, size in ((name, 0, 30), (f"loses {lost[name]:,.0f}", 28, 20))
    ]
    title = altair.TitleParams(f"{BUDGET} fake events in a million rounds", color=GREY, fontSize=24, anchor="start")
    figure = altair.layer(lines, *labels).properties(width=460, height=260, title=title, background="transparent")
    return figure.configure_view(stroke=None).configure_title(offset=16)


def filled(text: str) -> str:
    return textwrap.fill(text, 120, break_on_hyphens=False)


def mean_regret(result: vb.Result) -> float:
    return float(result.pseudo_regret[:, -1].mean())


def caption(results: dict[str, vb.Result], lost: dict[str, float], clean: dict[str, float]) -> str:
    """What is played, the worst attack on each, and what armour costs where there is none."""
    thompson = results["Thompson"]
    attack, spent = thompson.adversary, thompson.cost[:, -1].max()
    words = attack.words if isinstance(attack, vb.Script) else f"`{spec_of(attack, without='budget')}`"
    return (
        f"*Five arms that pay {', '.join(map(str, MEANS[:-1]))} and {MEANS[-1]} on average; mean of {GAME['replications']} "
        f"games. Each policy plays against the worst attack that a search found (`vb.red_team`). Against Thompson sampling it "
        f"is: {words}; {spent:.0f} of the {BUDGET} fake events are enough in each game. `KLUCBWR(budget={BUDGET})` loses "
        f"{lost['KL-UCB-WR']:,.0f}, UCB1 {lost['UCB1']:,.0f}, the paper's SE-WR {lost['SE-WR']:,.0f}. Armour has a price: "
        f"without any attack Thompson sampling loses {clean['Thompson']:,.0f}, UCB1 {clean['UCB1']:,.0f}, KL-UCB-WR "
        f"{clean['KL-UCB-WR']:,.0f} and SE-WR {clean['SE-WR']:,.0f}.*"
    )


if __name__ == "__main__":
    main()
