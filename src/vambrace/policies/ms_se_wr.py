"""MS-SE-WR: model selection over SE-WR, for an unknown budget.

Setting     K arms, rewards in [0, 1], horizon T; the learner does not know how much the attacker may spend.
Algorithm   G = ceil(log2 T) copies of SE-WR-Stop (multiplicative) with budgets 2, 4, ..., 2^G under a master that
            learns which of them to follow.   Algorithm 3
Reading     Smoothing (Pacchiano et al. 2020): a master round is two game rounds. Step 1 plays the arm that the drawn
            base prescribes, for the base; step 2 replays a past state of that base, for the master only. For these
            deterministic bases a past state drawn uniformly is an arm drawn in proportion to the base's step-1 counts.
            An odd last round is a step 1 of the likeliest base.

With ``share=True`` an attack still spends at most C, on the one table. ``smoothing=False`` plays one game round per
master round and gives its reward to both base and master (common in practice, not covered by the theorem).
With delayed feedback step 2 follows the latest answered step 1, and an arm's open decisions count for every base.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from vambrace.kernels import kernel
from vambrace.policies.elimination import Arms, EliminationPolicy, advance_and_test, fewest_pulled
from vambrace.policies.exponential import draw_arm
from vambrace.policies.masters import Master, MasterName, learn, likeliest_base, make_master
from vambrace.policies.radii import Radius, Rule, make_rule
from vambrace.protocols import Answer, Flags, Floats, Game, Integers, Round
from vambrace.sampling import Stream, uniform


class Bases(NamedTuple):
    """One row for each base, but a single row of totals and counts if they are shared."""

    totals: Floats
    counts: Integers
    active: Integers
    dropped: Flags
    n_active: Integers
    floor: Integers
    at_floor: Integers
    excess: Integers
    next_test: Integers
    budgets: Floats
    followed: Integers  # step-1 pulls of each base and arm


class State(NamedTuple):
    """The bases, the master, and which step comes next."""

    bases: Bases
    master: Master
    rule: Rule
    last_test: int
    master_rounds: int  # still to come
    replay: int  # the base whose past is replayed next, or -1
    replay_probability: float  # the probability with which it was drawn
    share: bool
    smoothing: bool


@kernel
def select(state: State, round: Round, rng: Stream) -> tuple[int, float, int]:
    """The tag is twice the base, plus one in step 2; the probability is the base's."""
    if state.replay >= 0:
        return _past_arm(state.bases, state.replay, rng), state.replay_probability, 2 * state.replay + 1
    if state.master_rounds <= 0:
        base, probability = likeliest_base(state.master), 1.0
    else:
        base = draw_arm(state.master.mixed, 1.0, 0.0, rng)[0]
        probability = state.master.mixed[base]
    arms = _base(state.bases, base, state.share)
    return fewest_pulled(arms.active, arms.n_active, arms.counts, round), probability, 2 * base


@kernel
def _past_arm(bases: Bases, base: int, rng: Stream) -> int:
    """An arm in proportion to how often the base prescribed it."""
    followed, total, cumulative = bases.followed[base], 0, 0
    for pulls in followed:
        total += pulls
    mark = uniform(rng) * total
    for k in range(len(followed)):
        cumulative += followed[k]
        if cumulative > mark:
            return k
    return len(followed) - 1


@kernel
def update(state: State, answer: Answer) -> State:
    arm, reward, probability, tag = answer.arm, answer.reward, answer.probability, answer.tag
    bases, base, second_step, replay, rounds = state.bases, tag // 2, tag % 2 == 1, state.replay, state.master_rounds
    if state.share:
        bases.totals[0, arm] += reward
        bases.counts[0, arm] += 1
        for g in range(len(bases.budgets)):
            _feed(state, g, arm, reward)
    elif not second_step:
        bases.totals[base, arm] += reward
        bases.counts[base, arm] += 1
        _feed(state, base, arm, reward)
    if not second_step:
        bases.followed[base, arm] += 1
        replay = base if state.smoothing and rounds > 0 else -1
    if second_step or not state.smoothing:
        learn(state.master, base, reward, probability)
        replay, rounds = -1, rounds - 1
    return State(
        bases, state.master, state.rule, state.last_test, rounds, replay, probability, state.share, state.smoothing
    )


