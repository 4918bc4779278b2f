"""Policies: one file for each algorithm."""

from vambrace.policies.barbar import BARBAR
from vambrace.policies.cw_oful import CWOFUL
from vambrace.policies.epsilon_greedy import EpsilonGreedy
from vambrace.policies.exp3 import EXP3
from vambrace.policies.exp3_ix import EXP3IX
from vambrace.policies.exp3_p import EXP3P
from vambrace.policies.exp3_plus_plus import EXP3PlusPlus
from vambrace.policies.fsaaer import FSAAER
from vambrace.policies.kl_ucb import KLUCB
from vambrace.policies.kl_ucb_wr import KLUCBWR
from vambrace.policies.median_of_means_ucb import MedianOfMeansUCB
from vambrace.policies.mlaaer import MLAAER
from vambrace.policies.moss import MOSS
from vambrace.policies.ms_se_wr import MSSEWR
from vambrace.policies.pe_wr import PEWR
from vambrace.policies.robust_phased_elimination import RobustPhasedElimination
from vambrace.policies.se import SE
from vambrace.policies.se_wr import SEWR
from vambrace.policies.se_wr_stop import SEWRStop
from vambrace.policies.thompson import Thompson
from vambrace.policies.trimmed_mean_ucb import TrimmedMeanUCB
from vambrace.policies.tsallis_inf import TsallisINF
from vambrace.policies.ucb1 import UCB1
from vambrace.policies.ucb_wr import UCBWR

__all__ = [
    "BARBAR", "CWOFUL", "EXP3", "EXP3IX", "EXP3P", "FSAAER", "KLUCB", "KLUCBWR", "MLAAER", "MOSS", "MSSEWR", "PEWR",
    "SE", "SEWR", "UCB1", "UCBWR", "EXP3PlusPlus", "EpsilonGreedy", "MedianOfMeansUCB", "RobustPhasedElimination",
    "SEWRStop", "Thompson", "TrimmedMeanUCB", "TsallisINF",
]  # fmt: skip
