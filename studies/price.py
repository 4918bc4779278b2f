"""Draw docs/images/price-of-armour.svg from the suite, and write the table of docs/price-of-armour.md: `make studies`."""

from typing import Any

import pages
import vambrace as vb
from vambrace import theory
from vambrace.paper import price

MEANS = (0.9, 0.8, 0.7, 0.6, 0.5)
GAPS = tuple(MEANS[0] - mean for mean in MEANS[1:])
SIZES = ((10**6, 10**3), (10**8, 10**4), (10**10, 10**5), (10**12, 10**6), (10**15, 10**8))
GAMES = 20
PAGE = "price-of-armour.md"


def row(horizon: int, budget: int, spent: float) -> list[str]:
    """Lower bound, measured and upper bound, over (K - 1) B."""
    size: dict[str, Any] = {"horizon": horizon, "budget": budget}
    worst = theory.kl_ucb_wr_gap_free(len(MEANS), **size).value + len(MEANS) ** 2
    low = theory.least_regret(MEANS, regret=worst, spent=spent, **size).value
    high = theory.kl_ucb_wr(GAPS, spent=spent, **size).value
    attack = vb.Boost(budget=spent, depth=0.5) if spent else None
    policy, arms = vb.KLUCBWR(budget=budget), vb.Bernoulli(MEANS)
    game = vb.simulate(policy, arms, attack, horizon=horizon, replications=GAMES, seed=2026, checkpoints=1)
    numbers = (low, float(game.pseudo_regret[:, -1].mean()), high)
    powers = [
        f"10{str(len(str(number)) - 1).translate(str.maketrans('0123456789', '⁰¹²³⁴⁵⁶⁷⁸⁹'))}"
        for number in size.values()
    ]
    return [f"T = {powers[0]}, B = {powers[1]}", *(f"{value / (4 * budget):.3f}" for value in numbers)]


def sandwich() -> str:
    """Both tables, without attack and with it."""
    columns = ["game", "Theorem B: nobody less", "KL-UCB-WR, measured", "Theorem A: never more"]
    quiet = pages.table(columns, [row(*size, spent=0.0) for size in SIZES])
    attacked = pages.table(columns, [row(*size, spent=float(size[1])) for size in SIZES])
    return "\n\n".join(
        [
            f"Regret over (K − 1)·B on five arms {', '.join(map(str, MEANS))}, mean of {GAMES} games. For Theorem B the policy is "
            "one that guarantees no more for unknown gaps than KL-UCB-WR does. **Nobody attacks:**",
            quiet,
            "**C = B fake events**, spent on raising the second best arm, with limit 1.25:",
            attacked,
        ]
    )


def main() -> None:
    pages.draw("price-of-armour.svg", price.figure(pages.finished("price-of-armour")).chart)
    text = (pages.DOCS / PAGE).read_text(encoding="utf-8")
    pages.write(PAGE, pages.between(text, "sandwich", sandwich()))


if __name__ == "__main__":
    main()
