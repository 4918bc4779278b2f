"""SE-WR: successive elimination with a widened confidence radius; SE, without a budget; SE-WR-Stop, which stops.

Setting     K arms, rewards in [0, 1], horizon T; an attacker who sees the pulled arm alters observed rewards by at
            most ``budget`` in total, and the learner knows ``budget``.
Algorithm   Pull every active arm once. After each such sweep drop every arm whose mean lies more than
            2 (sqrt(L / n) + budget / n) below the best active mean, L = ln(2 K T / delta).   Algorithm 1
            SE is the same with a budget of zero.   Even-Dar, Mannor, Mansour 2006
            SE-WR-Stop checks n <= cap before each sweep; once that fails the active set is frozen and swept to the end.
            multiplicative: cap = T / K;  additive: cap = T / K + budget sqrt(T / (K ln(KT/delta))).   Algorithm 4
Reading     The maximum runs over the active arms only (erratum E6). 36 and 6 are right, the proof's 64 and 8 are
            loose (E1). The radius is loose by sqrt 2 (E7) and kept in ``radius="paper"``. The last test of SE-WR-Stop
            is at n = floor(cap) + 1. Its "uniformly pull" is round-robin: a random order would not hinder an adversary
            that sees the arm. The observed reward is what Algorithm 4 calls X (E17). Plain SE-WR already has both
            bounds (E16).

``radius="tight"`` keeps the guarantee with about four times fewer pulls: the best arm and its rival share one budget,
and the difference of two means over n pulls deviates by a with probability at most exp(-n a^2). With delayed feedback
the counts differ and both the equal and the pair form are used: 1 - 2 delta. ``radius="kl"``, for small click rates,
uses Chernoff's bound n kl(mean, q) <= L instead, for every split of the budget between the two arms.

When an arm opens or closes, all open arms are active again and tested at once by their own totals and counts, as after
delays; with an arm that has no answer yet, after its first one. An arm that was dropped because of a closed arm thus
comes back, and one that an open arm beats does not. "paper" and "kl" keep their guarantee, with K the arms ever open;
"tight" compares pairs and has a different best arm whenever arms change: 1 - 2 K delta.
"""

from dataclasses import dataclass
from math import floor, sqrt
from typing import Any, Literal, NamedTuple

import numpy as np

from vambrace.engine.slots import ARMS_CHANGE
from vambrace.kernels import kernel
from vambrace.parameters import Budget, Chance
from vambrace.policies.elimination import (
    NEVER,
    Arms,
    EliminationPolicy,
    absorb_sweeps,
    advance_and_test,
    cycle,
    drop_if_due,
    first_at_floor,
    make_arms,
    next_in_sweep,
    readmitted,
)
from vambrace.policies.radii import Radius, Rule, make_rule, separated
from vambrace.policies.standings import answers_needed, radius_interval, unknown
from vambrace.protocols import Answer, Flags, Floats, Game, Round, Stream
from vambrace.signatures import Standing


class State(NamedTuple):
    """Arrays are updated in place; scalars are replaced, so that they stay in registers."""

    arms: Arms
    rule: Rule
    next_test: int  # no arm can fall before this sweep,
    last_test: int  # and none may fall after this one (SE-WR-Stop)
    closed: Flags


@kernel
def select(state: State, round: Round, rng: Stream) -> tuple[int, float, int]:
    if ARMS_CHANGE and round.open == 0:  # those that are one pull ahead need not come first in index order
        return first_at_floor(state.arms), 1.0, 0
    return next_in_sweep(state.arms, round), 1.0, 0


@kernel
def update(state: State, answer: Answer) -> State:
    arms, rule, next_test, last_test, closed = state
    arm, reward = answer.arm, answer.reward
    arms.totals[arm] += reward
    arms.counts[arm] += 1
    if not 0.0 <= reward <= 1.0:
        next_test = 0  # an unbounded attack may have moved the totals by more than one per sweep: test after this sweep
    arms, next_test = advance_and_test(arms, arm, rule, next_test, last_test)
    return State(arms, rule, next_test, last_test, closed)


@kernel
def open_arm(state: State, arm: int) -> State:
    state.closed[arm] = False
    return _tested_anew(state)


@kernel
def close_arm(state: State, arm: int) -> State:
    state.closed[arm] = True
    return _tested_anew(state)


