"""What a learner is made with, checked: its policy, its arms, and what happens to answers that do not come."""

import secrets
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import inf
from typing import Any, Literal, get_args
from unicodedata import category

from vambrace import registry, validation
from vambrace.errors import InvalidParameter, displayed
from vambrace.live import ids
from vambrace.live.events import Label
from vambrace.protocols import Game, Policy

Late = Literal["record", "count"]
LATE: tuple[Late, ...] = get_args(Late)
UNPRINTABLE = ("Cc", "Cs", "Zl", "Zp")  # control signs, halves of signs, and ends of lines, in Unicode's categories


@dataclass(frozen=True, kw_only=True)
class Settings:
    """What a learner is made with; it never changes. `Settings.made` checks what a user gave."""

    policy: Policy
    labels: tuple[Label, ...]  # of the first arms
    horizon: int | None
    seed: int
    expires_after: float | None
    default_reward: float | None
    late: Late
    key: str  # hexadecimal; seals the ids of this learner

    @classmethod
    def made(
        cls,
        policy: Policy,
        *,
        arms: Sequence[Label] | None = None,
        n_arms: int | None = None,
        horizon: int | None = None,
        seed: int | None = None,
        expires_after: float | None = None,
        default_reward: float | None = None,
        late: Late = "record",
        key: str | None = None,
    ) -> "Settings":
        """Settings of a new learner, or of one whose seed and key are known; `policy.learner` has the parameters."""
        if not isinstance(policy, Policy):
            raise InvalidParameter(f"policy: expected a vambrace.Policy, got {policy!r}")
        labels = _labels(arms, n_arms)
        if expires_after is not None:
            expires_after = validation.number("expires_after", expires_after, low=0.0, high=inf, open_low=True)
        if default_reward is not None:
            default_reward = validation.number("default_reward", default_reward, low=0.0, high=1.0)
            if expires_after is None:
                raise InvalidParameter("default_reward: expected expires_after too, got None")
        validation.choice("late", late, LATE)
        if late == "count" and default_reward is not None:
            wanted = "late='record' with a default_reward, which was counted when the decision expired"
            raise InvalidParameter(f"late: expected {wanted}, got 'count'")
        return cls(
            policy=policy,
            labels=labels,
            horizon=_horizon(policy, len(labels), horizon),
            seed=secrets.randbits(128) if seed is None else validation.seed(seed),
            expires_after=expires_after,
            default_reward=default_reward,
            late=late,
            key=ids.new_key() if key is None else _key(key),
        )

    def to_dict(self) -> dict[str, Any]:
        """The settings for JSON."""
        names = ("horizon", "seed", "expires_after", "default_reward", "late", "key")
        content = {"policy": registry.spec_of(self.policy), "arms": list(self.labels)}
        return content | {name: getattr(self, name) for name in names}

    @classmethod
    def from_dict(cls, content: dict[str, Any], policy: Policy | None = None) -> "Settings":
        """The settings that `to_dict` gave; a policy that is not registered must be given."""
        policy = registry.policy(content["policy"]) if policy is None else policy
        names = ("arms", "horizon", "seed", "expires_after", "default_reward", "late", "key")
        given = {name: content[name] for name in names}
        validation.seed(given["seed"])
        return cls.made(policy, **{**given, "key": _key(given["key"])})


def label_of(value: Any) -> Label:
    """A name for an arm: a text that is not empty and can be printed in one line, or a whole number from zero up."""
    if isinstance(value, str) and value.strip():
        if any(category(sign) in UNPRINTABLE for sign in value):
            raise InvalidParameter(
                f"arm: expected a name without line breaks and control signs, got {displayed(value)}"
            )
        return value
    if validation.is_number(value) and value >= 0 and value == value // 1:
        return int(value)
    raise InvalidParameter(f"arm: expected a name or a whole number from 0 up, got {displayed(value)}")


def check_distinct(labels: Iterable[Label]) -> None:
    """Refuse a label that is there twice, also as a number and as a text: a file of counts knows only texts."""
    seen: set[str] = set()
    for label in labels:
        if str(label) in seen:
            raise InvalidParameter(f"arms: expected each label once, got {displayed(label)} twice")
        seen.add(str(label))


def _labels(arms: Sequence[Label] | None, n_arms: int | None) -> tuple[Label, ...]:
    if (arms is None) == (n_arms is None):
        raise InvalidParameter(f"arms: expected arms=[...] or n_arms=, got {'neither' if arms is None else 'both'}")
    if arms is None:
        return tuple(range(validation.whole("n_arms", n_arms, low=1, high=10**6)))
    labels = tuple(label_of(value) for value in validation.listed("arms", arms))
    check_distinct(labels)
    return labels


def _horizon(policy: Policy, n_arms: int, horizon: int | None) -> int | None:
    if horizon is not None:
        return validation.game_size(n_arms, horizon)[1]
    if not needs_no_horizon(policy):
        free = names_of_policies(needs_no_horizon)
        raise InvalidParameter(
            f"horizon: expected a number of decisions for {policy.name}, got None; these policies need none: {free}"
        )
    return None


def _key(value: Any) -> str:
    wanted = 2 * ids.KEY_BYTES
    if not isinstance(value, str) or len(value) != wanted or not all(sign in "0123456789abcdef" for sign in value):
        raise InvalidParameter(f"key: expected {wanted} hexadecimal digits, got {displayed(value)}")
    return value


def needs_no_horizon(policy: Policy) -> bool:
    """Whether a policy can play without knowing the length of the game."""
    try:
        policy.init(Game(1, None))
    except InvalidParameter:
        return False
    return True


def names_of_policies(can: Callable[[Policy], bool]) -> str:
    """The names of the registered policies that can do something."""
    return ", ".join(name for name, policy in registry.specimens("policy", budget=1.0).items() if can(policy))
