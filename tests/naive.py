"""Slow, obvious oracle of the bandit algorithms: lists and loops, everything recomputed each time.

Nothing here is shared with the fast implementation; the tests compare the two pull by pull.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

KL_PIECES = 16
KL_TIE = 1e-9


class Policy(Protocol):
    """Anything that can be asked for an arm and told a reward."""

    def ask(self) -> int: ...

    def tell(self, arm: int, reward: float) -> None: ...


class Adversary(Protocol):
    """Anything that sees (round, arm, raw reward) and returns the reward it wants observed."""

    def alter(self, t: int, arm: int, reward: float) -> float: ...


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


class SEWR:
    """SE-WR, the unequal-counts rule throughout."""

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


class UCB1:
    """UCB1: each arm once, then the largest mean + sqrt(alpha ln t / N), t the round about to be played, from 1."""

    def __init__(self, n_arms: int, horizon: int, *, alpha: float = 2.0) -> None:
        self.n_arms = n_arms
        self.horizon = horizon
        self.alpha = alpha
        self.counts = [0] * n_arms
        self.sums = [0.0] * n_arms
        self.outstanding = [0] * n_arms

    def index(self, arm: int) -> float:
        """Optimistic value of an arm; an arm never asked comes first."""
        asked = [self.counts[k] + self.outstanding[k] for k in range(self.n_arms)]
        if asked[arm] == 0:
            return math.inf
        mean = self.sums[arm] / self.counts[arm] if self.counts[arm] > 0 else 0.0
        return mean + math.sqrt(self.alpha * math.log(sum(asked) + 1) / asked[arm])

    def ask(self) -> int:
        """The arm to pull next."""
        arm = first_lowest(range(self.n_arms), lambda k: -self.index(k))
        self.outstanding[arm] += 1
        return arm

    def tell(self, arm: int, reward: float) -> None:
        """Take in an answer."""
        self.outstanding[arm] = max(0, self.outstanding[arm] - 1)
        self.counts[arm] += 1
        self.sums[arm] += reward


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
        needed = math.ceil(Fraction(self.n_arms * 2**self.phase, len(self.active)))
        if all(self.counts[k] >= needed for k in self.active):
            before = self.active
            self.active = [k for k in before if not any(self.beats(j, k) for j in before if j != k)]
            self.phase += 1
            self.counts = [0] * self.n_arms
            self.sums = [0.0] * self.n_arms

    def beats(self, j: int, k: int) -> bool:
        """Is arm j's evidence of this phase against arm k enough to drop k?"""
        n_j, n_k = self.counts[j], self.counts[k]
        m_j, m_k = self.sums[j] / n_j, self.sums[k] / n_k
        budget = min(self.cap, 2.0 ** (self.n_phases - self.phase - 1))
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


# -------------------------------------------------------------------------------------------- the game


def play(policy: Policy, table: Sequence[Sequence[float]]) -> list[int]:
    """Play a policy on a table of observed rewards, table[t][k]; the arms pulled."""
    arms = []
    for row in table:
        arm = policy.ask()
        policy.tell(arm, row[arm])
        arms.append(arm)
    return arms


class Conceal:
    """Return 0 on the best arm."""

    def __init__(self, best_arm: int) -> None:
        self.best_arm = best_arm

    def alter(self, t: int, arm: int, reward: float) -> float:
        """The reward wanted."""
        return 0.0 if arm == self.best_arm else reward


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


@dataclass
class Record:
    """What happened in a game."""

    arms: list[int]
    raw: list[float]
    observed: list[float]
    cost: Fraction


def truncate(raw: float, wanted: float, left: Fraction) -> float:
    """The float nearest to the wanted reward whose distance to the raw one, computed exactly, is at most left."""
    if abs(Fraction(wanted) - Fraction(raw)) <= left:
        return wanted
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
    """Strong adversary: pull, draw(t, arm), alter, meter; rounds count from 0."""
    record = Record([], [], [], Fraction(0))
    for t in range(horizon):
        arm = policy.ask()
        raw = draw(t, arm)
        wanted = adversary.alter(t, arm, raw)
        if bounded:
            wanted = clip(wanted)
        observed = truncate(raw, wanted, Fraction(budget) - record.cost)
        policy.tell(arm, observed)
        record.arms.append(arm)
        record.raw.append(raw)
        record.observed.append(observed)
        record.cost += abs(Fraction(observed) - Fraction(raw))
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
