"""Slow, obvious oracle of the bandit algorithms: lists and loops, everything recomputed each time.

Nothing here is shared with the fast implementation; the tests compare the two pull by pull.
"""

import copy
import functools
import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol

KL_PIECES = 16
KL_TIE = 1e-9


class Policy(Protocol):
    """Anything that can be asked for an arm and told a reward."""

    def ask(self) -> int: ...

    def tell(self, arm: int, reward: float) -> None: ...


class Adversary(Protocol):
    """Anything that sees (round from 1, arm, raw reward) and returns the reward it wants observed.

    One with a method `witness(arm, raw, seen)` is then told what was delivered.
    """

    def alter(self, t: int, arm: int, reward: float) -> float: ...


class MediumAdversary(Protocol):
    """Anything that sees (round from 1, raw rewards of all arms) and returns the rewards it wants observed."""

    def corrupt(self, t: int, rewards: Sequence[float]) -> list[float]: ...


def ceil_log2(number: int) -> int:
    """The least g with 2^g >= number."""
    g = 0
    while 2**g < number:
        g += 1
    return g


def clip(value: float) -> float:
    """The nearest number in [0, 1]."""
    return min(1.0, max(0.0, value))


def first_lowest(arms: Sequence[int], score: Callable[[int], float]) -> int:
    """The arm of the lowest score, ties to the lowest index."""
    return min(arms, key=lambda arm: (score(arm), arm))


def first_above(weights: Sequence[float], level: float) -> int:
    """First index whose cumulative weight exceeds the level; the last index if none does."""
    total = 0.0
    for i, weight in enumerate(weights):
        total += weight
        if total > level:
            return i
    return len(weights) - 1


# ---------------------------------------------------------------------------------------------- the radii


def kl(p: float, q: float) -> float:
    """Bernoulli Kullback-Leibler divergence, with 0 ln 0 = 0."""
    total = 0.0
    if p > 0:
        total += math.inf if q == 0 else p * math.log(p / q)
    if p < 1:
        total += math.inf if q == 1 else (1 - p) * math.log((1 - p) / (1 - q))
    return total


def kl_edge(mean: float, level: float, end: float) -> float:
    """The q between the mean and the end (0 or 1) farthest from the mean with kl(mean, q) <= level, by bisection."""
    if kl(mean, end) <= level:
        return end
    inside, outside = mean, end
    while True:
        middle = (inside + outside) / 2
        if middle in (inside, outside):
            return inside
        if kl(mean, middle) <= level:
            inside = middle
        else:
            outside = middle


def kl_lower(mean: float, level: float) -> float:
    """Least q <= mean with kl(mean, q) <= level."""
    return kl_edge(mean, level, 0.0)


def kl_upper(mean: float, level: float) -> float:
    """Largest q >= mean with kl(mean, q) <= level."""
    return kl_edge(mean, level, 1.0)


def beats_paper(m_j: float, n_j: int, m_k: float, n_k: int, log_term: float, budget: float) -> bool:
    """Does j drop k by the paper's rule? The first branch is the rule as printed, keep iff m_k >= m_j - 2(...)."""
    if n_j == n_k:
        return not m_k >= m_j - 2 * (math.sqrt(log_term / n_k) + budget / n_k)
    w_j = math.sqrt(log_term / n_j) + budget / n_j
    w_k = math.sqrt(log_term / n_k) + budget / n_k
    return m_j - w_j > m_k + w_k


def beats_kl(m_j: float, n_j: int, m_k: float, n_k: int, log_term: float, budget: float) -> bool:
    """Does j drop k by Chernoff's bound, whichever of the 16 pieces the split of the budget lies in?"""
    for i in range(KL_PIECES):
        c_j = (i + 1) * budget / KL_PIECES
        c_k = (KL_PIECES - i) * budget / KL_PIECES
        lower = kl_lower(clip(m_j - c_j / n_j), log_term / n_j)
        upper = kl_upper(clip(m_k + c_k / n_k), log_term / n_k)
        if not lower > upper + KL_TIE:
            return False
    return True


# ---------------------------------------------------------------------------------------- known budget


class ChangingArms:
    """Arms that open and close; all are open at first, and closed ones are never asked for."""

    n_arms: int
    closed: frozenset[int] = frozenset()

    @property
    def open_arms(self) -> list[int]:
        """The arms that can be asked for."""
        return [k for k in range(self.n_arms) if k not in self.closed]

    def open(self, arm: int) -> None:
        """The arm can be asked for again, or for the first time."""
        self.closed -= {arm}

    def close(self, arm: int) -> None:
        """The arm cannot be asked for any more."""
        self.closed |= {arm}


class SEWR(ChangingArms):
    """SE-WR, the unequal-counts rule throughout. After a change of arms all open ones are tested anew."""

    def __init__(
        self, n_arms: int, horizon: int, *, budget: float, delta: float | None = None, radius: str = "paper"
    ) -> None:
        if radius not in ("paper", "tight", "kl"):
            raise ValueError(radius)
        self.n_arms = n_arms
        self.horizon = horizon
        self.budget = budget
        self.delta = n_arms / horizon if delta is None else delta
        self.radius = radius
        self.active = list(range(n_arms))
        self.counts = [0] * n_arms
        self.sums = [0.0] * n_arms
        self.outstanding = [0] * n_arms
        self.level = 0

    def choose(self) -> int:
        """The active arm with the fewest pulls, unanswered ones included."""
        return first_lowest(self.active, lambda arm: self.counts[arm] + self.outstanding[arm])

    def ask(self) -> int:
        """The arm to pull next."""
        arm = self.choose()
        self.outstanding[arm] += 1
        return arm

    def tell(self, arm: int, reward: float) -> None:
        """Take in an answer."""
        self.outstanding[arm] = max(0, self.outstanding[arm] - 1)
        self.counts[arm] += 1
        self.sums[arm] += reward
        self.review()

    def review(self) -> None:
        """Test for elimination if the least count over the active arms has grown."""
        least = min(self.counts[k] for k in self.active)
        if least <= self.level:
            return
        self.level = least
        self.test(least)

    def open(self, arm: int) -> None:
        """Everybody comes back."""
        super().open(arm)
        self.come_back()

    def close(self, arm: int) -> None:
        """Everybody who is open comes back."""
        super().close(arm)
        self.come_back()

    def come_back(self) -> None:
        """All open arms are active, except those that one of them beats."""
        self.active = self.open_arms
        self.level = min(self.counts[k] for k in self.active)
        if self.level > 0:
            self.test(self.level)

    def test(self, least: int) -> None:
        """Drop what is beaten."""
        if len(self.active) > 1 and self.may_test(least):
            before = self.active
            self.active = [k for k in before if not any(self.beats(j, k) for j in before if j != k)]
            self.level = min(self.counts[k] for k in self.active)

    def may_test(self, least: int) -> bool:
        """SE-WR tests after every sweep."""
        return least > 0

    def beats(self, j: int, k: int) -> bool:
        """Is arm j's evidence against arm k enough to drop k?"""
        n_j, n_k = self.counts[j], self.counts[k]
        m_j, m_k = self.sums[j] / n_j, self.sums[k] / n_k
        ratio = self.n_arms * self.horizon / self.delta
        if self.radius == "paper":
            return beats_paper(m_j, n_j, m_k, n_k, math.log(2 * ratio), self.budget)
        if self.radius == "kl":
            return beats_kl(m_j, n_j, m_k, n_k, math.log(2 * ratio), self.budget)
        if n_j == n_k:
            return m_j - m_k > math.sqrt(math.log(ratio) / n_k) + self.budget / n_k
        width = math.sqrt(0.5 * math.log(ratio * self.horizon) * (1 / n_j + 1 / n_k))
        return m_j - m_k > width + self.budget / min(n_j, n_k)


class SEWRStop(SEWR):
    """SE-WR-Stop: no elimination test at a least count above floor(cap) + 1."""

    def __init__(
        self,
        n_arms: int,
        horizon: int,
        *,
        budget: float,
        stop: str = "additive",
        delta: float | None = None,
        radius: str = "paper",
    ) -> None:
        super().__init__(n_arms, horizon, budget=budget, delta=delta, radius=radius)
        if stop not in ("additive", "multiplicative"):
            raise ValueError(stop)
        self.cap = horizon / n_arms
        if stop == "additive":
            log_term = math.log(n_arms * horizon / self.delta)
            # log_term is 0 only at horizon 1 with the default delta, where no test can change a pull.
            self.cap += budget * math.sqrt(horizon / (n_arms * log_term)) if log_term > 0 else math.inf

    def may_test(self, least: int) -> bool:
        """The check stands before the sweep, when the count was one lower."""
        return least - 1 <= self.cap


class SE(SEWR):
    """Successive elimination: SE-WR with budget 0."""

    def __init__(self, n_arms: int, horizon: int, *, delta: float | None = None, radius: str = "paper") -> None:
        super().__init__(n_arms, horizon, budget=0.0, delta=delta, radius=radius)


# -------------------------------------------------------------------------------------- unknown budget


class PEWR:
    """PE-WR: phases; an answer counts in the phase in which it arrives."""

    def __init__(
        self, n_arms: int, horizon: int, *, delta: float | None = None, cap: str = "paper", radius: str = "paper"
    ) -> None:
        if cap not in ("paper", "repaired") or radius not in ("paper", "tight"):
            raise ValueError((cap, radius))
        self.n_arms = n_arms
        self.horizon = horizon
        self.delta = n_arms / horizon if delta is None else delta
        self.cap = math.sqrt(horizon) / n_arms if cap == "paper" else math.sqrt(horizon / n_arms)
        self.radius = radius
        self.n_phases = max(1, ceil_log2(horizon) - 1)
        self.active = list(range(n_arms))
        self.outstanding = [0] * n_arms
        self.phase = 0
        self.counts = [0] * n_arms
        self.sums = [0.0] * n_arms

    def ask(self) -> int:
        """The active arm with the fewest pulls in this phase, unanswered ones included."""
        arm = first_lowest(self.active, lambda k: self.counts[k] + self.outstanding[k])
        self.outstanding[arm] += 1
        return arm

    def tell(self, arm: int, reward: float) -> None:
        """Take in an answer and end the phase if every active arm has its answers."""
        self.outstanding[arm] = max(0, self.outstanding[arm] - 1)
        self.counts[arm] += 1
        self.sums[arm] += reward
        if all(self.counts[k] >= self.pulls_due(self.phase) for k in self.active):
            before = self.active
            self.active = [k for k in before if not any(self.beats(j, k) for j in before if j != k)]
            self.phase += 1
            self.counts = [0] * self.n_arms
            self.sums = [0.0] * self.n_arms

    def pulls_due(self, phase: int) -> int:
        """n_h, if the present arms were those of phase h."""
        return math.ceil(Fraction(self.n_arms * 2**phase, len(self.active)))

    def guess(self, phase: int) -> float:
        """C_h."""
        return min(self.cap, 2.0 ** (self.n_phases - phase - 1))

    def beats(self, j: int, k: int) -> bool:
        """Is arm j's evidence of this phase against arm k enough to drop k?"""
        n_j, n_k = self.counts[j], self.counts[k]
        m_j, m_k = self.sums[j] / n_j, self.sums[k] / n_k
        budget = self.guess(self.phase)
        ratio = self.n_arms * self.n_phases / self.delta
        if self.radius == "paper":
            return beats_paper(m_j, n_j, m_k, n_k, math.log(2 * ratio), budget)
        width = math.sqrt(0.5 * math.log(ratio) * (1 / n_j + 1 / n_k))
        return m_j - m_k > width + budget / min(n_j, n_k)


