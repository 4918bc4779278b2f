"""Every registered policy, adversary and environment passes the conformance checks, and broken ones do not."""

import dataclasses
from typing import Any

import numpy as np
import pytest

import vambrace as vb
from vambrace.kernels import kernel
from vambrace.policies import se_wr
from vambrace.protocols import Answer, Round
from vambrace.testing import check_adversary, check_environment, check_policy, examples


def names(kind: str) -> list[Any]:
    return [pytest.param(example, id=example.name) for example in examples(kind)]


@pytest.mark.parametrize("policy", names("policy"))
def test_policies_conform(policy: vb.Policy) -> None:
    check_policy(policy)


@pytest.mark.parametrize(
    "policy",
    [
        vb.SEWR(budget=3, radius="tight"),
        vb.SEWR(budget=3, radius="kl"),
        vb.SEWRStop(budget=3, stop="multiplicative", radius="kl"),
        vb.PEWR(cap="repaired", radius="tight"),
        vb.MSSEWR(master="exp3p", share=True),
        vb.MSSEWR(share=True, smoothing=False, radius="tight"),
    ],
    ids=repr,
)
def test_other_parameters_conform(policy: vb.Policy) -> None:
    check_policy(policy)


@pytest.mark.parametrize("adversary", names("adversary"))
def test_adversaries_conform(adversary: vb.Adversary) -> None:
    check_adversary(adversary)


def test_white_box_attack_conforms() -> None:
    check_adversary(vb.Conceal(stop_when_dropped=True), vb.SEWR(budget=1))


@pytest.mark.parametrize("environment", names("environment"))
def test_environments_conform(environment: vb.Environment) -> None:
    check_environment(environment)


@pytest.mark.parametrize("environment", [vb.Beta([0.01, 0.9], concentration=0.3), vb.ClippedGaussian([1, 0], sigma=2)])
def test_extreme_environments_conform(environment: vb.Environment) -> None:
    check_environment(environment)


@kernel
def writing_select(state: Any, round: Round, rng: Any) -> tuple[int, float, int]:
    state.arms.totals[0] += 1.0
    return 0, 1.0, 0


@kernel
def retyping_update(state: Any, answer: Answer) -> Any:
    return se_wr.State(state.arms, state.rule, 0.5, state.last_test, state.closed)  # type: ignore[arg-type]


@kernel
def sneaky_select(state: Any, round: Round, rng: Any) -> tuple[int, float, int]:
    rng[0] += np.uint64(1)
    return 0, 1.0, 0


def test_a_select_that_writes_is_caught() -> None:
    @dataclasses.dataclass(frozen=True, kw_only=True)
    class Writing(vb.SE):
        select = staticmethod(writing_select)

    with pytest.raises(AssertionError, match="select changed the state"):
        check_policy(Writing())


def test_an_update_that_changes_types_is_caught() -> None:
    @dataclasses.dataclass(frozen=True, kw_only=True)
    class Retyping(vb.SE):
        update = staticmethod(retyping_update)

    with pytest.raises(AssertionError, match="types of the state"):
        check_policy(Retyping())


def test_undeclared_randomness_is_caught() -> None:
    @dataclasses.dataclass(frozen=True, kw_only=True)
    class Sneaky(vb.SE):
        select = staticmethod(sneaky_select)

    with pytest.raises(AssertionError, match="randomized"):
        check_policy(Sneaky())


@kernel
def restless_quiet(state: Any) -> int:
    return 0 if state.arms.at_floor < state.arms.n_active else 10**6


@kernel
def forgetful_absorb(state: Any, sweeps: int, totals: Any) -> Any:
    return se_wr.absorb(state, sweeps, totals)._replace(last_test=0)


def test_a_stretch_that_is_not_quiet_is_caught() -> None:
    @dataclasses.dataclass(frozen=True, kw_only=True)
    class Restless(vb.SE):
        quiet = staticmethod(restless_quiet)

    with pytest.raises(AssertionError, match=r"in a quiet stretch|absorb leaves"):
        check_policy(Restless(delta=0.9, radius="tight"))


def test_an_absorb_that_differs_from_playing_is_caught() -> None:
    @dataclasses.dataclass(frozen=True, kw_only=True)
    class Forgetful(vb.SE):
        absorb = staticmethod(forgetful_absorb)

    with pytest.raises(AssertionError, match="absorb leaves last_test = 0"):
        check_policy(Forgetful())


def test_a_response_that_alter_does_not_keep_is_caught() -> None:
    @kernel
    def moody_alter(state: Any, round: Round, arm: int, reward: float, view: Any, rng: Any) -> tuple[float, Any]:
        return (0.0 if round.t > 100 else reward), state

    @dataclasses.dataclass(frozen=True, kw_only=True)
    class Moody(vb.Conceal):
        alter = staticmethod(moody_alter)

    with pytest.raises(AssertionError, match="respond promises"):
        check_adversary(Moody())


def test_a_false_mean_is_caught() -> None:
    class Lying(vb.Bernoulli):
        def init(self) -> Any:
            return super().init()._replace(means=np.array(self.means) * 0.9)

    with pytest.raises(AssertionError, match="another mean"):
        check_environment(Lying([0.8, 0.5]))
