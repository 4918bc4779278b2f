"""Policies: one file for each algorithm, or for algorithms that share a rule."""

from vambrace.policies.barbar import BARBAR
from vambrace.policies.cw_oful import CWOFUL
from vambrace.policies.epsilon_greedy import EpsilonGreedy
from vambrace.policies.exp3 import EXP3, EXP3IX
from vambrace.policies.exp3_p import EXP3P
from vambrace.policies.exp3_plus_plus import EXP3PlusPlus
from vambrace.policies.kl_ucb import KLUCB
from vambrace.policies.kl_ucb_wr import KLUCBWR
from vambrace.policies.layers import FSAAER, MLAAER
from vambrace.policies.moss import MOSS
from vambrace.policies.ms_se_wr import MSSEWR
from vambrace.policies.pe_wr import PEWR, RobustPhasedElimination
from vambrace.policies.robust_means import MedianOfMeansUCB, TrimmedMeanUCB
from vambrace.policies.se_wr import SE, SEWR, SEWRStop
from vambrace.policies.thompson import Thompson
from vambrace.policies.tsallis_inf import TsallisINF
from vambrace.policies.ucb1 import UCB1
from vambrace.policies.ucb_wr import UCBWR

__all__ = [
    "BARBAR", "CWOFUL", "EXP3", "EXP3IX", "EXP3P", "FSAAER", "KLUCB", "KLUCBWR", "MLAAER", "MOSS", "MSSEWR", "PEWR",
    "SE", "SEWR", "UCB1", "UCBWR", "EXP3PlusPlus", "EpsilonGreedy", "MedianOfMeansUCB", "RobustPhasedElimination",
    "SEWRStop", "Thompson", "TrimmedMeanUCB", "TsallisINF",
]  # fmt: skip
