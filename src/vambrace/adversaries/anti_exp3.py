"""Anti-EXP3: against learners that make no assumption on rewards and therefore never stop exploring.

Algorithm   Return 0 for every arm except the target, and at least t^(slack - 1/2) for the target in round t.
            Ma & Zhou 2023
Effect      The target is better by t^(slack - 1/2) in every round, more than a learner with regret O(sqrt(T)) can
            overlook: it plays the target in all but O(T^(1 - slack)) rounds. The target may have any mean, since its
            own rewards are raised too.
Reading     Reconstruction, in rewards: Ma & Zhou bound losses by min(loss, 1 - t^(a + slack - 1)) with a = 1/2, the
            exponent of the victim's regret. The larger the slack, the dearer the target's rewards and the sooner the
            victim gives in. A target that pays nothing has no lead of its own: with slack 0.25 the attack then costs
            half as much as with 0.1 and does more harm; otherwise 0.1 costs less and does as much.
"""

from dataclasses import dataclass
from math import inf
from typing import Annotated, Any, NamedTuple

from vambrace.adversaries.ranks import promoted_arm
from vambrace.kernels import kernel
from vambrace.parameters import Arm, AttackBudget, Range
from vambrace.protocols import Adversary, Game, Round, Stream

REGRET_EXPONENT = 0.5  # of EXP3 and similar policies
SLACK, SLACK_FOR_NOTHING = 0.1, 0.25


class State(NamedTuple):
    """The target, and how fast the least reward returned for it falls."""

    target: int
    exponent: float


@kernel
def alter(state: State, round: Round, arm: int, reward: float, view: Any, rng: Stream) -> tuple[float, State]:
    if arm != state.target:
        return 0.0, state
    return max(reward, float(round.t) ** state.exponent), state


@dataclass(frozen=True, kw_only=True)
class AntiEXP3(Adversary):
    """Return 0 for every other arm, and always a little for the target: against learners that never stop exploring.

    The target's lead adds up to more than a learner with regret O(sqrt(T)) can overlook. Strong and black box.

    Args:
        budget: What it may spend in total: at worst, this many fake events; infinite by default.
        target: The arm to promote, by number; None: the worst.
        slack: By how much the exponent of the target's total lead exceeds that of the victim's regret; None: 0.1, and
            0.25 for a target that pays nothing.

    >>> import vambrace as vb
    >>> env, attack = vb.Bernoulli([0.9, 0.0]), vb.AntiEXP3()
    >>> result = vb.simulate(vb.EXP3(), env, attack, horizon=5_000, seed=1)
    >>> result.pulls[0].tolist()
    [495, 4505]
    """

    name, reference = "anti-exp3", "Ma & Zhou 2023"
    strength, knowledge, aim = "strong", "black box", "promotes a target"
    alter = staticmethod(alter)

    budget: AttackBudget = inf
    target: Arm | None = None
    slack: Annotated[float, Range(0.0, 1.0 - REGRET_EXPONENT)] | None = None

    def init(self, game: Game) -> State:
        target, slack = promoted_arm(self.target, game), self.slack
        if slack is None:
            slack = SLACK if game.means[target] > 0.0 else SLACK_FOR_NOTHING
        return State(target, REGRET_EXPONENT + slack - 1.0)