class Corral:
    """CORRAL master."""

    def __init__(self, n_bases: int, n_rounds: int) -> None:
        self.n_bases = n_bases
        self.gamma = 1 / n_rounds
        self.beta = math.exp(1 / math.log(n_rounds)) if n_rounds > 1 else 1.0
        self.eta = [math.sqrt(n_bases / n_rounds)] * n_bases
        self.rho = [2.0 * n_bases] * n_bases
        self.unmixed = [1 / n_bases] * n_bases
        self.probabilities = [1 / n_bases] * n_bases

    def update(self, base: int, reward: float) -> None:
        """Log-barrier mirror step on the unmixed probabilities, then mix and raise the rates."""
        bases = range(self.n_bases)
        losses = [0.0] * self.n_bases
        losses[base] = 2 * (1 - clip(reward)) / self.probabilities[base]

        def inverses(shift: float) -> list[float]:
            return [1 / self.unmixed[i] + self.eta[i] * (losses[i] - shift) for i in bases]

        def too_far(shift: float) -> bool:
            return min(inverses(shift)) <= 0 or sum(1 / inverse for inverse in inverses(shift)) > 1

        low = min(losses)
        high = min(max(losses), min(losses[i] + 1 / (self.eta[i] * self.unmixed[i]) for i in bases))
        while low < (low + high) / 2 < high:
            if too_far((low + high) / 2):
                high = (low + high) / 2
            else:
                low = (low + high) / 2
        weights = [1 / inverse for inverse in inverses(low)]
        self.unmixed = [weight / sum(weights) for weight in weights]
        self.probabilities = [(1 - self.gamma) * p + self.gamma / self.n_bases for p in self.unmixed]
        for i in bases:
            if 1 / self.probabilities[i] > self.rho[i]:
                self.rho[i] = 2 / self.probabilities[i]
                self.eta[i] *= self.beta


class Exp3P:
    """EXP3.P master."""

    def __init__(self, n_bases: int, n_rounds: int) -> None:
        self.n_bases = n_bases
        self.gamma = min(0.5, n_bases * n_rounds ** (-1 / 3))
        self.beta = math.sqrt(math.log(n_bases * n_rounds) / (n_bases * n_rounds))
        self.eta = self.gamma / ((1 + self.beta) * n_bases)
        self.gains = [0.0] * n_bases
        self.probabilities = self.mixed()

    def mixed(self) -> list[float]:
        """Softmax of the estimated gains, mixed with the uniform law."""
        weights = [math.exp(self.eta * (gain - max(self.gains))) for gain in self.gains]
        return [(1 - self.gamma) * weight / sum(weights) + self.gamma / self.n_bases for weight in weights]

    def update(self, base: int, reward: float) -> None:
        """Add the estimates of this round."""
        for i in range(self.n_bases):
            gain = clip(reward) if i == base else 0.0
            self.gains[i] += (gain + self.beta) / self.probabilities[i]
        self.probabilities = self.mixed()