@kernel
def _tested_anew(state: State) -> State:
    arms, next_test = readmitted(state.arms, state.closed), 0
    if arms.floor > 0:
        arms, next_test = drop_if_due(arms, state.rule, next_test, state.last_test)
    return State(arms, state.rule, next_test, state.last_test, state.closed)


@kernel
def quiet(state: State) -> int:
    """The sweeps up to the next one after which an arm may fall, that one included."""
    arms = state.arms
    if arms.at_floor < arms.n_active:
        return 0
    if arms.n_active == 1 or max(state.next_test, arms.floor + 1) > state.last_test:
        return NEVER
    return max(state.next_test - arms.floor, 1)


@kernel
def absorb(state: State, sweeps: int, totals: Floats) -> State:
    arms = absorb_sweeps(state.arms, sweeps, totals)
    arms, next_test = drop_if_due(arms, state.rule, state.next_test, state.last_test)
    return State(arms, state.rule, next_test, state.last_test, state.closed)


class SweepingPolicy(EliminationPolicy):
    """SE, SE-WR and SE-WR-Stop, which differ in their parameters and in the last test."""

    learns_from_counts = True
    budget: float
    delta: float | None
    select, update = staticmethod(select), staticmethod(update)
    cycle, quiet, absorb = staticmethod(cycle), staticmethod(quiet), staticmethod(absorb)
    open_arm, close_arm = staticmethod(open_arm), staticmethod(close_arm)
    state_version = 2

    def init(self, game: Game) -> State:
        """All arms active; the first test is after the first sweep."""
        n_arms, horizon = game.n_arms, game.required_horizon
        rule = make_rule(self.radius, n_arms, horizon, self.delta, self.budget)
        last_test, closed = self._last_test(n_arms, horizon, rule), np.zeros(n_arms, dtype=np.bool_)
        return State(make_arms(n_arms), rule, 1, last_test, closed)

    def widen(self, state: Any, game: Game) -> Any:
        """The new arms are closed; the rule is that of the larger game."""
        n_arms, wide = len(state.closed), super().widen(state, game)
        wide.closed[n_arms:], wide.arms.dropped[n_arms:] = True, True
        return wide._replace(rule=self.init(game).rule, next_test=0)

    def migrate(self, state: dict[str, Any], version: int) -> dict[str, Any]:
        return {**state, "closed": [False] * len(state["arms"]["counts"])}

    def _last_test(self, n_arms: int, horizon: int, rule: Rule) -> int:
        return NEVER

    def standing(self, state: State, arm: int) -> Standing:
        """Its interval, and when the active arm with the best mean would beat it at equal counts."""
        arms, rule = state.arms, state.rule
        count, dropped = int(arms.counts[arm]), bool(arms.dropped[arm])
        if count == 0:
            return unknown(dropped)
        mean, best = arms.totals[arm] / count, 0.0
        for rival in arms.active[: arms.n_active]:
            best = max(best, arms.totals[rival] / max(arms.counts[rival], 1))
        needed = None
        if not dropped and mean < best:
            needed = answers_needed(count, lambda n: separated(rule, best * n, n, mean * n, n))
        if needed is not None and count + needed > state.last_test:
            needed = None
        return Standing(*radius_interval(rule, arms.totals[arm], count), dropped, needed)


