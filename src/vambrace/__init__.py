"""vambrace: armour for the arm. Multi-armed bandits whose feedback cannot be trusted.

Rewards lie in [0, 1], so a budget of C is, at worst, C fake events.

>>> import vambrace as vb
>>> env = vb.Bernoulli([0.9, 0.8, 0.7])
>>> attack = vb.Conceal(budget=100)
>>> armoured = vb.simulate(vb.SEWR(budget=100), env, attack, horizon=200_000, seed=7)
>>> trusting = vb.simulate(vb.UCB1(), env, attack, horizon=200_000, seed=7)
>>> bool(trusting.pseudo_regret[0, -1] > 2 * armoured.pseudo_regret[0, -1])
True
"""

from typing import TYPE_CHECKING, Any

from vambrace.kernel import kernel, rare_kernel  # not lazily: the module of this name would hide the function
from vambrace.version import __version__ as __version__

if TYPE_CHECKING:
    from vambrace.adversaries import (
        ACE,
        AntiEXP3,
        BestArmCorruption,
        Conceal,
        EliminationRush,
        ExponentialThreshold,
        Garcelon,
        Invert,
        JunEpsilonGreedy,
        JunUCB,
        MasterAttack,
        ObservationFree,
        OracleConstant,
        PhaseBurst,
        RandomFlips,
        Swap,
    )
    from vambrace.audit.certificate import Certificate
    from vambrace.audit.certify import certify
    from vambrace.engine.result import Result
    from vambrace.engine.simulate import simulate
    from vambrace.environments import Bernoulli, Beta, ClippedGaussian, Deterministic, Replay
    from vambrace.errors import VambraceError
    from vambrace.foreign import Foreign
    from vambrace.lab.attack_suite import AttackReport, attack_suite
    from vambrace.live.learner import Decision, Learner
    from vambrace.policies import (
        BARBAR,
        CWOFUL,
        EXP3,
        EXP3IX,
        EXP3P,
        FSAAER,
        KLUCB,
        MLAAER,
        MOSS,
        MSSEWR,
        PEWR,
        SE,
        SEWR,
        UCB1,
        UCBWR,
        EpsilonGreedy,
        EXP3PlusPlus,
        MedianOfMeansUCB,
        RobustPhasedElimination,
        SEWRStop,
        Thompson,
        TrimmedMeanUCB,
        TsallisINF,
    )
    from vambrace.protocols import Adversary, Environment, Policy
    from vambrace.theory.planning import Plan, plan

__all__ = [
    "ACE",
    "BARBAR",
    "CWOFUL",
    "EXP3",
    "EXP3IX",
    "EXP3P",
    "FSAAER",
    "KLUCB",
    "MLAAER",
    "MOSS",
    "MSSEWR",
    "PEWR",
    "SE",
    "SEWR",
    "UCB1",
    "UCBWR",
    "Adversary",
    "AntiEXP3",
    "AttackReport",
    "Bernoulli",
    "BestArmCorruption",
    "Beta",
    "Certificate",
    "ClippedGaussian",
    "Conceal",
    "Decision",
    "Deterministic",
    "EXP3PlusPlus",
    "EliminationRush",
    "Environment",
    "EpsilonGreedy",
    "ExponentialThreshold",
    "Foreign",
    "Garcelon",
    "Invert",
    "JunEpsilonGreedy",
    "JunUCB",
    "Learner",
    "MasterAttack",
    "MedianOfMeansUCB",
    "ObservationFree",
    "OracleConstant",
    "PhaseBurst",
    "Plan",
    "Policy",
    "RandomFlips",
    "Replay",
    "Result",
    "RobustPhasedElimination",
    "SEWRStop",
    "Swap",
    "Thompson",
    "TrimmedMeanUCB",
    "TsallisINF",
    "VambraceError",
    "attack_suite",
    "certify",
    "kernel",
    "plan",
    "rare_kernel",
    "simulate",
]

_HOMES = {
    "vambrace.adversaries": (
        "ACE",
        "AntiEXP3",
        "BestArmCorruption",
        "Conceal",
        "EliminationRush",
        "ExponentialThreshold",
        "Garcelon",
        "Invert",
        "JunEpsilonGreedy",
        "JunUCB",
        "MasterAttack",
        "ObservationFree",
        "OracleConstant",
        "PhaseBurst",
        "RandomFlips",
        "Swap",
    ),
    "vambrace.audit.certificate": ("Certificate",),
    "vambrace.audit.certify": ("certify",),
    "vambrace.engine.result": ("Result",),
    "vambrace.engine.simulate": ("simulate",),
    "vambrace.environments": ("Bernoulli", "Beta", "ClippedGaussian", "Deterministic", "Replay"),
    "vambrace.errors": ("VambraceError",),
    "vambrace.foreign": ("Foreign",),
    "vambrace.lab.attack_suite": ("AttackReport", "attack_suite"),
    "vambrace.live.learner": ("Decision", "Learner"),
    "vambrace.policies": (
        "BARBAR",
        "CWOFUL",
        "EXP3",
        "EXP3IX",
        "EXP3P",
        "FSAAER",
        "KLUCB",
        "MLAAER",
        "MOSS",
        "MSSEWR",
        "PEWR",
        "SE",
        "SEWR",
        "UCB1",
        "UCBWR",
        "EXP3PlusPlus",
        "EpsilonGreedy",
        "MedianOfMeansUCB",
        "RobustPhasedElimination",
        "SEWRStop",
        "Thompson",
        "TrimmedMeanUCB",
        "TsallisINF",
    ),
    "vambrace.protocols": ("Adversary", "Environment", "Policy"),
    "vambrace.theory.planning": ("Plan", "plan"),
}
_HOME = {name: module for module, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    """Load a name when it is first used: importing the package costs next to nothing."""
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
