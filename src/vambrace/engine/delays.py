"""Late and lost answers: `delay` and `lost` of `simulate`, and the queue of answers that are on their way."""

from dataclasses import dataclass
from math import log1p, sqrt
from typing import NamedTuple

import numpy as np

from vambrace import validation
from vambrace.errors import InvalidParameter
from vambrace.kernels import kernel, rare_kernel
from vambrace.protocols import Answer, Floats, Integers, Stream
from vambrace.sampling import uniform

FIXED, GEOMETRIC, BATCH = 0, 1, 2
KINDS = {"fixed": "rounds", "geometric": "mean", "batch": "every"}  # and the parameter of each
MOST_LATE = 10**7  # rounds: an answer that is late takes about 56 bytes


@dataclass(frozen=True)
class Delay:
    """How late answers arrive: `Delay.fixed(1000)`, `Delay.geometric(mean=1000)` or `Delay.batch(every=10_000)`.

    The answer of a decision that arrives d rounds late is there before the policy decides for the (d + 1)-th time after
    it; with d = 0 nothing is late. Answers that arrive together come in the order of their decisions.

    Attributes:
        kind: "fixed", "geometric" or "batch".
        value: The rounds, the mean or the length of a batch.

    >>> import vambrace as vb
    >>> for delay in (None, vb.Delay.fixed(1_000), vb.Delay.batch(every=1_000)):
    ...     print(vb.simulate(vb.UCB1(), vb.Bernoulli([0.9, 0.5]), horizon=10_000, seed=1, delay=delay))
    ucb1 without attack: regret 59.6 after 10,000 rounds
    ucb1 without attack (delay fixed:1000): regret 200.0 after 10,000 rounds
    ucb1 without attack (delay batch:1000): regret 200.0 after 10,000 rounds
    """

    kind: str
    value: float

    def __post_init__(self) -> None:
        validation.choice("delay", self.kind, tuple(KINDS))
        name = f"delay {self.kind}: {KINDS[self.kind]}"
        if self.kind == "geometric":
            value = validation.number(name, self.value, low=0.0, high=float(MOST_LATE), open_low=True)
        else:
            value = validation.whole(name, self.value, low=int(self.kind == "batch"), high=MOST_LATE)
        object.__setattr__(self, "value", value)

    @classmethod
    def fixed(cls, rounds: int) -> "Delay":
        """Every answer is late by the same number of rounds.

        Args:
            rounds: How many; 0: nothing is late.
        """
        return cls("fixed", rounds)

    @classmethod
    def geometric(cls, mean: float) -> "Delay":
        """Each answer is late by its own number of rounds, 0, 1, 2, ..., drawn from a geometric distribution.

        Args:
            mean: The mean of the distribution.
        """
        return cls("geometric", mean)

    @classmethod
    def batch(cls, every: int) -> "Delay":
        """Answers arrive together, when the last round of their batch has been played.

        Args:
            every: The number of rounds of a batch; 1: nothing is late.
        """
        return cls("batch", every)

    @classmethod
    def parse(cls, text: str) -> "Delay":
        """The delay of a text such as fixed:1000, geometric:1000 or batch:10000.

        Args:
            text: The kind and its value.
        """
        kind, _, value = text.partition(":")
        validation.choice("delay", kind, tuple(KINDS))
        try:
            number = float(value)
            return cls(kind, int(number) if kind != "geometric" and number.is_integer() else number)
        except ValueError:
            raise InvalidParameter(f"delay: expected a text such as {kind}:1000, got {text!r}") from None

    def __str__(self) -> str:
        return f"{self.kind}:{self.value:g}"

    def most_waiting(self, horizon: int) -> int:
        """How many answers can be late at the same time.

        With geometric delays their number is a sum of independent flags with mean m + 1 at most, m the mean delay; by
        Bernstein's inequality it exceeds this bound with probability below 1e-300.

        Args:
            horizon: The number of rounds of the game.
        """
        most = self.value + 1
        if self.kind == "geometric":
            most += 1_000 + 40 * sqrt(most)
        return min(int(most), horizon)


