"""The optimal attack on tiny games equals brute force over all histories, with policies written a second time."""

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

import naive
import vambrace as vb
from vambrace.errors import InvalidParameter, NotApplicable
from vambrace.redteam.optimum import look_ahead_regret, optimal_attack, scripted_regret

History = tuple[tuple[int, int], ...]  # the arm and the answer of each round so far
Chances = Callable[[History], Sequence[float]]  # of the arms in the next round


def plain(make: Callable[[], Any]) -> Chances:
    """Plays the history again, every time."""

    def chances(history: History) -> list[float]:
        policy = make()
        for arm, shown in history:
            assert policy.ask() == arm
            policy.tell(arm, float(shown))
        arm = policy.ask()
        return [float(k == arm) for k in range(2)]

    return chances


def epsilon_greedy(history: History) -> list[float]:
    """Each arm once; then the larger mean, ties to the first arm, but with probability min(1, 2 / t) any arm."""
    paid = [[shown for arm, shown in history if arm == k] for k in range(2)]
    for k in range(2):
        if not paid[k]:
            return [float(k == 0), float(k == 1)]
    epsilon = min(1.0, 2 / (len(history) + 1))
    second = sum(paid[1]) * len(paid[0]) > sum(paid[0]) * len(paid[1])
    return [epsilon / 2 + (1 - epsilon) * (k == second) for k in range(2)]


def thompson(history: History) -> list[float]:
    """The chance that one posterior draw is above the other, by the rectangle rule."""
    draws = (np.arange(20_000) + 0.5) / 20_000
    densities = []
    for k in range(2):
        ones, pulls = sum(shown for arm, shown in history if arm == k), sum(arm == k for arm, _ in history)
        density = draws**ones * (1 - draws) ** (pulls - ones)
        densities.append(density / density.sum())
    below = np.cumsum(densities[1]) - densities[1] / 2
    first = float((densities[0] * below).sum())
    return [first, 1 - first]


def brute_force(chances: Chances, means: Sequence[float], budget: int, rounds: int, history: History = ()) -> float:
    """The largest expected regret, over everything that can happen and every answer to it."""
    if rounds == 0:
        return 0.0
    total = 0.0
    for arm, chance in enumerate(chances(history)):
        if chance == 0:
            continue
        total += chance * (max(means) - means[arm])
        for reward, likely in ((1, means[arm]), (0, 1 - means[arm])):
            best = -math.inf
            for shown in (0, 1):
                left = budget - abs(shown - reward)
                if left >= 0:
                    after = brute_force(chances, means, left, rounds - 1, (*history, (arm, shown)))
                    best = max(best, after)
            total += chance * likely * best
    return total


def followed(
    chances: Chances,
    means: Sequence[float],
    budget: int,
    rounds: int,
    show: Callable[[History, int, int, int], int],
    history: History = (),
) -> float:
    """The expected regret if the attack shows show(history, arm, reward, rounds left), as long as it can pay."""
    if rounds == 0:
        return 0.0
    total = 0.0
    for arm, chance in enumerate(chances(history)):
        if chance == 0:
            continue
        total += chance * (max(means) - means[arm])
        for reward, likely in ((1, means[arm]), (0, 1 - means[arm])):
            shown = show(history, arm, reward, rounds - 1) if budget > 0 else reward
            left = budget - abs(shown - reward)
            total += chance * likely * followed(chances, means, left, rounds - 1, show, (*history, (arm, shown)))
    return total


SEWR: dict[str, Any] = {"budget": 0.25, "delta": 0.9, "radius": "tight"}
VICTIMS: list[tuple[vb.Policy, Callable[[int], Chances]]] = [
    (vb.UCB1(alpha=0.3), lambda horizon: plain(lambda: naive.UCB1(2, horizon, alpha=0.3))),
    (vb.KLUCB(), lambda horizon: plain(lambda: naive.KLUCB(2, horizon))),
    (vb.MOSS(), lambda horizon: plain(lambda: naive.MOSS(2, horizon))),
    (vb.SEWR(**SEWR), lambda horizon: plain(lambda: naive.SEWR(2, horizon, **SEWR))),
    (vb.KLUCBWR(budget=1), lambda horizon: plain(lambda: naive.KLUCBWR(2, horizon, budget=1.0))),
    (vb.EpsilonGreedy(), lambda _: epsilon_greedy),
    (vb.Thompson(), lambda _: thompson),
]


@pytest.mark.parametrize(("policy", "make"), VICTIMS, ids=lambda each: getattr(each, "name", ""))
@pytest.mark.parametrize(("means", "budget", "horizon"), [((0.9, 0.5), 1, 4), ((0.3, 0.7), 2, 5), ((0.6, 0.2), 0, 5)])
def test_it_is_what_brute_force_finds(
    policy: vb.Policy, make: Any, means: tuple[float, float], budget: int, horizon: int
) -> None:
    found = optimal_attack(policy, means, budget, horizon)
    assert found.regret == pytest.approx(brute_force(make(horizon), means, budget, horizon), rel=1e-6)
    assert found.clean == pytest.approx(brute_force(make(horizon), means, 0, horizon), rel=1e-6)


