"""Adversaries: one file for each attack."""

from vambrace.adversaries.ace import ACE
from vambrace.adversaries.anti_exp3 import AntiEXP3
from vambrace.adversaries.best_arm_corruption import BestArmCorruption
from vambrace.adversaries.boost import Boost
from vambrace.adversaries.conceal import Conceal
from vambrace.adversaries.elimination_rush import EliminationRush
from vambrace.adversaries.exponential_threshold import ExponentialThreshold
from vambrace.adversaries.garcelon import Garcelon
from vambrace.adversaries.invert import Invert
from vambrace.adversaries.jun_epsilon_greedy import JunEpsilonGreedy
from vambrace.adversaries.jun_ucb import JunUCB
from vambrace.adversaries.master_attack import MasterAttack
from vambrace.adversaries.mimic import Mimic
from vambrace.adversaries.observation_free import ObservationFree
from vambrace.adversaries.phase_burst import PhaseBurst
from vambrace.adversaries.random_flips import RandomFlips
from vambrace.adversaries.script import Script
from vambrace.adversaries.swap import Swap

__all__ = [
    "ACE", "AntiEXP3", "BestArmCorruption", "Boost", "Conceal", "EliminationRush", "ExponentialThreshold",
    "Garcelon", "Invert", "JunEpsilonGreedy", "JunUCB", "MasterAttack", "Mimic", "ObservationFree",
    "PhaseBurst", "RandomFlips", "Script", "Swap",
]  # fmt: skip
