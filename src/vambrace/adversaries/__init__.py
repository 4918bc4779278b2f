"""Adversaries: one file for each attack."""

from vambrace.adversaries.conceal import Conceal
from vambrace.adversaries.invert import Invert
from vambrace.adversaries.random_flips import RandomFlips
from vambrace.adversaries.swap import Swap

__all__ = [
    "Conceal",
    "Invert",
    "RandomFlips",
    "Swap",
]
