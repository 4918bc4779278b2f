"""`choose`: play every policy against every attack, and say which one to use."""

import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from vambrace import validation
from vambrace.environments import Bernoulli
from vambrace.errors import InvalidParameter
from vambrace.parameters import spec_of
from vambrace.progress import ProgressBar
from vambrace.protocols import Adversary, Policy
from vambrace.redteam import candidates, goals
from vambrace.redteam.choice import CHANCE, Armour, Choice, Score
from vambrace.redteam.games import Games
from vambrace.redteam.race import HOPELESS, NO_ATTACK, Arena, Cell, Goal, Screening, Table, played, standard_error
from vambrace.redteam.search import Search, effort_for

if TYPE_CHECKING:
    from vambrace.data import Log

ROUNDS = 100_000
SHOWN = 3  # policies of each goal


def choose(
    means: Sequence[float] | None = None,
    *,
    arms: int | None = None,
    rate: float | None = None,
    gap: float | None = None,
    log: "Log | None" = None,
    horizon: int | None = None,
    fakes: Sequence[float] = (0, 100, 1000),
    policies: Sequence[Policy] | None = None,
    attacks: Sequence[Adversary] | None = None,
    replications: int = 40,
    seed: int = 0,
    threads: int | None = None,
    interpret: bool | None = None,
    progress: bool | None = None,
) -> Choice:
    """Find the policy to use: play every policy against every attack that applies to it, and search for worse ones.

    Say what the arms are in one of three ways: their means; their number, the best rate and the gap to all others; or a
    finished test or log, whose observed rates are then taken to be the means. The arms pay 0 or 1.

    The regret of a policy at a number of fake events is its mean regret under the worst attack that was found with that
    many or fewer: of the attacks of the package, of some scripts, and of a short search against each of the best.
    If the number is unknown, the advice is the policy that loses little more than the winner, whichever number it is;
    where armour wins at any number, one with armour. `vambrace.redteam.race` has the rules: every figure comes from
    fresh games, and the same seed gives the same figures, on any number of threads.

    Args:
        means: The means of the arms.
        arms: The number of arms, if there are no means.
        rate: The mean of the best arm, with `arms`.
        gap: How much less each other arm pays, with `arms`.
        log: A finished test or log: a file, a frame or a mapping of columns, as in `vb.certify`.
        horizon: The number of rounds of a game; None: the events of the log, or 100,000.
        fakes: How many events may be fake; 0 is always among them.
        policies: The policies to try; None: all registered ones, with each number of `fakes` as a budget.
        attacks: The attacks to try; their own budgets are replaced. None: all registered ones, scripts, and a search.
        replications: The number of games behind each figure, an even number.
        seed: The seed of the random numbers.
        threads: The number of games played at the same time; None: one per core.
        interpret: True: run as plain Python; False: compile at once; None: compile if there are many rounds.
        progress: Show a progress bar; None: if standard error is a terminal and it takes longer than a second.

    >>> import vambrace as vb
    >>> few = {"policies": [vb.Thompson(), vb.KLUCBWR(budget=40)], "attacks": [vb.Conceal()], "replications": 4}
    >>> found = vb.choose([0.9, 0.5], fakes=[0, 40], horizon=2_000, **few)
    >>> found.winners
    {0.0: 'thompson', 40.0: 'kl-ucb-wr:budget=40'}
    >>> found.unknown
    'kl-ucb-wr:budget=40'
    """
    means, events = _arms(means, arms, rate, gap, log)
    rounds = validation.game_size(len(means), events or ROUNDS if horizon is None else horizon)[1]
    sizes = _sizes(fakes, rounds)
    games = _even(replications)
    contenders, against = candidates.by_name(policies, attacks, sizes, means, rounds)
    options: dict[str, Any] = {"threads": threads, "interpret": interpret, "seed": validation.seed(seed)}
    arena = Arena(means=means, horizon=rounds, fakes=sizes, policies=contenders, attacks=against, **options)
    return _raced(arena, games, attacks is None, progress)


def _even(replications: Any) -> int:
    games = validation.whole("replications", replications, low=2, high=10**9)
    if games % 2 == 1:
        half = "half of the games have the arms in reverse order"
        raise InvalidParameter(f"replications: expected an even number, since {half}, got {replications!r}")
    return games


