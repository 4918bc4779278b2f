"""What `choose` found: figures, a frame, and the words for a terminal."""

import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from vambrace.redteam.race import HOPELESS

if TYPE_CHECKING:
    import polars

PAGE = 80  # columns
CHANCE = 2.0  # standard errors: a smaller difference may be chance
MOST_MEANS = 8  # in a title
DEARER = "here armour costs more than the attack can"


@dataclass(frozen=True, kw_only=True)
class Score:
    """What one policy loses to at most this many fake events.

    Attributes:
        policy: The policy, as a spec.
        fakes: The number of fake events.
        regret: Its mean regret under the worst attack.
        standard_error: How far that mean may be off.
        attack: The worst attack; "none": no attack.
        spent: What that attack may spend, which can be less than all fakes.
        behind: How much more than the winner at this number of fakes it loses.
        behind_error: The standard error of that difference, game by game.
    """

    policy: str
    fakes: float
    regret: float
    standard_error: float
    attack: str
    spent: float
    behind: float
    behind_error: float

    @property
    def as_good(self) -> bool:
        """Whether the difference to the winner may be chance."""
        return self.behind <= CHANCE * self.behind_error

    def __str__(self) -> str:
        return with_error(self.regret, self.standard_error)


@dataclass(frozen=True, kw_only=True)
class Armour:
    """What armour costs when nobody attacks, beside what an attack costs without armour.

    Attributes:
        fakes: The number of fake events.
        armoured: The policy with armour that loses least to them.
        plain: The policy without armour that loses least when nobody attacks.
        cost: How much more the first one loses than the second when nobody attacks.
        cost_error: The standard error of that.
        damage: How much more the second one loses when it is attacked with all fakes.
        damage_error: The standard error of that.
        helps: Whether the first one loses clearly less to the fakes than random play does.
        dearer: Whether the cost exceeds the damage, by more than chance.
    """

    fakes: float
    armoured: str
    plain: str
    cost: float
    cost_error: float
    damage: float
    damage_error: float
    helps: bool
    dearer: bool

    def __str__(self) -> str:
        cost, damage = with_error(self.cost, self.cost_error), with_error(self.damage, self.damage_error)
        words = f"{self.armoured} loses {cost} more than {self.plain} when nobody attacks"
        attacked = f"the worst attack that was found costs {self.plain} {damage}"
        verdict = f"{DEARER}: " if self.dearer else "" if self.helps else "no armour helps: "
        return f"{named(self.fakes)}: {verdict}{words}; {attacked}."


