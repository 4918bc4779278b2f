"""What an experiment is: a TOML file that spans policies × environments × adversaries × budgets × horizons.

A list at the top of the file is for all panels, a list in a panel for that one. A spec string may contain small
formulas of ``budget`` and ``horizon``, so that a policy can be given the attacker's budget, ``se-wr:budget={budget}``,
or the gap can shrink with the horizon: ``bernoulli:means=0.5/{0.5 - sqrt(2 / horizon)}``. What an attack may spend is
in the list of budgets. Budget 0 is the game without attack, which is played once, not once for each attack.

An environment may also be a file of the user, ``replay:file={tests},test=7``, whose path is given separately under a
name in ``data``. It is read once: the experiment keeps its content and a fingerprint. Without the path, the games that
need it are left out.
"""

import hashlib
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from itertools import product
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, TypeVar
from urllib.parse import quote

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError
from pydantic.json_schema import SkipJsonSchema

from vambrace import own_code, registry
from vambrace.errors import InvalidParameter, UnknownName, VambraceError
from vambrace.lab.arithmetic import filled, mentions, shown
from vambrace.lab.mistakes import check_playable, explained
from vambrace.parameters import spec_of
from vambrace.protocols import Adversary, Environment, Policy
from vambrace.validation import LARGEST_BUDGET, MOST_ROUNDS

SCHEMA = Path(__file__).parent / "experiment.schema.json"

Thing = TypeVar("Thing")