class MSSEWR:
    """MS-SE-WR for prompt feedback: ask, tell, ask, tell."""

    def __init__(
        self,
        n_arms: int,
        horizon: int,
        *,
        uniforms: Iterator[float],
        master: str = "corral",
        share: bool = False,
        smoothing: bool = True,
        radius: str = "paper",
    ) -> None:
        if master not in ("corral", "exp3p"):
            raise ValueError(master)
        n_bases = max(1, ceil_log2(horizon))
        n_rounds = max(1, horizon // 2 if smoothing else horizon)
        self.horizon = horizon
        self.uniforms = uniforms
        self.share = share
        self.smoothing = smoothing
        self.master: Corral | Exp3P = Corral(n_bases, n_rounds) if master == "corral" else Exp3P(n_bases, n_rounds)
        self.bases = [
            SEWRStop(n_arms, horizon, budget=2.0**g, stop="multiplicative", radius=radius)
            for g in range(1, n_bases + 1)
        ]
        self.counts = [0] * n_arms
        self.sums = [0.0] * n_arms
        if share:
            for base in self.bases:
                base.counts = self.counts  # the very same list: one table for all
                base.sums = self.sums
        self.step_one_counts = [[0] * n_arms for _ in self.bases]
        self.round = 0
        self.step = 1
        self.base = 0

    @property
    def probabilities(self) -> list[float]:
        """The mixed probabilities of the bases."""
        return self.master.probabilities

    def is_odd_last_round(self) -> bool:
        """Is this the round that is left over by pairs?"""
        return self.smoothing and self.horizon % 2 == 1 and self.round == self.horizon - 1

    def ask(self) -> int:
        """The arm to pull next."""
        if self.step == 2:
            counts = self.step_one_counts[self.base]
            return first_above(counts, next(self.uniforms) * sum(counts))
        if self.is_odd_last_round():
            self.base = first_lowest(range(len(self.bases)), lambda i: -self.probabilities[i])
        else:
            self.base = first_above(self.probabilities, next(self.uniforms))
        arm = self.bases[self.base].choose()
        self.step_one_counts[self.base][arm] += 1
        return arm

    def tell(self, arm: int, reward: float) -> None:
        """Feed the bases, feed the master, go on to the next step."""
        if self.share:
            self.counts[arm] += 1
            self.sums[arm] += reward
            for base in self.bases:
                base.review()
        elif self.step == 1:
            self.bases[self.base].tell(arm, reward)
        if not self.is_odd_last_round() and (self.step == 2 or not self.smoothing):
            self.master.update(self.base, reward)
        self.round += 1
        if self.smoothing:
            self.step = 2 if self.step == 1 else 1


# ------------------------------------------------------------------------------------- optimistic indices


class IndexPolicy(ChangingArms):
    """Each arm once, then the arm of the largest index; t and N count unanswered pulls, means do not.

    An arm replaces the best so far, in a scan from arm 0, only if its index is larger by more than the tolerance.
    """

    tolerance = 0.0

    def __init__(self, n_arms: int, horizon: int) -> None:
        self.n_arms = n_arms
        self.horizon = horizon
        self.counts = [0] * n_arms
        self.sums = [0.0] * n_arms
        self.outstanding = [0] * n_arms

    def asked(self, arm: int) -> int:
        """N: the pulls of an arm, unanswered ones included."""
        return self.counts[arm] + self.outstanding[arm]

    def time(self) -> int:
        """The round about to be played, from 1."""
        return sum(self.asked(arm) for arm in range(self.n_arms)) + 1

    def mean(self, arm: int) -> float:
        """Mean of the answers of an arm, 0 where there is none."""
        return self.sums[arm] / self.counts[arm] if self.counts[arm] > 0 else 0.0

    def index(self, arm: int) -> float:
        """Optimistic value of an arm that was asked at least once."""
        raise NotImplementedError

    def ask(self) -> int:
        """The arm to pull next."""
        arm = self.choose()
        self.outstanding[arm] += 1
        return arm

    def choose(self) -> int:
        """The first arm never asked, else the one of the largest index."""
        for arm in self.open_arms:
            if self.asked(arm) == 0:
                return arm
        best, highest = self.open_arms[0], self.index(self.open_arms[0])
        for arm in self.open_arms[1:]:
            value = self.index(arm)
            if value > highest + self.tolerance:
                best, highest = arm, value
        return best

    def tell(self, arm: int, reward: float) -> None:
        """Take in an answer."""
        self.outstanding[arm] = max(0, self.outstanding[arm] - 1)
        self.counts[arm] += 1
        self.sums[arm] += reward


class UCB1(IndexPolicy):
    """mean + sqrt(alpha ln t / N), t the round about to be played, from 1."""

    tolerance = 1e-12

    def __init__(self, n_arms: int, horizon: int, *, alpha: float = 2.0) -> None:
        super().__init__(n_arms, horizon)
        self.alpha = alpha

    def index(self, arm: int) -> float:
        """Optimistic value of an arm."""
        return self.mean(arm) + math.sqrt(self.alpha * math.log(self.time()) / self.asked(arm))


class KLUCB(IndexPolicy):
    """Largest q with N kl(mean, q) <= ln t + c ln ln t."""

    tolerance = 1e-9

    def __init__(self, n_arms: int, horizon: int, *, c: float = 0.0) -> None:
        super().__init__(n_arms, horizon)
        self.c = c

    def index(self, arm: int) -> float:
        """The mean itself at level 0, where rounding in kl would let the bisection walk away from it."""
        level = math.log(self.time())
        if self.c != 0 and self.time() >= 3:
            level += self.c * math.log(math.log(self.time()))
        mean = clip(self.mean(arm))
        return kl_upper(mean, level / self.asked(arm)) if level > 0 else mean


def shadow_choices(happened: Sequence[tuple[Any, ...]], n_arms: int) -> list[int]:
    """What KL-UCB would have asked for before each decision of a journal, given what had happened until then.

    What happens: ("ask", arm, id), ("answer", arm, reward), ("close", id), ("open", arm), ("retire", arm). The first
    `n_arms` arms are open at the beginning. Everything is counted anew before each decision.
    """
    found = []
    for n, (kind, *_) in enumerate(happened):
        if kind != "ask":
            continue
        before = happened[:n]
        arms = list(range(n_arms))
        for kind, what, *_ in before:
            if kind == "open":
                arms = sorted([*arms, what])
            elif kind == "retire":
                arms.remove(what)
        rewards = {arm: [each[2] for each in before if each[0] == "answer" and each[1] == arm] for arm in arms}
        closed = [each[1] for each in before if each[0] == "close"]
        waiting = [each[1] for each in before if each[0] == "ask" and each[2] not in closed]
        t = 1 + sum(each[0] in ("ask", "warm") for each in before)
        sizes = {arm: len(rewards[arm]) + waiting.count(arm) for arm in arms}
        never = [arm for arm in arms if sizes[arm] == 0]
        if never:
            found.append(never[0])
            continue
        best, highest = -1, -math.inf
        for arm in arms:
            mean = math.fsum(rewards[arm]) / len(rewards[arm]) if rewards[arm] else 0.0
            value = kl_upper(mean, math.log(t) / sizes[arm]) if t > 1 else mean
            if value > highest + KL_TIE:
                best, highest = arm, value
        found.append(best)
    return found


class KLUCBWR(ChangingArms):
    """SPEC §12: the largest q with N kl(m, q) <= f, m = (S + B) / N; an arm that is chosen is kept for a while.

    Open decisions count only among the arms of which nothing is known. Without a horizon the limits are those of a game
    as long as the next power of two of answers, and delta is shared out as delta / (k (k + 1)).
    """

    tolerance = 1e-9

    def __init__(
        self,
        n_arms: int,
        horizon: int | None,
        *,
        budget: float | None = None,
        delta: float | None = None,
        commit: float = 0.02,
    ) -> None:
        self.n_arms, self.horizon, self.given_budget, self.given_delta = n_arms, horizon, budget, delta
        self.commit = commit
        self.counts, self.sums, self.outstanding = [0] * n_arms, [0.0] * n_arms, [0] * n_arms
        self.set_limits()
        self.leader, self.left = 0, 1

    def set_limits(self) -> None:
        """B and f, for the horizon or for the epoch."""
        length, delta = self.horizon, self.given_delta
        if length is None:
            k = 1
            while 2**k <= sum(self.counts):
                k += 1
            length = 2**k
            delta = None if delta is None else delta / (k * (k + 1))
        if delta is None:
            delta = min(1.0, self.n_arms / length)
        self.budget = math.sqrt(length / self.n_arms) if self.given_budget is None else self.given_budget
        self.f = 0.0
        for _ in range(1000):
            self.f = math.log(math.e * max(1, math.ceil(self.f * math.log(length))) / delta)

    def index(self, arm: int) -> float:
        """Infinite before the first answer."""
        if self.counts[arm] == 0:
            return math.inf
        m = (self.sums[arm] + self.budget) / self.counts[arm]
        return 1 + m if m >= 1 else kl_upper(max(0.0, m), self.f / self.counts[arm])

    def unknown(self, arm: int) -> bool:
        """Whether nothing can be said about an arm."""
        return self.counts[arm] == 0 or self.sums[arm] + self.budget >= self.counts[arm]

    def ask(self) -> int:
        """The leader, or an arm of which nothing is known if decisions are open."""
        arm = self.leader
        if sum(self.outstanding) > 0 and self.unknown(arm):
            arm = first_lowest([k for k in self.open_arms if self.unknown(k)], lambda k: -self.need(k))
        self.outstanding[arm] += 1
        return arm

    def need(self, arm: int) -> float:
        """How much an arm should be asked, if open decisions count as zeros."""
        asked = self.counts[arm] + self.outstanding[arm]
        return math.inf if asked == 0 else max(1.0, self.sums[arm] + self.budget) / asked

    def tell(self, arm: int, reward: float) -> None:
        """Compare all arms when the leader has had its answers."""
        self.outstanding[arm] -= 1
        self.counts[arm] += 1
        self.sums[arm] += reward
        if arm == self.leader:
            self.left -= 1
        if self.left == 0:
            self.set_limits()
            self.compare()

    def compare(self) -> None:
        """The leader, and for how many answers."""
        self.leader, *others = self.open_arms
        highest = self.index(self.leader)
        for k in others:
            if self.index(k) > highest + self.tolerance:
                self.leader, highest = k, self.index(k)
        self.left = max(1, math.floor(self.commit * self.counts[self.leader]))

    def open(self, arm: int) -> None:
        """It may be better than the leader."""
        super().open(arm)
        self.compare()

    def close(self, arm: int) -> None:
        """If it is the leader, there must be another."""
        super().close(arm)
        if arm == self.leader:
            self.compare()


class MOSS(IndexPolicy):
    """Mean + sqrt(max(0, ln(T / (K N))) / N)."""

    def index(self, arm: int) -> float:
        """Optimistic value of an arm."""
        n = self.asked(arm)
        return self.mean(arm) + math.sqrt(max(0.0, math.log(self.horizon / (self.n_arms * n))) / n)


class UCBWR(IndexPolicy):
    """Mean + sqrt((4 ln T + 2 ln(2 / delta)) / N) + budget / N."""

    def __init__(self, n_arms: int, horizon: int, *, budget: float, delta: float | None = None) -> None:
        super().__init__(n_arms, horizon)
        self.budget = budget
        self.delta = n_arms / horizon if delta is None else delta

    def index(self, arm: int) -> float:
        """Optimistic value of an arm."""
        n = self.asked(arm)
        log_term = 4 * math.log(self.horizon) + 2 * math.log(2 / self.delta)
        return self.mean(arm) + math.sqrt(log_term / n) + self.budget / n


class CWOFUL(IndexPolicy):
    """Ridge regression on K unit vectors in which an observation of a little known arm weighs less."""

    def __init__(self, n_arms: int, horizon: int, *, budget: float | None = None, delta: float | None = None) -> None:
        super().__init__(n_arms, horizon)
        self.guess = math.sqrt(horizon) if budget is None else budget
        self.delta = n_arms / horizon if delta is None else delta
        self.weights = [1.0] * n_arms
        self.weighted = [0.0] * n_arms

    def tell(self, arm: int, reward: float) -> None:
        """Weigh the answer by how much is known of the arm; by 1 if no attack is reckoned with."""
        super().tell(arm, reward)
        weight = 1.0
        if self.guess > 0:
            alpha = 0.5 * math.sqrt(self.n_arms) / self.guess
            weight = min(1.0, alpha * math.sqrt(self.weights[arm]))
        self.weights[arm] += weight
        self.weighted[arm] += weight * reward

    def index(self, arm: int) -> float:
        """Weighted mean and bonus; an unanswered pull weighs 1 in the bonus and nothing in the mean."""
        # alpha times the guess is R sqrt(K) whatever the guess
        bonus = 0.5 * math.sqrt(self.n_arms * math.log((1 + self.horizon) / self.delta)) + 0.5 * math.sqrt(self.n_arms)
        estimate = self.weighted[arm] / self.weights[arm]
        return estimate + (bonus + 1) / math.sqrt(self.weights[arm] + self.outstanding[arm])


class MedianOfMeansUCB(IndexPolicy):
    """The median of the means of groups, dealt out like cards, in place of the mean."""

    tolerance = 1e-12

    def __init__(self, n_arms: int, horizon: int, *, groups: int | None = None, variance: float = 0.25) -> None:
        super().__init__(n_arms, horizon)
        self.groups = max(1, math.ceil(1 + 16 * math.log(horizon))) if groups is None else groups
        self.variance = variance
        self.group_counts = [[0] * self.groups for _ in range(n_arms)]
        self.group_sums = [[0.0] * self.groups for _ in range(n_arms)]

    def tell(self, arm: int, reward: float) -> None:
        """Deal the answer to the arm's next group."""
        group = self.counts[arm] % self.groups
        self.group_counts[arm][group] += 1
        self.group_sums[arm][group] += reward
        super().tell(arm, reward)

    def estimate(self, arm: int) -> float:
        """Median of the means of the groups that have an answer."""
        counts, sums = self.group_counts[arm], self.group_sums[arm]
        means = sorted(sums[g] / counts[g] for g in range(self.groups) if counts[g] > 0)
        if not means:
            return 0.0
        middle = len(means) // 2
        return means[middle] if len(means) % 2 == 1 else (means[middle - 1] + means[middle]) / 2

    def index(self, arm: int) -> float:
        """Optimistic value of an arm."""
        log_term = 1 / 8 + 2 * math.log(self.time())
        return self.estimate(arm) + math.sqrt(12 * self.variance * 16 * log_term / self.asked(arm))


class TrimmedMeanUCB(IndexPolicy):
    """The mean of what is left when a fraction is cut off at either end; rewards known up to their 64th of [0, 1]."""

    tolerance = 1e-12

    def __init__(self, n_arms: int, horizon: int, *, fraction: float = 0.1) -> None:
        super().__init__(n_arms, horizon)
        self.fraction = fraction
        self.bin_counts = [[0] * 64 for _ in range(n_arms)]
        self.bin_sums = [[0.0] * 64 for _ in range(n_arms)]

    def tell(self, arm: int, reward: float) -> None:
        """Put the clipped answer into its bin."""
        number = min(63, int(64 * clip(reward)))
        self.bin_counts[arm][number] += 1
        self.bin_sums[arm][number] += clip(reward)
        super().tell(arm, reward)

    def mean(self, arm: int) -> float:
        """The trimmed mean, as if each reward were the mean of its bin."""
        values: list[float] = []
        for count, total in zip(self.bin_counts[arm], self.bin_sums[arm], strict=True):
            values += [total / count] * count if count > 0 else []
        cut = math.floor(self.fraction * len(values))
        rest = values[cut : len(values) - cut]
        return math.fsum(rest) / len(rest) if rest else 0.0

    def index(self, arm: int) -> float:
        """Optimistic value of an arm."""
        width = math.sqrt(2 * math.log(self.time()) / self.asked(arm))
        return self.mean(arm) + width / (1 - 2 * self.fraction)


# ------------------------------------------------------------------------------- policies that draw their arm


def softmax(values: Sequence[float]) -> list[float]:
    """Probabilities in proportion to exp(value)."""
    weights = [math.exp(value - max(values)) for value in values]
    return [weight / sum(weights) for weight in weights]


class Thompson(ChangingArms):
    """Beta(1, 1) priors; a reward is turned into a success with its own probability, by the coin of the round."""

    def __init__(
        self, n_arms: int, horizon: int, *, beta: Callable[[float, float], float], uniforms: Iterator[float]
    ) -> None:
        self.n_arms = n_arms
        self.beta = beta
        self.uniforms = uniforms
        self.successes = [0] * n_arms
        self.failures = [0] * n_arms
        self.coin = 0.0

    def ask(self) -> int:
        """Draw every arm's mean from its posterior, then the coin."""
        means = {k: self.beta(1.0 + self.successes[k], 1.0 + self.failures[k]) for k in self.open_arms}
        self.coin = next(self.uniforms)
        return first_lowest(self.open_arms, lambda k: -means[k])

    def tell(self, arm: int, reward: float) -> None:
        """Success or failure."""
        if self.coin < clip(reward):
            self.successes[arm] += 1
        else:
            self.failures[arm] += 1


class EpsilonGreedy(ChangingArms):
    """Each arm once; then a random arm with probability min(1, scale K / t), else the best mean; K counts open arms."""

    def __init__(self, n_arms: int, horizon: int, *, scale: float = 1.0, uniforms: Iterator[float]) -> None:
        self.n_arms = n_arms
        self.scale = scale
        self.uniforms = uniforms
        self.counts = [0] * n_arms
        self.sums = [0.0] * n_arms

    @property
    def epsilon(self) -> float:
        """The chance to explore in the round about to be played."""
        return min(1.0, self.scale * len(self.open_arms) / (sum(self.counts) + 1))

    @property
    def greedy(self) -> int:
        """The arm of the largest mean."""
        return first_lowest(self.open_arms, lambda k: -self.sums[k] / self.counts[k])

    @property
    def probabilities(self) -> list[float]:
        """The law of the next arm."""
        arms = range(self.n_arms)
        unasked = [k for k in self.open_arms if self.counts[k] == 0]
        if unasked:
            return [1.0 if k == unasked[0] else 0.0 for k in arms]
        return [self.epsilon / self.n_arms + (1 - self.epsilon if k == self.greedy else 0.0) for k in arms]

    def ask(self) -> int:
        """The arm to pull next; a second uniform only to explore."""
        for k in self.open_arms:
            if self.counts[k] == 0:
                return k
        if next(self.uniforms) < self.epsilon:
            n_open = len(self.open_arms)
            return self.open_arms[min(int(next(self.uniforms) * n_open), n_open - 1)]
        return self.greedy

    def tell(self, arm: int, reward: float) -> None:
        """Take in an answer."""
        self.counts[arm] += 1
        self.sums[arm] += reward


class WeightedArms(ChangingArms):
    """Exponential weights: a closed arm has none, and one that opens has the mean weight of the open ones."""

    def open(self, arm: int) -> None:
        """Forget what was known of it."""
        logs = [self.rate() * self.score(k) for k in self.open_arms]
        mean = sum(math.exp(each - max(logs)) for each in logs) / len(logs)
        super().open(arm)
        self.set_score(arm, (max(logs) + math.log(mean)) / self.rate())

    def close(self, arm: int) -> None:
        """No weight."""
        super().close(arm)
        self.set_score(arm, -math.inf)

    def rate(self) -> float:
        """The logarithm of a weight is this times its score."""
        raise NotImplementedError

    def score(self, arm: int) -> float:
        """A gain, or minus a loss."""
        raise NotImplementedError

    def set_score(self, arm: int, score: float) -> None:
        """Change it."""
        raise NotImplementedError

    def mixed(self, shares: Sequence[float], gamma: float) -> list[float]:
        """The shares of the open arms, mixed with the uniform law on them."""
        n_open = len(self.open_arms)
        return [0.0 if k in self.closed else (1 - gamma) * shares[k] + gamma / n_open for k in range(self.n_arms)]


class WeightedGains(WeightedArms):
    """The score is the gain."""

    gains: list[float]

    def score(self, arm: int) -> float:
        """The gain."""
        return self.gains[arm]

    def set_score(self, arm: int, score: float) -> None:
        """Change the gain."""
        self.gains[arm] = score


class WeightedLosses(WeightedArms):
    """The score is minus the loss."""

    losses: list[float]

    def score(self, arm: int) -> float:
        """Minus the loss."""
        return -self.losses[arm]

    def set_score(self, arm: int, score: float) -> None:
        """Change the loss."""
        self.losses[arm] = -score


class EXP3(WeightedGains):
    """Exponential weights on estimated gains, mixed with the uniform law."""

    def __init__(self, n_arms: int, horizon: int, *, gamma: float | None = None, uniforms: Iterator[float]) -> None:
        self.n_arms = n_arms
        usual = min(1.0, math.sqrt(n_arms * math.log(n_arms) / ((math.e - 1) * horizon)))
        self.gamma = usual if gamma is None else gamma
        self.uniforms = uniforms
        self.gains = [0.0] * n_arms

    @property
    def probabilities(self) -> list[float]:
        """The law of the next arm."""
        return self.mixed(softmax([self.rate() * gain for gain in self.gains]), self.gamma)

    def rate(self) -> float:
        """gamma / K"""
        return self.gamma / self.n_arms

    def ask(self) -> int:
        """The arm to pull next."""
        return first_above(self.probabilities, next(self.uniforms))

    def tell(self, arm: int, reward: float) -> None:
        """Add the estimate of this round."""
        self.gains[arm] += clip(reward) / self.probabilities[arm]


class EXP3IX(WeightedLosses):
    """Exponential weights on losses, with implicit exploration."""

    def __init__(self, n_arms: int, horizon: int, *, uniforms: Iterator[float]) -> None:
        self.n_arms = n_arms
        self.eta = math.sqrt(2 * math.log(n_arms) / (n_arms * horizon))
        self.gamma = self.eta / 2
        self.uniforms = uniforms
        self.losses = [0.0] * n_arms

    @property
    def probabilities(self) -> list[float]:
        """The law of the next arm."""
        return softmax([-self.eta * loss for loss in self.losses])

    def rate(self) -> float:
        """eta"""
        return self.eta

    def ask(self) -> int:
        """The arm to pull next."""
        return first_above(self.probabilities, next(self.uniforms))

    def tell(self, arm: int, reward: float) -> None:
        """Add the estimate of this round."""
        self.losses[arm] += (1 - clip(reward)) / (self.probabilities[arm] + self.gamma)


class EXP3P(WeightedGains):
    """Exponential weights on gains with a bonus for every arm (the policy; the master of MS-SE-WR is Exp3P)."""

    def __init__(self, n_arms: int, horizon: int, *, delta: float | None = None, uniforms: Iterator[float]) -> None:
        delta = n_arms / horizon if delta is None else delta
        self.n_arms = n_arms
        self.beta = math.sqrt(math.log(n_arms / delta) / (horizon * n_arms))
        self.eta = 0.95 * math.sqrt(math.log(n_arms) / (horizon * n_arms))
        self.gamma = min(1.0, 1.05 * math.sqrt(n_arms * math.log(n_arms) / horizon))
        self.uniforms = uniforms
        self.gains = [0.0] * n_arms

    @property
    def probabilities(self) -> list[float]:
        """The law of the next arm."""
        return self.mixed(softmax([self.eta * gain for gain in self.gains]), self.gamma)

    def rate(self) -> float:
        """eta"""
        return self.eta

    def ask(self) -> int:
        """The arm to pull next."""
        return first_above(self.probabilities, next(self.uniforms))

    def tell(self, arm: int, reward: float) -> None:
        """Add the estimates of this round, all with the law that the arm was drawn from."""
        law = self.probabilities
        for k in self.open_arms:
            self.gains[k] += ((clip(reward) if k == arm else 0.0) + self.beta) / law[k]


class EXP3PlusPlus(WeightedLosses):
    """Exponential weights on losses; each arm is explored as much as its estimated gap asks for."""

    def __init__(self, n_arms: int, horizon: int, *, scale: float = 256.0, uniforms: Iterator[float]) -> None:
        self.n_arms = n_arms
        self.scale = scale
        self.uniforms = uniforms
        self.counts = [0] * n_arms
        self.observed = [0.0] * n_arms
        self.losses = [0.0] * n_arms

    @property
    def time(self) -> int:
        """The round about to be played, from 1."""
        return sum(self.counts) + 1

    def gap(self, arm: int) -> float:
        """How much worse the arm is than some other, as far as the confidence bounds can tell."""
        t, n = self.time, self.counts
        widths = {k: math.sqrt(3 * math.log(t * self.n_arms ** (1 / 3)) / (2 * n[k])) for k in self.open_arms}
        means = {k: self.observed[k] / n[k] for k in self.open_arms}
        least = min(min(1.0, means[k] + widths[k]) for k in self.open_arms)
        return max(0.0, max(0.0, means[arm] - widths[arm]) - least)

    def exploration(self, arm: int) -> float:
        """eps_a."""
        t, gap = self.time, self.gap(arm)
        xi = self.scale * math.log(t) / (t * gap * gap) if gap > 0 else math.inf
        return min(1 / (2 * self.n_arms), 0.5 * math.sqrt(math.log(self.n_arms) / (t * self.n_arms)), xi)

    @property
    def probabilities(self) -> list[float]:
        """The law of the next arm."""
        arms = range(self.n_arms)
        unasked = [k for k in self.open_arms if self.counts[k] == 0]
        if unasked:
            return [1.0 if k == unasked[0] else 0.0 for k in arms]
        shares = softmax([-self.rate() * loss for loss in self.losses])
        explorations = [0.0 if k in self.closed else self.exploration(k) for k in arms]
        return [(1 - sum(explorations)) * shares[k] + explorations[k] for k in arms]

    def rate(self) -> float:
        """eta_t"""
        return 0.5 * math.sqrt(math.log(self.n_arms) / (self.time * self.n_arms))

    def ask(self) -> int:
        """The arm to pull next; no uniform is drawn before each arm was asked once."""
        if any(self.counts[k] == 0 for k in self.open_arms):
            return self.probabilities.index(1.0)
        return first_above(self.probabilities, next(self.uniforms))

    def tell(self, arm: int, reward: float) -> None:
        """Add the estimate of this round."""
        loss = 1 - clip(reward)
        self.losses[arm] += loss / self.probabilities[arm]
        self.observed[arm] += loss
        self.counts[arm] += 1


class TsallisINF(ChangingArms):
    """w_i = 4 / (eta (L_i - x))^2, with the x below all L_i for which they sum to 1."""

    def __init__(self, n_arms: int, horizon: int, *, estimator: str = "iw", uniforms: Iterator[float]) -> None:
        if estimator not in ("iw", "rv"):
            raise ValueError(estimator)
        self.n_arms = n_arms
        self.estimator = estimator
        self.uniforms = uniforms
        self.losses = [0.0] * n_arms
        self.answers = 0

    @property
    def eta(self) -> float:
        """Learning rate of the round about to be played."""
        return (2 if self.estimator == "iw" else 4) / math.sqrt(self.answers + 1)

    @property
    def probabilities(self) -> list[float]:
        """The law of the next arm, by bisection of the distance from the least loss down to x.

        At 2 / eta the best arm alone has weight 1; at 2 sqrt(K) / eta no arm has more than 1 / K.
        """
        eta, least = self.eta, min(self.losses)

        def weights(distance: float) -> list[float]:
            return [4 / (eta * (loss - least + distance)) ** 2 for loss in self.losses]

        low, high = 2 / eta, 2 * math.sqrt(self.n_arms) / eta
        while low < (low + high) / 2 < high:
            if sum(weights((low + high) / 2)) > 1:
                low = (low + high) / 2
            else:
                high = (low + high) / 2
        total = sum(weights(low))
        return [weight / total for weight in weights(low)]

    def ask(self) -> int:
        """The arm to pull next."""
        return first_above(self.probabilities, next(self.uniforms))

    def open(self, arm: int) -> None:
        """At the loss at which its weight is 1 / n beside n open arms, x unchanged."""
        best = first_lowest(self.open_arms, lambda k: self.losses[k])
        x = self.losses[best] - 2 / (self.eta * math.sqrt(self.probabilities[best]))
        self.losses[arm] = x + 2 * math.sqrt(len(self.open_arms)) / self.eta
        super().open(arm)

    def close(self, arm: int) -> None:
        """An infinite loss."""
        super().close(arm)
        self.losses[arm] = math.inf

    def tell(self, arm: int, reward: float) -> None:
        """Add the estimates of this round; with "rv" around 1/2 for every arm that is likely enough.

        All losses 0 make w_i = 1 / K = eta^2 exactly at t = 16 K; a tolerance keeps rounding out of that.
        """
        law, eta, loss = self.probabilities, self.eta, 1 - clip(reward)
        for k in range(self.n_arms):
            centre = 0.5 if self.estimator == "rv" and law[k] >= eta**2 * (1 - 1e-9) else 0.0
            self.losses[k] += ((loss - centre) / law[k] if k == arm else 0.0) + centre
        self.answers += 1


# ------------------------------------------------------------------------------- layers, epochs, phases


class Copy:
    """Successive elimination on its own counts, sums and active set, with a width of its own."""

    def __init__(self, n_arms: int, width: Callable[[int], float]) -> None:
        self.width = width
        self.active = list(range(n_arms))
        self.counts = [0] * n_arms
        self.sums = [0.0] * n_arms

    def choose(self) -> int:
        """The active arm with the fewest pulls."""
        return first_lowest(self.active, lambda arm: self.counts[arm])

    def tell(self, arm: int, reward: float) -> list[int]:
        """Take in an answer and drop what is beaten; the arms dropped."""
        self.counts[arm] += 1
        self.sums[arm] += reward
        dropped = [k for k in self.active if any(self.beats(j, k) for j in self.active)]
        self.active = [k for k in self.active if k not in dropped]
        return dropped

    def beats(self, j: int, k: int) -> bool:
        """Is j's interval above k's?"""
        n_j, n_k = self.counts[j], self.counts[k]
        if n_j == 0 or n_k == 0:
            return False
        return self.sums[j] / n_j - self.sums[k] / n_k > self.width(n_j) + self.width(n_k)


class Layers:
    """Copies from fast to slow, one drawn each round; what a slower one drops is dropped from every faster one."""

    def __init__(self, copies: Sequence[Copy], chances: Sequence[float], uniforms: Iterator[float]) -> None:
        """chances[i] is that of copy i + 1; copy 0 gets the rest."""
        self.copies = copies
        self.chances = chances
        self.uniforms = uniforms
        self.drawn = 0

    def arm_of(self, layer: int) -> int:
        """The arm of a copy; if it is empty, the first active arm of the next slower copy that is not."""
        if self.copies[layer].active:
            return self.copies[layer].choose()
        return next(copy for copy in self.copies[layer:] if copy.active).active[0]

    @property
    def probabilities(self) -> list[float]:
        """The law of the next arm."""
        law = [0.0] * len(self.copies[0].counts)
        law[self.arm_of(0)] += 1 - sum(self.chances)
        for i, chance in enumerate(self.chances):
            law[self.arm_of(i + 1)] += chance
        return law

    def ask(self) -> int:
        """The arm of the copy drawn."""
        u = next(self.uniforms)
        self.drawn = 0
        total = 0.0
        for i, chance in enumerate(self.chances):
            total += chance
            if u < total:
                self.drawn = i + 1
                break
        return self.arm_of(self.drawn)

    def tell(self, arm: int, reward: float) -> None:
        """The reward goes to the copy that was drawn, and nowhere if that is empty."""
        if self.copies[self.drawn].active:
            dropped = self.copies[self.drawn].tell(arm, reward)
            for copy in self.copies[: self.drawn]:
                copy.active = [k for k in copy.active if k not in dropped]


class FSAAER(Layers):
    """Fast and slow elimination for a known budget."""

    def __init__(
        self, n_arms: int, horizon: int, *, budget: float, delta: float | None = None, uniforms: Iterator[float]
    ) -> None:
        delta = n_arms / horizon if delta is None else delta
        a = math.log(8 * n_arms * horizon / delta)
        fast = Copy(n_arms, lambda n: math.sqrt(a / n))
        slow = Copy(n_arms, lambda n: math.sqrt(a / n) + 2 * a / n)
        super().__init__([fast, slow], [1 / max(1.0, budget)], uniforms)


class MLAAER(Layers):
    """Layers l = 1, 2, ... drawn with probability 2^-l, for an unknown budget."""

    def __init__(self, n_arms: int, horizon: int, *, delta: float | None = None, uniforms: Iterator[float]) -> None:
        delta = n_arms / horizon if delta is None else delta
        a = math.log(4 * n_arms * horizon * max(1.0, math.log2(horizon)) / delta)
        n_layers = max(1, ceil_log2(horizon))
        copies = [Copy(n_arms, lambda n: math.sqrt(a / n) + a / n) for _ in range(n_layers)]
        super().__init__(copies, [2.0**-layer for layer in range(2, n_layers + 1)], uniforms)


class BARBAR:
    """Epochs in which arm i is drawn in proportion to 1 / gap_i^2, gaps estimated in the epoch before."""

    def __init__(
        self,
        n_arms: int,
        horizon: int,
        *,
        scale: float | None = None,
        delta: float | None = None,
        uniforms: Iterator[float],
    ) -> None:
        delta = n_arms / horizon if delta is None else delta
        usual = 1024 * math.log(8 * n_arms / delta * max(1.0, math.log2(horizon)))
        self.scale = usual if scale is None else scale
        self.uniforms = uniforms
        self.gaps = [1.0] * n_arms
        self.epoch = 1
        self.answers = 0
        self.sums = [0.0] * n_arms

    @property
    def planned(self) -> list[float]:
        """n_i of this epoch."""
        return [self.scale / (gap * gap) for gap in self.gaps]

    @property
    def length(self) -> int:
        """Rounds of this epoch."""
        total = 0.0
        for n in self.planned:
            total += n
        return max(1, math.ceil(total))

    @property
    def probabilities(self) -> list[float]:
        """The law of the next arm."""
        return [n / sum(self.planned) for n in self.planned]

    def ask(self) -> int:
        """The arm to pull next."""
        return first_above(self.probabilities, next(self.uniforms))

    def tell(self, arm: int, reward: float) -> None:
        """Take in an answer; at the end of the epoch estimate the gaps."""
        self.sums[arm] += reward
        self.answers += 1
        if self.answers == self.length:
            arms = range(len(self.gaps))
            means = [self.sums[k] / self.planned[k] for k in arms]
            best = max(means[k] - self.gaps[k] / 16 for k in arms)
            self.gaps = [max(2.0**-self.epoch, best - means[k]) for k in arms]
            self.epoch += 1
            self.answers = 0
            self.sums = [0.0 for _ in arms]


class RobustPhasedElimination(PEWR):
    """PE-WR's skeleton with a floor under the plays of a phase and another guess of the budget."""

    def __init__(
        self, n_arms: int, horizon: int, *, truncation: float | None = None, delta: float | None = None
    ) -> None:
        super().__init__(n_arms, horizon, delta=delta)
        self.truncation = truncation

    def pulls_due(self, phase: int) -> int:
        """ceil(l_h max(1 / |S|, nu)); the default nu = 1 / K is never the larger."""
        due = super().pulls_due(phase)
        return due if self.truncation is None else max(due, math.ceil(self.n_arms * 2**phase * self.truncation))

    def guess(self, phase: int) -> float:
        """C_h, with l_0 = K."""
        log_horizon = math.log2(self.horizon)
        first = math.sqrt(self.horizon) / (self.n_arms * max(1.0, log_horizon))
        return min(first, self.n_arms * math.sqrt(self.n_arms) * 2 ** (log_horizon - phase))


# -------------------------------------------------------------------------------------------- the game


def play(policy: Policy, table: Sequence[Sequence[float]]) -> list[int]:
    """Play a policy on a table of observed rewards, table[t][k]; the arms pulled."""
    arms = []
    for row in table:
        arm = policy.ask()
        policy.tell(arm, row[arm])
        arms.append(arm)
    return arms


def play_with_changes(
    policy: Any, table: Sequence[Sequence[float]], windows: Sequence[Sequence[tuple[int, int]]]
) -> list[int]:
    """The same if arm k is open in the rounds first <= t < end of its windows; openings come before closings."""
    arms, is_open = [], [True] * len(windows)
    for t, row in enumerate(table, start=1):
        wanted = [any(first <= t < end for first, end in each) for each in windows]
        for k in range(len(windows)):
            if wanted[k] and not is_open[k]:
                policy.open(k)
        for k in range(len(windows)):
            if is_open[k] and not wanted[k]:
                policy.close(k)
        is_open = wanted
        arms.append(policy.ask())
        policy.tell(arms[-1], row[arms[-1]])
    return arms


def best_arms(means: Sequence[float], count: int) -> list[int]:
    """The best arms, so many and those that are as good as one of these; none that is as bad as the worst."""
    order = sorted(range(len(means)), key=lambda k: -means[k])
    as_good = [k for k in order if any(abs(means[k] - means[j]) < 1e-9 for j in order[:count])]
    return [k for k in as_good if means[k] - min(means) > 1e-9]


def best_other(means: Sequence[float], arms: Sequence[int]) -> int | None:
    """The first of the best arms that are not among these; none where nothing is hidden."""
    others = [k for k in range(len(means)) if k not in arms]
    return first_lowest(others, lambda k: -means[k]) if arms and others else None


class Conceal:
    """Return 0 on the best arms."""

    def __init__(self, means: Sequence[float], policy: object = None, *, best: int = 1) -> None:
        self.hidden = best_arms(means, best)

    def alter(self, t: int, arm: int, reward: float) -> float:
        """The reward wanted."""
        return 0.0 if arm in self.hidden else reward


class Swap:
    """Bring every other arm a margin below the target."""

    def __init__(self, means: Sequence[float], target: int, margin: float) -> None:
        self.means = means
        self.target = target
        self.margin = margin

    def alter(self, t: int, arm: int, reward: float) -> float:
        """The reward wanted."""
        if arm == self.target:
            return reward
        return reward - max(0.0, self.means[arm] - self.means[self.target] + self.margin)


class Mimic:
    """SPEC §12: thin the rewards of the best arms so that their mean looks `depth` gaps lower."""

    def __init__(self, means: Sequence[float], arm: int | None, depth: float, uniforms: Iterator[float]) -> None:
        best = max(means) if arm is None else means[arm]
        self.hidden = [k for k in range(len(means)) if (means[k] == best if arm is None else k == arm)]
        lower = [mean for mean in means if mean < best]
        self.chance = min(1.0, depth * (best - max(lower)) / best) if lower else 0.0
        self.uniforms = uniforms

    def alter(self, t: int, arm: int, reward: float) -> float:
        """The reward wanted."""
        if arm not in self.hidden or self.chance == 0:
            return reward
        return 0.0 if self.chance == 1 or next(self.uniforms) < self.chance else reward


class Boost:
    """SPEC §12: raise an arm, the best of those that are not best, by `depth` of its gap."""

    def __init__(self, means: Sequence[float], arm: int | None, depth: float, uniforms: Iterator[float]) -> None:
        others = [k for k in range(len(means)) if means[k] < max(means)]
        self.arm = first_lowest(others, lambda k: -means[k]) if arm is None and others else arm
        gap = 0.0 if self.arm is None else max(means) - means[self.arm]
        self.chance = 0.0 if self.arm is None or gap == 0 else min(1.0, depth * gap / (1 - means[self.arm]))
        self.uniforms = uniforms

    def alter(self, t: int, arm: int, reward: float) -> float:
        """The reward wanted."""
        if arm != self.arm or self.chance == 0:
            return reward
        return 1.0 if self.chance == 1 or next(self.uniforms) < self.chance else reward


class Script:
    """For each arm a sign; thinned to a level, up to a cap, in a window of rounds; it may stop when arms are dropped.

    An arm with - shows 0 and one with + shows 1, with the chance with which the arm's mean becomes the level.
    """

    def __init__(
        self,
        means: Sequence[float],
        policy: "SEWR | PEWR | None",
        modes: str,
        uniforms: Iterator[float],
        *,
        levels: Sequence[float] | None = None,
        caps: Sequence[float] | None = None,
        first: Sequence[int] | None = None,
        last: Sequence[int] | None = None,
        stop_when_dropped: bool = False,
    ) -> None:
        self.means, self.policy, self.modes, self.uniforms = means, policy, modes, uniforms
        self.levels, self.caps, self.first, self.last = levels, caps, first, last
        self.stop_when_dropped = stop_when_dropped
        self.spent = [0.0] * len(means)

    def chance(self, arm: int) -> float:
        """The chance p with which the reward is replaced: (1 - p) mean + p shown = level."""
        shown = 1.0 if self.modes[arm] == "+" else 0.0
        if self.levels is None or self.levels[arm] == shown:
            return 1.0
        if self.means[arm] == shown:
            return 0.0
        return clip((self.levels[arm] - self.means[arm]) / (shown - self.means[arm]))

    def alter(self, t: int, arm: int, reward: float) -> float:
        """The reward wanted."""
        if arm >= len(self.modes) or self.modes[arm] == "0":
            return reward
        if (self.first and t < self.first[arm]) or (self.last and t > self.last[arm]):
            return reward
        if self.stop_when_dropped:
            assert self.policy is not None
            if all(k not in self.policy.active for k in range(len(self.modes)) if self.modes[k] == "-"):
                return reward
        chance = self.chance(arm)
        if chance == 0 or (chance < 1 and next(self.uniforms) >= chance):
            return reward
        left = self.caps[arm] - self.spent[arm] if self.caps else math.inf
        return min(1.0, reward + left) if self.modes[arm] == "+" else max(0.0, reward - left)

    def witness(self, arm: int, raw: float, seen: float) -> None:
        """Count what was spent."""
        self.spent[arm] = min(self.spent[arm] + abs(raw - seen), self.caps[arm] if self.caps else math.inf)


class Inject:
    """Fake visitors, each one event: 0 on an arm with -, 1 on one with +, or the level; the true mean on the others.

    One comes before a round, again and again, while some arm with a sign is in its window and below its cap; if the
    attacker peeks, only if that holds for the arm that the policy plays next.
    """

    def __init__(
        self,
        means: Sequence[float],
        policy: Any,
        modes: str,
        *,
        levels: Sequence[float] | None = None,
        caps: Sequence[float] | None = None,
        first: Sequence[int] | None = None,
        last: Sequence[int] | None = None,
        stop_when_dropped: bool = False,
        peek: bool = False,
    ) -> None:
        self.means, self.policy, self.modes = means, policy, modes.ljust(len(means), "0")
        self.levels, self.caps, self.first, self.last = levels, caps, first, last
        self.stop_when_dropped, self.peek = stop_when_dropped, peek
        self.came = [0] * len(means)

    def useful(self, t: int, arm: int) -> bool:
        """Whether a visitor who sees this arm helps the attacker."""
        if self.modes[arm] == "0" or (self.caps and self.came[arm] + 1 > self.caps[arm]):
            return False
        return not (self.first and t < self.first[arm]) and not (self.last and t > self.last[arm])

    def comes(self, t: int) -> bool:
        """Whether a fake visitor makes decision t."""
        arms = range(len(self.means))
        if self.stop_when_dropped and all(k not in self.policy.active for k in arms if self.modes[k] == "-"):
            return False
        return self.useful(t, copy.deepcopy(self.policy).ask()) if self.peek else any(self.useful(t, k) for k in arms)

    def reply(self, arm: int) -> float:
        """What the visitor answers."""
        self.came[arm] += 1
        if self.modes[arm] == "0":
            return self.means[arm]
        return self.levels[arm] if self.levels else float(self.modes[arm] == "+")


class LookAhead:
    """Plays copies of the policy: what would the next rounds cost after each answer, if every arm paid its mean?

    A script shows 0 or 1 on some arms, in the next `depth` answers. The best few scripts get another arm, until that
    helps no more; the best of all is followed, and after `every` answers there is a new one.
    """

    def __init__(
        self,
        means: Sequence[float],
        policy: Any,
        *,
        budget: float,
        horizon: int,
        ahead: int,
        price: float,
        depth: int,
        every: int,
        width: int,
    ) -> None:
        self.means, self.policy, self.left, self.horizon = means, policy, budget, horizon
        self.ahead, self.price, self.depth, self.every, self.width = ahead, price, depth, every, width
        self.script: dict[int, float] = {}
        self.rest = 0

    def forecast(self, t: int, arm: int, reward: float, script: dict[int, float]) -> tuple[float, float]:
        """The regret of the rounds after round t, and what the script costs."""
        victim, regret, cost = copy.deepcopy(self.policy), 0.0, 0.0
        for step in range(min(self.ahead, self.horizon - t) + 1):
            if step > 0:
                arm = victim.ask()
                reward = self.means[arm]
                regret += max(self.means) - self.means[arm]
            shown = script.get(arm, reward) if step < self.depth else reward
            if cost + abs(shown - reward) > self.left:
                shown = reward
            cost += abs(shown - reward)
            victim.tell(arm, shown)
        return regret, cost

    def alter(self, t: int, arm: int, reward: float) -> float:
        """The reward wanted."""
        if self.left <= 0 or t >= self.horizon:
            return reward
        if self.rest == 0:
            self.script, self.rest = self.best_script(t, arm, reward), self.every
        self.rest -= 1
        return self.script.get(arm, reward)

    def best_script(self, t: int, arm: int, reward: float) -> dict[int, float]:
        """The script that is worth most; the empty one is worth nothing."""
        alone, _ = self.forecast(t, arm, reward, {})
        arms = [arm] if self.depth == 1 else range(len(self.means))
        kept: list[dict[int, float]] = [{}]
        best, found = 0.0, {}
        for size in range(1, len(arms) + 1):
            scripts = [each | {k: shown} for each in kept for k in arms if k not in each for shown in (0.0, 1.0)]
            worths = []
            for script in scripts:
                regret, cost = self.forecast(t, arm, reward, script)
                worths.append(regret - alone - self.price * cost)
            if max(worths) > best:
                best = max(worths)
                found = scripts[worths.index(best)]
            elif size > 1:
                break
            ranks = sorted(range(len(scripts)), key=worths.__getitem__, reverse=True)
            kept = [scripts[i] for i in ranks[: self.width]]
        return found

    def witness(self, arm: int, raw: float, seen: float) -> None:
        """Count what was spent."""
        self.left -= abs(raw - seen)


# ------------------------------------------------------------------------------------------- the attacks


class Learning:
    """An attack in favour of a target, by default the worst arm, that counts what was paid and what was delivered."""

    def __init__(
        self, means: Sequence[float], *, target: int | None = None, delta: float = 0.05, sigma: float = 0.5
    ) -> None:
        self.n_arms = len(means)
        self.target = first_lowest(range(len(means)), lambda k: means[k]) if target is None else target
        self.delta = delta
        self.sigma = sigma
        self.counts = [0] * self.n_arms
        self.raw_sums = [0.0] * self.n_arms
        self.seen_sums = [0.0] * self.n_arms

    def witness(self, arm: int, raw: float, seen: float) -> None:
        """What the arm paid and what the learner was shown."""
        self.counts[arm] += 1
        self.raw_sums[arm] += raw
        self.seen_sums[arm] += seen

    def beta(self, n: int) -> float:
        """Confidence radius after n pulls."""
        return math.sqrt(2 * self.sigma**2 / n * math.log(math.pi**2 * self.n_arms * n**2 / (3 * self.delta)))

    def target_mean(self) -> float:
        """Mean delivered reward of the target."""
        return self.seen_sums[self.target] / self.counts[self.target]

    def target_low(self) -> float:
        """Mean delivered reward of the target less two radii."""
        return self.target_mean() - 2 * self.beta(self.counts[self.target])

    def pressed(self, arm: int, reward: float, level: float) -> float:
        """The reward that brings the arm's mean delivered reward, this pull included, down to the level."""
        return reward - max(0.0, self.seen_sums[arm] + reward - level * (self.counts[arm] + 1))

    def alter(self, t: int, arm: int, reward: float) -> float:
        """Leave the target alone, and everything as long as the target was never pulled."""
        if arm == self.target or self.counts[self.target] == 0:
            return reward
        return self.attack(t, arm, reward)

    def attack(self, t: int, arm: int, reward: float) -> float:
        """The reward wanted of another arm."""
        raise NotImplementedError


class JunEpsilonGreedy(Learning):
    """Keep every other mean two radii below the target's, from round K + 1 on."""

    def attack(self, t: int, arm: int, reward: float) -> float:
        """The reward wanted of another arm."""
        return self.pressed(arm, reward, self.target_low()) if t > self.n_arms else reward


class JunUCB(Learning):
    """Keep every other mean two radii and a margin below the target's."""

    def __init__(
        self,
        means: Sequence[float],
        *,
        target: int | None = None,
        margin: float = 0.1,
        delta: float = 0.05,
        sigma: float = 0.5,
    ) -> None:
        super().__init__(means, target=target, delta=delta, sigma=sigma)
        self.margin = margin

    def attack(self, t: int, arm: int, reward: float) -> float:
        """The reward wanted of another arm."""
        return self.pressed(arm, reward, self.target_low() - self.margin)


class ACE(Learning):
    """Take the estimated gap to the target and both radii, by raw means, from round K + 1 on."""

    def attack(self, t: int, arm: int, reward: float) -> float:
        """The reward wanted of another arm; this pull counts."""
        if t <= self.n_arms:
            return reward
        n, n_target = self.counts[arm] + 1, self.counts[self.target]
        gap = (self.raw_sums[arm] + reward) / n - self.raw_sums[self.target] / n_target
        return reward - max(0.0, gap + self.beta(n) + self.beta(n_target))


class ExponentialThreshold(Learning):
    """As JunUCB, to a level that falls exponentially with the pulls."""

    def attack(self, t: int, arm: int, reward: float) -> float:
        """The reward wanted of another arm."""
        depth = 3 * self.sigma * math.exp(min(self.counts[arm] + 1, 40))
        return self.pressed(arm, reward, self.target_low() - depth)


class ObservationFree:
    """Medium: nothing for anybody, then one for the target and nothing for the rest, then hands off.

    K * ceil(ln T / mean^2) rounds of the first kind, if there are as many; to the second as 1 - mean to mean without a
    budget, or with a larger one.
    """

    def __init__(
        self,
        means: Sequence[float],
        *,
        zero_rounds: int | None = None,
        target_rounds: int | None = None,
        target: int | None = None,
        budget: float = math.inf,
        horizon: int = 1,
    ) -> None:
        self.target = first_lowest(range(len(means)), lambda k: means[k]) if target is None else target
        mean = means[self.target]
        rounds = math.floor(min(budget, horizon))
        if math.isinf(budget) and 0 < mean < 1:
            first = len(means) * math.ceil(math.log(horizon) / mean**2)
            rounds = min(first + round(first * mean / (1 - mean)), rounds)
        first = round(rounds * (1 - mean))
        least = math.inf if mean == 0 else len(means) * math.ceil(math.log(horizon) / mean**2)
        if first < least <= rounds:
            first = int(least)
        self.zero_rounds = first if zero_rounds is None else zero_rounds
        self.target_rounds = rounds - first if target_rounds is None else target_rounds

    def corrupt(self, t: int, rewards: Sequence[float]) -> list[float]:
        """The rewards wanted."""
        if t <= self.zero_rounds:
            return [0.0 for _ in rewards]
        if t <= self.zero_rounds + self.target_rounds:
            return [1.0 if k == self.target else 0.0 for k in range(len(rewards))]
        return list(rewards)


class AntiEXP3:
    """Nothing for the others, at least t^(slack - 1/2) for the target; by default 0.1, or 0.25 if it pays nothing."""

    def __init__(self, means: Sequence[float], *, target: int | None = None, slack: float | None = None) -> None:
        self.target = first_lowest(range(len(means)), lambda k: means[k]) if target is None else target
        self.slack = (0.25 if means[self.target] == 0 else 0.1) if slack is None else slack

    def alter(self, t: int, arm: int, reward: float) -> float:
        """The reward wanted."""
        return max(reward, t ** (1 / 2 + self.slack - 1)) if arm == self.target else 0.0


class Garcelon(Learning):
    """Pay every other arm a part of the target's lower confidence bound, by raw means."""

    def __init__(
        self, means: Sequence[float], *, target: int | None = None, shrink: float = 0.5, delta: float = 0.05
    ) -> None:
        super().__init__(means, target=target, delta=delta)
        self.shrink = shrink

    def attack(self, t: int, arm: int, reward: float) -> float:
        """The reward wanted of another arm."""
        n = self.counts[self.target]
        return (1 - self.shrink) * max(0.0, self.raw_sums[self.target] / n - self.beta(n))


class PhaseBurst:
    """Zero the best arms and pay the runner-up all through a phase of PE-WR: the one in which they fall cheapest."""

    def __init__(self, means: Sequence[float], policy: PEWR) -> None:
        self.policy = policy
        self.hidden = best_arms(means, 1)
        self.second = best_other(means, self.hidden)
        self.mu = max(means)
        self.mu_2 = 0.0 if self.second is None else means[self.second]
        self.looked_at = -1
        self.bursting = False

    def line(self, phase: int) -> float:
        """By how much a mean must lie below the best to be dropped."""
        policy, n = self.policy, self.policy.pulls_due(phase)
        ratio = policy.n_arms * policy.n_phases / policy.delta
        if policy.radius == "paper":
            return 2 * (math.sqrt(math.log(2 * ratio) / n) + policy.guess(phase) / n)
        return math.sqrt(math.log(ratio) / n) + policy.guess(phase) / n

    def price(self, phase: int) -> float:
        """What must be added to the runner-up, and taken from each of the best arms that are left."""
        left = [arm for arm in self.hidden if arm in self.policy.active]
        needed = self.mu - self.mu_2 + self.line(phase)
        added = min(needed, 1 - self.mu_2)
        return self.policy.pulls_due(phase) * (added + len(left) * (needed - added))

    def feasible_phases(self, t: int) -> list[int]:
        """The phases from here on that end in time and in which a mean of 0 falls to a mean of 1."""
        if self.second not in self.policy.active or not any(arm in self.policy.active for arm in self.hidden):
            return []
        phases = []
        phase, left = self.policy.phase, self.policy.horizon - t + 1
        while left >= len(self.policy.active) * self.policy.pulls_due(phase):
            left -= len(self.policy.active) * self.policy.pulls_due(phase)
            if self.line(phase) < 1:
                phases.append(phase)
            phase += 1
        return phases

    def alter(self, t: int, arm: int, reward: float) -> float:
        """The reward wanted; decide at the first sight of each phase."""
        phase = self.policy.phase
        if phase != self.looked_at:
            self.looked_at = phase
            phases = self.feasible_phases(t)
            self.bursting = bool(phases) and min(phases, key=lambda h: (self.price(h), h)) == phase
        if not self.bursting:
            return reward
        return 0.0 if arm in self.hidden else 1.0 if arm == self.second else reward


class EliminationRush:
    """Zero the best arms and pay one other in full; seeing, only until the best arms are dropped."""

    def __init__(
        self,
        means: Sequence[float],
        policy: Any = None,
        *,
        best: int = 1,
        target: int | None = None,
        seeing: bool = False,
    ) -> None:
        self.policy = policy
        self.seeing = seeing
        self.hidden = best_arms(means, best)
        self.raised = best_other(means, self.hidden) if target is None else target

    def alter(self, t: int, arm: int, reward: float) -> float:
        """The reward wanted."""
        if self.seeing and not any(hidden in self.policy.active for hidden in self.hidden):
            return reward
        if arm in self.hidden:
            return 0.0
        return 1.0 if arm == self.raised else reward


class MasterAttack:
    """Zero what the master of MS-SE-WR learns about the base whose budget is the right one."""

    def __init__(self, means: Sequence[float], policy: MSSEWR, *, budget: float) -> None:
        self.policy = policy
        g = 1
        while 2**g < budget and g < len(policy.bases):
            g += 1
        self.right = g - 1

    def alter(self, t: int, arm: int, reward: float) -> float:
        """The reward wanted."""
        return 0.0 if self.policy.step == 2 and self.policy.base == self.right else reward


class BestArmCorruption:
    """Medium: nothing for the best arms."""

    def __init__(self, means: Sequence[float], *, best: int = 1) -> None:
        self.hidden = best_arms(means, best)

    def corrupt(self, t: int, rewards: Sequence[float]) -> list[float]:
        """The rewards wanted."""
        return [0.0 if k in self.hidden else reward for k, reward in enumerate(rewards)]


# ---------------------------------------------------------------------------------------- budget and rounds


@dataclass
class Record:
    """What happened in a game."""

    arms: list[int]
    raw: list[float]
    observed: list[float]
    cost: Fraction


def truncate(raw: float, wanted: float, left: Fraction | float) -> float:
    """The float nearest to the wanted reward whose distance to the raw one, computed exactly, is at most left."""
    if abs(Fraction(wanted) - Fraction(raw)) <= left:
        return wanted
    left = Fraction(left)
    observed = float(Fraction(raw) + (left if wanted > raw else -left))
    if abs(Fraction(observed) - Fraction(raw)) > left:
        observed = math.nextafter(observed, raw)
    return observed


def game(
    policy: Policy,
    draw: Callable[[int, int], float],
    adversary: Adversary,
    budget: float,
    bounded: bool,
    horizon: int,
) -> Record:
    """Strong adversary: pull, draw(t, arm), alter, meter; rounds count from 0 in draw and from 1 in alter."""
    record = Record([], [], [], Fraction(0))
    for t in range(horizon):
        arm = policy.ask()
        raw = draw(t, arm)
        wanted = adversary.alter(t + 1, arm, raw)
        if bounded:
            wanted = clip(wanted)
        observed = truncate(raw, wanted, budget if math.isinf(budget) else Fraction(budget) - record.cost)
        if hasattr(adversary, "witness"):
            adversary.witness(arm, raw, observed)
        policy.tell(arm, observed)
        record.arms.append(arm)
        record.raw.append(raw)
        record.observed.append(observed)
        record.cost += abs(Fraction(observed) - Fraction(raw))
    return record


def injected_game(
    policy: Policy, draw: Callable[[int, int], float], adversary: Inject, budget: float, horizon: int
) -> tuple[Record, list[tuple[int, float, bool]]]:
    """Real visitors, and before each of them fake ones; the record of the real ones, and all decisions in order."""
    record = Record([], [], [], Fraction(0))
    decisions: list[tuple[int, float, bool]] = []
    for t in range(horizon):
        while record.cost + 1 <= budget and adversary.comes(len(decisions) + 1):
            arm = policy.ask()
            answer = adversary.reply(arm)
            policy.tell(arm, answer)
            decisions.append((arm, answer, True))
            record.cost += 1
        arm = policy.ask()
        reward = draw(t, arm)
        policy.tell(arm, reward)
        decisions.append((arm, reward, False))
        record.arms.append(arm)
        record.raw.append(reward)
        record.observed.append(reward)
    return record, decisions


def medium_game(
    policy: Policy,
    table: Sequence[Sequence[float]],
    adversary: MediumAdversary,
    budget: float,
    bounded: bool,
) -> Record:
    """Medium adversary: a row of the table, corrupt, meter, pull; a round costs the largest change of any arm.

    In the round that the budget does not cover each arm's change is cut to what is left.
    """
    record = Record([], [], [], Fraction(0))
    for t, row in enumerate(table, start=1):
        wanted = adversary.corrupt(t, list(row))
        if bounded:
            wanted = [clip(reward) for reward in wanted]
        left = budget if math.isinf(budget) else Fraction(budget) - record.cost
        observed = [truncate(raw, want, left) for raw, want in zip(row, wanted, strict=True)]
        arm = policy.ask()
        policy.tell(arm, observed[arm])
        record.arms.append(arm)
        record.raw.append(row[arm])
        record.observed.append(observed[arm])
        record.cost += max(abs(Fraction(seen) - Fraction(raw)) for raw, seen in zip(row, observed, strict=True))
    return record


# ------------------------------------------------------------------------------------------ the regrets


def pseudo_regret(means: Sequence[float], arms: Sequence[int]) -> float:
    """Sum of the gaps of the arms pulled."""
    return math.fsum(max(means) - means[arm] for arm in arms)


def realised_regret(table: Sequence[Sequence[float]], arms: Sequence[int]) -> float:
    """Best single arm on the full table of rewards, less what the arms pulled gave."""
    if not table:
        return 0.0
    best = max(math.fsum(row[k] for row in table) for k in range(len(table[0])))
    return best - math.fsum(row[arm] for row, arm in zip(table, arms, strict=True))


def observed_regret(table: Sequence[Sequence[float]], arms: Sequence[int], observed: Sequence[float]) -> float:
    """Realised regret on the altered table: the observed reward where the arm was pulled, the raw one elsewhere."""
    altered = [list(row) for row in table]
    for t, arm in enumerate(arms):
        altered[t][arm] = observed[t]
    return realised_regret(altered, arms)


# ------------------------------------------------------------------------------------------ the certificate


@functools.cache
def fisher(s: int, n: int, s2: int, n2: int) -> Fraction:
    """The chance of s or more successes among n events, drawn from n + n2 of which s + s2 are successes."""
    m, both = s + s2, n + n2
    favourable = sum(math.comb(m, k) * math.comb(both - m, n - k) for k in range(s, min(m, n) + 1))
    return Fraction(favourable, math.comb(both, n))


@functools.cache
def evidence(s: int, n: int, s2: int, n2: int) -> float:
    """ln E of SPEC 13."""

    def log_beta(a: float, b: float) -> float:
        return math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)

    rate = (s + s2) / (n + n2)
    value = log_beta(s + 0.5, n - s + 0.5) + log_beta(s2 + 0.5, n2 - s2 + 0.5) - 2 * log_beta(0.5, 0.5)
    return value - (s + s2) * math.log(rate) - (n + n2 - s - s2) * math.log(1 - rate)


