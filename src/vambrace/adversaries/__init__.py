"""Adversaries: one file for each attack, or for attacks that share a rule."""

from vambrace.adversaries.anti_exp3 import AntiEXP3
from vambrace.adversaries.books import ACE, Garcelon
from vambrace.adversaries.boost import Boost
from vambrace.adversaries.conceal import BestArmCorruption, Conceal
from vambrace.adversaries.dropping import EliminationRush, PhaseBurst
from vambrace.adversaries.flips import Invert, RandomFlips
from vambrace.adversaries.inject import Inject
from vambrace.adversaries.jun import ExponentialThreshold, JunEpsilonGreedy, JunUCB
from vambrace.adversaries.look_ahead import LookAhead
from vambrace.adversaries.master_attack import MasterAttack
from vambrace.adversaries.mimic import Mimic
from vambrace.adversaries.observation_free import ObservationFree
from vambrace.adversaries.script import Script
from vambrace.adversaries.swap import Swap

__all__ = [
    "ACE", "AntiEXP3", "BestArmCorruption", "Boost", "Conceal", "EliminationRush", "ExponentialThreshold",
    "Garcelon", "Inject", "Invert", "JunEpsilonGreedy", "JunUCB", "LookAhead", "MasterAttack", "Mimic",
    "ObservationFree", "PhaseBurst", "RandomFlips", "Script", "Swap",
]  # fmt: skip
