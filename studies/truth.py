"""Compare attacks with the optimal one on tiny games, and write the table of docs/truth.md: `make studies`.

Every figure but that of the search is exact. An attack's share is the regret that it adds, divided by what the optimal
attack adds; shares are averaged over the games in which the optimal attack adds something.
"""

from collections.abc import Callable, Iterable, Iterator
from itertools import product
from typing import Any, NamedTuple

import numpy as np

import pages
import vambrace as vb
from vambrace.parameters import spec_of
from vambrace.redteam.games import Games
from vambrace.redteam.optimum import Optimum, look_ahead_regret, optimal_attack, scripted_regret
from vambrace.redteam.race import standard_error

VICTIMS: tuple[vb.Policy, ...] = (
    vb.UCB1(),
    vb.UCB1(alpha=0.5),
    vb.KLUCB(),
    vb.MOSS(),
    vb.SE(delta=0.9, radius="tight"),
    vb.SEWR(budget=0.5, delta=0.9, radius="tight"),
    vb.KLUCBWR(budget=1),
    vb.EpsilonGreedy(),
    vb.Thompson(),
    vb.EXP3(),
)
GAMES = 240  # of which some are left out
LEAST_GAINS = (0.0, 0.05, 0.1, 0.2, 0.4)
SCRIPTS = tuple(product((0, None, 1), repeat=2))
WORTH = 0.01  # what the optimal attack must add for a share to mean something
AHEAD = {"1 round": 1, "3 rounds": 3, "all rounds": 14}
SEARCH = "the search"
FRESH = 1_000  # games behind each figure of the search
CHANCE = 3.5  # standard errors: of 240 figures one lies above by chance with probability 0.06


class TinyGame(NamedTuple):
    """One game."""

    policy: vb.Policy
    means: tuple[float, float]
    budget: int
    horizon: int


def games(count: int = GAMES, seed: int = 2026) -> Iterator[TinyGame]:
    """Random games, the same for the same seed."""
    rng = np.random.default_rng(seed)
    for number in range(count):
        first, second = rng.uniform(0.05, 0.95, 2).round(2).tolist()
        budget, horizon = int(rng.integers(1, 5)), int(rng.integers(8, 15))
        yield TinyGame(VICTIMS[number % len(VICTIMS)], (first, second), budget, horizon)


def best_script(game: TinyGame) -> float:
    """The worst regret over all scripts that show 0, 1 or the truth for each arm."""
    return max(scripted_regret(*game, script) for script in SCRIPTS)


def look_ahead(steps: int) -> Callable[[TinyGame], float]:
    """Looking ahead, with the limit that does most harm."""
    return lambda game: max(look_ahead_regret(*game, steps=steps, least_gain=least) for least in LEAST_GAINS)


def searched(game: TinyGame) -> float:
    """What `vb.red_team` finds: its regret in games that had no part in it, in which the arms have any order."""
    return float(searched_games(game)["regret"])


def searched_games(game: TinyGame) -> dict[str, Any]:
    """The regret of the attack that `vb.red_team` finds, and its standard error; from out/truth.jsonl if it is there."""

    def measure() -> dict[str, Any]:
        arms = vb.Bernoulli(game.means)
        report = vb.red_team(game.policy, arms, budgets=game.budget, horizon=game.horizon, progress=False)
        worst, fresh = report.worst[game.budget], Games(game.policy, arms, horizon=game.horizon, goal=report.goal)
        played = fresh.play([worst.attack], "truth", FRESH)[0]
        return {"regret": played.regret, "error": standard_error(played.regrets), "attack": worst.spec}

    return pages.remembered("truth", repr(game), measure)


def attackers() -> dict[str, Callable[[TinyGame], float]]:
    """Every attack of the table."""
    found: dict[str, Callable[[TinyGame], float]] = {SEARCH: searched, "best of the nine scripts": best_script}
    return found | {f"look ahead, {name}": look_ahead(steps) for name, steps in AHEAD.items()}


def optimum(game: TinyGame) -> Optimum:
    """The optimal attack where the arms have either order, as in the games of the search."""
    there, back = (optimal_attack(*game._replace(means=means)) for means in (game.means, game.means[::-1]))
    return Optimum((there.regret + back.regret) / 2, (there.clean + back.clean) / 2, there.first_answers)


def share(value: float, best: Optimum) -> float:
    """The share of what the optimal attack adds."""
    return (value - best.clean) / (best.regret - best.clean)


def shares(count: int = GAMES) -> dict[str, dict[TinyGame, float]]:
    """The share of each attack in each game in which there is something to add."""
    best = {game: optimal_attack(*game) for game in games(count)}
    best = {game: each for game, each in best.items() if each.regret - each.clean > WORTH}
    found = {}
    for name, play in attackers().items():
        known = {game: optimum(game) for game in best} if name == SEARCH else best
        found[name] = {game: share(play(game), known[game]) for game in best}
    return found


def table(found: dict[str, dict[TinyGame, float]]) -> str:
    """Mean and worst share of each attack, and the mean for each victim."""
    victims = list(dict.fromkeys(spec_of(game.policy) for each in found.values() for game in each))
    rows = []
    for name, each in found.items():
        values = np.array(list(each.values()))
        row = [name, f"{values.mean():.1%}", f"{values.min():.0%}"]
        for victim in victims:
            own = [value for game, value in each.items() if spec_of(game.policy) == victim]
            row += [f"{np.mean(own):.0%}"]
        rows.append(row)
    return pages.table(["attack", "mean", "worst", *victims], rows)


def above(found: Iterable[TinyGame]) -> int:
    """In how many games the search reports more than the optimum, beyond chance."""
    rows = [(searched_games(game), optimum(game).regret) for game in found]
    return sum(row["regret"] > best + CHANCE * row["error"] for row, best in rows)


def main() -> None:
    found = shares()
    own = found[SEARCH]
    words = (
        f"In {len(own)} games the search reaches **{np.mean([*own.values()]):.1%}** of what the optimal attack adds, on average. "
        f"It lies above the optimum by more than {CHANCE:g} standard errors in {above(own)} of them."
    )
    text = (pages.DOCS / "truth.md").read_text(encoding="utf-8")
    pages.write("truth.md", pages.between(text, "tiny", f"{words}\n\n{table(found)}"))


if __name__ == "__main__":
    main()