def undone(threat: str, s: int, n: int, a: int) -> tuple[int, int] | None:
    """Successes and events of a winner before an attack on a of its events; None if it has not enough of them."""
    if threat == "alter":
        return (s - a, n) if a <= s else None
    if threat == "inject":
        return (s - a, n - a) if a <= s else None
    return s, n + a


@dataclass
class Log:
    """A finished log of successes, and the question that is asked of it."""

    events: list[int]
    totals: list[int]
    delta: float = 0.05
    threat: str = "alter"
    design: str = "adaptive"

    def winner(self) -> int:
        means = [Fraction(total, events) for total, events in zip(self.totals, self.events, strict=True)]
        return means.index(max(means))

    def rejects(self, s: int, n: int, s2: int, n2: int) -> bool:
        """Whether the first of two arms is certainly better."""
        if n == 0 or n2 == 0 or s * n2 <= s2 * n:
            return False
        if self.design == "fixed":
            return fisher(s, n, s2, n2) <= Fraction(self.delta) / (len(self.events) - 1)
        return evidence(s, n, s2, n2) >= math.log((len(self.events) - 1) / self.delta)

    def splits(self, rival: int, budget: int) -> Iterator[tuple[int, int, int, int]]:
        """Both arms before each attack that costs all of the budget."""
        s, n = self.totals[self.winner()], self.events[self.winner()]
        n2 = self.events[rival]
        failures = n2 - self.totals[rival]
        for a in range(budget + 1):
            first, second = undone(self.threat, s, n, a), undone(self.threat, failures, n2, budget - a)
            if first is not None and second is not None:
                yield (*first, second[1] - second[0], second[1])

    def budget(self, rival: int) -> int:
        """The largest budget at which every split is rejected; -1: not even without an attack."""
        budget = -1
        while True:
            tried = list(self.splits(rival, budget + 1))
            if not tried or not all(self.rejects(*split) for split in tried):
                return budget
            budget += 1

    def clean_logs(self, rival: int, budget: int) -> Iterator[tuple[int, int, int, int]]:
        """Both arms before every attack that costs at most the budget, also of those that were of no use."""
        pairs = [(self.totals[k], self.events[k]) for k in (self.winner(), rival)]
        changes = range(-budget, budget + 1)
        for up, down, up2, down2 in itertools.product(changes, repeat=4):
            if abs(up) + abs(down) + abs(up2) + abs(down2) > (2 if self.threat == "alter" else 1) * budget:
                continue
            if self.threat == "alter" and (up + down or up2 + down2):
                continue  # a success more is a failure less
            if self.threat == "inject" and max(up, down, up2, down2) > 0:
                continue
            if self.threat == "suppress" and min(up, down, up2, down2) < 0:
                continue
            (s, n), (s2, n2) = pairs
            if min(s + up, n - s + down, s2 + up2, n2 - s2 + down2) >= 0:
                yield s + up, n + up + down, s2 + up2, n2 + up2 + down2

    def looks_best_at(self, rival: int) -> int:
        """The least budget one of whose splits makes the rival's mean at least the winner's."""
        budget = 0
        while not any(n == 0 or n2 == 0 or s * n2 <= s2 * n for s, n, s2, n2 in self.splits(rival, budget)):
            budget += 1
        return budget


