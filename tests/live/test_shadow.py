"""The shadow: what a bandit without armour would have asked for, with the same evidence."""

from random import Random

import numpy as np
import pytest

import naive
import vambrace as vb
from vambrace.live import events, shadow
from vambrace.live.core import Core
from vambrace.live.events import Event
from vambrace.live.settings import Settings
from vambrace.live.shadow import Shadow


def played(policy: vb.Policy, rounds: int, *, changing: bool = True) -> tuple[Core, list[Event]]:
    """A learner after everything that can happen to it, and its events: many decisions are open at a time."""
    settings = Settings.made(policy, arms=["a", "b", "c"], expires_after=30.0, default_reward=0.0, seed=1)
    core, done, random = Core(settings), list[Event](), Random(5)
    core.on_event = done.append
    core.warm_start(0.0, {"a": (6, 2), "c": (4, 3)})
    for t in range(rounds):
        core.ask(float(t))
        for key, waiting in list(core.open.items()):
            if random.random() < 0.2:
                core.tell(float(t), key, float(random.random() < 0.2 + 0.2 * waiting.arm))
            elif random.random() < 0.02:
                core.abandon(float(t), key)
        if changing and t % 60 == 30:
            core.add_arm(float(t), f"arm {t}")
            core.retire_arm(float(t), "b" if t == 30 else f"arm {t - 60}")
    return core, done


def shadowed(core: Core, done: list[Event]) -> tuple[Shadow, list[int]]:
    """The shadow of a learner, and its choice before each decision."""
    found, choices = Shadow(core.settings), []
    for event in done:
        if isinstance(event, events.Asked):
            choices.append(found.choice())
        found.apply(event)
    return found, choices


def as_happened(done: list[Event], labels: list[str]) -> list[tuple[object, ...]]:
    """Events in the words of the naive shadow."""
    arms: dict[object, int] = {}
    found: list[tuple[object, ...]] = []
    for event in done:
        match event:
            case events.WarmStarted(_, counts):
                for arm, shown, won in counts:
                    answers = [("answer", arm, float(i < won)) for i in range(shown)]
                    found += [each for answer in answers for each in (("warm", -1), answer)]
            case events.Asked(_, key, arm, _, _):
                arms[key] = arm
                found.append(("ask", arm, key))
            case events.Told(_, key, reward):
                found += [("close", key), ("answer", arms[key], reward)]
            case events.Expired(_, key):
                found += [("close", key), ("answer", arms[key], 0.0)]
            case events.Abandoned(_, key):
                found.append(("close", key))
            case events.ArmAdded(_, label):
                labels = labels if label in labels else [*labels, str(label)]
                found.append(("open", labels.index(str(label))))
            case events.ArmRetired(_, label):
                found.append(("retire", labels.index(str(label))))
    return found


@pytest.mark.parametrize("policy", [vb.KLUCBWR(budget=10), vb.UCB1(), vb.Thompson()], ids=lambda policy: policy.name)
def test_the_shadow_is_the_naive_one(policy: vb.Policy) -> None:
    core, done = played(policy, 200)
    found, choices = shadowed(core, done)
    assert choices == naive.shadow_choices(as_happened(done, ["a", "b", "c"]), 3)
    assert found.chosen.tolist() == [choices.count(arm) for arm in range(len(core.arms))]


def test_the_shadow_counts_what_the_learner_counts() -> None:
    core, done = played(vb.KLUCBWR(budget=10), 200)
    found, _ = shadowed(core, done)
    assert found.arms == core.arms
    assert (found.open, found.asked, found.rounds) == (core.open, core.asked, core.rounds)
    assert found.squares == pytest.approx([record.total for record in core.arms])  # of zeros and ones


def test_the_shadow_of_kl_ucb_is_itself() -> None:
    core, done = played(vb.KLUCB(), 400)
    _, choices = shadowed(core, done)
    assert choices == [event.arm for event in done if isinstance(event, events.Asked)]


def test_squares_are_those_of_the_rewards() -> None:
    core = Core(Settings.made(vb.UCB1(), arms=["a"]))
    found, expected = Shadow(core.settings), 0.0
    core.on_event = found.apply
    for reward in (0.5, 0.25, 1.0):
        core.tell(0.0, core.ask(0.0).id, reward)
        expected += reward * reward
    assert found.squares.tolist() == [expected]


def test_a_long_journal_is_sampled_and_every_decision_is_stood_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shadow, "SAMPLED", 60)
    core, done = played(vb.KLUCBWR(budget=10), 400, changing=False)
    looks = []
    choose = Shadow.choice

    def choice(self: Shadow) -> int:
        looks.append(self.asked)
        return choose(self)

    monkeypatch.setattr(Shadow, "choice", choice)
    found = Shadow(core.settings)
    for event in done:
        found.apply(event)
    gaps = np.diff(looks)
    assert len(looks) < 150
    assert gaps[0] == 1
    assert gaps[-1] == 1 + looks[-2] * 3 // 60
    assert found.asked <= found.chosen.sum() < found.asked + 1 + found.asked * 3 // 60
