"""Which policy is better, and is that more than chance? Paired differences, and ranks over all games.

Policies that play the same game with the same seed meet the same random rewards. So replication r of one is compared
with replication r of the other, and what both have in common cancels out.

Difference   The mean over replications of regret minus the regret of the baseline; below zero: better than it.
Interval     Student's t on these differences, 95 % for each row by itself. It is exact for normal differences; docs/
             experiments.md says how often it held in games of ours.
Adjusted p   Holm's correction of the paired t-tests of all rows: the chance that any row below 5 % is there by chance
             alone is at most 5 %.
Ranks        1 is the least mean regret of a game; ties share the mean of their ranks. Two mean ranks that are further
             apart than the critical difference differ at 5 % (Nemenyi), if games are independent of each other.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from math import isnan, nan, sqrt
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from vambrace.engine.result import Result, checked_results
from vambrace.errors import InvalidParameter, UnknownName
from vambrace.parameters import spec_of
from vambrace.protocols import Floats, Policy
from vambrace.statistics import chi_square_tail, range_limit, student_limit, student_tail

if TYPE_CHECKING:
    import polars

LEVEL = 0.05


class Where(NamedTuple):
    """A game without its policy."""

    environment: str
    attack: str | None  # None: no attack
    budget: float
    horizon: int
    conditions: str = ""  # delay, lost answers, arms that open and close; empty: none of these


class Entry(NamedTuple):
    """One policy in one game."""

    policy: str
    where: Where
    result: Result


class Games(Protocol):
    """Finished games, such as a `lab.Study`."""

    def entries(self) -> Sequence[Entry]:
        """Every policy in every game."""


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """What `vb.compare` found. Print it for the ranks and for each difference from the baseline.

    Attributes:
        baseline: The policy with which the others are compared.
        table: A Polars frame, a row for each other policy and game: policy, baseline, environment, attack (null: no
            attack), budget, horizon, conditions, replications, regret, difference, low, high (the 95 % interval), won
            (the share of games with less regret than the baseline; a tie counts one half), p and adjusted_p. After one
            replication low, high and both p are null.
        ranks: A Polars frame, a row for each policy, the best first: policy, rank (the mean over games), best (in how
            many games nobody had less regret), games, behind (rank minus the least mean rank) and differs (whether that
            exceeds the critical difference). Only games that every policy has played count.
        critical_difference: Mean ranks that are further apart differ at 5 %; None: there are no ranks.
        friedman_p: The chance that mean ranks differ at least as much if all policies are equally good (Friedman's
            test, with its chi-square approximation); None: there are no ranks.

    >>> import vambrace as vb
    >>> env, policies = vb.Bernoulli([0.9, 0.5]), (vb.UCB1(), vb.Thompson())
    >>> results = [vb.simulate(policy, env, horizon=1_000, replications=5, seed=1) for policy in policies]
    >>> comparison = vb.compare(results)
    >>> comparison.baseline, comparison.ranks["policy"].to_list()
    ('ucb1', ['thompson', 'ucb1'])
    """

    baseline: str
    table: "polars.DataFrame" = field(repr=False)
    ranks: "polars.DataFrame" = field(repr=False)
    critical_difference: float | None
    friedman_p: float | None

    @property
    def method(self) -> str:
        """How the figures were made, in words, to be printed below a table."""
        return (
            f"Differences are the mean of regret minus that of {self.baseline}, paired by replication; intervals are "
            "Student's t, 95 % each; adjusted p is Holm's correction over all rows. Ranks are by mean regret in games "
            "that every policy played; those further apart than the critical difference (Nemenyi, 5 %) differ if the "
            "games are independent, which games of one environment are not: then read it as a guide."
        )

    def __str__(self) -> str:
        lines = [f"differences of regret from {self.baseline}"]
        for row in self.table.iter_rows(named=True):
            attack = (row["attack"] or "no attack") + (f", C = {row['budget']:g}" if row["budget"] else "")
            game = f"{row['policy']} on {row['environment']}, {attack}, T = {row['horizon']:,}"
            limits = "" if row["low"] is None else f" [{row['low']:,.1f}, {row['high']:,.1f}]"
            adjusted = "" if row["adjusted_p"] is None else f", adjusted p {row['adjusted_p']:.2g}"
            lines.append(f"  {game}:\n    {row['difference']:+,.1f}{limits}, won {row['won']:.0%}{adjusted}")
        if self.critical_difference is not None:
            games = f"{self.ranks['games'][0]:,} game{'s' if self.ranks['games'][0] > 1 else ''}"
            lines.append(f"mean ranks over {games} (critical difference {self.critical_difference:.2f})")
            lines += [f"  {rank:.2f} {policy}" for policy, rank in self.ranks.select("policy", "rank").iter_rows()]
        return "\n".join(lines)


def compare(results: Sequence[Result] | Games, *, baseline: Policy | str | None = None) -> Comparison:
    """Compare policies that played the same games: paired differences with intervals, and ranks over all games.

    Args:
        results: What `vb.simulate` returned for several policies with one seed, or an experiment that `lab.load` read.
        baseline: The policy with which all others are compared: its name with parameters as in the results, such as
            "se-wr:budget=100", or as an experiment's file has it with C and T for braces, such as "se-wr:budget=C";
            None: the first one.

    >>> import vambrace as vb
    >>> env, attack = vb.Bernoulli([0.9, 0.5]), vb.Conceal(budget=50)
    >>> policies = (vb.UCB1(), vb.SEWR(budget=50))
    >>> results = [vb.simulate(each, env, attack, horizon=5_000, replications=5, seed=1) for each in policies]
    >>> print(vb.compare(results, baseline="ucb1"))
    differences of regret from ucb1
      se-wr:budget=50 on bernoulli:means=0.9/0.5, conceal, C = 50, T = 5,000:
        -1,398.5 [-1,547.6, -1,249.4], won 100%, adjusted p 1.3e-05
    mean ranks over 1 game (critical difference 1.96)
      1.00 se-wr:budget=50
      2.00 ucb1
    """
    games = _grouped(results.entries() if hasattr(results, "entries") else _entries(results))
    names = [*dict.fromkeys(policy for played in games.values() for policy in played)]
    if not names:
        raise InvalidParameter("results: expected at least one finished game, got none")
    chosen = names[0] if baseline is None else baseline if isinstance(baseline, str) else spec_of(baseline)
    if chosen not in names:
        raise UnknownName("baseline", chosen, names)
    rows = [
        {"policy": policy, "baseline": chosen, **where._asdict(), **_difference(played[policy], played[chosen])}
        for where, played in games.items()
        for policy in played
        if chosen in played and policy != chosen
    ]
    for row, adjusted in zip(rows, holm([row["p"] for row in rows]), strict=True):
        row["adjusted_p"] = adjusted
    whole = [[float(values.mean()) for values in played.values()] for played in _complete(games, names)]
    ranks, critical, friedman = _ranked(names, np.array(whole).reshape(len(whole), len(names)))
    table = _table(rows)
    return Comparison(baseline=chosen, table=table, ranks=ranks, critical_difference=critical, friedman_p=friedman)


def _entries(results: Any) -> Iterable[Entry]:
    for result in checked_results(results):
        attack = None if result.adversary is None else spec_of(result.adversary, without="budget")
        budget = 0.0 if result.adversary is None else float(result.adversary.budget)
        conditions = ", ".join(result.conditions())
        where = Where(spec_of(result.environment), attack, budget, result.horizon, conditions)
        yield Entry(spec_of(result.policy), where, result)


def _grouped(entries: Iterable[Entry]) -> dict[Where, dict[str, Floats]]:
    """For each game the final regrets of each policy; refuses games whose replications are no pairs."""
    found: dict[Where, dict[str, Floats]] = {}
    first: dict[Where, Entry] = {}
    for entry in entries:
        other, regrets = first.setdefault(entry.where, entry), entry.result.pseudo_regret[:, -1]
        for name in ("seed", "replications", "bounded", "arms_open"):
            mine, theirs = getattr(entry.result, name), getattr(other.result, name)
            if mine != theirs:
                both = f"{theirs} for {other.policy} and {mine} for {entry.policy}"
                raise InvalidParameter(f"results: expected the same {name} in one game, got {both}")
        played = found.setdefault(entry.where, {})
        if not np.array_equal(played.setdefault(entry.policy, regrets), regrets):
            raise InvalidParameter(f"results: expected each policy once in a game, got {entry.policy} twice")
    return found


def _difference(regrets: Floats, base: Floats) -> dict[str, Any]:
    """The figures of one row."""
    pairs, count = regrets - base, len(regrets)
    mean, error = float(pairs.mean()), float(pairs.std(ddof=1)) / sqrt(count) if count > 1 else nan
    half = student_limit(LEVEL, count - 1) * error if count > 1 else nan
    won = float((pairs < 0.0).mean() + 0.5 * (pairs == 0.0).mean())
    if error == 0.0:
        p = float(mean == 0.0)
    else:
        p = nan if isnan(error) else student_tail(mean / error, count - 1)
    figures = {"difference": mean, "low": mean - half, "high": mean + half, "won": won, "p": p}
    return {"replications": count, "regret": float(regrets.mean()), **figures}


def holm(chances: Sequence[float]) -> list[float]:
    """The p-values of many tests, corrected such that any below 5 % is there by chance with probability 5 % at most.

    A p-value that is not a number is no test.
    """
    adjusted, largest = [*chances], 0.0
    tests = sorted((i for i, p in enumerate(chances) if not isnan(p)), key=lambda i: chances[i])
    for passed, i in enumerate(tests):
        largest = max(largest, min(1.0, (len(tests) - passed) * chances[i]))
        adjusted[i] = largest
    return adjusted


def _complete(games: dict[Where, dict[str, Floats]], names: Sequence[str]) -> list[dict[str, Floats]]:
    """The games that every policy played, with the policies in the same order."""
    return [{name: played[name] for name in names} for played in games.values() if len(played) == len(names)]


def _ranked(names: Sequence[str], regrets: Floats) -> tuple["polars.DataFrame", float | None, float | None]:
    """Mean ranks, the critical difference and Friedman's p, from the mean regrets of (games, policies)."""
    import polars as pl

    types = {"policy": pl.String, "rank": pl.Float64, "best": pl.Int64, "games": pl.Int64}
    schema = pl.Schema(types | {"behind": pl.Float64, "differs": pl.Boolean})
    games, count = regrets.shape
    if games == 0 or count < 2:
        return schema.to_frame(), None, None
    ranks = np.array([average_ranks(row) for row in regrets])
    mean = ranks.mean(axis=0)
    best = (regrets == regrets.min(axis=1, keepdims=True)).sum(axis=0)
    critical = range_limit(LEVEL, count) * sqrt(count * (count + 1) / (12.0 * games))
    spread = float(((ranks - 0.5 * (count + 1)) ** 2).sum())
    statistic = games * games * (count - 1) * float(((mean - 0.5 * (count + 1)) ** 2).sum()) / spread if spread else 0.0
    behind = mean - mean.min()
    rows = zip(names, mean, best, [games] * count, behind, behind > critical, strict=True)
    return pl.DataFrame([*rows], schema, orient="row").sort("rank"), critical, chi_square_tail(statistic, count - 1)


def average_ranks(values: Iterable[float]) -> list[float]:
    """The ranks from 1 of some values; equal values share the mean of their ranks.

    >>> average_ranks([5.0, 2.0, 5.0, 1.0])
    [3.5, 2.0, 3.5, 1.0]
    """
    given = [*values]
    ranks, below = [0.0] * len(given), 0
    for _, group in groupby(sorted(range(len(given)), key=given.__getitem__), key=given.__getitem__):
        places = [*group]
        for i in places:
            ranks[i] = below + 0.5 * (len(places) + 1)
        below += len(places)
    return ranks


def _table(rows: Sequence[dict[str, Any]]) -> "polars.DataFrame":
    import polars as pl

    texts, whole = ("policy", "baseline", "environment", "attack", "conditions"), ("horizon", "replications")
    order = ("policy", "baseline", *Where._fields, "replications", "regret", "difference", "low", "high", "won")
    kinds = dict.fromkeys(texts, pl.String) | dict.fromkeys(whole, pl.Int64)
    schema = pl.Schema({name: kinds.get(name, pl.Float64) for name in (*order, "p", "adjusted_p")})
    return pl.DataFrame(rows, schema).fill_nan(None)
