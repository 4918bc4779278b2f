"""The shadow of a learner: what a policy without armour would have asked for, with the answers of the same journal.

Setting    A journal of any policy. The shadow reads the same events in the same order: it has counted the same answers,
           and the same arms are open, and the same decisions wait for an answer.
Algorithm  Before each decision of the journal, KL-UCB says which arm it would have asked for now. Then the decision of
           the journal is what happens: its arm was played, and its answer comes in.
Reading    It answers one question: *with this evidence*, where would an unarmoured bandit have sent this visitor? The
           evidence is that of the real learner. A bandit on its own would have collected less of the arms that it
           avoids, so after an attack it would have come back later than the shadow does, or never: the shadow shows the
           unarmoured bandit better than it is, and never counts a fake event twice. No estimate and no random number is
           in it; the shadow of a learner that plays KL-UCB is the learner itself, decision by decision.
"""

from dataclasses import replace
from math import log
from typing import Any

import numpy as np

from vambrace.live import events
from vambrace.live.knowledge import Knowledge
from vambrace.live.settings import Settings
from vambrace.policies import KLUCB
from vambrace.policies.radii import TIE, kl_upper
from vambrace.protocols import Answer, Floats, Integers

SAMPLED = 20_000  # decisions times arms: from here on every second decision is shadowed, from twice as many every third


class Shadow(Knowledge):
    """The fold of a journal that also knows what KL-UCB would have asked for.

    Args:
        settings: Those of the journal.

    Attributes:
        chosen: For each arm the number of decisions in which KL-UCB would have asked for it. In a long journal a
            shadowed decision stands for those up to the next shadowed one.
        squares: For each arm the sum of the squares of its counted answers.
    """

    def __init__(self, settings: Settings) -> None:
        super().__init__(replace(settings, policy=KLUCB()))  # of a journal whose policy is not known here, too
        self.remembered, self._update = 0, self._keep_square
        self.chosen: Integers = np.zeros(len(self.arms), dtype=np.int64)
        self.squares: Floats = np.zeros(len(self.arms))
        self._next = 0  # the next decision that is shadowed

    def choice(self) -> int:
        """The arm that KL-UCB would ask for now."""
        chosen, highest, level = 0, -1.0, log(self.rounds + 1)
        for arm, record in enumerate(self.arms):
            if record.retired:
                continue
            asked = record.answers + int(self._pending[arm])
            if asked == 0:
                return arm
            mean = min(record.total / record.answers, 1.0) if record.answers else 0.0
            index = kl_upper(mean, level / asked)
            if index > highest + TIE:
                chosen, highest = arm, index
        return chosen

    def _apply_asked(self, event: events.Asked) -> None:
        if self.asked == self._next:
            stands_for = 1 + self.asked * len(self.arms) // SAMPLED
            self.chosen[self.choice()] += stands_for
            self._next += stands_for
        self._decide(event, self.stream)

    def _apply_added(self, event: events.ArmAdded) -> None:
        super()._apply_added(event)
        more = len(self.arms) - len(self.chosen)
        self.chosen, self.squares = np.pad(self.chosen, (0, more)), np.pad(self.squares, (0, more))

    def _keep_square(self, state: Any, answer: Answer) -> Any:
        self.squares[answer.arm] += answer.reward**2
        return state
