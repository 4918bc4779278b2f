"""Measure which policy to choose when, and write the tables of docs/choosing.md: `make studies`."""

from typing import NamedTuple

import numpy as np

import pages
import vambrace as vb
from vambrace import registry

HORIZONS = (10**6, 10**5)
BUDGETS = (0, 100, 1000)
REPLICATIONS = 5
ARMS = {
    "clear winner": (0.9, 0.8, 0.7, 0.6, 0.5),
    "close race": (0.5, 0.45, 0.45, 0.45, 0.45),
    "small rates": (0.03, 0.02, 0.02, 0.01),
}
ATTACKS = (vb.Conceal(), vb.ExponentialThreshold(), vb.EliminationRush(), vb.PhaseBurst(), vb.MasterAttack())
GIVEN = {  # by the budget that they are given
    0: ("ucb1", "se:radius=tight", "se:radius=kl"),
    100: ("se-wr:budget=100,radius=tight", "se-wr:budget=100,radius=kl", "ucb-wr:budget=100"),
    1000: ("se-wr:budget=1000,radius=tight", "se-wr:budget=1000,radius=kl", "ucb-wr:budget=1000"),
    None: ("pe-wr", "pe-wr:radius=tight", "ms-se-wr:share=true,radius=tight", "cw-oful"),
}
HOPELESS = 0.9  # of what playing at random loses


class Found(NamedTuple):
    regret: float
    attack: str


Cells = dict[tuple[int, str, str, int], Found]  # horizon, arms, policy, budget spent


def measured() -> Cells:
    found: Cells = {}
    policies = [each for given in GIVEN.values() for each in given]
    watch = pages.watcher("choosing")
    games = [(horizon, name, policy) for horizon in HORIZONS for name in ARMS for policy in policies]
    for i, (horizon, name, policy) in enumerate(games):
        report = vb.attack_suite(
            registry.policy(policy),
            vb.Bernoulli(ARMS[name]),
            budgets=BUDGETS,
            horizon=horizon,
            replications=REPLICATIONS,
            seed=2026,
            attacks=ATTACKS,
            progress=False,
        )
        for budget, row in report.worst.items():
            found[horizon, name, policy, int(budget)] = Found(row.regret, row.attack)
        watch(i + 1, len(games))
    return found


def uniform(horizon: int, name: str) -> float:
    """What playing at random loses."""
    means = np.array(ARMS[name])
    return float(horizon * (means.max() - means.mean()))


def worst(cells: Cells, horizon: int, name: str, policy: str, most: int) -> float:
    """The worst regret while no more than `most` is spent."""
    return max(cells[horizon, name, policy, budget].regret for budget in BUDGETS if budget <= most)


def shown(policy: str) -> str:
    """A spec that a narrow column may break between its parameters."""
    return f"<code>{policy.replace(':', ':<wbr>').replace(',', ',<wbr>')}</code>"


def promising(most: int) -> list[str]:
    """The policies that guarantee something when `most` may be spent: given that much, or in need of none."""
    return [policy for given, policies in GIVEN.items() if given is None or given >= most for policy in policies]


def choice(cells: Cells, horizon: int, name: str, most: int) -> str:
    """A cell of the decision: the policy with the smallest worst regret."""
    policy = min(promising(most), key=lambda each: worst(cells, horizon, name, each, most))
    regret = worst(cells, horizon, name, policy, most)
    share = regret / uniform(horizon, name)
    percent = f"({share:.1%})" if share < 0.1 else f"({share:.0%})"
    return f"{shown(policy)}<br>{regret:,.0f} {percent}" if share < HOPELESS else f"nothing helps<br>{percent}"


def blind_choice(cells: Cells, horizon: int, name: str) -> str:
    """The same among policies that need no budget: the smallest multiple of the best one's regret, at any budget."""
    least = {budget: min(cells[horizon, name, each, budget].regret for each in GIVEN[None]) for budget in BUDGETS}
    policy = min(
        GIVEN[None],
        key=lambda each: max(cells[horizon, name, each, budget].regret / least[budget] for budget in BUDGETS),
    )
    regrets = [cells[horizon, name, policy, budget].regret for budget in BUDGETS]
    if regrets[0] >= HOPELESS * uniform(horizon, name):
        return "nothing helps"
    return f"{shown(policy)}<br>" + "<br>".join(
        f"{regret:,.0f} to {budget:,}" for budget, regret in zip(BUDGETS, regrets, strict=True)
    )


