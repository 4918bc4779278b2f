"""Environments: what the arms pay before any attack."""

from vambrace.environments.continuous import Beta, ClippedGaussian
from vambrace.environments.means import Bernoulli, Deterministic
from vambrace.environments.replay import Replay

__all__ = ["Bernoulli", "Beta", "ClippedGaussian", "Deterministic", "Replay"]
