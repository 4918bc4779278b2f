"""The leaderboard: enter a bandit, and play an entry again to see whether its figures are true."""

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from vambrace import registry
from vambrace.errors import GameFault, InvalidParameter, NotApplicable, UnknownName
from vambrace.kernels import is_kernel
from vambrace.parameters import spec_of
from vambrace.protocols import Adversary
from vambrace.redteam.bandits import bandit
from vambrace.redteam.contests import BUDGETS, CONTESTS
from vambrace.redteam.entries import Entry, Figure, Score, read, write
from vambrace.redteam.games import Games
from vambrace.redteam.measuring import (
    SEARCH,
    SEED,
    contradiction,
    games_of,
    measured,
    played,
    recipe_of,
    with_breaking,
    worst_of,
)
from vambrace.redteam.search import STEP

LEAST_GAMES = SEARCH[1].report
FEW = 4  # games of an attack of another entry, and how many of them play on
AGREE = 1e-4  # relative: a larger difference is none of rounding
Watch = Callable[[str], None]


def strengthen(path: Path, others: Sequence[Entry], *, threads: int | None = None) -> int:
    """Try the attacks of other entries against a bandit, and put those that do more harm into its entry.

    If one of them breaks the bandit with less than its break-down budget, that budget is searched for anew.

    Bandits that are plain Python are left as they are: such attacks were tried when they were entered.

    Args:
        path: The file of the entry, which is written whole or not at all.
        others: The other entries.
        threads: The number of games played at the same time; None: one per core.

    Returns:
        The number of attacks that were replaced.
    """
    entry, replaced = read(path), 0
    policy = bandit(entry.bandit, path.parent)
    scores = dict(entry.contests)
    if not is_kernel(policy.select):
        return 0
    for name, score in entry.contests.items():
        games, recipe = games_of(policy, CONTESTS[name], score.seed, threads), recipe_of(score)
        specs = [each.attack for other in others if name in other.contests for each in other.contests[name].attacks]
        made = [each for each in map(registry.adversary, dict.fromkeys(specs)) if each is not None]
        more = [each for each in made if _plays(games, each)]
        more.sort(key=lambda each: -games.play([each], STEP, FEW)[0].score)
        near = [each for budget in BUDGETS for each in [one for one in more if one.budget == budget][:FEW]]
        known = [each for each in (recipe.breaking, *near) if each is not None]
        worst = worst_of(games, recipe.worst, known, score.games)
        changed = sum(worst[budget] != attack for budget, attack in recipe.worst.items())
        recipe, replaced = recipe._replace(worst=worst), replaced + changed
        found = played(games, recipe) if changed else score
        if contradiction(found, CONTESTS[name]):
            found = played(games, with_breaking(games, recipe))
        scores[name] = found
    if scores != entry.contests:
        write(entry.model_copy(update={"contests": scores}), path)
    return replaced


def _plays(games: Games, attack: Adversary) -> bool:
    """Whether an attack can be played against this bandit."""
    try:
        games.play([attack], STEP, FEW)
    except (NotApplicable, GameFault):
        return False
    return True


def replayed(entry: Entry, name: str, folder: Path, *, threads: int | None = None) -> Score:
    """The figures of an entry in a contest, played again from its attacks.

    Args:
        entry: The entry.
        name: The contest.
        folder: The folder of the entry's file.
        threads: The number of games played at the same time; None: one per core.
    """
    score = entry.contests[name]
    return played(games_of(bandit(entry.bandit, folder), CONTESTS[name], score.seed, threads), recipe_of(score))


def renew(path: Path, *, threads: int | None = None) -> None:
    """Write the figures that an entry's attacks give today: after a change of the code, or of an attack in the file.

    Args:
        path: The file of the entry, which is written whole or not at all.
        threads: The number of games played at the same time; None: one per core.
    """
    entry = read(path)
    scores = {name: replayed(entry, name, path.parent, threads=threads) for name in entry.contests}
    write(entry.model_copy(update={"contests": scores}), path)


def mistakes(path: Path, *, threads: int | None = None, watch: Watch | None = None) -> list[str]:
    """What an entry says that is not so: other arms, an attack that spends too little, figures that do not come again.

    Args:
        path: The file of the entry. If its bandit is a Python file, that file is run.
        threads: The number of games played at the same time; None: one per core.
        watch: Called with the name of each contest before it is played.
    """
    entry, found = read(path), []
    for name, score in entry.contests.items():
        if watch is not None:
            watch(name)
        wrong = _rules(name, score)
        if not wrong:
            again = replayed(entry, name, path.parent, threads=threads).figures()
            pairs = ((what, given, again[what]) for what, given in score.figures().items())
            wrong = [
                f"{what}: expected {_text(true)}, got {_text(given)}"
                for what, given, true in pairs
                if not _agree(given, true)
            ]
        found += [f"{path.name}: {name}: {each}" for each in wrong]
    return found


def _agree(one: Figure, other: Figure) -> bool:
    return bool(np.allclose(one, other, rtol=AGREE, atol=0.0))


def _text(figure: Figure) -> str:
    return f"{figure.value:,g} [{figure.low:,g}, {figure.high:,g}]"


def _rules(name: str, score: Score) -> list[str]:
    """What an entry must have in common with all others."""
    if name not in CONTESTS:
        return [str(UnknownName("contest", name, CONTESTS))]
    contest = CONTESTS[name]
    same = {"arms": (spec_of(contest.environment), score.arms), "rounds": (contest.rounds, score.rounds)}
    same |= {"budgets": (tuple(map(float, BUDGETS)), tuple(each.budget for each in score.attacks))}
    same |= {"seed": (SEED, score.seed), "games": (max(score.games, LEAST_GAMES), score.games)}
    wrong = [f"{what}: expected {wanted}, got {given}" for what, (wanted, given) in same.items() if wanted != given]
    doubtful = None if wrong else contradiction(score, contest)
    return wrong if doubtful is None else [doubtful]


def enter(text: str, path: Path, *, name: str = "", threads: int | None = None, watch: Watch | None = None) -> Entry:
    """Measure a bandit in the contests that its entry does not have yet; the file is written after each of them.

    Against a bandit that is plain Python the attacks of the other entries in the folder are tried too.

    Args:
        text: The bandit: a spec, or FILE.py:NAME with the file relative to the folder of the entry.
        path: The file of the entry.
        name: Its name on the page; empty: the bandit.
        threads: The number of games played at the same time; None: one per core.
        watch: Called with the name of each contest before it is played.
    """
    policy, file = bandit(text, path.parent), ".py:" in text
    library = getattr(getattr(policy, "make", None), "library", "" if file else "vambrace")
    plain = name or (text.rpartition(":")[2] if file else text)
    entry = read(path) if path.exists() else Entry(name=plain, bandit=text, library=library)
    if entry.bandit != text:
        raise InvalidParameter(f"{path.name}: expected an entry of {text}, got one of {entry.bandit}")
    others = [read(each) for each in sorted(path.parent.glob("*.toml")) if each != path] if file else []
    for contest in CONTESTS.values():
        if contest.name in entry.contests:
            continue
        if watch is not None:
            watch(contest.name)
        score = measured(policy, contest, others=others, threads=threads)
        entry = entry.model_copy(update={"contests": {**entry.contests, contest.name: score}})
        write(entry, path)
    return entry
