"""Entries of the leaderboard: one TOML file for each bandit, with its figures and with the attacks that gave them."""

import json
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any, NamedTuple

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from vambrace.errors import InvalidParameter, displayed
from vambrace.files import whole_file

HEAD = "# Written by `vambrace leaderboard enter`; `vambrace leaderboard check` plays it again.\n"
Number = Annotated[float, Field(ge=0.0)]


class Figure(NamedTuple):
    """A number with an interval of 95 %."""

    value: Number
    low: Number
    high: Number


class Part(BaseModel):
    """A part of an entry: nothing but what it declares."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Attacked(Part):
    """The worst attack that was found with a budget.

    Attributes:
        budget: What an attack may spend.
        attack: The attack, as a spec; "none": no attack did more harm than none.
        regret: The regret in fresh games.
    """

    budget: Annotated[float, Field(gt=0.0)]
    attack: str
    regret: Figure


class Broken(Part):
    """The least budget that breaks the bandit.

    Attributes:
        attack: The attack that does it, as a spec; "none": none was found, or none is needed.
        budgets: The budgets at which it was played.
        events: The least budget; infinite: no attack was found; 0: the bandit breaks by itself.
    """

    attack: str
    budgets: tuple[Number, ...]
    events: Figure


class Score(Part):
    """One contest.

    Attributes:
        arms: The arms, as a spec.
        rounds: The number of rounds of a game.
        games: The fresh games behind each figure.
        seed: The seed of all games.
        version: The version of vambrace that played them.
        regret: The regret without attack.
        attacks: The worst attack of each budget.
        breakdown: The least budget that breaks the bandit.
    """

    arms: str
    rounds: Annotated[int, Field(ge=1)]
    games: Annotated[int, Field(ge=2)]
    seed: Annotated[int, Field(ge=0)]
    version: str
    regret: Figure
    attacks: tuple[Attacked, ...]
    breakdown: Broken

    def worst(self, budget: float) -> Figure:
        """The regret under the worst attack with a budget.

        Args:
            budget: One of the budgets of the board.
        """
        return next(each.regret for each in self.attacks if each.budget == budget)

    def figures(self) -> dict[str, Figure]:
        """Every figure, by what it is."""
        found = {"regret without attack": self.regret}
        found |= {f"worst regret at {each.budget:,g}": each.regret for each in self.attacks}
        return found | {"break-down budget": self.breakdown.events}


class Entry(Part):
    """One bandit on the board.

    Attributes:
        name: Its name on the page.
        bandit: The policy as a spec, or FILE.py:NAME, with the file beside or above the entry.
        library: The library and its version that the bandit is from.
        contests: What it did in each contest.
    """

    name: Annotated[str, Field(min_length=1, max_length=60)]
    bandit: Annotated[str, Field(min_length=1)]
    library: str
    contests: Mapping[str, Score] = {}


def read(path: Path) -> Entry:
    """Read an entry.

    Args:
        path: The file.
    """
    try:
        return Entry.model_validate(tomllib.loads(path.read_text(encoding="utf-8-sig")))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as mistake:
        raise InvalidParameter(f"{path.name}: expected a TOML file, got {mistake}") from None
    except ValidationError as found:
        error = _explained(found)
        raise InvalidParameter(f"{path.name}: {error}") from None


def _explained(found: ValidationError) -> str:
    """The first mistake: where it is, what was expected and what was found."""
    first = found.errors(include_url=False)[0]
    place = ".".join(map(str, first["loc"]))
    if first["type"] == "missing":
        return f"{place}: expected a value, got none"
    if first["type"] == "extra_forbidden":
        return f"{place}: expected no such key, got {displayed(first['input'])}"
    message = first["msg"].removeprefix("Input should be ").removeprefix("String should have ")
    return f"{place or 'file'}: expected {message[0].lower()}{message[1:]}, got {displayed(first['input'])}"


def write(entry: Entry, path: Path) -> None:
    """Write an entry, whole or not at all.

    Args:
        entry: The entry.
        path: The file.
    """
    lines = [HEAD, *_table("", entry.model_dump())]
    with whole_file(path) as unfinished:
        unfinished.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _table(name: str, values: Mapping[str, Any]) -> Iterable[str]:
    """The lines of a TOML table: plain values first, then the tables in it."""
    if name:
        yield f"\n[{name}]"
    tables = {key: value for key, value in values.items() if isinstance(value, dict) or _is_tables(value)}
    yield from (f"{key} = {_value(value)}" for key, value in values.items() if key not in tables)
    for key, value in tables.items():
        place = f"{name}.{key}" if name else key
        if isinstance(value, dict):
            yield from _table(place, value)
            continue
        for each in value:
            yield f"\n[[{place}]]"
            yield from (f"{inner} = {_value(one)}" for inner, one in each.items())


def _is_tables(value: Any) -> bool:
    return isinstance(value, tuple) and len(value) > 0 and all(isinstance(each, dict) for each in value)


def _value(value: Any) -> str:
    if isinstance(value, tuple):
        return f"[{', '.join(map(_value, value))}]"
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str) else repr(value)