@dataclass
class Rewards:
    """The rewards of one arm, all in [0, 1], and a grid of (m, r)."""

    rewards: list[float]
    grid: list[tuple[float, float]]

    def average(self, mean: float) -> float:
        """The average over the grid of prod exp(r d - c d^2) / (1 + r (mean - m)), d = x - m; c is the least that does.

        It must be a lower bound: exp(r d - c d^2) <= 1 + r d for all d from -m up.
        """
        values = []
        for m, r in self.grid:
            c = (-math.log(1 - r * m) - r * m) / m**2 if m else r * r / 2
            total = math.fsum(r * (x - m) - c * (x - m) ** 2 - math.log(1 + r * (mean - m)) for x in self.rewards)
            values.append(math.exp(total))
        return math.fsum(values) / len(values)


def least_product(winner: Rewards, rival: Rewards) -> float:
    """The least product of the winner's average and the rival's, with all its rewards x as 1 - x, at a common mean."""
    other = Rewards([1 - x for x in rival.rewards], rival.grid)
    values = [winner.average(k / 500) * other.average(1 - k / 500) for k in range(501)]
    best = values.index(min(values))
    low, high = max(best - 1, 0) / 500, min(best + 1, 500) / 500
    for _ in range(60):
        left, right = low + (high - low) / 3, high - (high - low) / 3
        if winner.average(left) * other.average(1 - left) < winner.average(right) * other.average(1 - right):
            high = right
        else:
            low = left
    return winner.average(low) * other.average(1 - low)