def test_six_rounds() -> None:
    found = optimal_attack(vb.UCB1(), (0.8, 0.4), 3, 6)
    assert found.regret == pytest.approx(brute_force(plain(lambda: naive.UCB1(2, 6)), (0.8, 0.4), 3, 6), rel=1e-9)


def test_the_first_answers_are_worth_their_price() -> None:
    """What brute force says of the game after each of the two answers."""
    means, horizon = (0.9, 0.5), 5
    chances = plain(lambda: naive.KLUCB(2, horizon))
    for budget in (0, 1, 2):
        for (arm, reward), shown in optimal_attack(vb.KLUCB(), means, budget, horizon).first_answers.items():
            worth = {
                each: brute_force(chances, means, budget - abs(each - reward), horizon - 1, ((arm, each),))
                for each in (0, 1)
                if budget >= abs(each - reward)
            }
            assert worth[shown] == pytest.approx(max(worth.values()))


@pytest.mark.parametrize(
    "policy", [vb.UCB1(), vb.EpsilonGreedy(), vb.Thompson(), vb.EXP3()], ids=lambda each: each.name
)
def test_games_agree_and_no_attack_does_more(policy: vb.Policy) -> None:
    """1,500 games each; every comparison fails by chance with a probability of 0.0001 at most (4 deviations)."""
    means, horizon, budget = (0.9, 0.4), 12, 2
    best = optimal_attack(policy, means, budget, horizon)
    options: dict[str, Any] = {"horizon": horizon, "replications": 1_500, "seed": 3, "checkpoints": 1}
    for attack in (None, vb.EliminationRush(budget=budget)):
        regret = vb.simulate(policy, vb.Bernoulli(means), attack, realized=False, **options).pseudo_regret[:, -1]
        error = 4 * float(regret.std()) / math.sqrt(len(regret))
        assert regret.mean() < best.regret + error
        if attack is None:
            assert regret.mean() == pytest.approx(best.clean, abs=error)


@pytest.mark.parametrize(("policy", "make"), VICTIMS, ids=lambda each: getattr(each, "name", ""))
def test_scripts_and_looking_ahead_are_what_brute_force_finds(policy: vb.Policy, make: Any) -> None:
    means, budget, horizon = (0.9, 0.5), 2, 5
    chances = make(horizon)
    best = optimal_attack(policy, means, budget, horizon).regret
    for script in ((0, None), (0, 1), (1, 0)):

        def show(history: History, arm: int, reward: int, left: int, script: Any = script) -> int:
            return int(reward if script[arm] is None else script[arm])

        found = scripted_regret(policy, means, budget, horizon, script)
        assert found == pytest.approx(followed(chances, means, budget, horizon, show), rel=1e-6)
        assert found <= best + 1e-9
    for steps, least in ((1, 0.0), (2, 0.1), (9, 0.05)):

        def ahead(history: History, arm: int, reward: int, left: int, steps: int = steps, least: float = least) -> int:
            honest = [
                followed(chances, means, 0, min(left, steps), lambda *_: 0, (*history, (arm, shown)))
                for shown in (reward, 1 - reward)
            ]
            return 1 - reward if honest[1] - honest[0] > least + 1e-7 else reward

        found = look_ahead_regret(policy, means, budget, horizon, steps=steps, least_gain=least + 1e-7)
        assert found == pytest.approx(followed(chances, means, budget, horizon, ahead), rel=1e-6)
        assert found <= best + 1e-9


def test_more_budget_never_does_less_and_ends_at_full_control() -> None:
    values = [optimal_attack(vb.MOSS(), (0.9, 0.5), budget, 10).regret for budget in range(12)]
    assert values == sorted(values)
    assert values[-1] == values[-2] <= 10 * 0.4


def test_three_arms() -> None:
    """A policy that may not be dropped to one arm: 0.3 + 0.6 for the first pulls of the worse arms at least."""
    found = optimal_attack(vb.UCB1(), (0.9, 0.6, 0.3), 1, 6)
    assert 0.9 <= found.clean < found.regret < 6 * 0.6


def test_what_cannot_be_computed_is_refused() -> None:
    with pytest.raises(NotApplicable, match=r"expected a deterministic policy, .* got ms-se-wr with 2 arms"):
        optimal_attack(vb.MSSEWR(), (0.9, 0.5), 1, 5)
    with pytest.raises(NotApplicable, match="got thompson with 3 arms"):
        optimal_attack(vb.Thompson(), (0.9, 0.5, 0.4), 1, 5)
    stranger: Any = None
    with pytest.raises(NotApplicable, match="got foreign"):
        optimal_attack(vb.Foreign(make=lambda *_: stranger, name="foreign"), (0.9, 0.5), 1, 5)
    with pytest.raises(InvalidParameter, match=r"means\[1\]: expected"):
        optimal_attack(vb.UCB1(), (0.9, 1.5), 1, 5)
