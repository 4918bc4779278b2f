"""Scripts to begin a search with, and scripts that differ a little from a given one.

All scripts of a search have caps, so that they share one program for each policy, and a second one that stops when
arms are dropped.
"""

import dataclasses
from collections.abc import Iterator
from itertools import product
from math import inf

import numpy as np

from vambrace.adversaries import Script
from vambrace.protocols import Floats
from vambrace.validation import MOST_ROUNDS

MOST_LOWERED = 6  # of the best arms, in the first scripts
MOST_ARMS = 5  # of which every combination of signs is tried
BELOW = 0.9  # an arm is thinned to this share of the mean of the next arm that is left alone, at first
WIDTH = 0.7  # standard deviation of the logarithm of a factor
CAP = np.log(20.0)  # of a new cap: at least a twentieth of the budget


def first_scripts(means: Floats, budget: float, horizon: int) -> list[Script]:
    """The scripts that a search begins with, the most promising first.

    Lower the m best arms, and raise one other or none: from the first round on, thinned to just below the best arm that
    is left alone, and from the start of a phase on. For few arms also every combination of signs.
    """
    n_arms, best_first = len(means), [int(arm) for arm in np.argsort(-means, kind="stable")]
    plain, thinned, late = [], [], []
    for lowered in dict.fromkeys((*range(1, min(MOST_LOWERED, n_arms - 1) + 1), n_arms - 1, 0)):
        others = best_first[lowered:]
        for raised in (None, *dict.fromkeys((others[-1], others[0], others[len(others) // 2]))):
            modes = signs_of(best_first[:lowered], raised, n_arms)
            script = Script(budget=budget, modes=modes, caps=(inf,))
            plain.append(script)
            if lowered > 0 and raised in (None, others[0]):
                level = BELOW * float(means[others[0]])
                thinned.append(dataclasses.replace(script, levels=_levels(modes, level)))
                if lowered <= 2:
                    starts = phase_starts(n_arms, horizon)
                    late += [dataclasses.replace(script, first=(each,)) for each in starts]
    plain.sort(key=lambda script: "+" in script.modes)  # stable: who lowers arms only comes first
    every = product("-0+", repeat=n_arms) if n_arms <= MOST_ARMS else ()
    rest = [Script(budget=budget, modes="".join(each), caps=(inf,)) for each in every]
    found = [script for script in (*plain, *thinned, *late, *rest) if {*script.modes} != {"0"}]
    return list(dict.fromkeys(found))


def phase_starts(n_arms: int, horizon: int) -> list[int]:
    """The first rounds of phases that double, while all arms are played: an attack does most if it fills a phase."""
    starts = (n_arms * (2**phase - 1) + 1 for phase in range(4, 60))
    return [start for start in starts if start <= horizon / 2]


def signs_of(lowered: list[int], raised: int | None, n_arms: int) -> str:
    """The modes of a script that lowers some arms and raises one or none."""
    return "".join("-" if arm in lowered else "+" if arm == raised else "0" for arm in range(n_arms))


def _levels(modes: str, level: float) -> tuple[float, ...]:
    return tuple(level if sign == "-" else float(sign == "+") for sign in modes)


def neighbours(
    script: Script, means: Floats, horizon: int, white_box: bool, rng: np.random.Generator
) -> Iterator[Script]:
    """Endless scripts that differ in one thing, sometimes two: a sign, a level, a cap, the window, the end."""
    moves = (_other_sign, _other_level, _other_cap, _other_window)
    while True:
        changed = script
        for _ in range(1 + int(rng.random() < 0.3)):
            if white_box and rng.random() < 0.15 and "-" in changed.modes:
                changed = dataclasses.replace(changed, stop_when_dropped=not changed.stop_when_dropped)
            else:
                changed = moves[rng.integers(len(moves))](changed, means, horizon, rng)
        if changed != script:
            yield changed


def _other_sign(script: Script, means: Floats, horizon: int, rng: np.random.Generator) -> Script:
    arm = int(rng.integers(len(means)))
    others = [sign for sign in "-0+" if sign != script.modes[arm]]
    modes = script.modes[:arm] + others[rng.integers(2)] + script.modes[arm + 1 :]
    levels = list(script.levels)
    if levels:
        levels[arm] = float(modes[arm] == "+")
    stop = script.stop_when_dropped and "-" in modes
    return dataclasses.replace(script, modes=modes, levels=tuple(levels), stop_when_dropped=stop)


def _other_level(script: Script, means: Floats, horizon: int, rng: np.random.Generator) -> Script:
    """One arm, or all arms with its sign, at once: hard, or somewhere between there and the true mean."""
    acted = [arm for arm, sign in enumerate(script.modes) if sign != "0"]
    if not acted:
        return script
    chosen = acted[rng.integers(len(acted))]
    levels = list(script.levels or _levels(script.modes, 0.0))
    share = 0.0 if rng.random() < 0.3 else float(rng.random())
    for arm in (
        [chosen] if rng.random() < 0.5 else [each for each in acted if script.modes[each] == script.modes[chosen]]
    ):
        end = float(script.modes[arm] == "+")
        levels[arm] = round(end + share * (float(means[arm]) - end), 4)
    hard = all(level == float(sign == "+") for level, sign in zip(levels, script.modes, strict=True))
    return dataclasses.replace(script, levels=() if hard else tuple(levels))


def _other_cap(script: Script, means: Floats, horizon: int, rng: np.random.Generator) -> Script:
    acted = [arm for arm, sign in enumerate(script.modes) if sign != "0"]
    if not acted:
        return script
    arm = acted[rng.integers(len(acted))]
    caps = list(script.caps) if len(script.caps) > 1 else list(script.caps or (inf,)) * len(means)
    if np.isinf(caps[arm]):
        caps[arm] = script.budget * float(np.exp(-CAP * rng.random()))
    else:
        caps[arm] = inf if rng.random() < 0.25 else caps[arm] * float(np.exp(WIDTH * rng.standard_normal()))
    caps[arm] = inf if caps[arm] >= script.budget else max(1.0, round(caps[arm], 1))
    return dataclasses.replace(script, caps=tuple(caps) if any(map(np.isfinite, caps)) else (inf,))


def _other_window(script: Script, means: Floats, horizon: int, rng: np.random.Generator) -> Script:
    """One window for all arms; a first or a last round on a logarithmic scale."""
    first, last = script.first[0] if script.first else 1, script.last[0] if script.last else MOST_ROUNDS
    kind = rng.integers(3)
    if kind == 0:
        return dataclasses.replace(script, first=(), last=())
    base = first if kind == 1 else last
    if base in (1, MOST_ROUNDS) or rng.random() < 0.3:
        starts = phase_starts(len(means), horizon) if kind == 1 else []
        moved = int(rng.choice(starts)) if starts else int(np.exp(rng.random() * np.log(horizon)))
    else:
        moved = int(base * np.exp(WIDTH / 2 * rng.standard_normal()))
    first, last = (max(1, moved), last) if kind == 1 else (first, max(1, moved))
    first, last = first if first < min(last, horizon) else 1, MOST_ROUNDS if last >= horizon else last
    return dataclasses.replace(
        script, first=() if first == 1 else (first,), last=() if last == MOST_ROUNDS else (last,)
    )