def in_words(delay: Delay | None, lost: float) -> list[str]:
    """A delay and lost answers, as far as there are any."""
    return ([f"delay {delay}"] if delay else []) + ([f"{lost:.4g} of answers lost"] if lost > 0.0 else [])


class Queue(NamedTuple):
    """Answers on their way. Each has a place; `heap` holds the places, the next answer first, then the free ones."""

    heap: Integers
    due: Integers  # the round after which it arrives
    asked: Integers  # the round of its decision
    arms: Integers
    rewards: Floats
    probabilities: Floats
    tags: Integers
    rng: Stream  # of delays and losses only, so that they are the same for every policy and attack
    kind: int
    value: float
    lost: float


class Waiting(NamedTuple):
    """How much is waiting."""

    answers: int  # in the queue
    decisions: int  # without an answer, those included whose answer is lost


def make_queue(delay: Delay | None, lost: float, horizon: int, rng: Stream) -> Queue:
    """An empty queue with a place for every answer that can be late."""
    delay = Delay.fixed(0) if delay is None else delay
    most = delay.most_waiting(horizon)
    due, asked, arms, tags = np.zeros((4, most), dtype=np.int64)
    rewards, probabilities = np.zeros((2, most))
    kind, value = list(KINDS).index(delay.kind), float(delay.value)
    return Queue(np.arange(most), due, asked, arms, rewards, probabilities, tags, rng, kind, value, float(lost))


@rare_kernel
def send(queue: Queue, waiting: Waiting, t: int, answer: Answer) -> Waiting:
    """An answer to the decision of round t sets out, or is lost."""
    answers, decisions = waiting.answers, waiting.decisions + 1
    arrives = uniform(queue.rng) >= queue.lost
    due = _due(queue, t)
    if not arrives:
        return Waiting(answers, decisions)
    place = queue.heap[answers]
    queue.due[place], queue.asked[place], queue.arms[place] = due, t, answer.arm
    queue.rewards[place], queue.probabilities[place], queue.tags[place] = answer.reward, answer.probability, answer.tag
    at = answers
    while at > 0 and _earlier(queue, place, queue.heap[(at - 1) // 2]):
        queue.heap[at] = queue.heap[(at - 1) // 2]
        at = (at - 1) // 2
    queue.heap[at] = place
    return Waiting(answers + 1, decisions)


@kernel
def _due(queue: Queue, t: int) -> int:
    """The round after which the answer to the decision of round t arrives."""
    if queue.kind == FIXED:
        return t + int(queue.value)
    if queue.kind == BATCH:
        every = int(queue.value)
        return (t + every - 1) // every * every
    return t + int(log1p(-uniform(queue.rng)) / log1p(-1.0 / (1.0 + queue.value)))


@kernel
def _earlier(queue: Queue, one: int, other: int) -> bool:
    if queue.due[one] != queue.due[other]:
        return queue.due[one] < queue.due[other]
    return queue.asked[one] < queue.asked[other]


@kernel
def is_due(queue: Queue, waiting: Waiting, t: int) -> bool:
    """Whether the next answer arrives before round t."""
    return waiting.answers > 0 and queue.due[queue.heap[0]] < t


@rare_kernel
def take(queue: Queue, waiting: Waiting) -> tuple[Answer, Waiting]:
    """The next answer; its place is free again."""
    heap, last = queue.heap, waiting.answers - 1
    place = heap[0]
    moved, at = heap[last], 0
    while 2 * at + 1 < last:
        child = 2 * at + 1
        if child + 1 < last and _earlier(queue, heap[child + 1], heap[child]):
            child += 1
        if not _earlier(queue, heap[child], moved):
            break
        heap[at] = heap[child]
        at = child
    heap[at] = moved
    heap[last] = place
    arm, reward = int(queue.arms[place]), float(queue.rewards[place])
    answer = Answer(arm, reward, float(queue.probabilities[place]), int(queue.tags[place]))
    return answer, Waiting(last, waiting.decisions - 1)