@kernel
def _feed(state: State, g: int, arm: int, reward: float) -> None:
    """Let base g see that `arm` was observed, and test if its sweep is complete."""
    bases, rule = state.bases, state.rule
    if not 0.0 <= reward <= 1.0:
        bases.next_test[g] = 0
    rule = Rule(rule.radius, rule.log_single, rule.log_equal, rule.log_pair, bases.budgets[g])
    before = _base(bases, g, state.share)
    arms, next_test = advance_and_test(before, arm, rule, bases.next_test[g], state.last_test)
    bases.n_active[g], bases.floor[g], bases.at_floor[g] = arms.n_active, arms.floor, arms.at_floor
    bases.excess[g], bases.next_test[g] = arms.excess, next_test


@kernel
def _base(bases: Bases, g: int, share: bool) -> Arms:
    """Base g as a table of arms; its arrays are views."""
    row = 0 if share else g
    totals, counts, active, dropped, n_active, floor, at_floor, excess, _, _, _ = bases
    return Arms(totals[row], counts[row], active[g], dropped[g], n_active[g], floor[g], at_floor[g], excess[g])


@dataclass(frozen=True, kw_only=True)
class MSSEWR(EliminationPolicy):
    """Model selection over SE-WR, for an attack of unknown size: a master learns which budget to use (Algorithm 3).

    Not knowing the budget C costs a factor, not C squared as in `PEWR`. As printed it hardly learns below a million
    rounds; set ``share=True``, which makes it work at realistic horizons.

    Args:
        master: "corral": regret O~(K C sqrt(T)); "exp3p": O~(sqrt(K C) T^(2/3)) (the paper swaps them, erratum E2).
        share: Let every observation count for every base: recommended, but not as printed.
        smoothing: Replay a past arm for the master every second round, as the theorem needs.
        radius: "paper", "tight" or "kl", as in `SEWR`.

    Guarantee: the bound of its master (Theorem 11); the theorem that the proof cites assumes no attacker
    (docs/errata.md, E25).

    >>> import vambrace as vb
    >>> policy = vb.MSSEWR(share=True, radius="tight")
    >>> print(vb.simulate(policy, vb.Bernoulli([0.9, 0.1]), vb.Conceal(budget=4), horizon=5_000, seed=1))
    ms-se-wr:share=true,radius=tight against conceal:budget=4: regret 429.6 after 5,000 rounds, cost 4.0
    """

    name, reference = "ms-se-wr", "Algorithm 3, Theorem 11"
    randomized = True
    knows_probability = False
    select, update = staticmethod(select), staticmethod(update)

    master: MasterName = "corral"
    share: bool = False
    smoothing: bool = True
    radius: Radius = "paper"

    def init(self, game: Game) -> State:
        """Every base new, the master uniform; delta = K / T and the global T in each base."""
        n_arms, horizon = game.n_arms, game.required_horizon
        n_bases = max(1, (horizon - 1).bit_length())  # ceil(log2 T), without rounding
        rounds = max(1, horizon // 2) if self.smoothing else horizon
        tables = 1 if self.share else n_bases
        bases = Bases(
            totals=np.zeros((tables, n_arms)),
            counts=np.zeros((tables, n_arms), dtype=np.int64),
            active=np.tile(np.arange(n_arms), (n_bases, 1)),
            dropped=np.zeros((n_bases, n_arms), dtype=np.bool_),
            n_active=np.full(n_bases, n_arms),
            floor=np.zeros(n_bases, dtype=np.int64),
            at_floor=np.full(n_bases, n_arms),
            excess=np.zeros(n_bases, dtype=np.int64),
            next_test=np.ones(n_bases, dtype=np.int64),
            budgets=np.array([2.0**g for g in range(1, n_bases + 1)]),
            followed=np.zeros((n_bases, n_arms), dtype=np.int64),
        )
        master, rule = make_master(self.master, n_bases, rounds), make_rule(self.radius, n_arms, horizon, None, 0.0)
        last_test = horizon // n_arms + 1  # as in SE-WR-Stop
        return State(bases, master, rule, last_test, rounds, -1, 1.0, self.share, self.smoothing)