def _arms(means: Any, arms: Any, rate: Any, gap: Any, log: Any) -> tuple[tuple[float, ...], int | None]:
    """The means of the arms, and the number of events of the log."""
    given = {"means": means, "arms": arms, "rate": rate, "gap": gap, "log": log}
    came = [name for name, value in given.items() if value is not None]
    if came not in (["means"], ["arms", "rate", "gap"], ["log"]):
        what = ", ".join(came) or "none of these"
        raise InvalidParameter(f"choose: expected either means, or arms with rate and gap, or a log, got {what}")
    events = None
    if log is not None:
        from vambrace import data

        tally, _ = data.read_test(log, data.Columns())
        found = tuple(total / n for total, n in zip(tally.totals, tally.events, strict=True))
        events = sum(tally.events)
    elif means is not None:
        found = validation.means(means)
    else:
        n_arms = validation.whole("arms", arms, low=2, high=10**6)
        best = validation.number("rate", rate, low=0.0, high=1.0, open_low=True)
        others = best - validation.number("gap", gap, low=0.0, high=best, open_low=True)
        found = (best, *[others] * (n_arms - 1))
    if len({*found}) < 2:
        raise InvalidParameter(f"means: expected arms of which one is better, got {', '.join(f'{m:g}' for m in found)}")
    return found, events


def _sizes(fakes: Any, horizon: int) -> tuple[float, ...]:
    if not validation.is_sequence(fakes) or len(fakes) == 0:
        raise InvalidParameter(f"fakes: expected a sequence of numbers such as [0, 100, 1000], got {fakes!r}")
    return tuple(sorted({0.0, *(validation.number("fakes", each, low=0.0, high=horizon) for each in fakes)}))


def _goals(arena: Arena) -> tuple[list[Goal], Goal, list[Goal]]:
    """Best of all at each number of fakes and at an unknown one; without armour at 0; with armour at the others."""
    everyone = frozenset(arena.policies)
    armoured = frozenset(name for name, policy in arena.policies.items() if candidates.is_armoured(policy))
    best = [Goal(fakes, everyone) for fakes in (*arena.fakes, None)]
    return best, Goal(0.0, everyone - armoured), [Goal(fakes, armoured) for fakes in (*arena.fakes[1:], None)]


def _raced(arena: Arena, games: int, searching: bool, progress: bool | None) -> Choice:
    best, plain, armoured = _goals(arena)
    goals = [*best, plain, *armoured]
    screening = Screening(arena, goals)
    with ProgressBar("choosing: every policy", screening.total, show=progress) as bar:
        standing = screening.run(bar.update)
    cells = [Cell(each, NO_ATTACK, 0.0) for each in standing]
    for each in standing:
        for fakes in arena.fakes[1:]:
            cells += screening.table.harmful(each, fakes)
    if searching:
        arena, worse = _searched(arena, standing, progress)
        cells += worse
        screening.met |= {cell.attack for cell in worse}
    decided = played(arena, "decide", cells, games, "choosing: the best policies", progress)
    orders = [decided.best(goal, standing) for goal in goals]
    finalists = dict.fromkeys(each for order in orders for each in order[:SHOWN])
    worst = {(each, fakes): decided.worst(each, fakes) for each in finalists for fakes in arena.fakes}
    fresh = played(arena, "report", [*dict.fromkeys(worst.values())], games, "choosing: fresh games", progress)
    return _choice(arena, goals, decided, standing, worst, fresh, screening)


def _searched(arena: Arena, standing: Sequence[str], progress: bool | None) -> tuple[Arena, list[Cell]]:
    """The arena with the scripts that a short search finds against each of some policies, and who meets which."""
    attacks, cells = dict(arena.attacks), []
    with ProgressBar("choosing: worse attacks", len(standing), show=progress) as bar:
        for done, policy in enumerate(standing):
            bar.update(done)
            options: dict[str, Any] = {
                "goal": goals.Goal.parse("regret 1"),
                "seed": arena.seed,
                "threads": arena.threads,
            }
            games = Games(arena.policies[policy], Bernoulli(arena.means), horizon=arena.horizon, **options)
            search = Search(games, [], effort_for("quick", games))
            for fakes in arena.fakes[1:]:
                found = search.run(fakes)
                attacks[spec_of(found, without="budget")] = found
                cells.append(Cell(policy, spec_of(found, without="budget"), fakes))
    return dataclasses.replace(arena, attacks=attacks), list(dict.fromkeys(cells))


