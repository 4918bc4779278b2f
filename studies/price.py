"""Draw docs/images/price-of-armour.svg from the suite, and write the table of docs/price-of-armour.md: `make studies`."""

from typing import Any

import breaking
import pages
import vambrace as vb
from vambrace import theory
from vambrace.paper import price
from vambrace.report.style import SCREEN

MEANS = (0.9, 0.8, 0.7, 0.6, 0.5)
TWO = (0.9, 0.8)
SIZES = ((10**6, 10**3), (10**8, 10**4), (10**10, 10**5), (10**12, 10**6), (10**15, 10**8))
GAMES = 20
PAGE = "price-of-armour.md"
SEARCHED = (
    "ucb1",
    "thompson",
    "kl-ucb",
    "moss",
    "se",
    "se:radius=tight",
    "pe-wr:radius=tight",
    "se-wr:budget=100,radius=tight",
    "ucb-wr:budget=100",
    "kl-ucb-wr:budget=10",
    "kl-ucb-wr:budget=100",
    "kl-ucb-wr:budget=300",
)
HALF = "regret 5000"  # half of what is lost when the best arm is given up for the second, in 100,000 rounds


def row(means: tuple[float, ...], horizon: int, budget: int, spent: float) -> list[str]:
    """Lower bound, measured and upper bound, over (K - 1) B."""
    size: dict[str, Any] = {"horizon": horizon, "budget": budget}
    worst = theory.kl_ucb_wr_gap_free(len(means), **size).value + len(means) ** 2
    low = theory.least_regret(means, regret=worst, spent=spent, **size).value
    high = theory.kl_ucb_wr([means[0] - mean for mean in means[1:]], spent=spent, **size).value
    attack = vb.Boost(budget=spent, depth=0.5) if spent else None
    policy, arms = vb.KLUCBWR(budget=budget), vb.Bernoulli(means)
    game = vb.simulate(policy, arms, attack, horizon=horizon, replications=GAMES, seed=2026, checkpoints=1)
    numbers = (low, float(game.pseudo_regret[:, -1].mean()), high)
    powers = [
        f"10{str(len(str(number)) - 1).translate(str.maketrans('0123456789', '⁰¹²³⁴⁵⁶⁷⁸⁹'))}"
        for number in size.values()
    ]
    return [f"T = {powers[0]}, B = {powers[1]}", *(f"{value / ((len(means) - 1) * budget):.3f}" for value in numbers)]


def sandwich() -> str:
    """Both tables, without attack and with it."""
    columns = ["game", "Theorem B: nobody less", "KL-UCB-WR, measured", "Theorem A: never more"]
    quiet = pages.table(columns, [row(MEANS, *size, spent=0.0) for size in SIZES])
    attacked = pages.table(columns, [row(TWO, *size, spent=float(size[1])) for size in SIZES])
    return "\n\n".join(
        [
            f"Regret over (K − 1)·B on five arms {', '.join(map(str, MEANS))}, mean of {GAMES} games. For Theorem B the policy is "
            "one that guarantees no more for unknown gaps than KL-UCB-WR does. **Nobody attacks:**",
            quiet,
            f"**C = B fake events** on two arms {TWO[0]}, {TWO[1]}, spent on raising the second; the limit is 2:",
            attacked,
        ]
    )


def searched() -> str:
    """What policies cost without attack, and the budget with which a search breaks them."""
    rows = []
    for policy in SEARCHED:
        found = breaking.broken(policy, MEANS, 100_000, HALF)
        cost = found["clean_regret"] / (len(MEANS) - 1)
        rows.append(
            [policy, f"{cost:,.0f}", breaking.shown(found), f"{(found['budget'] or 0.0) / cost:.2f}", found["words"]]
        )
    return pages.table(["policy", "cost / (K − 1)", "breaks at", "ratio", "the attack"], rows)


def main() -> None:
    pages.draw("price-of-armour.svg", price.figure(pages.finished("price-of-armour"), SCREEN).chart)
    text = (pages.DOCS / PAGE).read_text(encoding="utf-8")
    text = pages.between(text, "searched", searched())
    pages.write(PAGE, pages.between(text, "sandwich", sandwich()))


if __name__ == "__main__":
    main()
