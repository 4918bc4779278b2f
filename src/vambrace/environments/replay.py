"""Replay: the arms of a finished A/B test or log.

Exact       Each arm pays what was logged for it, in random order and no event twice: a draw of an arm with n events
            left, s of them successes, is a success with probability s / n. If viewers were assigned at random and the
            counts are complete, this replays the test itself. The game ends when it needs an arm without events.
Bootstrap   Events are drawn with replacement, so that a game may be longer than the log: independent rewards with the
            logged frequencies as probabilities. These are not the logged events; every report says ``mode=bootstrap``.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import fsum
from typing import TYPE_CHECKING, Annotated, Literal, NamedTuple

import numpy as np

from vambrace import validation
from vambrace.environments import means
from vambrace.errors import InvalidParameter
from vambrace.kernels import kernel
from vambrace.parameters import PER_ARM, Range, Share
from vambrace.protocols import Environment, Floats, Integers
from vambrace.sampling import Stream, uniform
from vambrace.signatures import Draw, DrawTotal, Outcomes
from vambrace.validation import MOST_ROUNDS

if TYPE_CHECKING:
    from vambrace.data import Layout, Log

Mode = Literal["exact", "bootstrap"]


class CountState(NamedTuple):
    """A log of zeros and ones: the events and successes that each arm has left."""

    events: Integers
    successes: Integers


class RewardState(NamedTuple):
    """A log of any rewards: those of arm k begin at first[k], and the first events[k] of them can be drawn."""

    events: Integers
    first: Integers
    rewards: Floats


@kernel
def draw_count(state: CountState, arm: int, rng: Stream) -> float:
    left = state.events[arm]
    if left == 0:
        return np.nan
    state.events[arm] = left - 1
    if uniform(rng) * left < state.successes[arm]:  # the product is below `left` even after rounding
        state.successes[arm] -= 1
        return 1.0
    return 0.0


@kernel
def draw_reward(state: RewardState, arm: int, rng: Stream) -> float:
    left, first = state.events[arm], state.first[arm]
    if left == 0:
        return np.nan
    drawn, last = first + int(uniform(rng) * left), first + left - 1
    reward = state.rewards[drawn]
    state.rewards[drawn], state.rewards[last] = state.rewards[last], reward  # one step of the Fisher-Yates shuffle
    state.events[arm] = left - 1
    return reward


@kernel
def draw_again(state: RewardState, arm: int, rng: Stream) -> float:
    return state.rewards[state.first[arm] + int(uniform(rng) * state.events[arm])]


@dataclass(frozen=True, kw_only=True)
class Replay(Environment):
    """The arms of a finished test or log; `Replay.from_table` and `Replay.from_log` read files.

    Args:
        mode: "exact": no event twice, and an error if an arm has none left; "bootstrap": with replacement.
        events: The number of events of each arm, which is how often it can be pulled in an exact replay.
        successes: The number of these that were a success; None if `rewards` are given.
        labels: The names of the arms; None: their numbers.
        rewards: If they are not all 0 or 1: those of the first arm, then those of the second, and so on.

    >>> import vambrace as vb
    >>> test = vb.Replay(events=(2_108, 2_046), successes=(32, 15), labels=("old", "new"))
    >>> test.arm_means().round(4).tolist()
    [0.0152, 0.0073]
    >>> vb.simulate(vb.SE(), test, horizon=4_000).pulls.tolist()
    [[2000, 2000]]
    """

    name = "replay"

    mode: Mode = "exact"
    events: Annotated[Sequence[Annotated[int, Range(1, MOST_ROUNDS)]], PER_ARM]
    successes: Annotated[Sequence[int], PER_ARM] | None
    labels: Annotated[Sequence[str], PER_ARM] | None = None
    rewards: Sequence[Share] | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        n_arms = len(self.events)
        if (self.successes is None) == (self.rewards is None):
            came = "neither" if self.rewards is None else "both"
            raise InvalidParameter(f"successes: expected either these or rewards, got {came}")
        if self.successes is not None:
            for k, each in enumerate(validation.listed("successes", self.successes, n_arms)):
                validation.whole(f"successes[{k}]", each, low=0, high=self.events[k])
        if self.labels is not None:
            for k, label in enumerate(validation.listed("labels", self.labels, n_arms)):
                if not label or label in self.labels[:k]:
                    raise InvalidParameter(f"labels[{k}]: expected a text that names this arm alone, got {label!r}")
        if self.rewards is not None:
            validation.listed("rewards", self.rewards, sum(self.events))

    @classmethod
    def from_table(
        cls,
        source: "Log",
        test: object = None,
        *,
        mode: Mode = "exact",
        sheet: str | None = None,
        sql: str | None = None,
    ) -> "Replay":
        """One test of a table of counts; its columns are found by their names, as in `certify`.

        Args:
            source: A file, a frame, a mapping of columns or the address of a database, as in `certify`, or a list of
                these.
            test: Which test, if a column `test` distinguishes several.
            mode: "exact": no event twice; "bootstrap": with replacement.
            sheet: The sheet of an Excel file that has several.
            sql: The query that gives the rows, if the source is a database.
        """
        return cls._read(source, {}, mode, "table", test, sheet, sql)

    @classmethod
    def from_log(
        cls,
        source: "Log",
        *,
        arm: str | None = None,
        reward: str | None = None,
        mode: Mode = "exact",
        sheet: str | None = None,
        sql: str | None = None,
    ) -> "Replay":
        """A log, which has one row for each event, with rewards in [0, 1].

        Args:
            source: A file, a frame, a mapping of columns or the address of a database, as in `certify`, or a list of
                these.
            arm: The column of the arm; None: found by its name, such as variant, as in `certify`.
            reward: The column of the reward; None: found by its name, such as converted.
            mode: "exact": no event twice; "bootstrap": with replacement.
            sheet: The sheet of an Excel file that has several.
            sql: The query that gives the rows, if the source is a database.
        """
        return cls._read(source, {"arm": arm, "reward": reward}, mode, "log", None, sheet, sql)

    @classmethod
    def from_file(
        cls,
        *,
        file: str,
        test: str | None = None,
        arm: str | None = None,
        reward: str | None = None,
        events: str | None = None,
        successes: str | None = None,
        mode: Mode = "exact",
        sheet: str | None = None,
        sql: str | None = None,
    ) -> "Replay":
        """The replay for a spec that names a file, a table or a log: `replay:file=tests.csv,test=7`.

        Args:
            file: A file or the address of a database, as in `certify`.
            test: Which test, if a column `test` distinguishes several.
            arm: The column of the arm; None: found by its name, such as variant, as in `certify`.
            reward: The column of the reward, in a log; None: found by its name, such as converted.
            events: The column of the number of events, in a table; None: found by its name, such as views.
            successes: The column of the number of successes, in a table; None: found by its name, such as clicks.
            mode: "exact": no event twice; "bootstrap": with replacement.
            sheet: The sheet of an Excel file that has several.
            sql: The query that gives the rows, if the file is a database.
        """
        columns = {"arm": arm, "reward": reward, "events": events, "successes": successes}
        return cls._read(file, columns, mode, None, test, sheet, sql)

    @classmethod
    def _read(
        cls,
        source: "Log",
        columns: dict[str, str | None],
        mode: Mode,
        layout: "Layout | None",
        test: object,
        sheet: str | None,
        sql: str | None,
    ) -> "Replay":
        from vambrace import data

        tally, rewards = data.read_test(source, data.Columns(**columns), layout, test, data.Part(sheet, sql))
        successes = [int(total) for total in tally.totals] if rewards is None else None
        return cls(mode=mode, events=tally.events, successes=successes, labels=tally.labels, rewards=rewards)

    @property
    def supply(self) -> Sequence[int] | None:  # type: ignore[override]
        """The number of events of each arm, if no event is drawn twice."""
        return self.events if self.mode == "exact" else None

    @property
    def note(self) -> str:  # type: ignore[override]
        """Whether these are the logged events or draws from them."""
        return "" if self.mode == "exact" else f"{self.name}:mode={self.mode}"

    @property
    def draw(self) -> Draw:  # type: ignore[override]
        kernels = (draw_count, draw_reward) if self.mode == "exact" else (means.draw, draw_again)
        return kernels[self.rewards is not None]

    @property
    def draw_total(self) -> DrawTotal | None:  # type: ignore[override]
        """Only zeros and ones drawn with replacement have a binomial sum."""
        return means.draw_total if self.draw is means.draw else None

    @property
    def outcomes(self) -> Outcomes | None:  # type: ignore[override]
        """The two rewards of an arm, in the same case."""
        return means.outcomes if self.draw is means.draw else None

    def arm_means(self) -> Floats:
        if self.successes is not None:
            return np.array(self.successes) / np.array(self.events)
        return np.array([fsum(each) / len(each) for each in np.split(self._rewards, np.cumsum(self.events)[:-1])])

    def init(self) -> CountState | RewardState | means.State:
        if self.rewards is not None:
            events = np.array(self.events)
            return RewardState(events, np.cumsum(events) - events, self._rewards.copy())
        if self.mode == "exact":
            return CountState(np.array(self.events), np.array(self.successes))
        return means.State(self.arm_means())

    def bad_draw(self, t: int, arm: int, value: float) -> str:
        label = f" ({self.labels[arm]})" if self.labels is not None and self.labels[arm] != str(arm) else ""
        return (
            f"expected an arm with events left, got arm {arm}{label}, whose {self.events[arm]:,} events are used up "
            f"in round {t:,}: use mode=bootstrap or a shorter horizon"
        )

    @cached_property
    def _rewards(self) -> Floats:
        return np.array(self.rewards, dtype=np.float64)