def _choice(
    arena: Arena,
    goals: list[Goal],
    decided: Table,
    standing: list[str],
    worst: dict[tuple[str, float], Cell],
    fresh: Table,
    screening: Screening,
) -> Choice:
    """The winners by the second step, with the figures of the third."""
    firsts = [next(iter(decided.best(goal, standing)), None) for goal in goals]
    n = len(arena.fakes)
    winners = {fakes: str(first) for fakes, first in zip(arena.fakes, firsts, strict=False)}
    plain, *armoured, careful = firsts[n + 1 :]
    finalists = dict.fromkeys(policy for policy, _ in worst)
    rows = [each for each in decided.best(goals[n], standing) if each in finalists]
    useful = decided.useful(decided.least(standing))
    wanted = any(candidates.is_armoured(arena.policies[winners[fakes]]) for fakes in useful if fakes > 0.0)
    unknown = str(careful if wanted and careful is not None else firsts[n])

    def promised(policy: str, fakes: float) -> bool:
        return candidates.promises(arena.policies[policy], fakes, len(arena.means), arena.horizon)

    scores = {
        (each, fakes): _score(fresh, worst[each, fakes], worst[winners[fakes], fakes], fakes)
        for each in rows
        for fakes in arena.fakes
    }
    pairs = [(plain, each) for each in armoured if plain is not None and each is not None]
    return Choice(
        winners=winners,
        unknown=unknown,
        excess=max(0.0, *(scores[unknown, fakes].behind for fakes in useful)),
        unknown_promised=all(promised(unknown, fakes) for fakes in useful),
        scores=tuple(scores.values()),
        armour=tuple(
            _armour(worst, fresh, plain=pair[0], armoured=pair[1], fakes=fakes, random=arena.random)
            for pair, fakes in zip(pairs, arena.fakes[1:], strict=False)
        ),
        unpromised=tuple(fakes for fakes, winner in winners.items() if not promised(winner, fakes)),
        random=arena.random,
        means=arena.means,
        horizon=arena.horizon,
        fakes=arena.fakes,
        replications=len(next(iter(fresh.regrets.values()))),
        seed=arena.seed,
        standing=tuple(standing),
        others={
            each: tuple((decided if each in standing else screening.table).loss(each, fakes) for fakes in arena.fakes)
            for each in arena.policies
            if each not in finalists
        },
        policies=tuple(arena.policies),
        attacks=tuple(each for each in arena.attacks if each in screening.met),
    )


def _score(fresh: Table, cell: Cell, best: Cell, fakes: float) -> Score:
    values, behind = fresh.regrets[cell], fresh.regrets[cell] - fresh.regrets[best]
    return Score(
        policy=cell.policy,
        fakes=fakes,
        regret=fresh.means[cell],
        standard_error=standard_error(values),
        attack=cell.attack,
        spent=cell.fakes,
        behind=float(behind.mean()),
        behind_error=standard_error(behind),
    )


def _armour(
    worst: dict[tuple[str, float], Cell], fresh: Table, *, plain: str, armoured: str, fakes: float, random: float
) -> Armour:
    calm, clad = fresh.regrets[worst[plain, 0.0]], fresh.regrets[worst[armoured, 0.0]]
    hurt = fresh.regrets[worst[plain, fakes]]
    excess = clad - hurt
    return Armour(
        fakes=fakes,
        armoured=armoured,
        plain=plain,
        cost=float((clad - calm).mean()),
        cost_error=standard_error(clad - calm),
        damage=float((hurt - calm).mean()),
        damage_error=standard_error(hurt - calm),
        helps=fresh.means[worst[armoured, fakes]] < HOPELESS * random,
        dearer=bool(excess.mean() > CHANCE * standard_error(excess)),
    )
