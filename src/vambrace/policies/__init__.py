"""Policies: one file for each algorithm."""

from vambrace.policies.ms_se_wr import MSSEWR
from vambrace.policies.pe_wr import PEWR
from vambrace.policies.se import SE
from vambrace.policies.se_wr import SEWR
from vambrace.policies.se_wr_stop import SEWRStop
from vambrace.policies.ucb1 import UCB1

__all__ = ["MSSEWR", "PEWR", "SE", "SEWR", "UCB1", "SEWRStop"]
