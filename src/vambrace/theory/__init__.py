"""The paper's theory as functions: upper bounds, lower bounds, exponents."""

from vambrace.theory.bound import Bound
from vambrace.theory.catalogue import bounds, promises
from vambrace.theory.exponents import crossing, exponent
from vambrace.theory.lower import concealment, distribution_dependent, least_power, minimax
from vambrace.theory.upper import (
    ms_se_wr,
    pe_wr,
    se_wr,
    se_wr_additive,
    se_wr_multiplicative,
    se_wr_stop,
)

__all__ = [
    "Bound",
    "bounds",
    "concealment",
    "crossing",
    "distribution_dependent",
    "exponent",
    "least_power",
    "minimax",
    "ms_se_wr",
    "pe_wr",
    "promises",
    "se_wr",
    "se_wr_additive",
    "se_wr_multiplicative",
    "se_wr_stop",
]
