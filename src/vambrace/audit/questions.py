"""What is asked of a log, and the answer for one pair of arms: programs, intervals, and how the arms look."""

from collections.abc import Callable
from functools import cache
from math import log
from typing import Any, Literal, NamedTuple, get_args

from vambrace.audit import attacks, coins, means
from vambrace.audit.attacks import EVENTS, PARTS, Cheapest
from vambrace.audit.coins import CoinPair
from vambrace.audit.means import MeanArm, MeanPair
from vambrace.kernels import compiled
from vambrace.statistics import least_chance

Threat = Literal["alter", "inject", "suppress"]
Design = Literal["adaptive", "fixed"]
THREATS: tuple[Threat, ...] = get_args(Threat)
DESIGNS: tuple[Design, ...] = get_args(Design)
MOST_EVENTS = 10**9  # of an arm: with more, rounding would spoil the tests
ROUNDING = 1e-10  # a level is smaller by this share, so that rounding does not certify a tie


class Arm(NamedTuple):
    """What is known of an arm: rewards are in [0, 1], and the squares are those of them, added up."""

    events: int
    total: float
    squares: float

    @property
    def mean(self) -> float:
        """The mean of its rewards."""
        return self.total / self.events


class Question(NamedTuple):
    """What is asked of a log of `n_arms` arms."""

    n_arms: int
    delta: float
    threat: Threat
    design: Design
    binary: bool

    @property
    def whole(self) -> bool:
        """Whether an attack costs one per event; otherwise rewards can be altered in part."""
        return self.binary or self.threat != "alter"

    def pair(self, winner: Arm, rival: Arm) -> CoinPair | MeanPair:
        """The pair for the kernels: each of the K - 1 pairs may be wrong with probability delta / (K - 1)."""
        threat, level = THREATS.index(self.threat), log(self.delta) - log(max(self.n_arms - 1, 1)) - ROUNDING
        if self.binary:
            numbers = (winner.total, winner.events, rival.total, rival.events)
            return CoinPair(threat, self.design == "adaptive", level, *(float(each) for each in numbers))
        return MeanPair(threat, level, _floats(winner), means.flipped(_floats(rival)))

    def cheapest(self, pair: CoinPair | MeanPair) -> Cheapest:
        """The cheapest attack on a pair, with rewards in [0, 1]."""
        program: Any = _program(attacks.cheapest_attack, self.binary)
        return Cheapest(*program(pair, EVENTS if self.whole else PARTS))

    def growth(self, pair: CoinPair | MeanPair, known: float, most: float) -> float:
        """By which factor all counts must grow until the winner is certified against the rival."""
        return float(_program(attacks.least_growth, self.binary)(pair, known, most))

    def interval(self, arm: Arm) -> tuple[float, float]:
        """The interval of an arm's mean, by itself, without an attack; valid at every look in an adaptive design.

        For rewards 0 and 1 it is that of Clopper and Pearson if the design is fixed, and otherwise those rates that the
        mixture over Beta(1/2, 1/2) does not reject; for other rewards those means that the averages of L do not reject.
        """
        lost = Arm(arm.events, arm.events - arm.total, arm.events - 2.0 * arm.total + arm.squares)
        return self._lower(arm), 1.0 - self._lower(lost)

    def _lower(self, arm: Arm) -> float:
        if not self.binary:
            return float(compiled(means.least_mean, {})(_floats(arm), log(self.delta / 2.0)))
        if self.design == "fixed":
            limit = compiled(least_chance, {})
            return float(limit(float(arm.total), float(arm.events), log(self.delta / 2.0), True))
        return float(compiled(coins.least_rate, {})(float(arm.total), float(arm.events), log(self.delta)))


def _floats(arm: Arm) -> MeanArm:
    return MeanArm(float(arm.events), float(arm.total), float(arm.squares))


@cache
def _program(function: Callable[..., Any], binary: bool) -> Callable[..., Any]:
    module: Any = coins if binary else means
    return compiled(function, {"rejects": module.rejects, "grown": module.grown})


def overturned_at(question: Question, winner: Arm, rival: Arm) -> int | float:
    """The least attack after which, undone, the rival's mean would be at least the winner's; exact.

    With D = s n' - s' n, for s of n and s' of n' successes:
    alter     (s - a) / n <= (s' + b) / n' is a n' + b n >= D: everything goes to the arm with fewer events.
    inject    (s - a) (n' - b) <= s' (n - a): for a given a + b the difference is concave in a, so one arm gets all.
    suppress  s (n' + b) <= (s' + b) (n + a): for a given a + b the difference is concave in a, with its vertex at
              a = (s + s' + a + b - n) / 2.
    For rewards between 0 and 1, of which only sums are known, it is the fewest events that might do it.
    """
    n, n2 = winner.events, rival.events
    if not question.binary:
        lead = winner.total * n2 - rival.total * n
        if lead <= 0.0 or question.threat == "alter":
            return max(lead, 0.0) / max(n, n2) if question.threat == "alter" else 0
        return 1 + int(
            compiled(attacks.cheapest_attack, {"rejects": means.leads})(question.pair(winner, rival), EVENTS)[0]
        )
    s, s2 = int(winner.total), int(rival.total)
    lead = s * n2 - s2 * n
    if lead <= 0:
        return 0
    if question.threat == "suppress":
        return _least(lambda cost: _is_behind(s, n, s2, n2, cost))
    return -(-lead // max(n, n2)) if question.threat == "alter" else min(-(-lead // (n2 - s2)), -(-lead // s))


def _is_behind(s: int, n: int, s2: int, n2: int, cost: int) -> bool:
    """Whether the rival would look at least as good if this many events were suppressed."""
    vertex = (s + s2 + cost - n) // 2
    tried = (min(max(a, 0), cost) for a in (vertex, vertex + 1))
    return any(s * (n2 + cost - a) <= (s2 + cost - a) * (n + a) for a in tried)


def _least(holds: Callable[[int], bool]) -> int:
    """The least positive number from which on something holds."""
    low, high = 0, 1
    while not holds(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high