@dataclass(frozen=True, kw_only=True)
class Choice:
    """Which policy to choose: what `vb.choose` returns. Print it for the answer and its figures.

    Attributes:
        winners: For each number of fake events the policy that loses least to its worst attack, as a spec.
        unknown: The policy for an unknown number: it loses little more than the winner, whichever number it is.
        excess: How much more than the winner it loses at most, at the numbers at which anything helps.
        unknown_promised: Whether it was made for all of these.
        scores: The figures of the best policies, for each number of fake events.
        armour: What armour costs, and what an attack costs without it, for each positive number of fake events.
        unpromised: Numbers of fake events whose winner was not made for as many: its figure is only measured.
        random: What random play loses.
        means: The means of the arms.
        horizon: The number of rounds of a game.
        fakes: The numbers of fake events.
        replications: The games behind each figure.
        seed: The seed of the random numbers.
        standing: The policies that might have won after the first games, of which the winners are the best.
        others: The policies without scores, with what they had lost at each number of fake events when they were left
            out. It may be more: most of them had played few games and had not met every attack.
        policies: Every policy that played.
        attacks: Every attack that could be played against one of them.

    >>> import vambrace as vb
    >>> few = {"policies": [vb.Thompson(), vb.KLUCBWR(budget=40)], "attacks": [vb.Conceal()], "replications": 4}
    >>> found = vb.choose([0.9, 0.5], fakes=[0, 40], horizon=2_000, **few)
    >>> print(found.answer(40))
    40 fakes: kl-ucb-wr:budget=40 loses 56 ± 4, 14% of what random play does.
    >>> found.armour[0].dearer
    False
    """

    winners: Mapping[float, str]
    unknown: str
    excess: float
    unknown_promised: bool
    scores: tuple[Score, ...]
    armour: tuple[Armour, ...]
    unpromised: tuple[float, ...]
    random: float
    means: tuple[float, ...]
    horizon: int
    fakes: tuple[float, ...]
    replications: int
    seed: int
    standing: tuple[str, ...]
    others: Mapping[str, tuple[float, ...]]
    policies: tuple[str, ...]
    attacks: tuple[str, ...]

    def score(self, policy: str, fakes: float) -> Score:
        """The figures of one of the best policies.

        Args:
            policy: Its spec.
            fakes: The number of fake events.
        """
        return next(each for each in self.scores if (each.policy, each.fakes) == (policy, fakes))

    def share(self, policy: str, fakes: float) -> float:
        """The regret of a policy as a share of what random play loses.

        Args:
            policy: Its spec.
            fakes: The number of fake events.
        """
        return self.score(policy, fakes).regret / self.random

    @property
    def rows(self) -> list[str]:
        """The best policies, the one that is never far behind first."""
        return list(dict.fromkeys(score.policy for score in self.scores))

    @property
    def title(self) -> str:
        """What was played."""
        shown = ", ".join(f"{each:.4g}" for each in self.means[:MOST_MEANS])
        more = ", …" if len(self.means) > MOST_MEANS else ""
        return f"{len(self.means)} arms with means {shown}{more}; {self.horizon:,} rounds"

    @property
    def advice(self) -> str:
        """The answer for an unknown number of fake events, in one sentence."""
        if len(self.fakes) == 1:
            return f"Use {self.unknown}."
        return f"If you do not know how many events are fake, use {self.unknown}: {self._closeness}."

    @property
    def _closeness(self) -> str:
        if {*self.winners.values()} == {self.unknown}:
            return "it loses least at each number below"
        hopeless = any(self.share(winner, fakes) >= HOPELESS for fakes, winner in self.winners.items())
        where = "at each number below at which anything helps" if hopeless else "at each number below"
        return f"{where} it loses at most {number(self.excess)} more than the best policy for that number"

    def answer(self, fakes: float) -> str:
        """The winner for a number of fake events, in one sentence.

        Args:
            fakes: The number.
        """
        winner = self.winners[fakes]
        score, share = self.score(winner, fakes), self.share(winner, fakes)
        if share >= HOPELESS:
            return (
                f"{named(fakes)}: nothing helps. The best, {winner}, loses {percent(share)} of what random play does."
            )
        return f"{named(fakes)}: {winner} loses {score}, {percent(share)} of what random play does."

    @property
    def notes(self) -> list[str]:
        """What the figures mean, and what they do not."""
        notes = [
            f"± is the standard error of the mean over {self.replications:,} games, none of which was used to choose. "
            "* is the winner; ~ may be as good: the difference is within two of its standard errors.",
            f"Worst of {len(self.attacks):,} attacks that were tried, each with at most that many fake events; "
            f"{len(self.policies):,} policies played, and the best {len(self.rows):,} are shown.",
        ]
        useful = [each for each in self.unpromised if self.share(self.winners[each], each) < HOPELESS]
        doubtful = [f"{self.winners[each]} for {named(each)}" for each in useful]
        doubtful += [] if self.unknown_promised else [f"{self.unknown} for an unknown number"]
        if doubtful:
            made = "; ".join(doubtful)
            notes.append(
                f"Not made for as many: {made}. These figures are measured, not promised: an attack that nobody has "
                "found yet may do more harm."
            )
        return notes

    def table(self) -> tuple[list[str], list[list[str]]]:
        """Headings and rows: the best policies, and random play."""
        rows = []
        for policy in self.rows:
            scores = [self.score(policy, fakes) for fakes in self.fakes]
            marks = ["*" if self.winners[each.fakes] == policy else "~" if each.as_good else " " for each in scores]
            rows.append([policy, *(f"{each}{mark}" for each, mark in zip(scores, marks, strict=True))])
        rows.append(["at random", *[f"{number(self.random)} " for _ in self.fakes]])
        return ["policy", *(f"{named(fakes)} " for fakes in self.fakes)], rows

    def summary(self) -> dict[str, Any]:
        """The answer, ready for JSON."""
        winners = [asdict(self.score(winner, fakes)) for fakes, winner in self.winners.items()]
        for row in winners:
            row["share_of_random"] = row["regret"] / self.random
            row["promised"] = row["fakes"] not in self.unpromised
        armour = [asdict(each) for each in self.armour]
        return {
            "unknown": self.unknown,
            "excess": self.excess,
            "unknown_promised": self.unknown_promised,
            "winners": winners,
            "armour": armour,
        }

    def to_dict(self) -> dict[str, Any]:
        """All figures, ready for JSON."""
        game = {"means": list(self.means), "fakes": list(self.fakes)}
        game |= {name: getattr(self, name) for name in ("horizon", "replications", "seed", "random")}
        played = {name: list(getattr(self, name)) for name in ("standing", "policies", "attacks")}
        others = {policy: list(regrets) for policy, regrets in self.others.items()}
        return {
            **game,
            **self.summary(),
            "scores": [asdict(each) for each in self.scores],
            **played,
            "others": others,
        }

    def to_frame(self) -> "polars.DataFrame":
        """A Polars frame, one row for each of the best policies and each number of fake events."""
        import polars

        return polars.DataFrame([asdict(each) for each in self.scores])

    def __str__(self) -> str:
        parts = [_filled(self.title), "", _filled(self.advice), *(_filled(self.answer(each)) for each in self.fakes)]
        parts += ["", "The worst regret that was found", *_columns(*self.table())]
        if self.armour:
            parts += ["", "What armour costs when nobody attacks", *(_filled(str(each)) for each in self.armour)]
        return "\n".join([*parts, "", *map(_filled, self.notes)])


