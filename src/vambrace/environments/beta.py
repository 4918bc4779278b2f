"""Beta arms: continuous rewards in (0, 1), such as the share of a page that was read."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, NamedTuple

from vambrace.environments.means import MeansEnvironment
from vambrace.kernels import kernel
from vambrace.parameters import PER_ARM, Chance, Positive
from vambrace.protocols import Floats
from vambrace.sampling import Stream, beta_draw


class State(NamedTuple):
    """The two shape parameters of each arm's distribution."""

    alphas: Floats
    betas: Floats


@kernel
def draw(state: State, arm: int, rng: Stream) -> float:
    return beta_draw(state.alphas[arm], state.betas[arm], rng)


@dataclass(frozen=True)
class Beta(MeansEnvironment):
    """Arms that pay any amount between 0 and 1, such as the share of a page that was read.

    Args:
        means: The expected reward of each arm, strictly between 0 and 1.
        concentration: Larger means less noise: the variance is mean (1 - mean) / (concentration + 1).

    >>> import vambrace as vb
    >>> env = vb.Beta([0.8, 0.4], concentration=4)
    >>> env.arm_means().tolist()
    [0.8, 0.4]
    >>> print(vb.simulate(vb.SEWR(budget=5, radius="tight"), env, vb.Conceal(budget=5), horizon=2_000, seed=1))
    se-wr:budget=5,radius=tight against conceal:budget=5: regret 70.0 after 2,000 rounds, cost 5.0
    """

    name = "beta"
    draw = staticmethod(draw)

    means: Annotated[Sequence[Chance], PER_ARM]
    concentration: Positive = 2.0

    def init(self) -> State:
        means = self.arm_means()
        return State(means * self.concentration, (1.0 - means) * self.concentration)
