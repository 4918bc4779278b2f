"""Mistakes in an experiment's file: what pydantic found in one sentence, and games that cannot be played."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from vambrace.engine.delays import Delay
from vambrace.engine.openings import parse_windows
from vambrace.engine.simulation import checked
from vambrace.errors import InvalidParameter, UnknownName, VambraceError, shorten

if TYPE_CHECKING:
    from vambrace.lab.experiment import Experiment

MESSAGES = {  # what was expected, for mistakes that pydantic describes in the words of programmers
    "missing": "a value",
    "too_short": "at least one",
    "string_too_short": "at least one character",
    "string_pattern_mismatch": "a name in kebab case such as ten-arms",
}


def check_playable(experiment: "Experiment") -> None:
    """Refuse games that cannot be played: an attack on what a policy does not have, or a leap that is not exact."""
    conditions = {key: getattr(experiment, key) for key in ("lost", "bounded", "engine")}
    conditions["arms_open"] = parse_windows(experiment.arms_open)
    try:
        conditions["delay"] = None if experiment.delay is None else Delay.parse(experiment.delay)
    except UnknownName as error:
        raise InvalidParameter(f"delay: {error}") from None
    seen = set[Any]()
    for game in experiment.games:
        game_of = (game.policy, game.environment, game.adversary)
        if (*game_of, game.horizon) not in seen:
            seen.add((*game_of, game.horizon))
            try:
                checked(*game_of, horizon=game.horizon, **conditions)
            except VambraceError as error:
                against = f" against {game.attack}" if game.adversary is not None else ""
                where = f"{game.panel}: {game.line} on {game.place}{against} cannot be played"
                raise InvalidParameter(f"{where}: {error}") from None


def explained(error: ValidationError, keys: Mapping[str, Iterable[str]]) -> str:
    """The first mistake: where it is, what was expected and what was found; `keys` are those of each table."""
    found = error.errors(include_url=False)
    rivals = [each for each in found if each["loc"][:1] == found[0]["loc"][:1]]
    first = max(rivals, key=lambda each: len(_place(each)))  # of several types the one that fits best
    kind, given, parts = first["type"], first["input"], _place(first)
    place = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in parts).removeprefix(".")
    if kind == "extra_forbidden":
        known = keys.get(str(parts[0]), keys[""]) if len(parts) > 1 else keys[""]
        more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
        return f"{place}: {UnknownName('key', str(parts[-1]), known)}{more}"
    if kind in MESSAGES:
        came = repr(given) if kind == "string_pattern_mismatch" else "none"
        return f"{place}: expected {MESSAGES[kind]}, got {came}"
    message = first["msg"].removeprefix("Input should be ").removeprefix("String should have ")
    message = message.replace("dictionary", "table").replace("valid string", "text").partition(" or instance of")[0]
    return f"{place or 'file'}: expected {message[0].lower()}{message[1:]}, got {shorten(repr(given))}"


def _place(error: Any) -> list[int | str]:
    """Where a mistake is in the file: without the names of types, which pydantic adds if several are allowed."""
    return [part for part in error["loc"] if error["type"] == "extra_forbidden" or "[" not in str(part)]