def number(value: float) -> str:
    """A regret as people write it."""
    return f"{value:,.0f}" if abs(value) >= 9.95 else f"{value:.1f}"


def with_error(value: float, error: float) -> str:
    """A mean and its standard error."""
    return f"{value:,.0f} ± {error:,.0f}" if abs(value) >= 9.95 else f"{value:.1f} ± {error:.1f}"


def percent(share: float) -> str:
    """A share, with a decimal if it is small."""
    return f"{share:.1%}" if share < 0.0995 else f"{share:.0%}"


def named(fakes: float) -> str:
    """A number of fake events in words."""
    return "no fakes" if fakes == 0 else f"{fakes:,g} fake{'s' if fakes != 1 else ''}"


def _filled(text: str) -> str:
    text = f"{text[0].upper()}{text[1:]}" if text.startswith("no fakes") else text
    return textwrap.fill(text, PAGE, break_on_hyphens=False)  # a name that is copied must be whole


def _columns(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """A table in eighty columns: if not all columns fit, the rest follow below."""
    lines = [list(headings), *map(list, rows)]
    widths = [max(len(line[k]) for line in lines) for k in range(len(headings))]
    shown: list[str] = []
    rest = list(range(1, len(headings)))
    while rest:
        here, rest = [rest[0]], rest[1:]
        while rest and widths[0] + sum(widths[k] + 2 for k in [*here, rest[0]]) <= PAGE:
            here.append(rest.pop(0))
        shown += [""] if shown else []
        for line in lines:
            cells = [line[0].ljust(widths[0]), *(line[k].rjust(widths[k]) for k in here)]
            shown.append("  ".join(cells).rstrip())
    return shown
