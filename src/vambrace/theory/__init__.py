"""The paper's theory as functions: upper bounds, lower bounds, exponents."""

from vambrace.theory.bound import Bound
from vambrace.theory.catalogue import bounds, promises
from vambrace.theory.exponents import crossing, exponent
from vambrace.theory.lower import concealment, distribution_dependent, least_power, minimax
from vambrace.theory.upper import ms_se_wr, pe_wr, se_wr, se_wr_additive, se_wr_multiplicative, se_wr_stop

__all__ = ["Bound", "bounds", "crossing", "exponent", "promises"]
__all__ += ["concealment", "distribution_dependent", "least_power", "minimax"]
__all__ += ["ms_se_wr", "pe_wr", "se_wr", "se_wr_additive", "se_wr_multiplicative", "se_wr_stop"]
