"""Compare KL-UCB-WR with every policy that is given the same budget, and write the table of docs/price-of-armour.md.

`make studies`. Each policy plays against the attacks that hurt it most, which spend all of the budget, a third, or nothing.
"""

from typing import Any

import pages
import vambrace as vb
from vambrace.errors import NotApplicable

ARMS = {
    "0.9, 0.8, 0.7, 0.6, 0.5": (0.9, 0.8, 0.7, 0.6, 0.5),
    "0.5, 0.45 (4 times)": (0.5, 0.45, 0.45, 0.45, 0.45),
    "0.03, 0.02, 0.02, 0.01": (0.03, 0.02, 0.02, 0.01),
    "0.6, 0.4": (0.6, 0.4),
    "0.3, 0.2, 0.1, 0.05": (0.3, 0.2, 0.1, 0.05),
    "ten arms, 0.95 to 0.5": tuple((95 - 5 * arm) / 100 for arm in range(10)),
}
BUDGETS = (30, 100, 300, 1_000, 3_000, 10_000)
HORIZON = 10**6
GAMES = 5
PAGE = "price-of-armour.md"


def policies(budget: float) -> dict[str, vb.Policy]:
    return {
        "kl-ucb-wr": vb.KLUCBWR(budget=budget),
        "se-wr tight": vb.SEWR(budget=budget, radius="tight"),
        "se-wr kl": vb.SEWR(budget=budget, radius="kl"),
        "se-wr": vb.SEWR(budget=budget),
        "se-wr-stop additive": vb.SEWRStop(budget=budget, stop="additive"),
        "se-wr-stop multiplicative": vb.SEWRStop(budget=budget, stop="multiplicative"),
        "ucb-wr": vb.UCBWR(budget=budget),
        "cw-oful": vb.CWOFUL(budget=budget),
    }


def attacks(spent: float) -> list[vb.Adversary]:
    mimics = [vb.Mimic(budget=spent, depth=depth) for depth in (1.2, 4.0)]
    boosts = [vb.Boost(budget=spent, depth=depth) for depth in (0.5, 2.0)]
    return [vb.Conceal(budget=spent), *mimics, *boosts, vb.Swap(budget=spent), vb.EliminationRush(budget=spent)]


def worst(policy: vb.Policy, arms: vb.Bernoulli, budget: float) -> float:
    options: dict[str, Any] = {"horizon": HORIZON, "replications": GAMES, "seed": 2026, "checkpoints": 1}
    found = [vb.simulate(policy, arms, **options)]
    for spent in (budget / 3, budget):
        for attack in attacks(spent):
            try:
                found.append(vb.simulate(policy, arms, attack, **options))
            except NotApplicable:  # a rush needs a policy that drops arms
                continue
    return max(float(result.pseudo_regret[:, -1].mean()) for result in found)


def row(name: str, budget: int) -> list[str]:
    means = ARMS[name]
    arms = vb.Bernoulli(means)
    regrets = {each: worst(policy, arms, budget) for each, policy in policies(budget).items()}
    own = regrets.pop("kl-ucb-wr")
    rival = min(regrets, key=regrets.__getitem__)
    gap = sorted(means)[-1] - sorted(means)[-2]
    long = HORIZON * gap > 10 * len(means) * budget
    ratios = (f"{regrets[each] / own:.2f}" for each in ("se-wr tight", "se-wr kl"))
    random = HORIZON * (max(means) - sum(means) / len(means))
    return [
        name,
        f"{budget:,}",
        f"{own:,.0f} ({own / random:.0%})",
        f"{rival}, {regrets[rival] / own:.2f}",
        *ratios,
        "yes" if long else "",
    ]


def rivals() -> str:
    watch = pages.watcher("rivals")
    rows = []
    for name in ARMS:
        for budget in BUDGETS:
            rows.append(row(name, budget))
            watch(len(rows), len(ARMS) * len(BUDGETS))
    columns = ["arms", "B", "KL-UCB-WR", "the best other", "SE-WR tight", "SE-WR kl", "T·gap > 10 K B"]
    return pages.table(columns, rows)


def main() -> None:
    text = (pages.DOCS / PAGE).read_text(encoding="utf-8")
    pages.write(PAGE, pages.between(text, "rivals", rivals()))


if __name__ == "__main__":
    main()
