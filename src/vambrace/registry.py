"""Names: kebab-case name -> class, and spec strings <-> objects.

A spec is a name with parameters: ``se-wr:budget=100,radius=tight``; a list of numbers is joined with slashes:
``bernoulli:means=0.9/0.8``. Other packages add their own through the entry point groups ``vambrace.policies``,
``vambrace.adversaries`` and ``vambrace.environments``.
"""

from collections.abc import Mapping
from functools import cache
from typing import Any, TypeVar

from vambrace import adversaries, environments, policies
from vambrace.errors import InvalidParameter, MissingExtra, UnknownName, VambraceError
from vambrace.parameters import declared, spec_of
from vambrace.protocols import Adversary, Environment, Policy

__all__ = ["adversary", "build", "declared", "environment", "known", "policy", "spec_of", "specimens"]
__all__ += ["with_changing_arms"]

Thing = TypeVar("Thing", Policy, Adversary, Environment)

ALIASES = {"oracle-constant": "swap"}  # other names in specs
_MODULES = {"policy": policies, "adversary": adversaries, "environment": environments}


@cache
def known(kind: str) -> Mapping[str, type[Any]]:
    """Every registered class of a kind ("policy", "adversary" or "environment") by its name, sorted."""
    from importlib import metadata  # slow to import, and rarely needed

    module = _MODULES[kind]
    classes = {thing.name: thing for thing in (getattr(module, name) for name in module.__all__)}
    for entry in metadata.entry_points(group=module.__name__):
        try:
            classes.setdefault(entry.name, entry.load())
        except Exception as error:
            raise MissingExtra(f"entry point {entry.value}: expected a class, got {error!r}") from error
    return dict(sorted(classes.items()))


def specimens(kind: str, **given: Any) -> dict[str, Any]:
    """One object of every registered class that needs only the given parameters, by name.

    >>> specimens("policy", budget=5.0)["se-wr"].budget
    5.0
    """
    found = {}
    for name, thing in known(kind).items():
        needed = [parameter.name for parameter in declared(thing) if parameter.required]
        if {*needed} <= {*given}:
            found[name] = thing(**{parameter: given[parameter] for parameter in needed})
    return found


def with_changing_arms() -> list[str]:
    """The names of the policies whose arms may open and close during a game.

    >>> "ucb1" in with_changing_arms(), "pe-wr" in with_changing_arms()
    (True, False)
    """
    return [name for name, thing in known("policy").items() if thing.arms_can_change]


def policy(spec: str) -> Policy:
    """The policy of a spec string.

    >>> policy("se-wr:budget=100,radius=tight")
    SEWR(budget=100.0, delta=None, radius='tight')
    """
    return _parse("policy", spec)


def adversary(spec: str) -> Adversary | None:
    """The attack of a spec string; None for "none", that is no attack."""
    return None if spec == "none" else _parse("adversary", spec)


def environment(spec: str) -> Environment:
    """The environment of a spec string."""
    return _parse("environment", spec)


def _parse(kind: str, spec: str) -> Any:
    if not isinstance(spec, str):
        raise InvalidParameter(f"{kind}: expected a text such as name:key=value, got {spec!r}")
    name, _, rest = spec.partition(":")
    classes = known(kind)
    name = ALIASES.get(name, name)
    if name not in classes:
        raise UnknownName(kind, name, classes)
    return build(kind, name, classes[name], rest)


def build(kind: str, name: str, make: Any, rest: str) -> Any:
    """An object of a class, with parameters from the text that comes after the name in a spec."""
    parts = [part for part in rest.split(",") if part]
    if hasattr(make, "from_file") and any(part.startswith("file=") for part in parts):
        make = make.from_file
    parameters = {each.name: each for each in declared(make)}
    values = {}
    for part in parts:
        key, equals, text = part.partition("=")
        if not equals:
            raise InvalidParameter(f"{kind} {name}: expected key=value, got {part!r}")
        if key not in parameters:
            raise UnknownName(f"parameter of {name}", key, parameters)
        if key in values:
            raise InvalidParameter(f"{kind} {name}: expected each parameter once, got {key!r} twice")
        values[key] = parameters[key].kind.parse(f"{name}: {key}", text)
    missing = [key for key, each in parameters.items() if each.required and key not in values]
    if missing:
        raise InvalidParameter(f"{kind} {name}: expected {name}:{missing[0]}=…, got no {missing[0]}")
    try:
        return make(**values)
    except VambraceError as error:
        raise type(error)(f"{name}: {error}") if type(error) is InvalidParameter else error from None
