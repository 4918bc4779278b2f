"""EXP3++: exponential weights whose exploration follows the observed gaps.

Setting     K arms, rewards in [0, 1]; stochastic or adversarial rewards, and the learner does not know which.
Algorithm   Each arm once. Then rho proportional to exp(-eta_t L), L the losses over their probabilities, and arm a is
            drawn with (1 - sum eps) rho_a + eps_a, where eps_a = min(1 / (2K), 1/2 sqrt(ln K / (t K)), xi_a),
            xi_a = 256 ln t / (t gap_a^2), and gap_a is how far the lower confidence bound of the arm's mean loss lies
            above the lowest upper one, each mean +- sqrt(3 ln(t K^(1/3)) / (2 N)).   Seldin and Lugosi 2017
Reading     eta_t = 1/2 sqrt(ln K / (t K)). xi is infinite at gap zero. The first pull of each arm counts with
            probability one. The loss is one minus the reward, clipped to [0, 1]. Missing answers do not count in t, N.
            Closed arms count in K, but are not explored, and the gaps are those to the open arms.
"""

from dataclasses import dataclass
from math import inf, log, sqrt
from typing import Annotated, Any, NamedTuple

import numpy as np

from vambrace.engine.slots import ARMS_CHANGE
from vambrace.kernels import kernel, rare_kernel
from vambrace.parameters import Range
from vambrace.policies.exponential import CLOSED, draw_open_arm, typical_score, weigh
from vambrace.protocols import Answer, Floats, Game, Integers, Policy, Round, Stream


class State(NamedTuple):
    """What is known of each arm, and the probabilities that follow from it."""

    scores: Floats  # minus the estimated losses L
    totals: Floats  # of the losses seen
    counts: Integers
    means: Floats  # of the losses seen; zero for an arm without any
    inverse_roots: Floats  # 1 / sqrt(count), infinite for an arm without any
    explored: Floats  # eps
    mixed: Floats  # the probabilities
    answered: int
    unanswered: int  # the number of arms without an answer
    log_arms: float
    scale: float


@kernel
def select(state: State, round: Round, rng: Stream) -> tuple[int, float, int]:
    if state.unanswered > 0:
        for k in range(len(state.counts)):
            if state.counts[k] + round.open_per_arm[k] == 0 and not (ARMS_CHANGE and not round.available[k]):
                return k, 1.0, 0
    return draw_open_arm(state.mixed, 1.0, 0.0, round, rng)


@kernel
def update(state: State, answer: Answer) -> State:
    arm, loss = answer.arm, 1.0 - min(max(answer.reward, 0.0), 1.0)
    scores, totals, counts, means, inverse_roots, explored, mixed, answered, unanswered, log_arms, scale = state
    if counts[arm] == 0:
        unanswered -= 1
    scores[arm] -= loss / answer.probability
    totals[arm] += loss
    counts[arm] += 1
    means[arm] = totals[arm] / counts[arm]
    inverse_roots[arm] = 1.0 / sqrt(counts[arm])
    _mix(state, answered + 2)
    learnt = scores, totals, counts, means, inverse_roots, explored, mixed
    return State(*learnt, answered + 1, unanswered, log_arms, scale)


@rare_kernel
def _mix(state: State, t: int) -> None:
    """The probabilities of round t."""
    n_arms, log_t = len(state.counts), log(t)
    root = sqrt(1.5 * (log_t + state.log_arms / 3.0))
    highest, lowest_bound = -np.inf, 1.0
    for k in range(n_arms):
        highest = max(highest, state.scores[k])
        if ARMS_CHANGE and state.scores[k] == CLOSED:
            continue
        lowest_bound = min(lowest_bound, state.means[k] + root * state.inverse_roots[k])
    rate = _rate(state, t)
    most, explored = min(0.5 / n_arms, rate), 0.0
    for k in range(n_arms):
        gap = max(0.0, state.means[k] - root * state.inverse_roots[k]) - lowest_bound
        state.explored[k] = min(most, state.scale * log_t / (t * gap * gap)) if gap > 0.0 else most
        if ARMS_CHANGE and state.scores[k] == CLOSED:
            state.explored[k] = 0.0
        explored += state.explored[k]
    kept = (1.0 - explored) / weigh(state.scores, rate, highest, state.mixed)
    for k in range(n_arms):
        state.mixed[k] = kept * state.mixed[k] + state.explored[k]


@kernel
def _rate(state: State, t: int) -> float:
    """eta_t"""
    return 0.5 * sqrt(state.log_arms / (t * len(state.counts)))


@kernel
def open_arm(state: State, arm: int) -> State:
    state.scores[arm] = typical_score(state.scores, _rate(state, state.answered + 1))
    _mix(state, state.answered + 1)
    return state


@kernel
def close_arm(state: State, arm: int) -> State:
    state.scores[arm] = CLOSED
    _mix(state, state.answered + 1)
    return state


@dataclass(frozen=True, kw_only=True)
class EXP3PlusPlus(Policy):
    """Exponential weights that explore an arm less, the clearer it is that the arm is worse.

    Args:
        scale: The 256 in the exploration rate. At short horizons so large a value hides the gaps; inf always does.

    Guarantee: regret O(sqrt(K T ln K)) against any rewards fixed in advance and O(sum over arms of ln(T)^2 / gap) for
    stochastic rewards. An attacker who sees the arm makes it linear.

    >>> import vambrace as vb
    >>> for attack in (None, vb.Conceal(budget=500)):
    ...     print(vb.simulate(vb.EXP3PlusPlus(), vb.Bernoulli([0.9, 0.1]), attack, horizon=5_000, seed=1))
    exp3-plus-plus without attack: regret 62.4 after 5,000 rounds
    exp3-plus-plus against conceal:budget=500: regret 1,028.0 after 5,000 rounds, cost 500.0
    """

    name, reference = "exp3-plus-plus", "Seldin and Lugosi 2017"
    randomized = True
    select, update = staticmethod(select), staticmethod(update)
    open_arm, close_arm = staticmethod(open_arm), staticmethod(close_arm)

    scale: Annotated[float, Range(0.0, inf, open_low=True)] = 256.0

    def init(self, game: Game) -> State:
        n_arms = game.n_arms
        scores, totals, means, explored = np.zeros((4, n_arms))
        counts, inverse_roots = np.zeros(n_arms, dtype=np.int64), np.full(n_arms, np.inf)
        fresh = scores, totals, counts, means, inverse_roots, explored, np.full(n_arms, 1.0 / n_arms)
        return State(*fresh, answered=0, unanswered=n_arms, log_arms=log(n_arms), scale=float(self.scale))

    def widen(self, state: Any, game: Game) -> Any:
        """The new arms are closed."""
        n_arms, wide = len(state.scores), super().widen(state, game)
        wide.scores[n_arms:] = CLOSED
        wide = wide._replace(unanswered=state.unanswered + game.n_arms - n_arms, log_arms=log(game.n_arms))
        _mix(wide, wide.answered + 1)
        return wide
