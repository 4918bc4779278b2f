"""Write docs/delays.md, what late, batched and lost answers cost each policy: `make studies`. Takes a minute or two."""

from typing import Any

import altair

import pages
import vambrace as vb
from vambrace.report.style import COLOURS

ARMS = (0.9, 0.8, 0.7, 0.6, 0.5)
HORIZON, REPLICATIONS, BUDGET = 100_000, 20, 100.0
POLICIES: dict[str, vb.Policy] = {
    "UCB1": vb.UCB1(),
    "KL-UCB": vb.KLUCB(),
    "Thompson": vb.Thompson(),
    "Tsallis-INF": vb.TsallisINF(),
    "EXP3": vb.EXP3(),
    "SE-WR, tight": vb.SEWR(budget=BUDGET, radius="tight"),
    "KL-UCB-WR": vb.KLUCBWR(budget=BUDGET),
    "PE-WR, tight": vb.PEWR(radius="tight"),
}
CONDITIONS: dict[str, dict[str, Any]] = {
    "prompt": {},
    "1,000 late": {"delay": vb.Delay.fixed(1_000)},
    "geometric, mean 1,000": {"delay": vb.Delay.geometric(mean=1_000)},
    "batches of 10,000": {"delay": vb.Delay.batch(every=10_000)},
    "10 % lost": {"lost": 0.1},
}
ATTACKS: dict[str, vb.Adversary | None] = {"no attack": None, "conceal": vb.Conceal(budget=BUDGET)}
SCALE = altair.Scale(type="log", domain=[20, 20_000], nice=False)
AXIS = altair.Axis(format=",", values=[30, 100, 300, 1_000, 3_000, 10_000])
ALT = (
    "Regret of eight policies under five kinds of feedback, without attack and under Conceal, on a log scale. Batches of "
    "10,000 cost 2,000 or more; lost answers cost little. Under Conceal UCB1, KL-UCB and Thompson lose 10,000, unless "
    "answers come in batches"
)
PAGE = """\
# Late, batched and lost answers

*This page is written by `make studies`.* A click may come an hour after the decision, a whole day's clicks may come at
midnight, and some never come. `vb.simulate` plays that, with the same numbers as a live learner that is told in that order:

```python
import vambrace as vb

arms = vb.Bernoulli([0.9, 0.5])
for options in ({{}}, {{"delay": vb.Delay.fixed(1_000)}}, {{"delay": vb.Delay.batch(every=5_000)}}, {{"lost": 0.1}}):
    print(vb.simulate(vb.KLUCBWR(budget=20), arms, horizon=20_000, engine="rounds", seed=1, **options))
```

```text
{example}
```

`Delay.fixed(d)`: every answer is d rounds late. `Delay.geometric(mean=m)`: each by its own number of rounds, m on average.
`Delay.batch(every=n)`: the answers of n rounds come together. `lost=0.1`: one answer in ten never comes; the decision stays open,
as in a live learner without expiry. Delays and losses do not depend on the reward, and have their own random numbers: two
policies, attacked or not, meet the same delays. The attack acts when the arm is played. On the command line: `vambrace simulate
ucb1 --delay fixed:1000 --lost 0.1`. These games are played round by round: the [leap engine](leap.md) needs prompt answers.

## What it costs

Mean regret over {replications} replications of {horizon:,} rounds, arms {arms}. *Conceal* hides the best arm and spends {budget:g}, the budget that SE-WR and
KL-UCB-WR are given; random play loses {random:,.0f}.

### Without attack

{clean}

### Under Conceal

{attacked}

![{alt}](images/delays.svg)

{reading}
"""
READING = """\
## How to read this

- **The first answers count most.** With a delay of d rounds nothing is known in the first d of them, and nobody can do better there than
  try the arms in turn: that alone costs d times the mean gap, here {blind:,.0f} for 1,000 rounds and {blind_batch:,.0f} for a batch
  of 10,000. Most policies lose little more than that and what they lose when answers are prompt.
- **Geometric delays are milder than fixed ones with the same mean**: some answers come at once, so that a policy can start.
- **Losing one answer in ten at random** is learning a tenth more slowly, or less. The exception is SE-WR: after a loss the arms have different
  numbers of answers, and its comparison of two means needs a wider radius then. It pays a third more, with late answers as well.
- **KL-UCB-WR does not count open decisions** as if they had been answered, because its proof must not. So it plays an arm until the answers say
  otherwise, which comes d rounds late, for each arm anew: a fixed delay can cost it d times the *sum* of the gaps, the term DΔ of
  [its proof](price-of-armour.md#what-follows). UCB1 and KL-UCB count them and spread their decisions.
- **The armour holds.** Under Conceal, SE-WR, KL-UCB-WR and PE-WR lose at most half as much again as without attack, however late the answers are.
- **Batches are no armour.** UCB1, KL-UCB and Thompson survive this attack if answers come in batches of 10,000: when they first choose, they have 2,000 answers
  of each arm, and hiding {budget:g} of those is not enough. An attacker with a budget in proportion to the batch breaks them as before.
- **Late because of the reward is another matter.** Here delays do not depend on rewards. If a click is reported at once and "no click" is a
  time-out, see [Late answers](price-of-armour.md#what-follows).
"""