@dataclass
class Visit:
    """One decision of a live learner, and all that happened to it."""

    key: str
    arm: int
    asked_at: float
    status: str = "open"  # or told, expired, abandoned
    reward: float | None = None  # the first answer
    late: bool = False  # whether that came when the decision was closed
    counted: tuple[float, ...] = ()  # the rewards that the policy learned from


class Learner:
    """A live learner that plays UCB-WR: every visit is kept, and everything is counted again each time."""

    def __init__(
        self,
        n_arms: int,
        horizon: int,
        budget: float,
        delta: float,
        expires_after: float | None,
        default_reward: float | None,
        late: str,
        remembered: int,
    ) -> None:
        self.horizon, self.budget, self.delta = horizon, budget, delta
        self.expires_after, self.default_reward, self.late, self.remembered = (
            expires_after,
            default_reward,
            late,
            remembered,
        )
        self.is_open = [True] * n_arms
        self.before: list[tuple[int, int]] = [(0, 0)] * n_arms  # events and successes of warm starts
        self.visits: list[Visit] = []
        self.closed: list[str] = []  # ids in the order in which they were closed
        self.now = self.last = 0.0  # the time, and that of the last change

    def answers(self, arm: int) -> list[float]:
        events, successes = self.before[arm]
        told = [reward for visit in self.visits if visit.arm == arm for reward in visit.counted]
        return [1.0] * successes + [0.0] * (events - successes) + told

    def how_many(self, arm: int, *statuses: str) -> int:
        return sum(visit.arm == arm and visit.status in statuses for visit in self.visits)

    def next_arm(self) -> int:
        log_term = 4 * math.log(self.horizon) + 2 * math.log(2 / self.delta)
        values: dict[int, float] = {}
        for arm, is_open in enumerate(self.is_open):
            answers = self.answers(arm)
            pulls = len(answers) + self.how_many(arm, "open")
            if is_open:
                mean = sum(answers) / max(len(answers), 1)
                values[arm] = math.inf if pulls == 0 else mean + math.sqrt(log_term / pulls) + self.budget / pulls
        return min(arm for arm in values if values[arm] == max(values.values()))

    def pass_time(self, now: float) -> None:
        """Expire what is overdue; before the last change it cannot be."""
        self.now = max(self.last, now)
        limit = -math.inf if self.expires_after is None else self.now - self.expires_after
        for visit in self.visits:
            if visit.status == "open" and visit.asked_at <= limit:
                self.changed()
                visit.status = "expired"
                self.closed.append(visit.key)
                if self.default_reward is not None:
                    visit.counted = (self.default_reward,)

    def changed(self) -> None:
        self.last = self.now

    def ask(self, key: str, arm: int) -> None:
        self.changed()
        self.visits.append(Visit(key, arm, self.now))

    def find(self, key: str) -> Visit | None:
        """The visit, if the learner still knows it."""
        for visit in self.visits:
            if visit.key == key and (visit.status == "open" or key in self.closed[-self.remembered :]):
                return visit
        return None

    def tell(self, key: str, reward: float) -> str | None:
        """The outcome; None: the id is refused."""
        visit = self.find(key)
        if visit is None:
            return None
        if visit.reward is not None:
            return "duplicate" if visit.reward == reward else "conflict"
        self.changed()
        visit.reward = reward
        if visit.status == "open":
            visit.status = "told"
            visit.counted = (reward,)
            self.closed.append(key)
            return "applied"
        visit.late = True
        if self.late == "count":
            visit.counted += (reward,)
        return "late"

    def abandon(self, key: str) -> bool | None:
        visit = self.find(key)
        if visit is None or visit.status != "open":
            return None if visit is None else False
        self.changed()
        visit.status = "abandoned"
        self.closed.append(key)
        return True
