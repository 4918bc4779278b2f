"""A methods paragraph for a paper, written from the experiment's own file."""

from collections.abc import Iterable, Sequence
from typing import Any

from vambrace.errors import shorten
from vambrace.lab.arithmetic import shown
from vambrace.lab.panels import panels
from vambrace.lab.study import Study
from vambrace.report.bands import RESAMPLES
from vambrace.report.figures import number

ENGINES = {
    "auto": "Rounds in which nothing can change were skipped where that is exact",
    "leap": "Rounds in which nothing can change were skipped, which is exact in law",
    "rounds": "Every round was played",
}


def paragraph(study: Study) -> str:
    """What was played, how, and with what: in sentences that a paper can take as they are."""
    experiment = study.experiment
    lists = [_lists(study, panel) for panel in panels(experiment)]
    policies, places, attacks = ([*dict.fromkeys(x for each in lists for x in each[key])] for key in range(3))
    budgets, powers, horizons = (sorted({x for each in lists for x in each[key]}) for key in range(3, 6))
    against = "without attack"
    if attacks:
        against = f"against the attack{_s(attacks)} {_listed(attacks)}"
        sizes = (
            [f"{'a budget' if len(budgets) == 1 else 'budgets'} C of {_listed(map(_text, budgets))}"] if budgets else []
        )
        sizes += [f"C = T^β for β = {_listed(f'{power:g}' for power in powers)}"] if powers else []
        against += f" with {' and '.join(sizes)} (0: no attack)" if 0 in budgets else f" with {' and '.join(sizes)}"
    arms = [f"{name} ({shorten(shown(experiment.environments[name]), 100)})" for name in places]
    games = experiment.replications
    sentences = [
        f"The polic{'y' if len(policies) == 1 else 'ies'} {_listed(policies)} played on {_listed(arms)} {against}, "
        f"for {_listed(map(_text, horizons))} rounds",
        "C is the total change of rewards that an attack may make; rewards lie in [0, 1], so it is, at worst, C fake "
        "events",
        f"Each game was played {games:,} times" if games > 1 else "Each game was played once",
        f"All random numbers follow from the seed {experiment.seed}; games on the same arms with the same horizon "
        "share their random streams, so that policies and attacks are compared in pairs",
        "Altered rewards were clipped to [0, 1]" if experiment.bounded else "Altered rewards were not clipped",
        ENGINES[experiment.engine],
        "Regret is pseudo regret: the sum of the gaps of the arms that were pulled",
    ]
    sentences += [f"Answers came late ({experiment.delay})"] if experiment.delay else []
    sentences += [f"A share of {experiment.lost:g} of all answers was lost"] if experiment.lost else []
    sentences += [f"Arms were open in these rounds only: {experiment.arms_open}"] if experiment.arms_open else []
    if games > 1:
        sentences.append(
            f"Intervals are 95 % percentile bootstrap intervals of the mean over games, from {RESAMPLES:,} resamples"
        )
    if any(panel.worst for panel in panels(experiment)):
        sentences.append("Where the worst is shown, it is the largest mean over arms and attacks at each point")
    if len(study.status.done) < study.status.total:
        missing = study.status.total - len(study.status.done)
        sentences.append(f"{missing:,} of {study.status.total:,} games had not been played when this was written")
    sentences.append(f"The games were simulated with {_software(study)}")
    return ". ".join(sentences) + "."


def _lists(study: Study, panel: Any) -> list[Sequence[Any]]:
    """The policies, arms, attacks, budgets, powers and horizons of a panel, from it or from the top of the file."""
    experiment = study.experiment

    def listed(key: str) -> Sequence[Any]:
        own = getattr(panel, key)
        return own if own is not None else [*getattr(experiment, key)]

    powers = panel.budget_powers or []
    budgets = [] if panel.budget_powers is not None else listed("budgets")
    attacks = [shown(spec) for spec in listed("adversaries") if spec != "none"] if powers or any(budgets) else []
    return [
        [shown(spec) for spec in listed("policies")],
        listed("environments"),
        attacks,
        budgets,
        powers,
        listed("horizons"),
    ]


def _software(study: Study) -> str:
    versions = {cell["vambrace"] for cell in study.head.get("cells", {}).values()} or {study.head["vambrace"]}
    others = [f"{name} {version}" for name, version in study.head["versions"].items() if name != "machine"]
    return f"vambrace {' and '.join(sorted(versions))}" + (f" ({', '.join(others)})" if others else "")


def _text(value: float) -> str:
    return number(value, 6)


def _s(values: Sequence[str]) -> str:
    return "s" if len(values) > 1 else ""


def _listed(texts: Iterable[str]) -> str:
    """Texts as a sentence has them.

    >>> _listed(["a", "b", "c"])
    'a, b and c'
    """
    *most, last = texts
    return f"{', '.join(most)} and {last}" if most else last
