"""Theory as functions: upper bounds, lower bounds and exponents of the paper, and the price of armour."""

from vambrace.theory.bound import Bound
from vambrace.theory.catalogue import bounds, prices, promises
from vambrace.theory.exponents import crossing, exponent
from vambrace.theory.lower import concealment, distribution_dependent, least_power, minimax
from vambrace.theory.price import (
    kl_ucb_wr,
    kl_ucb_wr_changing_arms,
    kl_ucb_wr_gap_free,
    least_regret,
    price_of_armour,
)
from vambrace.theory.upper import ms_se_wr, pe_wr, se_wr, se_wr_additive, se_wr_multiplicative, se_wr_stop

__all__ = ["Bound", "bounds", "crossing", "exponent", "prices", "promises"]
__all__ += ["concealment", "distribution_dependent", "least_power", "minimax"]
__all__ += ["kl_ucb_wr", "kl_ucb_wr_changing_arms", "kl_ucb_wr_gap_free", "least_regret", "price_of_armour"]
__all__ += ["ms_se_wr", "pe_wr", "se_wr", "se_wr_additive", "se_wr_multiplicative", "se_wr_stop"]
