"""The parts of a game: a policy, an environment and an attack, checked before the game and bound to its loop."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from operator import index
from typing import Any

from vambrace import validation
from vambrace.engine import rounds
from vambrace.engine.copying import copier
from vambrace.engine.delays import Delay
from vambrace.engine.openings import Openings
from vambrace.errors import InvalidParameter, KernelMistake, NotApplicable
from vambrace.kernels import is_kernel, place
from vambrace.protocols import Adversary, Environment, Floats, Game, Policy, Round
from vambrace.sampling import stream

Parts = dict[str, tuple[str, ...]]  # what a class has to define
PARTS: Parts = {"policy": ("init", "select", "update"), "environment": ("arm_means", "init", "draw")}
PARTS_OF_ATTACKS: Parts = {"medium": ("init", "corrupt"), "injecting": ("init", "inject", "reply")}


@dataclass(frozen=True)
class Setup:
    """One game, which can be played any number of times."""

    policy: Policy
    environment: Environment
    attack: Adversary | None
    horizon: int
    n_arms: int
    means: Floats
    bounded: bool
    realized: bool
    openings: Openings | None = None
    delay: Delay | None = None
    lost: float = 0.0

    @classmethod
    def check(cls, policy: Any, environment: Any, attack: Any, *, horizon: Any, bounded: Any, realized: Any) -> "Setup":
        """Refuse what cannot be played."""
        things = {"policy": (policy, Policy), "environment": (environment, Environment), "attack": (attack, Adversary)}
        for role, (thing, kind) in things.items():
            if not isinstance(thing, kind) and not (thing is None and role == "attack"):
                hint = "; wrap a bandit of your own in vambrace.Foreign" if role == "policy" else ""
                raise InvalidParameter(f"{role}: expected a vambrace.{kind.__name__}, got {thing!r}{hint}")
            if thing is not None:
                _check_complete(role, thing, kind)
        n_arms, horizon = validation.game_size(environment.n_arms, horizon)
        medium = attack is not None and attack.strength == "medium"
        if realized is None:
            realized = medium or environment.draw_total is not None
        realized = validation.flag("realized", realized)
        if realized and not medium and environment.supply is not None:
            why = "where drawing what the other arms would have paid uses up their rewards"
            raise NotApplicable(f"realized regret: expected arms without end, got {environment.name}, {why}")
        decisions = horizon + _fakes(attack)
        bounded, state = validation.flag("bounded", bounded), policy.init(Game(n_arms, decisions))
        fields = getattr(state, "_fields", ())
        for field in () if attack is None else attack.reads:
            if field not in fields:
                came = f"{policy.name}, whose state has {', '.join(fields) or 'no fields'}"
                raise NotApplicable(f"attack {attack.name}: expected a policy whose state has {field!r}, got {came}")
        if attack is not None and attack.tries_policy and not is_kernel(policy.select):
            wanted = "a policy of kernels, of which it can try a copy"
            raise NotApplicable(f"attack {attack.name}: expected {wanted}, got {policy.name}, which changes when asked")
        if is_kernel(policy.select):  # a foreign bandit changes when it is asked
            _check_decision(policy.select, policy.select(state, Round.prompt(1, n_arms), stream(0)))
        return cls(policy, environment, attack, horizon, n_arms, environment.arm_means(), bounded, realized)

    def with_conditions(self, arms_open: Any, delay: Any, lost: Any, realized: Any) -> "Setup":
        """The same game with arms that open and close, and with late and lost answers."""
        setup = self
        if arms_open is not None:
            self.policy.require_changing_arms()
            if realized:
                why = "the realised regret compares with one arm that could be played in every round"
                raise NotApplicable(f"realized: expected false or none with arms_open, got true: {why}")
            openings = Openings.check(arms_open, self.n_arms, self.horizon)
            setup = replace(setup, openings=openings, realized=False)
        if not isinstance(delay, Delay | None):
            raise InvalidParameter(f"delay: expected a vambrace.Delay such as vb.Delay.fixed(1000), got {delay!r}")
        if self.attack is not None and self.attack.strength == "injecting" and (delay is not None or lost):
            raise NotApplicable(f"attack {self.attack.name}: expected prompt answers, got delay or lost")
        return replace(setup, delay=delay, lost=validation.number("lost", lost, low=0.0, high=1.0))

    @property
    def late(self) -> bool:
        """Whether answers may be late or lost."""
        return self.delay is not None or self.lost > 0.0

    @property
    def work(self) -> int:
        """How much longer a round takes than one without attack, roughly."""
        return 1 if self.attack is None else self.attack.work

    @property
    def title(self) -> str:
        """The policy and the attack, for progress bars and errors."""
        return f"{self.policy.name} {f'against {self.attack.name}' if self.attack else 'without attack'}"

    def states(self) -> tuple[Any, Any, Any]:
        """Fresh states of the policy, the attack and the environment, for one replication."""
        game, attack = Game(self.n_arms, self.horizon + _fakes(self.attack)), None
        if self.attack is not None:
            attack = self.attack.init(game._replace(means=self.means, victim=self.policy.init(game)))
        return self.policy.init(game), attack, self.environment.init()

    def slots(self) -> dict[str, Any]:
        """What the loop is bound to: constants, and every kernel of the three parts."""
        parts = [part for part in (self.policy, self.environment, self.attack) if part is not None]
        kernels = {name: getattr(part, name, None) for part in parts for name in part.kernels}
        has = {name for name, kernel in kernels.items() if kernel is not None}
        strength = None if self.attack is None else self.attack.strength
        slots: dict[str, Any] = {"STRONG": strength == "strong", "MEDIUM": strength == "medium"}
        slots |= {"INJECT": strength == "injecting"}
        slots |= {"KL_RADIUS": True, "ARMS_CHANGE": self.openings is not None, "LATE": self.late}
        slots |= {"LOOK": "look" in has, "WITNESS": "witness" in has, "WHOLE": self._pays_whole_rewards()}
        slots |= {"CLOSED_FORM": "draw_total" in has and strength != "medium", **self.policy.constants}
        if self.attack is not None and self.attack.tries_policy:
            slots["copy"] = copier(self.states()[0])
        return slots | {name: kernels[name] for name in has}

    def _pays_whole_rewards(self) -> bool:
        return self.environment.outcomes is not None and all(reward in (0.0, 1.0) for _, reward in self._outcomes())

    def obstacle_to_leaping(self) -> tuple[str, str] | None:
        """Why the leap engine would not be exact here: what it needs and what this game has; None: it is exact."""
        policy, arms, attack = self.policy, self.environment, self.attack
        if self.openings is not None or self.late:
            return "prompt answers and arms that are always open", "arms_open, delay or lost"
        if policy.quiet is None:
            return "a policy with quiet stretches", f"{policy.name}, which may change its mind after any round"
        if arms.supply is not None:
            return "independent rewards", f"{arms.name}, which draws no reward twice"
        if arms.outcomes is None:
            return "arms with two rewards, whose sums are binomial", arms.name
        if self.realized and arms.draw_total is None:
            return "sums in one draw for the realised regret", f"{arms.name}, which has no draw_total"
        if attack is not None and attack.strength == "medium":
            return "a strong attack", f"{attack.name}, which sees the rewards of all arms in every round"
        if attack is not None and attack.respond is None:
            return "an attack with one rule", f"{attack.name}, which may change it after any round"
        if attack is not None and not self.bounded and self._leaves_unit_interval(attack):
            return "rewards in [0, 1]", f"{attack.name} with bounded=False, which returns others"
        return None

    def _leaves_unit_interval(self, attack: Adversary) -> bool:
        view, state, _ = self.states()
        answers = [attack.respond(state, view, arm, reward) for arm, reward in self._outcomes()]  # type: ignore[misc]
        return any(chance > 0 and not 0.0 <= altered <= 1.0 for chance, altered in answers)

    def _outcomes(self) -> Iterator[tuple[int, float]]:
        """Each arm with each reward that it can pay, if there are no more than two."""
        state = self.environment.init()
        for arm in range(self.n_arms):
            high, low, likely = self.environment.outcomes(state, arm)  # type: ignore[misc]
            if likely > 0.0:
                yield arm, high
            if likely < 1.0:
                yield arm, low

    def fault(self, code: int, t: int, arm: Any, value: float) -> str:
        """What went wrong, and where."""
        if code == rounds.BAD_DRAW:
            return f"environment {self.environment.name}: {self.environment.bad_draw(t, arm, value)}"
        if code == rounds.BAD_ARM or self.attack is None:
            wanted = f"an arm in [0, {self.n_arms - 1}]" if self.openings is None else "an open arm"
            return f"policy {self.policy.name}: expected {wanted}, got {arm} in round {t}"
        return f"attack {self.attack.name}: expected a finite reward, got {value} for arm {arm} in round {t}"


def _check_complete(role: str, thing: Any, kind: type[Any]) -> None:
    """Refuse a policy, an environment or an attack whose class leaves out what it has to define."""
    needed = PARTS.get(role)
    if needed is None:
        strong = "respond" if thing.respond is not None else "alter"
        needed = "strength", *PARTS_OF_ATTACKS.get(getattr(thing, "strength", ""), ("init", strong))
    for part in needed:
        if getattr(type(thing), part, None) is getattr(kind, part, None):
            name = type(thing).__name__
            raise InvalidParameter(f"{role} {thing.name}: expected a class that defines {part}, got {name}")


def _fakes(attack: Adversary | None) -> int:
    """How many events an attack may add."""
    if attack is None or attack.strength != "injecting":
        return 0
    return int(validation.number("budget", attack.budget, low=0.0, high=float(validation.MOST_ROUNDS)))


def _check_decision(select: Any, decision: Any) -> None:
    try:
        arm, probability, tag = decision
        index(arm), float(probability), index(tag)
    except (TypeError, ValueError):
        wanted = "select to return (arm, probability, tag), arm and tag whole numbers"
        raise KernelMistake(f"{place(select)}: expected {wanted}, got {decision!r}") from None
