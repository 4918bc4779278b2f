"""Script: for each arm, show less, show more or leave it alone; how far, for how much, and when.

Setting     Strong; knows the true means if it has levels (oracle means).
Algorithm   An arm with the sign - shows 0 and one with the sign + shows 1: always, or with the chance with which its
            mean seems to be a given level. It stops when its cap is spent, and acts only within its window of rounds.
Effect      The family that `vb.red_team` searches. These attacks are scripts, pull by pull:

            | attack | script |
            |---|---|
            | Conceal | - on the arm |
            | Conceal with stop_when_dropped | the same with stop_when_dropped |
            | Mimic | - on the best arms, with the level mean - depth gap |
            | Boost | + on the runner-up, with the level mean + depth gap |
            | EliminationRush | - on the best arms, + on the runner-up |
Reading     With stop_when_dropped everything ends when the policy has dropped every arm with the sign - (white box).
            A script without caps and windows has one rule, so it leaps.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from typing import Annotated, Any, NamedTuple

import numpy as np

from vambrace.adversaries.stationary import StationaryAdversary
from vambrace.adversaries.stationary import alter as alter_always
from vambrace.errors import InvalidParameter
from vambrace.kernels import interpreted, kernel
from vambrace.parameters import AttackBudget, Range, Rounds, Share
from vambrace.protocols import Flags, Floats, Game, Integers, Round, Stream
from vambrace.signatures import Alter
from vambrace.validation import MOST_ROUNDS

SIGNS = "-0+"


class State(NamedTuple):
    """What is done to each arm."""

    chances: Floats  # with which a reward is replaced
    shown: Floats  # by what
    lowered: Flags  # whether its sign is -
    left: Floats  # of its cap
    first: Integers  # its window of rounds
    last: Integers


@kernel
def respond(state: State, view: Any, arm: int, reward: float) -> tuple[float, float]:
    return state.chances[arm], state.shown[arm]


@kernel
def respond_until_dropped(state: State, view: Any, arm: int, reward: float) -> tuple[float, float]:
    for k in range(len(state.lowered)):
        if state.lowered[k] and not view.arms.dropped[k]:
            return state.chances[arm], state.shown[arm]
    return 0.0, reward


@kernel
def alter(state: State, round: Round, arm: int, reward: float, view: Any, rng: Stream) -> tuple[float, State]:
    if not state.first[arm] <= round.t <= state.last[arm]:
        return reward, state
    seen, state = alter_always(state, round, arm, reward, view, rng)
    return min(max(seen, reward - state.left[arm]), reward + state.left[arm]), state


@kernel
def witness(state: State, arm: int, reward: float, seen: float) -> State:
    state.left[arm] = max(0.0, state.left[arm] - abs(seen - reward))
    return state


@dataclass(frozen=True, kw_only=True)
class Script(StationaryAdversary):
    """A script for each arm: show 0, show 1 or leave it alone, up to a level and a cap, in a window of rounds.

    The family that `vb.red_team` searches; `Conceal`, `Mimic`, `Boost` and `EliminationRush` are scripts. Strong: it
    sees the pulled arm. It needs the true means only for levels. Print `words` to read a script.

    Args:
        budget: What it may spend in total: at worst, this many fake events; infinite by default.
        modes: One sign for each arm, in order: - shows 0, + shows 1, 0 leaves it alone, and so do missing signs.
        levels: The mean that each arm seems to have, by fakes at random; none: 0 for - and 1 for +, by fakes alone.
        caps: What may be spent on each arm; none: no limit but the budget.
        first: The first round in which each arm is changed; none: 1.
        last: The last such round; none: the last of the game.
        stop_when_dropped: Stop when the policy has dropped every arm with the sign - (white box).

    Sequences have one value for each arm, or one value for all.

    >>> import vambrace as vb
    >>> attack = vb.Script(budget=100, modes="--00+", caps=[40])
    >>> attack.words
    'show 0 on arms 0 and 1 until 40 is spent on each; show 1 on arm 4 until 40 is spent'
    >>> env = vb.Bernoulli([0.9, 0.8, 0.7, 0.6, 0.5])
    >>> print(vb.simulate(vb.UCB1(), env, attack, horizon=100_000, seed=1))
    ucb1 against script:budget=100,modes=--00+,caps=40: regret 11,616.7 after 100,000 rounds, cost 100.0
    """

    name, reference = "script", "vambrace: red team"
    knowledge, aim = "oracle means", "what the script says"

    budget: AttackBudget = inf
    modes: str
    levels: Sequence[Share] = ()
    caps: Sequence[Annotated[float, Range(0.0, inf)]] = ()
    first: Sequence[Rounds] = ()
    last: Sequence[Rounds] = ()
    stop_when_dropped: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.modes or {*self.modes} - {*SIGNS}:
            raise InvalidParameter(f"modes: expected a sign -, 0 or + for each arm, such as -0+, got {self.modes!r}")
        if self.stop_when_dropped and "-" not in self.modes:
            raise InvalidParameter(f"modes: expected a sign - with stop_when_dropped, got {self.modes!r}")

    @property
    def limited(self) -> bool:
        """Whether it has caps or windows."""
        return bool(self.caps or self.first or self.last)

    @property
    def respond(self) -> Any:  # type: ignore[override]
        """The kernel of the leap engine; None: caps and windows change the rule within a leap."""
        return None if self.limited else self._rule

    @property
    def alter(self) -> Alter:  # type: ignore[override]
        """The kernel of the rounds engine, which minds caps and windows if there are any."""
        return interpreted(alter if self.limited else alter_always, {"respond": self._rule, "LOOK": False})

    @property
    def witness(self) -> Any:  # type: ignore[override]
        """Keeps account of what is spent on each arm, if there are caps."""
        return witness if self.limited else None

    @property
    def reads(self) -> tuple[str, ...]:
        """The table of arms, if the script stops when arms are dropped."""
        return ("arms",) if self.stop_when_dropped else ()

    @property
    def _rule(self) -> Any:
        return respond_until_dropped if self.stop_when_dropped else respond

    def init(self, game: Game) -> State:
        n_arms = len(game.means)
        modes = self.signs(n_arms)
        shown, means = (modes > 0).astype(np.float64), game.means
        levels = shown if not self.levels else each_arm("levels", self.levels, n_arms)
        room = np.where(modes > 0, 1.0 - means, means)  # how far the mean can seem to move
        way = np.where(modes > 0, levels - means, means - levels)
        chances = np.where(levels == shown, 1.0, np.clip(way / np.where(room > 0.0, room, 1.0), 0.0, 1.0))
        return State(
            np.where(modes == 0, 0.0, chances),
            shown,
            modes < 0,
            each_arm("caps", self.caps or (inf,), n_arms).copy(),
            each_arm("first", self.first or (1,), n_arms).astype(np.int64),
            each_arm("last", self.last or (MOST_ROUNDS,), n_arms).astype(np.int64),
        )

    def signs(self, n_arms: int) -> Integers:
        """-1, 0 or 1 for each arm.

        Args:
            n_arms: The number of arms.
        """
        if len(self.modes) > n_arms:
            raise InvalidParameter(f"modes: expected at most {n_arms} signs, one for each arm, got {self.modes!r}")
        return np.array([SIGNS.index(each) - 1 for each in self.modes.ljust(n_arms, "0")])

    @property
    def words(self) -> str:
        """The script in words, for people; the spec is the same for programs."""
        return ("; ".join(_sentence(arms, *how) for how, arms in self.groups().items()) or "change nothing") + self.end

    @property
    def end(self) -> str:
        """When it ends, in words."""
        return ", until the policy has dropped every arm that shows 0" if self.stop_when_dropped else ""

    def groups(self) -> dict[tuple[Any, ...], list[int]]:
        """The arms that have a sign, by what is done to them: sign, level, cap, first and last round."""
        found: dict[tuple[Any, ...], list[int]] = {}
        for arm, sign in enumerate(self.modes):
            if sign != "0":
                limits = (self._of(arm, values) for values in (self.levels, self.caps, self.first, self.last))
                found.setdefault((sign, *limits), []).append(arm)
        return found

    def _of(self, arm: int, values: Sequence[Any]) -> Any:
        return (values[0] if len(values) == 1 else values[arm] if arm < len(values) else None) if values else None


def each_arm(name: str, values: Sequence[float], n_arms: int) -> Floats:
    """One value for each arm."""
    if len(values) not in (1, n_arms):
        raise InvalidParameter(f"{name}: expected one value, or one for each of {n_arms} arms, got {len(values)}")
    return np.broadcast_to(np.array(values, dtype=np.float64), n_arms)


def _sentence(
    arms: list[int], sign: str, level: float | None, cap: float | None, first: int | None, last: int | None
) -> str:
    shown, many = ("0", "1")[sign == "+"], len(arms) > 1
    thinned = level is not None and level != float(shown)
    text = f"show {shown} on {names_of(arms)}"
    text += f" just often enough that {'each' if many else 'it'} seems to pay {level:.3g}" if thinned else ""
    text += f" until {cap:,.4g} is spent{' on each' if many else ''}" if cap is not None and cap < inf else ""
    return text + window_of(first, last)


def names_of(arms: list[int]) -> str:
    """Arms in words."""
    many = len(arms) > 1
    return f"arm{'s' if many else ''} {', '.join(map(str, arms[:-1]))}{' and ' if many else ''}{arms[-1]}"


def window_of(first: int | None, last: int | None) -> str:
    """A window of rounds in words, after a comma; nothing if there is none."""
    if first is None and last is None:
        return ""
    end = "" if last is None or last == MOST_ROUNDS else f" to {last:,}"
    return f", {f'in rounds {first or 1:,}{end}' if end else f'from round {first or 1:,} on'}"
