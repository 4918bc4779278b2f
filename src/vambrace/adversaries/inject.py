"""Inject: fake visitors, for whom the policy plays an arm and who answer what the attacker wants.

Setting     Injecting: no reward is altered; events are added, and each costs 1. Knows the true means.
Algorithm   Before a round, while the budget lasts, a fake visitor comes. On an arm with the sign - it answers 0, on one
            with the sign + 1, or what `levels` says; on other arms the true mean, from which nothing is learned.
            With `peek` a visitor comes only if the policy would play an arm with a sign.
Effect      What is injected is shown to nobody else, so real visitors lose only by what the policy learns from it. C
            fake visitors are at most C altered rewards in a game that is C rounds longer (docs/theory.md).
Reading     The policy cannot tell fake visitors from others: its rounds, and those of the windows, count both. A
            randomised policy draws the arm after the visitor has come, so that `peek` is a guess there.
"""

from dataclasses import dataclass
from math import inf
from typing import Any, NamedTuple, cast

import numpy as np

from vambrace.adversaries.script import Script, each_arm, names_of, window_of
from vambrace.engine.slots import select
from vambrace.kernels import Slot, interpreted, kernel
from vambrace.protocols import Flags, Floats, Game, Integers, Round, Stream
from vambrace.signatures import Inject as InjectKernel
from vambrace.validation import MOST_ROUNDS

PEEK = cast(bool, Slot("PEEK"))  # see the parameter
UNTIL_DROPPED = cast(bool, Slot("UNTIL_DROPPED"))  # stop_when_dropped


class State(NamedTuple):
    """What fake visitors answer."""

    answers: Floats  # on each arm
    signed: Flags  # whether the arm has a sign
    lowered: Flags  # whether that is -
    left: Floats  # how many may still come for it
    first: Integers  # its window of rounds
    last: Integers


@kernel
def wanted(state: State, t: int, arm: int) -> bool:
    """Whether a visitor for this arm is useful now."""
    return bool(state.signed[arm] and state.left[arm] >= 1.0 and state.first[arm] <= t <= state.last[arm])


@kernel
def inject(state: State, round: Round, view: Any, rng: Stream) -> tuple[bool, State]:
    if UNTIL_DROPPED:
        waiting = False
        for k in range(len(state.lowered)):
            waiting = waiting or (state.lowered[k] and not view.arms.dropped[k])
        if not waiting:
            return False, state
    if PEEK:
        arm, _, _ = select(view, round, rng)
        return wanted(state, round.t, arm), state
    for k in range(len(state.signed)):
        if wanted(state, round.t, k):
            return True, state
    return False, state


@kernel
def reply(state: State, round: Round, arm: int, view: Any, rng: Stream) -> tuple[float, State]:
    state.left[arm] -= 1.0
    return state.answers[arm], state


@dataclass(frozen=True, kw_only=True)
class Inject(Script):
    """Fake visitors: the policy plays an arm for them, and they answer as a script says.

    The attacker who cannot alter anything, but can click: each fake visitor costs 1. It knows the true means. The
    regret is that of the other visitors. Print `words` to read it.

    Args:
        budget: How many fake visitors may come; a finite number.
        modes: One sign for each arm, in order: visitors answer 0 on an arm with -, 1 on one with +, and its true mean
            on one with 0, or without a sign.
        levels: What they answer on each arm that has a sign, instead of 0 and 1; none: 0 and 1.
        caps: For how many visitors each arm may be played; none: no limit but the budget.
        first: The first round in which visitors come for each arm, fake ones counted; none: 1.
        last: The last such round; none: the last of the game.
        stop_when_dropped: Stop when the policy has dropped every arm with the sign - (white box).
        peek: A visitor comes only if the policy would now play an arm with a sign (white box).

    Sequences have one value for each arm, or one value for all.

    >>> import vambrace as vb
    >>> attack = vb.Inject(budget=100, modes="-", peek=True)
    >>> attack.words
    'fake visitors answer 0 on arm 0; they come only when this arm would be played'
    >>> print(vb.simulate(vb.UCB1(), vb.Bernoulli([0.9, 0.5]), attack, horizon=10_000, seed=1))
    ucb1 against inject:budget=100,modes=-,peek=true: regret 4,000.0 after 10,000 rounds, cost 64.0
    """

    name, reference = "inject", "vambrace: red team"
    strength, aim = "injecting", "adds the fake visitors that the script says"

    peek: bool = False

    respond = alter = witness = None  # type: ignore[assignment]  # it alters nothing
    reply = staticmethod(reply)

    @property
    def inject(self) -> InjectKernel:  # type: ignore[override]
        """The kernel, without the branches that it does not need."""
        return interpreted(inject, {"PEEK": self.peek, "UNTIL_DROPPED": self.stop_when_dropped})

    @property
    def tries_policy(self) -> bool:  # type: ignore[override]
        """Whether it asks the policy what it would play."""
        return self.peek

    def init(self, game: Game) -> State:  # type: ignore[override]
        """What visitors answer on each arm."""
        signs, n_arms = self.signs(len(game.means)), len(game.means)
        wanted = (signs > 0).astype(np.float64) if not self.levels else each_arm("levels", self.levels, n_arms)
        return State(
            np.where(signs == 0, game.means, wanted),
            signs != 0,
            signs < 0,
            each_arm("caps", self.caps or (inf,), n_arms).copy(),
            each_arm("first", self.first or (1,), n_arms).astype(np.int64),
            each_arm("last", self.last or (MOST_ROUNDS,), n_arms).astype(np.int64),
        )

    @property
    def words(self) -> str:
        """The attack in words, for people; the spec is the same for programs."""
        parts = []
        for (sign, level, cap, first, last), arms in self.groups().items():
            answer, each = f"{float(sign == '+') if level is None else level:.3g}", " for each" if len(arms) > 1 else ""
            limit = "" if cap in (None, inf) else f" until {cap:,.4g} have come{each}"
            parts.append(f"{answer} on {names_of(arms)}{limit}{window_of(first, last)}")
        if not parts:
            return "fake visitors answer the true mean of each arm"
        which = "this arm" if sum(sign != "0" for sign in self.modes) == 1 else "one of these arms"
        when = f"; they come only when {which} would be played" if self.peek else ""
        return f"fake visitors answer {'; '.join(parts)}{when}{self.end}"
