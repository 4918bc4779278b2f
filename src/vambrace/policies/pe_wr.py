"""PE-WR and robust phased elimination: phases with a widened confidence radius, for an unknown budget.

Setting     K arms, rewards in [0, 1], horizon T; the learner does not know how much the attacker may spend.
Algorithm   Phase h = 0, 1, ... pulls each active arm n_h = ceil(K 2^h / |S_h|) times and drops every arm whose mean
            *of this phase* lies more than 2 (sqrt(lambda / n_h) + C_h / n_h) below the best, lambda = ln(2KH/delta),
            C_h = min(cap, 2^(H-h-1)), H = max(1, ceil(log2 T) - 1).   Algorithm 2
            Its predecessor, a linear bandit on K unit vectors, has n_h = ceil(K 2^h max(1 / |S_h|, nu)) and
            C_h = min(sqrt(T) / (K log2 T), K^(3/2) 2^(log2 T - h)).   Bogunovic et al. 2021
Reading     |S_h| where Algorithm 2 prints |C_h| (E4); the number of pulls is rounded up, also in the radius (E8);
            cap = sqrt(T) / K as printed, or sqrt(T / K), which the proof needs (E3). A phase cut short by the horizon
            drops nothing. With delayed feedback an answer counts in the phase in which it arrives, and the counts of a
            phase, which then differ, are assumed not to depend on the rewards. The predecessor is a reconstruction: the
            uniform design is the optimal one on unit vectors, its length l_0 is K, and lambda is PE-WR's. The
            truncation nu of the design is 1 / K by default, which changes nothing; a larger nu pulls small active sets
            more often than the length of the phase requires.
"""

from dataclasses import dataclass
from math import ceil, log, log2, sqrt
from typing import Annotated, Literal, NamedTuple

from vambrace.kernels import kernel, rare_kernel
from vambrace.parameters import Chance, Range
from vambrace.policies.elimination import (
    Arms,
    EliminationPolicy,
    absorb_sweeps,
    advance,
    cycle,
    eliminate,
    fewest_pulled,
    make_arms,
    next_in_sweep,
)
from vambrace.policies.radii import RADII, Rule
from vambrace.protocols import Answer, Floats, Game, Round, Stream


class State(NamedTuple):
    """`arms` counts only the present phase."""

    arms: Arms
    orderly: bool  # every phase so far ended at equal counts, so that the arms that are ahead have the lowest indices
    rule: Rule  # its budget is the C_h of the present phase
    phase: int
    pulls_due: int  # n_h
    n_arms: int
    cap: float
    first_guess: float  # C_0 without the cap: 2^(H-1)
    truncation: float  # at least this share of a phase's length K 2^h goes to each active arm; zero for PE-WR


@kernel
def select(state: State, round: Round, rng: Stream) -> tuple[int, float, int]:
    arms = state.arms
    if state.orderly:
        return next_in_sweep(arms, round), 1.0, 0
    return fewest_pulled(arms.active, arms.n_active, arms.counts, round), 1.0, 0


@kernel
def update(state: State, answer: Answer) -> State:
    state.arms.totals[answer.arm] += answer.reward
    state.arms.counts[answer.arm] += 1
    return _advanced(state, advance(state.arms, answer.arm))


@kernel
def _advanced(state: State, arms: Arms) -> State:
    if arms.floor >= state.pulls_due:
        return _next_phase(state, arms)
    _, orderly, rule, phase, pulls_due, n_arms, cap, first_guess, truncation = state
    return State(arms, orderly, rule, phase, pulls_due, n_arms, cap, first_guess, truncation)


@rare_kernel
def _next_phase(state: State, arms: Arms) -> State:
    """Drop the arms that are beaten and reset the counts."""
    _, orderly, rule, phase, pulls_due, n_arms, cap, first_guess, truncation = state
    orderly, phase = orderly and arms.excess == 0, phase + 1
    if arms.n_active > 1:
        arms = eliminate(arms, rule)
    for k in range(n_arms):
        arms.totals[k] = 0.0
        arms.counts[k] = 0
    arms = Arms(arms.totals, arms.counts, arms.active, arms.dropped, arms.n_active, 0, arms.n_active, 0)
    pulls_due = _pulls(n_arms * 2**phase, arms.n_active, truncation)
    rule = Rule(rule.radius, rule.log_single, rule.log_equal, rule.log_pair, min(cap, first_guess * 0.5**phase))
    return State(arms, orderly, rule, phase, pulls_due, n_arms, cap, first_guess, truncation)