def decisions(cells: Cells, name: str) -> str:
    situations = {"no attack": 0} | {f"at most {budget:,}": budget for budget in BUDGETS[1:]}
    rows = [
        [label, *(choice(cells, horizon, name, most) for horizon in HORIZONS)] for label, most in situations.items()
    ]
    rows.append(["unknown", *(blind_choice(cells, horizon, name) for horizon in HORIZONS)])
    columns = ["fake events", *(f"T = {horizon:,}" for horizon in HORIZONS)]
    means = ", ".join(map(str, ARMS[name]))
    return f"### {name.capitalize()}: {means}\n\n" + pages.table(columns, rows).replace("--:|", "---|")


def details(cells: Cells, horizon: int, name: str) -> str:
    rows = []
    for given, policies in GIVEN.items():
        for policy in policies:
            row = [shown(policy), "" if given is None else f"{given:,}"]
            for budget in BUDGETS:
                found = cells[horizon, name, policy, budget]
                cell = f"{found.regret:,.0f}" + (f"<br>{found.attack}" if budget else "")
                row.append(cell if given is None or given >= budget else f"*{cell}*")
            rows.append(row)
    rows.append(["at random", "", *[f"{uniform(horizon, name):,.0f}"] * len(BUDGETS)])
    return pages.table(["policy", "given C", *(f"spent C = {budget:,}" for budget in BUDGETS)], rows)


def lessons(cells: Cells) -> str:
    """What the figures of the first arms say, in words."""
    name = next(iter(ARMS))

    def regret(policy: str, budget: int) -> float:
        return cells[HORIZONS[0], name, policy, budget].regret

    few, many = (f"se-wr:budget={budget},radius=tight" for budget in BUDGETS[1:])
    blind = {budget: min(GIVEN[None], key=lambda each: regret(each, budget)) for budget in BUDGETS}
    given = min(GIVEN[1000], key=lambda each: worst(cells, HORIZONS[0], name, each, 1000))
    if not worst(cells, HORIZONS[0], name, given, 1000) < regret(blind[1000], 1000) < regret(few, 1000):
        raise ValueError("choosing: the figures no longer support the lessons: write new ones")
    return f"""\
On the arms with a clear winner, {HORIZONS[0]:,} rounds:

- **A budget that is too small is the expensive mistake.** SE-WR with budget 100 lost {regret(few, 100):,.0f} to 100 fake events, and
  {regret(few, 1000):,.0f} to 1,000. With budget 1,000 it lost {regret(many, 1000):,.0f} to them, and {regret(many, 0):,.0f} without attack, where budget 100
  lost only {regret(few, 0):,.0f}.
- **A large budget beats no budget.** The best of the policies that need no budget lost {regret(blind[0], 0):,.0f} without attack
  (`{blind[0]}`) and {regret(blind[1000], 1000):,.0f} to 1,000 fake events (`{blind[1000]}`); `{given}` lost at most
  {worst(cells, HORIZONS[0], name, given, 1000):,.0f}. So set the largest budget that your horizon allows.
- **Without armour** UCB1 lost {regret("ucb1", 0):,.0f} without attack, and {regret("ucb1", 100):,.0f} to 100 fake events."""


def main() -> None:
    cells = measured()
    path = pages.DOCS / "choosing.md"
    text = path.read_text(encoding="utf-8")
    text = pages.between(text, "decisions", "\n\n".join(decisions(cells, name) for name in ARMS))
    text = pages.between(text, "lessons", lessons(cells))
    parts = [f"Mean pseudo regret over {REPLICATIONS} replications of {HORIZONS[0]:,} rounds."]
    parts += [f"### {name.capitalize()}, policy by policy\n\n{details(cells, HORIZONS[0], name)}" for name in ARMS]
    pages.write("choosing.md", pages.between(text, "details", "\n\n".join(parts)))


if __name__ == "__main__":
    main()