@dataclass(frozen=True, kw_only=True)
class SEWR(SweepingPolicy):
    """Successive elimination that survives ``budget`` fake events: for when you know how many there may be.

    It sweeps over the arms and drops one only if neither chance nor an attack within the budget explains how far it
    lies behind (Algorithm 1 of the paper).

    Args:
        budget: What the attacker may spend in total: at worst, this many fake events. With 0 it trusts every reward; a
            larger budget than necessary costs regret, a smaller one the guarantee.
        delta: The chance that the guarantee fails; None: K / T, the choice that bounds the expected regret.
        radius: "paper": as printed. "tight": the same guarantee with about four times fewer pulls, recommended. "kl":
            for small rates, such as clicks.

    Guarantee: with probability 1 - delta ("tight" with delayed feedback: 1 - 2 delta) the regret is at most the sum of
    36 L / gap + 6 budget over the arms, plus K, with L = ln(2 K T / delta), under any attack within the budget (Theorem
    6). If the horizon is too short to find the gap under this budget, it plays all arms equally: see `vb.plan`.

    In the simulator, against an attacker who spends the whole budget:

    >>> import vambrace as vb
    >>> env, attack = vb.Bernoulli([0.9, 0.5]), vb.Conceal(budget=50)
    >>> print(vb.simulate(vb.SEWR(budget=50, radius="tight"), env, attack, horizon=20_000, seed=1))
    se-wr:budget=50,radius=tight against conceal:budget=50: regret 191.2 after 20,000 rounds, cost 50.0
    >>> print(vb.simulate(vb.UCB1(), env, attack, horizon=20_000, seed=1))  # one that trusts every reward
    ucb1 against conceal:budget=50: regret 1,770.8 after 20,000 rounds, cost 50.0

    Live, where rewards may come late, in any order, or never:

    >>> learner = vb.SEWR(budget=50, radius="tight").learner(n_arms=2, horizon=20_000)
    >>> decision = learner.ask()
    >>> decision.arm
    0
    >>> learner.tell(decision, reward=1.0)
    'applied'
    """

    name, reference = "se-wr", "Algorithm 1, Theorem 6"

    budget: Budget
    delta: Chance | None = None
    radius: Radius = "paper"


@dataclass(frozen=True, kw_only=True)
class SE(SweepingPolicy):
    """Successive elimination that trusts every reward: `SEWR` with a budget of zero.

    For use without attacks, and as the reference for what protection costs.

    Args:
        delta: The chance that the best arm is dropped without any attack; None: K / T.
        radius: "paper", "tight" or "kl", as in `SEWR`.

    Guarantee: regret O(sum over arms of ln(T) / gap) without attack; linear under a few hundred fake events.

    >>> import vambrace as vb
    >>> env = vb.Bernoulli([0.9, 0.8])
    >>> print(vb.simulate(vb.SE(), env, horizon=20_000, seed=1))
    se without attack: regret 685.6 after 20,000 rounds
    >>> print(vb.simulate(vb.SE(), env, vb.Conceal(budget=300), horizon=20_000, seed=1))
    se against conceal:budget=300: regret 1,986.9 after 20,000 rounds, cost 118.0
    """

    name, reference = "se", "Even-Dar et al. 2006"
    budget = 0.0

    delta: Chance | None = None
    radius: Radius = "paper"


@dataclass(frozen=True, kw_only=True)
class SEWRStop(SweepingPolicy):
    """SE-WR that stops eliminating at a fixed sweep, which bounds the regret for gaps of any size (Algorithm 4).

    For a known budget if gaps may be too small to be found. `SEWR` has the same two bounds, up to constants, and is the
    simpler choice; this policy exists because the paper's other algorithms are built on it.

    Args:
        budget: What the attacker may spend in total: at worst, this many fake events.
        stop: "additive": regret O(sqrt(K T ln(K T / delta)) + K budget), for small budgets; "multiplicative": O(sqrt(K
            T (ln(K T / delta) + budget))), for large ones.
        delta: The chance that the guarantee fails; None: K / T.
        radius: "paper", "tight" or "kl", as in `SEWR`.

    Guarantee: the bound of its `stop` with probability 1 - delta, under any attack within the budget (Theorem 7).

    >>> import vambrace as vb
    >>> policy = vb.SEWRStop(budget=50, stop="multiplicative")
    >>> print(vb.simulate(policy, vb.Bernoulli([0.9, 0.5]), vb.Conceal(budget=50), horizon=20_000, seed=1))
    se-wr-stop:budget=50,stop=multiplicative against conceal:budget=50: regret 464.0 after 20,000 rounds, cost 50.0
    """

    name, reference = "se-wr-stop", "Algorithm 4, Theorem 7"

    budget: Budget
    stop: Literal["additive", "multiplicative"] = "additive"
    delta: Chance | None = None
    radius: Radius = "paper"

    def _last_test(self, n_arms: int, horizon: int, rule: Rule) -> int:
        cap = horizon / n_arms
        if self.stop == "additive":
            # at T = 1 the logarithm is zero and the cap infinite: the tests never stop, and there is no arm to drop
            cap += self.budget * sqrt(cap / rule.log_equal) if rule.log_equal > 0.0 else NEVER
        return floor(min(cap, float(NEVER))) + 1
