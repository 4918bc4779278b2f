"""The search for the worst attack: the fixed suite and a family of scripts, by successive halving and mutation.

Race     Every attack plays a few games, the same for all. The better ones play more, again and again (`RUNGS`).
Change   The best scripts are changed a little, and the changed ones race against them. This goes on until nothing
         improves any more, or until the games are used up.
Decide   The best scripts and the best attacks of the suite play games that had no part in the search, again the same
         for all, and the worst of them wins: few games for all of them, many for the best.
Report   The winner plays games that had no part in either. Only they are reported, because a winner was lucky too.

CMA-ES was measured as well: with the same number of games mutation won in seven of twelve cells, CMA-ES in three, and
two were ties. Most of what matters is a choice (which arms, from which phase on) and not a number.

Three more limits of a script were measured and left out: a window of counts of the arm, a range of the policy's
probability of it (EXP3), and how near it is to being dropped (SE-WR, PE-WR). Added to the best three scripts against
EXP3, Thompson sampling, SE-WR (budgets 30 and 100) and PE-WR (30) in 3,000 rounds, none did more in 256 fresh games.
"""

import dataclasses
from collections.abc import Callable, Sequence
from math import inf
from typing import Any, Literal, NamedTuple

import numpy as np

from vambrace.adversaries import Inject, LookAhead, Script
from vambrace.errors import GameFault, NotApplicable
from vambrace.parameters import spec_of
from vambrace.protocols import Adversary, Floats, Game
from vambrace.redteam.games import Games, sized
from vambrace.redteam.moves import first_scripts, neighbours
from vambrace.redteam.race import standard_error

FIRST_RUNG = (2, 0.15)  # where many scripts begin: games, and which share of those that played so many play on
RUNGS = ((4, 0.4), (8, 0.5), (16, 0.5))
PART = 4  # if all can play more games within this part of the search, they do: chance then drops fewer good ones
CHILDREN = (16, 12, 8, 4)  # of each parent, the best first
STALE = 3  # generations without improvement after which the search ends
IMPROVED = 0.005  # of the best score: a smaller difference is no improvement
STAGES = (  # of the last race: share of its games, most attacks, and which share of the best score is worth more games
    (0.25, 16, IMPROVED),
    (1.0, 4, 0.01),
    (4.0, 2, inf),
)
FEWEST = 8  # games, of which a standard error says something
CLEARLY = 2.0  # standard errors
STEP, DECIDE = "search", "decide"
LOOKED_AT = 10_000  # rounds: in longer games looking ahead takes too long
PRICES = (0.0, 0.05, 0.2)  # of all that can be lost, for the whole budget
CHOICES = (20, 200)  # of a script, in a game
Threat = Literal["alter", "inject"]
Watch = Callable[[int, Adversary, float], None]


class Effort(NamedTuple):
    """How long to search."""

    games: int  # about as many at most, in the search for one budget
    report: int  # fresh games of the winner
    final: int = 0  # games of the last race, between the best scripts and the best fixed attacks; 0: no such race

    @property
    def about(self) -> int:
        """All games of a long search for one budget, roughly."""
        return self.games + 5 * self.final + 2 * self.report


EFFORTS = {"quick": Effort(1_000, 32, 32), "standard": Effort(4_000, 64, 1_024), "thorough": Effort(20_000, 200, 2_048)}
INTERPRETED_ROUNDS = 12_000_000  # of a search of standard effort on a bandit of another library: about a minute


