"""What environments with given means share."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from vambrace.parameters import Means
from vambrace.protocols import Environment, Floats


class State(NamedTuple):
    """The mean reward of each arm."""

    means: Floats


@dataclass(frozen=True)
class MeansEnvironment(Environment):
    """One mean in [0, 1] for each arm."""

    means: Means

    def arm_means(self) -> Floats:
        return np.array(self.means)

    def init(self) -> Any:
        return State(self.arm_means())