def _plain(value: Any) -> Any:
    """Make an integer of a float such as 1e6, which TOML reads as a float."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


Name = Annotated[str, Field(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$", max_length=60)]
Spec = Annotated[str, Field(min_length=1)]
Count = Annotated[int, BeforeValidator(_plain), Field(ge=1, le=10**6)]
Rounds = Annotated[int, BeforeValidator(_plain), Field(ge=1, le=MOST_ROUNDS)]
Budget = Annotated[float, Field(ge=0, le=LARGEST_BUDGET, allow_inf_nan=False)]
Axis = Literal["round", "budget", "horizon"]
Power = Annotated[float, Field(ge=0, le=1)]
LEFT_OUT = "left out"
OWN_BUDGET = re.compile(r"[:,](budget=[^,]*)")


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class Panel(_Model):
    """A part of an experiment, say one figure of it; what it does not say is taken from the top."""

    name: Name = Field(description="Names the panel, in kebab case.")
    title: str = Field(default="", description="What the panel shows.")
    policies: list[Spec] | None = Field(default=None, description='Spec strings such as "se-wr:budget={budget}".')
    adversaries: list[Spec] | None = Field(default=None, description='Such as "conceal"; "none" is no attack.')
    environments: list[Name] | None = Field(default=None, description="Names from the table of environments.")
    budgets: list[Budget] | None = Field(default=None, description="What the attack may spend; 0 is no attack.")
    budget_powers: list[Power] | None = Field(default=None, description="Instead of budgets: powers of the horizon.")
    horizons: list[Rounds] | None = Field(default=None, description="How many rounds a game has.")
    axis: Axis | None = Field(default=None, description="What x is in the figure; by default what it has most of.")
    worst: bool = Field(default=False, description="Show the worst over all environments and adversaries only.")


class Game(NamedTuple):
    """One game of an experiment, before it has a seed."""

    panel: str
    place: str  # the environment's name
    environment: Environment
    policy: Policy
    adversary: Adversary | None
    horizon: int
    budget: float  # from the list of budgets; an attack may have its own
    line: str  # the policy as written in the file, the same for all budgets and horizons
    attack: str  # the attack as written in the file
    power: float | None  # the exponent, if the budget is a power of the horizon


class Experiment(_Model):
    """An experiment of vambrace: policies × environments × adversaries × budgets × horizons × replications."""

    name: Name = Field(description="Names the experiment and its folder, in kebab case.")
    title: str = Field(default="", description="What the experiment shows.")
    seed: Annotated[int, Field(ge=0)] = Field(default=0, description="All random numbers follow from it.")
    replications: Count = Field(default=20, description="How often each game is played.")
    checkpoints: Count | list[Rounds] = Field(default=64, description="How many log-spaced rounds to record, or which.")
    bounded: bool = Field(default=True, description="Clip altered rewards to [0, 1].")
    engine: Literal["auto", "rounds", "leap"] = Field(default="auto", description="auto leaps wherever that is exact.")
    delay: str | None = Field(default=None, description="How late answers arrive, such as fixed:1000; none: at once.")
    lost: Annotated[float, Field(ge=0, le=1)] = Field(default=0.0, description="Share of answers that never arrive.")
    arms_open: str | None = Field(default=None, description="When arms are open, such as 2:1-5000,2:8000-.")
    policies: list[Spec] = Field(default=[], description="For every panel that names none.")
    adversaries: list[Spec] = Field(default=[], description="For every panel that names none.")
    budgets: list[Budget] = Field(default=[0.0], description="For every panel that names none.")
    horizons: list[Rounds] = Field(default=[], description="For every panel that names none.")
    data: dict[Name, str] = Field(default={}, description="Names of files that environments read, and what of them.")
    environments: dict[Name, Spec] = Field(min_length=1, description='Short names: two = "bernoulli:means=0.9/0.8".')
    panels: list[Panel] = Field(default=[], description="Without panels the lists at the top are one.")
    sources: SkipJsonSchema[dict[str, str]] = Field(default={}, description="The files of Python code that specs name.")

    @property
    def specs(self) -> list[str]:
        """Every spec string in the file."""
        found = [*self.environments.values(), *self.policies, *self.adversaries]
        return found + [spec for each in self.panels for spec in (*(each.policies or ()), *(each.adversaries or ()))]

    @cached_property
    def games(self) -> tuple[Game, ...]:
        """Every game of every panel, in the order of the file; refuses what the registry does not know."""
        names = [panel.name for panel in self.panels]
        for i, name in enumerate(names):
            if name in names[:i]:
                raise InvalidParameter(f"panels[{i}].name: expected a name of its own, got {name!r} again")
        panels = {f"panels[{i}].": panel for i, panel in enumerate(self.panels)} or {"": Panel(name=self.name)}
        return tuple(game for prefix, panel in panels.items() for game in self._games(prefix, panel))

    def _games(self, prefix: str, panel: Panel) -> Iterator[Game]:
        powers = panel.budget_powers is not None
        if powers and panel.budgets is not None:
            raise InvalidParameter(f"{prefix}budget_powers: expected these or budgets, got both")
        keys = ("environments", "horizons", "budget_powers" if powers else "budgets", "policies", "adversaries")
        lists = [self._listed(prefix, panel, key) for key in keys]
        for where, values in lists:
            if not values and where != lists[-1][0]:
                raise InvalidParameter(f"{where}: expected at least one, got none")
            looks = [shown(value) if isinstance(value, str) else value for value in values]
            for i, value in enumerate(values):
                if looks[i] in looks[:i]:  # they would be one line, or one facet, of a figure
                    raise InvalidParameter(f"{where}[{i}]: expected each once, got {value!r} again")
        (_, names), (at_horizons, horizons), (_, sizes), (at_policies, policies), (at_adversaries, adversaries) = lists
        last = max(self.checkpoints, default=0) if isinstance(self.checkpoints, list) else 0
        if last > min(horizons):
            least = f"{at_horizons}, {min(horizons):,}"
            raise InvalidParameter(f"checkpoints: expected rounds up to the least of {least}, got {last:,}")
        if not adversaries and (powers or any(sizes)):
            raise InvalidParameter(f"{at_adversaries}: expected one to spend the budgets, or budgets = [0], got none")
        for name, horizon, size in product(names, horizons, sizes):
            budget = float(horizon) ** size if powers else size
            known, text = {"budget": budget, "horizon": horizon}, self.environments[name]
            environment = self._made("environment", f"environments.{name}", text, known)
            place = f"{name}-at-{budget:.15g}" if mentions(text, "budget") else name
            power = size if powers else None
            shared = known | {"panel": panel.name, "place": place, "environment": environment, "power": power}
            rivals = [
                (self._made("adversary", f"{at_adversaries}[{j}]", _with_budget(spec), known), shown(spec))
                for j, spec in enumerate(adversaries)
            ]
            for i, spec in enumerate(policies):
                policy = self._made("policy", f"{at_policies}[{i}]", spec, known)
                for rival, attack in rivals if budget > 0 else [(None, "")]:
                    attack = attack if rival else "no attack"
                    yield Game(**shared, policy=policy, adversary=rival, line=shown(spec), attack=attack)

    def _made(self, kind: str, where: str, text: str, known: Mapping[str, float]) -> Any:
        sources = own_code.fingerprints([text], self.sources)
        return _made(lambda spec: getattr(own_code, kind)(spec, sources), where, text, known)

    def _listed(self, prefix: str, panel: Panel, key: str) -> tuple[str, list[Any]]:
        """A list of a panel, or the one at the top, and where it is in the file."""
        own = getattr(panel, key)
        if own is None:
            return key, [*getattr(self, key)]
        for i, name in enumerate(own if key == "environments" else []):
            if name not in self.environments:
                raise _located(f"{prefix}{key}[{i}]", UnknownName("environment", name, self.environments))
        return f"{prefix}{key}", own

    def canonical(self) -> dict[str, Any]:
        """The experiment with all defaults filled in, ready for JSON."""
        return self.model_dump(mode="json", exclude_none=True, exclude=set() if self.sources else {"sources"})


def _with_budget(spec: str) -> str:
    """An attack whose spec has no budget is given the one of the game."""
    if spec == "none" or OWN_BUDGET.search(spec):
        return spec
    return own_code.with_budget(spec, "{budget}")


def _made(make: Callable[[str], Thing], where: str, text: str, known: Mapping[str, float]) -> Thing:
    """The object of a spec string with its formulas computed; errors say where in the file it is."""
    try:
        return make(filled(text, known))
    except VambraceError as error:
        raise _located(where, error) from None


def _located(where: str, error: Exception) -> InvalidParameter:
    return InvalidParameter(f"{where}: {error}")


def read(path: Path | str, data: Mapping[str, Path] | None = None) -> Experiment:
    """The experiment of a TOML file; the error about a mistake is one line that says where it is.

    Args:
        path: The file.
        data: The paths of the files that the experiment names; environments without their file are left out.
    """
    document = _document(Path(path))
    try:
        return _checked(_with_sources(_with_data(validated(document), data or {}), Path(path).parent))
    except InvalidParameter as error:
        raise _located(str(path), error) from None


def _document(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8-sig"))  # some editors write a byte order mark
    except tomllib.TOMLDecodeError as error:
        raise InvalidParameter(f"{path}: expected a TOML file, got a mistake: {error}") from None
    except RecursionError:
        raise InvalidParameter(f"{path}: expected an experiment, got a file with too many brackets") from None
    except UnicodeDecodeError as error:
        raise InvalidParameter(f"{path}: expected a TOML file in UTF-8, got {error}") from None


def data_names(path: Path) -> list[str]:
    """The names of the files that an experiment needs."""
    return list(_document(path).get("data", {}))


def _with_data(experiment: Experiment, data: Mapping[str, Path]) -> Experiment:
    """The experiment with the names of files replaced by their content, without what needs a file that is not given."""
    names = experiment.data
    for name in names:
        if name in ("budget", "horizon"):
            raise InvalidParameter(f"data.{name}: expected a name that formulas do not have, got {name!r}")
    for name in data:
        if name not in names:
            raise _located("data", UnknownName("file", name, names))
    found = {}
    for place, text in experiment.environments.items():
        needed = [name for name in names if f"{{{name}}}" in text]
        if all(name in data for name in needed):
            for name in needed:
                text = text.replace(f"{{{name}}}", quote(str(data[name]), safe="/"))
            found[place] = spec_of(_made(registry.environment, f"environments.{place}", text, {})) if needed else text
    gone, panels = {*experiment.environments} - {*found}, []
    for panel in experiment.panels:
        kept = panel.environments and [name for name in panel.environments if name not in gone]
        if kept or kept == panel.environments:
            panels.append(panel.model_copy(update={"environments": kept}))
    if gone and (not found or (not panels and experiment.panels)):
        every = " and ".join(names)
        raise InvalidParameter(f"data: expected a file for {every}, since nothing is left without it, got none")
    given = dict.fromkeys(names, LEFT_OUT)
    for name, path in data.items():
        with path.open("rb") as file:
            given[name] = f"sha256:{hashlib.file_digest(file, 'sha256').hexdigest()}"
    return experiment.model_copy(update={"data": given, "environments": found, "panels": panels})


def parse(document: dict[str, Any]) -> Experiment:
    """The experiment of a document, after a check of every game in it.

    Args:
        document: The content of a TOML file, as a dict.
    """
    return _checked(_with_sources(validated(document), Path()))


def _with_sources(experiment: Experiment, folder: Path) -> Experiment:
    """The experiment with the texts of the files of Python code that it names, which are run."""
    if experiment.sources:
        raise InvalidParameter("sources: expected specs such as mine.py:MyPolicy instead, got this table")
    return experiment.model_copy(update={"sources": own_code.read(experiment.specs, folder)})


def _checked(experiment: Experiment) -> Experiment:
    """Refuse mistakes in games, and attacks that set their own budget: the listed ones would be silently ignored."""
    lists = {"adversaries": experiment.adversaries}
    lists |= {f"panels[{i}].adversaries": panel.adversaries or [] for i, panel in enumerate(experiment.panels)}
    for where, specs in lists.items():
        for i, spec in enumerate(specs):
            own = OWN_BUDGET.search(spec)
            if own and not mentions(own[1], "budget"):
                twice = f"the budget is given twice, by the list of budgets and by {spec!r}"
                raise InvalidParameter(f"{where}[{i}]: {twice}; drop {own[1]!r} here and list it there")
    check_playable(experiment)
    return experiment


def validated(document: Any) -> Experiment:
    """The experiment of a document that was checked before: its games are made when they are needed."""
    try:
        return Experiment.model_validate(document)
    except ValidationError as error:
        raise InvalidParameter(explained(error, {"": Experiment.model_fields, "panels": Panel.model_fields})) from None