def effort_for(name: str, games: Games) -> Effort:
    """The effort of this name; a bandit that runs as plain Python plays fewer games."""
    effort = EFFORTS[name]
    if games.is_compiled:
        return effort
    most = INTERPRETED_ROUNDS * effort.games // (EFFORTS["standard"].games * games.horizon)
    report = int(np.clip(most // 10, 8, effort.report))
    return Effort(int(np.clip(most, 40, effort.games)), report, report // 4)


class Search:
    """A search against one policy, at one budget after another: what was found at one is tried at the next.

    Args:
        games: The games.
        fixed: The attacks of the suite, with any budget.
        effort: How long to search at each budget.
        watch: Called with the number of games played, the best attack so far with this budget, and its score.
        threat: "alter": scripts that alter rewards; "inject": scripts of fake visitors.
        looking: Whether attacks that look ahead race too, where that is possible and quick.
    """

    def __init__(
        self,
        games: Games,
        fixed: Sequence[Adversary],
        effort: Effort,
        watch: Watch | None = None,
        threat: Threat = "alter",
        *,
        looking: bool = False,
    ) -> None:
        self.games, self.effort, self.watch, self.threat = games, effort, watch, threat
        most = int(np.clip(effort.games // 20, 2, RUNGS[-1][0]))
        self.rungs = [rung for rung in RUNGS if rung[0] <= most] or [(most, 0.5)]
        self.skipped: dict[str, str] = {}
        self.fixed = [attack for attack in fixed if self._applies(attack)]
        fields = getattr(games.policy.init(Game(games.n_arms, games.horizon)), "_fields", ())
        self.white_box = "arms" in fields
        prompt = games.is_compiled and not games.late  # a copy of the policy would not know what is on its way
        self.looking = looking and threat == "alter" and prompt and games.horizon <= LOOKED_AT
        self.winners: list[Adversary] = []

    def run(self, budget: float) -> Adversary:
        """The worst attack that was found with this budget."""
        first = self.games.played
        rng = np.random.default_rng((self.games.seed, int(1000 * budget)))
        scripts = self._scripts(first_scripts(self.games.means, budget, self.games.horizon))
        earlier = [each for winner in self.winners for each in resized(winner, budget)]
        suite = self.at(budget) + (looking_ahead(self.games, budget) if self.looking else [])
        room = max(4, self.effort.games // 6 - len(suite) - len(earlier))
        everyone = list(dict.fromkeys([*earlier, *suite, *scripts[:room]]))
        rungs = [FIRST_RUNG, *self.rungs]
        while len(rungs) > 1 and len(everyone) * rungs[1][0] <= self.effort.games / PART:
            del rungs[0]
        pool = self.race(everyone, rungs, self.watch)
        stale = 0
        while stale < STALE and self.games.played - first < self.effort.games:
            before = self._score(pool[0])
            pool = self.race([*pool, *self._children(pool, rng)], self.rungs, self.watch)
            stale = 0 if self._score(pool[0]) > before + IMPROVED * abs(before) else stale + 1
        if self.effort.final > 0:
            pool = self._decided([*pool, *self._best_fixed(budget)])
        self.winners.append(pool[0])
        return pool[0]

    def best_fixed(self, budget: float) -> list[Adversary]:
        """The attack of the suite that did most harm, if any applies."""
        best = self._best_fixed(budget)
        return (self._decided(best) if self.effort.final > 0 else best)[:1]

    def _best_fixed(self, budget: float) -> list[Adversary]:
        games = max(self.rungs[-1][0], self.effort.final // 16)  # many: some attacks rarely succeed, and do much then
        return self.race(self.at(budget), [(games, 0.5)])

    def _decided(self, attacks: Sequence[Adversary]) -> list[Adversary]:
        """The worst attack by games that had no part in the search; then those that chance may have put behind it."""
        left = list(dict.fromkeys(attacks))
        for share, most, worth in STAGES:
            played = self.games.play(left[:most], DECIDE, max(FEWEST, int(share * self.effort.final)))
            leader = max(played, key=lambda each: each.score).scores
            hopes = [inf if each.scores is leader else hope(each.scores, leader, worth) for each in played]
            open_ones: dict[bytes, Adversary] = {}  # by their scores: those with equal ones are the same attack here
            for i in np.argsort(-np.array(hopes), kind="stable"):
                if hopes[i] >= 0.0:
                    open_ones.setdefault(played[i].scores.tobytes(), left[i])
            left = list(open_ones.values())
            if len(left) == 1:
                break
        return left

    def at(self, budget: float) -> list[Adversary]:
        """The fixed attacks with this budget."""
        return [sized(each, budget) for each in self.fixed]

    def race(
        self, attacks: Sequence[Adversary], rungs: Sequence[tuple[int, float]], watch: Watch | None = None
    ) -> list[Adversary]:
        """The best few attacks, the best first, after races over more and more games.

        Args:
            attacks: Who races.
            rungs: The games of each race, and which share of the attacks plays on.
            watch: Called after each race.
        """
        pool, least = list(attacks), len(CHILDREN)
        for games, share in rungs:
            scores = [played.score for played in self.games.play(pool, STEP, games)]
            order = np.argsort(-np.array(scores), kind="stable")
            pool = [pool[i] for i in order[: max(least, int(share * len(pool)))]]
            if watch is not None:
                watch(self.games.played, pool[0], scores[order[0]])
        return pool[:least]

    def _scripts(self, scripts: list[Script]) -> list[Adversary]:
        """The scripts of the family: these, or fake visitors who follow them."""
        if self.threat == "alter":
            return list(scripts)
        peek = self.games.is_compiled and not self.games.policy.randomized  # otherwise nobody can know the next arm
        return [each if isinstance(each, Inject) else injected(each, peek) for each in scripts]

    def _children(self, pool: Sequence[Adversary], rng: np.random.Generator) -> list[Adversary]:
        found: list[Adversary] = []
        scale = min(1.0, self.effort.games / 1_000)
        parents = [each for each in pool if isinstance(each, Script)]
        for parent, count in zip(parents, CHILDREN, strict=False):
            source = neighbours(parent, self.games.means, self.games.horizon, self.white_box, rng)
            found += self._scripts([next(source) for _ in range(max(1, int(scale * count)))])
        return found

    def _score(self, attack: Adversary) -> float:
        return self.games.play([attack], STEP, self.rungs[-1][0])[0].score

    def _applies(self, attack: Adversary) -> bool:
        try:
            self.games.play([sized(attack, 1.0)], "trial", 1)
        except (NotApplicable, GameFault) as error:
            self.skipped[spec_of(attack, without="budget")] = str(error)
            return False
        return True


def hope(scores: Floats, leader: Floats, worth: float) -> float:
    """How much more than the leader an attack may do in more of the same games; negative: not, or not worth them."""
    behind = leader - scores
    chance = CLEARLY * standard_error(behind)
    return float(chance - behind.mean()) if chance > worth * abs(leader.mean()) else -inf


def injected(script: Script, peek: bool) -> Inject:
    """Fake visitors who follow a script.

    Args:
        script: The script.
        peek: Whether they come only if the policy would play an arm of the script.
    """
    fields = {each.name: getattr(script, each.name) for each in dataclasses.fields(script)}
    return Inject(**fields, peek=peek)


def looking_ahead(games: Games, budget: float) -> list[Adversary]:
    """Attacks that look ahead to the end of the game, with a few prices and numbers of choices."""
    rounds, unit = games.horizon, games.everything / budget
    every = dict.fromkeys(max(1, rounds // choices) for choices in CHOICES)
    sizes: dict[str, Any] = {"budget": budget, "ahead": rounds, "depth": rounds}
    return [LookAhead(price=share * unit, every=each, **sizes) for share in PRICES for each in every]


def resized(attack: Any, budget: float) -> list[Adversary]:
    """What was found at another budget, at this one: as it is, and with caps in proportion."""
    found = [sized(attack, budget)]
    if isinstance(attack, Script) and any(np.isfinite(cap) for cap in attack.caps) and attack.budget > 0:
        caps = tuple(cap * budget / attack.budget for cap in attack.caps)
        found.append(dataclasses.replace(attack, budget=budget, caps=caps))
    return found
