"""vambrace: armour for the arm. Multi-armed bandits whose feedback cannot be trusted.

Rewards lie in [0, 1], so a budget of C is, at worst, C fake events.

>>> import vambrace as vb
>>> env, attack = vb.Bernoulli([0.9, 0.5]), vb.Conceal(budget=50)
>>> for policy in (vb.UCB1(), vb.SEWR(budget=50)):
...     print(vb.simulate(policy, env, attack, horizon=10_000, seed=7))
ucb1 against conceal:budget=50: regret 2,400.8 after 10,000 rounds, cost 50.0
se-wr:budget=50 against conceal:budget=50: regret 401.2 after 10,000 rounds, cost 50.0

    simulate(policy, environment, attack, horizon=...)   play a policy against an attacker: vb.Result
    figure([result, ...])                                several results in one figure, for a screen or for paper
    attack_suite(policy, environment, budgets=...)       against every attack that is shipped and applies
    red_team(policy, environment, budgets=...)           search for the worst attack, and measure it in fresh games
    breakdown(policy, environment, goal=...)             the least budget that breaks a policy
    compare(results, baseline=...)                       which is better, and is that more than chance?
    choose(means, fakes=...)                             every policy against every attack: which one to use?
    open(url, name, policy=..., arms=...)                a live learner in a database, for many processes
    connect(url, name, key=...)                          the same, run by a service: `vambrace serve`
    policy.learner(arms=[...])                           the same policy, live: ask, tell, explain, snapshot, restore
    Foreign(make=...)                                    your own bandit, or another library's, in the same loop
    certify(log)                                         how many fake events would overturn a finished test?
    plan(arms=..., rate=..., gap=..., budget=...)        can this horizon carry this budget?

`help(vb.SEWR)`, and help for every other name, says what it is for, what its parameters mean, and shows an example. The
command line uses the same names in kebab case: `vambrace list`.
"""

from typing import TYPE_CHECKING, Any

from vambrace.version import __version__ as __version__

if TYPE_CHECKING:  # for editors and type checkers; a test compares it with the names below
    from vambrace.adversaries import *  # noqa: F403
    from vambrace.audit.certificate import Certificate as Certificate
    from vambrace.audit.certification import certify as certify
    from vambrace.client.decisions import RemoteDecision as RemoteDecision
    from vambrace.client.remote import RemoteLearner as RemoteLearner
    from vambrace.client.remote import connect as connect
    from vambrace.comparison import Comparison as Comparison
    from vambrace.comparison import compare as compare
    from vambrace.engine.delays import Delay as Delay
    from vambrace.engine.result import Result as Result
    from vambrace.engine.simulation import simulate as simulate
    from vambrace.environments import *  # noqa: F403
    from vambrace.errors import VambraceError as VambraceError
    from vambrace.foreign import Foreign as Foreign
    from vambrace.kernels import kernel as kernel
    from vambrace.kernels import rare_kernel as rare_kernel
    from vambrace.live.durable import DurableLearner as DurableLearner
    from vambrace.live.durable import open as open  # noqa: A004
    from vambrace.live.explanation import Explanation as Explanation
    from vambrace.live.learner import Decision as Decision
    from vambrace.live.learner import Learner as Learner
    from vambrace.policies import *  # noqa: F403
    from vambrace.protocols import Adversary as Adversary
    from vambrace.protocols import Environment as Environment
    from vambrace.protocols import Policy as Policy
    from vambrace.redteam.breakdown import Breakdown as Breakdown
    from vambrace.redteam.breakdown import breakdown as breakdown
    from vambrace.redteam.choice import Choice as Choice
    from vambrace.redteam.choosing import choose as choose
    from vambrace.redteam.suite import AttackReport as AttackReport
    from vambrace.redteam.suite import attack_suite as attack_suite
    from vambrace.redteam.team import RedTeam as RedTeam
    from vambrace.redteam.team import red_team as red_team
    from vambrace.report.results import figure as figure
    from vambrace.theory.planning import Plan as Plan
    from vambrace.theory.planning import plan as plan

_NAMES = {
    "vambrace.adversaries": """
        ACE AntiEXP3 BestArmCorruption Boost Conceal EliminationRush ExponentialThreshold Garcelon Inject
        Invert JunEpsilonGreedy JunUCB LookAhead MasterAttack Mimic ObservationFree PhaseBurst RandomFlips Script Swap
    """,
    "vambrace.audit.certificate": "Certificate",
    "vambrace.audit.certification": "certify",
    "vambrace.comparison": "Comparison compare",
    "vambrace.client.decisions": "RemoteDecision",
    "vambrace.client.remote": "RemoteLearner connect",
    "vambrace.engine.delays": "Delay",
    "vambrace.engine.result": "Result",
    "vambrace.engine.simulation": "simulate",
    "vambrace.environments": "Bernoulli Beta ClippedGaussian Deterministic Replay",
    "vambrace.errors": "VambraceError",
    "vambrace.foreign": "Foreign",
    "vambrace.kernels": "kernel rare_kernel",
    "vambrace.live.durable": "DurableLearner open",
    "vambrace.live.explanation": "Explanation",
    "vambrace.live.learner": "Decision Learner",
    "vambrace.policies": """
        BARBAR CWOFUL EXP3 EXP3IX EXP3P EXP3PlusPlus EpsilonGreedy FSAAER KLUCB KLUCBWR MLAAER MOSS MSSEWR
        MedianOfMeansUCB PEWR RobustPhasedElimination SE SEWR SEWRStop Thompson TrimmedMeanUCB TsallisINF UCB1 UCBWR
    """,
    "vambrace.protocols": "Adversary Environment Policy",
    "vambrace.redteam.breakdown": "Breakdown breakdown",
    "vambrace.redteam.choice": "Choice",
    "vambrace.redteam.choosing": "choose",
    "vambrace.redteam.suite": "AttackReport attack_suite",
    "vambrace.redteam.team": "RedTeam red_team",
    "vambrace.report.results": "figure",
    "vambrace.theory.planning": "Plan plan",
}
_HOME = {name: module for module, names in _NAMES.items() for name in names.split()}

__all__ = sorted(_HOME)


if not TYPE_CHECKING:  # so that type checkers report a misspelt name

    def __getattr__(name: str) -> Any:
        """Load a name when it is first used, so that importing the package is fast."""
        if name not in _HOME:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from importlib import import_module

        value = getattr(import_module(_HOME[name]), name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