@kernel
def _pulls(length: int, n_active: int, truncation: float) -> int:
    """n_h, rounded up (E8)."""
    return max((length + n_active - 1) // n_active, int(ceil(length * truncation)))  # noqa: RUF046 - a float in Numba


@kernel
def quiet(state: State) -> int:
    """The sweeps up to the end of the phase."""
    arms = state.arms
    return state.pulls_due - arms.floor if arms.at_floor == arms.n_active else 0


@kernel
def absorb(state: State, sweeps: int, totals: Floats) -> State:
    return _advanced(state, absorb_sweeps(state.arms, sweeps, totals))


def count_phases(horizon: int) -> int:
    """H = max(1, ceil(log2 T) - 1), without rounding."""
    return max(1, (horizon - 1).bit_length() - 1)


class PhasedPolicy(EliminationPolicy):
    """PE-WR and robust phased elimination, which differ in the budgets and lengths of their phases."""

    delta: float | None
    select, update = staticmethod(select), staticmethod(update)
    cycle, quiet, absorb = staticmethod(cycle), staticmethod(quiet), staticmethod(absorb)

    def start(self, n_arms: int, horizon: int, cap: float, first_guess: float, truncation: float = 0.0) -> State:
        """Phase 0 of length K; the budget that phase h assumes is min(cap, first_guess 2^-h)."""
        delta = n_arms / horizon if self.delta is None else self.delta
        log_phase = log(n_arms) + log(count_phases(horizon)) - log(delta)
        # The counts of a phase are known in advance, so the pair form needs no union over them.
        rule = Rule(RADII.index(self.radius), log(2.0) + log_phase, log_phase, log_phase, min(cap, first_guess))
        pulls_due = _pulls(n_arms, n_arms, truncation)
        return State(make_arms(n_arms), True, rule, 0, pulls_due, n_arms, cap, first_guess, truncation)


@dataclass(frozen=True, kw_only=True)
class PEWR(PhasedPolicy):
    """Phased elimination that survives an attack of unknown size (Algorithm 2).

    Phases double in length; each judges the arms only by its own rewards, so that fake rewards of one phase do not
    count in the next.

    Args:
        delta: The chance that the guarantee fails; None: K / T.
        cap: The largest budget that a phase assumes: "paper" sqrt(T) / K, "repaired" sqrt(T / K), as the proof needs
            (docs/errata.md, E3).
        radius: "paper", or "tight" with the same guarantee and fewer pulls.

    Guarantee: regret O~(sqrt(K T) + K C^2) under an attack of any size C (Theorem 9), with correct accounting
    O~(sqrt(K T) + K C + C^2) for C <= cap (docs/errata.md, E5): the price of not knowing C is its square, so it suits
    attacks well below sqrt(T).

    >>> import vambrace as vb
    >>> policy = vb.PEWR(radius="tight")
    >>> print(vb.simulate(policy, vb.Bernoulli([0.9, 0.5]), vb.Conceal(budget=20), horizon=50_000, seed=1))
    pe-wr:radius=tight against conceal:budget=20: regret 409.2 after 50,000 rounds, cost 20.0
    """

    name, reference = "pe-wr", "Algorithm 2, Theorem 9"

    delta: Chance | None = None
    cap: Literal["paper", "repaired"] = "paper"
    radius: Literal["paper", "tight"] = "paper"

    def init(self, game: Game) -> State:
        n_arms, horizon = game.n_arms, game.required_horizon
        cap = sqrt(horizon) / n_arms if self.cap == "paper" else sqrt(horizon / n_arms)
        return self.start(n_arms, horizon, cap, 2.0 ** (count_phases(horizon) - 1))


@dataclass(frozen=True, kw_only=True)
class RobustPhasedElimination(PhasedPolicy):
    """The predecessor of `PEWR`, for an attack of unknown size: phases of doubling length, each with its own budget.

    Args:
        truncation: Nu: each active arm gets at least this share of the length of a phase; None: 1 / K, no truncation.
        delta: The chance that the guarantee fails; None: K / T.

    Guarantee: O~(sqrt(K T)) plus a polynomial in K times C^2 under an attack of any size C up to sqrt(T) / (K log2 T).

    >>> import vambrace as vb
    >>> policy, env = vb.RobustPhasedElimination(), vb.Bernoulli([0.9, 0.5])
    >>> print(vb.simulate(policy, env, vb.Conceal(budget=10), horizon=50_000, seed=1))
    robust-phased-elimination against conceal:budget=10: regret 409.2 after 50,000 rounds, cost 10.0
    """

    name, reference = "robust-phased-elimination", "Bogunovic et al. 2021"

    truncation: Annotated[float, Range(0.0, 1.0, open_low=True)] | None = None
    delta: Chance | None = None

    def init(self, game: Game) -> State:
        n_arms, horizon = game.n_arms, game.required_horizon
        cap = sqrt(horizon) / (n_arms * max(1.0, log2(horizon)))
        first_guess = n_arms * sqrt(n_arms) * horizon
        return self.start(n_arms, horizon, cap, first_guess, self.truncation or 0.0)
