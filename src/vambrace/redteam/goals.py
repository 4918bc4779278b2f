"""What an attacker wants: a number for each game, computed from how often each arm was pulled."""

import re
from dataclasses import dataclass
from typing import Any

import numpy as np

from vambrace import validation
from vambrace.errors import InvalidParameter
from vambrace.protocols import Floats, Integers

FORMS = "loss 50%, arm 4 90%, best 10% or regret 5000"
LOSS, ARM, BEST, REGRET = "loss", "arm", "best", "regret"


@dataclass(frozen=True)
class Goal:
    """A goal of an attacker: more than `level` of a measure, which is larger the worse it is for the policy.

    Attributes:
        measure: "loss": the share of all that can be lost; "arm": the share of rounds of one arm; "best": the share of
            rounds in which no best arm is played; "regret": the regret.
        level: What the attacker wants to reach.
        arm: The arm, for the measure "arm".
    """

    measure: str
    level: float
    arm: int = -1

    @classmethod
    def parse(cls, text: Any) -> "Goal":
        """The goal of a text.

        Args:
            text: One of "loss 50%" (half of all that can be lost), "arm 4 90%" (arm 4 in 90 % of the rounds), "best
                10%" (the best arms in less than 10 %) or "regret 5000".

        >>> Goal.parse("arm 4 90%")
        Goal(measure='arm', level=0.9, arm=4)
        """
        if isinstance(text, Goal):
            return text
        found = re.fullmatch(r"(loss|best)\s+([\d.]+)\s*%|(arm)\s+(\d+)\s+([\d.]+)\s*%|(regret)\s+([\d.]+)", str(text))
        if not found:
            raise InvalidParameter(f"goal: expected {FORMS}, got {text!r}")
        kind, percent, arm, number, of_arm, regret, amount = found.groups()
        if regret:
            return cls(REGRET, validation.number("goal", float(amount), low=0.0, high=1e18))
        share = validation.number("goal", float(percent or of_arm), low=0.0, high=100.0) / 100
        return cls(kind or arm, 1.0 - share if kind == BEST else share, int(number or -1))

    def check(self, means: Floats) -> None:
        """Refuse arms for which the goal has no meaning.

        Args:
            means: The true mean of each arm.
        """
        if self.measure == ARM:
            validation.whole("goal: arm", self.arm, low=0, high=len(means) - 1)
        elif means.min() == means.max():
            raise InvalidParameter("environment: expected arms that differ, got equal ones: nothing can be lost")

    def scores(self, means: Floats, pulls: Integers) -> Floats:
        """One number for each game.

        Args:
            means: The true mean of each arm.
            pulls: (games, arms): how often each arm was pulled.
        """
        rounds = pulls.sum(axis=1)
        if self.measure == ARM:
            return np.asarray(pulls[:, self.arm] / rounds)
        if self.measure == BEST:
            return np.asarray(1.0 - pulls[:, means == means.max()].sum(axis=1) / rounds)
        regrets = pulls @ (means.max() - means)
        return np.asarray(regrets / (rounds * np.ptp(means)) if self.measure == LOSS else regrets)

    def text(self, score: float) -> str:
        """A score in words, as what the policy is made to do.

        Args:
            score: A mean of `scores`.
        """
        if self.measure == ARM:
            return f"play arm {self.arm} in {100 * score:.1f} % of the rounds"
        if self.measure == BEST:
            return f"play the best arm in {100 * (1 - score):.1f} % of the rounds"
        return f"lose {100 * score:.1f} % of all that can be lost" if self.measure == LOSS else f"lose {score:,.0f}"

    @property
    def words(self) -> str:
        """What the attacker wants the policy to do."""
        if self.measure == BEST:
            return f"play the best arm in less than {100 * (1 - self.level):.4g} % of the rounds"
        if self.measure == ARM:
            return f"play arm {self.arm} in {100 * self.level:.4g} % of the rounds"
        if self.measure == LOSS:
            half = "half" if self.level == 0.5 else f"{100 * self.level:.4g} %"
            return f"lose {half} of all that can be lost"
        return f"lose {self.level:,.4g}"
