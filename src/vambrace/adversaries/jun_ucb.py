"""Jun et al.'s attack on UCB: no other arm's mean may come near the target's.

Setting     Strong; knows only what it observes (black box).
Algorithm   Lower the reward of every arm except the target just enough to bring the arm's delivered mean down to
            m - 2 beta(N) - margin, where m and N are the target's mean and pulls.   Jun et al. 2018
Effect      Every other arm is pulled O(ln T / margin^2) times, the target in all other rounds, at a cost of O(ln T)
            per arm.
Reading     Nothing happens before the target's first pull. The rule looks at delivered rewards: if they are clipped to
            [0, 1], what cannot be subtracted from a zero is subtracted from the next rewards of that arm.
"""

from dataclasses import dataclass
from typing import Annotated, Any

from vambrace.adversaries.books import Bookkeeper, Books, humble_level, idle, lowered
from vambrace.kernels import kernel
from vambrace.parameters import Range
from vambrace.protocols import Game, Round, Stream


@kernel
def alter(books: Books, round: Round, arm: int, reward: float, view: Any, rng: Stream) -> tuple[float, Books]:
    if idle(books, arm):
        return reward, books
    return lowered(books, arm, reward, humble_level(books) - books.parameter), books


@dataclass(frozen=True, kw_only=True)
class JunUCB(Bookkeeper):
    """Jun et al.'s attack on UCB: subtract just enough that no other arm's mean comes near the target's.

    Makes an optimistic policy play the target in all but O(ln T) rounds. Strong and black box.

    Args:
        budget: What it may spend in total: at worst, this many fake events; infinite by default.
        target: The arm to promote, by number; None: the worst.
        delta: The chance that one of its confidence bounds fails.
        sigma: How much a reward spreads: at most 0.5 in [0, 1].
        margin: How far below the target's lower bound every other arm is kept.

    >>> import vambrace as vb
    >>> env, attack = vb.Bernoulli([0.9, 0.5]), vb.JunUCB(budget=300)
    >>> result = vb.simulate(vb.UCB1(), env, attack, horizon=5_000, seed=1)
    >>> result.pulls[0].tolist(), float(result.cost[0, -1].round(1))
    ([245, 4755], 155.0)
    """

    name, reference = "jun-ucb", "Jun et al. 2018"
    alter = staticmethod(alter)

    margin: Annotated[float, Range(0.0, 1e9)] = 0.1

    def init(self, game: Game) -> Books:
        return super().init(game)._replace(parameter=self.margin)