def measure() -> dict[tuple[str, str, str], float]:
    """The mean regret of every policy, feedback and attack."""
    found, watch = {}, pages.watcher("games")
    total = len(ATTACKS) * len(CONDITIONS) * len(POLICIES)
    for against, attack in ATTACKS.items():
        for condition, options in CONDITIONS.items():
            for name, policy in POLICIES.items():
                game: dict[str, Any] = {
                    "horizon": HORIZON,
                    "replications": REPLICATIONS,
                    "seed": 17,
                    "engine": "rounds",
                }
                result = vb.simulate(
                    policy, vb.Bernoulli(ARMS), attack, checkpoints=1, progress=False, **game, **options
                )
                found[against, condition, name] = float(result.pseudo_regret[:, -1].mean())
                watch(len(found), total)
    return found


def table(found: dict[tuple[str, str, str], float], against: str) -> str:
    rows = [[name, *(f"{found[against, condition, name]:,.0f}" for condition in CONDITIONS)] for name in POLICIES]
    return pages.table(["policy", *CONDITIONS], rows)


def figure(found: dict[tuple[str, str, str], float]) -> Any:
    """One panel for each attack, one row for each policy, one mark for each kind of feedback."""
    rows = [
        {"attack": against, "feedback": condition, "policy": name, "regret": regret}
        for (against, condition, name), regret in found.items()
    ]
    kinds = list(CONDITIONS)
    colours = altair.Scale(domain=kinds, range=list(COLOURS)[: len(kinds)])
    legend = altair.Legend(orient="top", columns=5)
    chart = altair.Chart(altair.Data(values=rows)).mark_point(size=70, filled=True, opacity=1)  # type: ignore[no-untyped-call]
    return (
        chart.encode(
            x=altair.X("regret:Q", title="regret", scale=SCALE, axis=AXIS),
            y=altair.Y("policy:N", title=None, sort=list(POLICIES)),
            color=altair.Color("feedback:N", title=None, scale=colours, sort=kinds, legend=legend),
            shape=altair.Shape("feedback:N", title=None, sort=kinds, scale=altair.Scale(domain=kinds), legend=legend),
            column=altair.Column("attack:N", title=None, sort=list(ATTACKS)),
        )
        .properties(width=330, height=230)
        .configure_axisY(grid=True)
    )


def example() -> str:
    """What the code on the page prints."""
    arms, lines = vb.Bernoulli([0.9, 0.5]), []
    for options in ({}, {"delay": vb.Delay.fixed(1_000)}, {"delay": vb.Delay.batch(every=5_000)}, {"lost": 0.1}):
        game: dict[str, Any] = {"horizon": 20_000, "engine": "rounds", "seed": 1}
        lines.append(str(vb.simulate(vb.KLUCBWR(budget=20), arms, **game, **options)))
    return "\n".join(lines)


def main() -> None:
    found, mean_gap = measure(), max(ARMS) - sum(ARMS) / len(ARMS)
    pages.draw("delays.svg", figure(found))
    reading = READING.format(blind=1_000 * mean_gap, blind_batch=10_000 * mean_gap, budget=BUDGET)
    page = PAGE.format(
        example=example(),
        replications=REPLICATIONS,
        horizon=HORIZON,
        arms=", ".join(f"{mean:g}" for mean in ARMS),
        budget=BUDGET,
        random=HORIZON * mean_gap,
        clean=table(found, "no attack"),
        attacked=table(found, "conceal"),
        alt=ALT,
        reading=reading,
    )
    pages.write("delays.md", page.rstrip() + "\n")


if __name__ == "__main__":
    main()
