"""Thompson sampling: the same arms as the oracle on the same stream, and a coin that travels with the decision."""

import numpy as np
import pytest

import naive
import vambrace as vb
from tables import Table, pulls_of_engine
from vambrace.live.knowledge import LIVE
from vambrace.sampling import gamma_width, quick_beta_draw, stream, uniform


def oracle(n_arms: int, rounds: int, *key: int) -> naive.Thompson:
    """The oracle, drawing from the stream of this key."""
    rng = stream(*key)

    def beta(a: float, b: float) -> float:
        return quick_beta_draw(a, gamma_width(a), b, gamma_width(b), rng)

    return naive.Thompson(n_arms, rounds, beta=beta, uniforms=iter(lambda: uniform(rng), None))


def table_of(kind: str, n_arms: int, rounds: int) -> Table:
    rng, means = np.random.default_rng(3), np.linspace(0.7, 0.3, n_arms)
    if kind == "coins":
        return (rng.random((rounds, n_arms)) < means).astype(float)
    return rng.normal(means, 0.2 if kind == "floats" else 3.0, (rounds, n_arms))


@pytest.mark.parametrize("kind", ["coins", "floats", "wild"])
@pytest.mark.parametrize(("n_arms", "rounds"), [(1, 1), (1, 9), (2, 300), (5, 1500)])
def test_same_arms_as_the_oracle(kind: str, n_arms: int, rounds: int) -> None:
    table = table_of(kind, n_arms, rounds)
    expected = naive.play(oracle(n_arms, rounds, 0, 0, 0), table.tolist())
    assert pulls_of_engine(vb.Thompson(), table, interpret=False) == expected
    assert pulls_of_engine(vb.Thompson(), table, interpret=True) == expected
    twin, learner = oracle(n_arms, rounds, 7, LIVE), vb.Thompson().learner(n_arms=n_arms, horizon=rounds, seed=7)
    for row in np.clip(table, 0.0, 1.0):
        decision = learner.ask()
        assert decision.arm == twin.ask()
        learner.tell(decision, row[decision.arm])
        twin.tell(decision.arm, row[decision.arm])


def test_answers_in_any_order_make_the_same_posterior() -> None:
    """The coin was tossed when the arm was chosen."""
    posteriors = []
    for reverse in (False, True):
        learner = vb.Thompson().learner(n_arms=3, horizon=200, seed=4)
        decisions = [learner.ask() for _ in range(200)]
        for decision in reversed(decisions) if reverse else decisions:
            learner.tell(decision, 0.2 + 0.3 * decision.arm)
        posteriors.append([learner._core.state.alphas.tolist(), learner._core.state.betas.tolist()])
    assert posteriors[0] == posteriors[1]
    successes, failures = np.array(posteriors[0]) - 1.0
    assert (successes + failures).sum() == 200
    # 200 coins of chance about one half: further off than six deviations once in 10^9
    assert abs(successes.sum() - (successes + failures) @ [0.2, 0.5, 0.8]) < 6 * np.sqrt(200 * 0.25)


def test_regret_is_logarithmic() -> None:
    """At gap 0.2 the best possible is about gap ln(T) / kl(0.5, 0.7) = 33 at T = 10^6; linear would be 200,000."""
    result = vb.simulate(vb.Thompson(), vb.Bernoulli([0.7, 0.5]), horizon=10**6, replications=10, seed=2, checkpoints=1)
    assert result.pseudo_regret[:, -1].mean() < 100
