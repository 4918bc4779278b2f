"""The game loop, round by round; with LEAP, each quiet stretch in one step. `engine.slots` says what is bound to it."""

from typing import Any, NamedTuple

from vambrace.engine.delays import Queue, Waiting, is_due, send, take
from vambrace.engine.leap import SHORTEST, leap
from vambrace.engine.meter import Sum, add_at, meter, meter_all, upper
from vambrace.engine.openings import Changes
from vambrace.engine.slots import (
    ARMS_CHANGE,
    CLOSED_FORM,
    INJECT,
    LATE,
    LEAP,
    MEDIUM,
    STRONG,
    WHOLE,
    WITNESS,
    alter,
    close_arm,
    corrupt,
    draw,
    inject,
    open_arm,
    quiet,
    reply,
    select,
    update,
    witness,
)
from vambrace.kernels import kernel, rare_kernel
from vambrace.protocols import Answer, Flags, Floats, Integers, Round
from vambrace.sampling import Stream

FINISHED, STOPPED, BAD_ARM, BAD_REWARD, BAD_DRAW = 0, 1, 2, 3, 4
LARGEST = 1e100  # an altered reward beyond it would overflow the sums
CHUNK = 2**22  # steps (rounds or leaps) between two looks at the stop flag


class Setting(NamedTuple):
    """What stays the same in every replication."""

    budget: float
    checkpoints: Integers
    bounded: bool  # clip altered rewards to [0, 1]
    realized: bool  # keep what the realised regret needs


class Streams(NamedTuple):
    """One independent stream for each role, so that clean and attacked runs are paired."""

    policy: Stream
    environment: Stream
    adversary: Stream
    unpulled: Stream


class Totals(NamedTuple):
    """Sums per arm, for the realised and the observed regret; the first two without rounding (see `Sum`)."""

    pulled: Floats  # raw rewards of its pulls, two rows
    altered: Floats  # observed minus raw rewards of its pulls, two rows
    unpulled: Floats  # raw rewards of the rounds in which it was not pulled, if they are drawn in every round


class History(NamedTuple):
    """What is kept for `engine.regrets`: one row per checkpoint, one column per arm."""

    pulls: Integers
    pulled: Floats
    altered: Floats
    unpulled: Floats
    cost: Floats  # no columns


class Record(NamedTuple):
    """What one replication fills in, and its scratch arrays, since kernels cannot create arrays."""

    history: History
    pulls: Integers
    progress: Integers  # rounds played so far, for the progress bar
    stop: Integers  # non-zero: stop the game
    totals: Totals
    raw_rewards: Floats
    seen_rewards: Floats
    open_per_arm: Integers  # decisions that are not answered yet: zeros, unless answers are late
    available: Flags  # which arms are open: all, unless arms change
    changes: Changes | None  # None: the arms do not change
    queue: Queue | None  # None: no answer is late


class Fault(NamedTuple):
    """What went wrong in a round; nothing, if the code is FINISHED."""

    code: int
    arm: int
    value: float


@kernel
def play(
    policy: Any, adversary: Any, environment: Any, setting: Setting, streams: Streams, record: Record
) -> tuple[int, int, int, float]:
    """Play to the last checkpoint. Returns how it ended: a code, and the round, arm and value of a fault."""
    n_arms, raw_rewards, seen_rewards = len(record.pulls), record.raw_rewards, record.seen_rewards
    spent, t, changed, waiting = Sum(0.0, 0.0), 0, 0, Waiting(0, 0)
    for i, until in enumerate(setting.checkpoints):
        while t < until:
            for _ in range(min(until - t, CHUNK)):
                sweeps = quiet(policy) if LEAP else 0
                if sweeps >= SHORTEST:
                    policy, adversary, spent, leapt = leap(
                        policy, adversary, environment, setting, streams, record, spent, until, until - t, sweeps
                    )
                    t += leapt
                    if leapt > 0:
                        break
                t += 1
                if LATE:
                    policy, waiting = _answered(policy, record, waiting, t)
                if ARMS_CHANGE:
                    policy, changed = _with_changes(policy, record, changed, t)
                if INJECT:
                    policy, adversary, spent, fault = _visited(policy, adversary, setting, streams, record, t, spent)
                    if fault.code != FINISHED:
                        return fault.code, t, fault.arm, fault.value
                decision = t + int(spent.high) if INJECT else t
                round = Round(decision, waiting.decisions if LATE else 0, record.open_per_arm, record.available)
                if MEDIUM:
                    spent, adversary, fault = _corrupted(adversary, environment, setting, streams, record, round, spent)
                    if fault.code != FINISHED:
                        return fault.code, t, fault.arm, fault.value
                arm, probability, tag = select(policy, round, streams.policy)
                if not 0 <= arm < n_arms or (ARMS_CHANGE and not record.available[arm]):
                    return BAD_ARM, t, arm, 0.0
                if MEDIUM:
                    raw, seen = raw_rewards[arm], seen_rewards[arm]
                else:
                    raw = seen = draw(environment, arm, streams.environment)
                    if not 0.0 <= raw <= 1.0:
                        return BAD_DRAW, t, arm, raw
                if STRONG and spent.high < setting.budget:  # what it would do with nothing left changes nothing
                    seen, adversary = alter(adversary, round, arm, raw, policy, streams.adversary)
                    if seen != raw:
                        if not abs(seen) <= LARGEST:
                            return BAD_REWARD, t, arm, seen
                        wanted = min(max(seen, 0.0), 1.0) if setting.bounded else seen
                        seen, spent = meter(raw, wanted, spent, setting.budget)
                    if WITNESS:
                        adversary = witness(adversary, arm, raw, seen)
                if LATE:
                    waiting = _sent(record, waiting, t, Answer(arm, seen, probability, tag))
                else:
                    policy = update(policy, Answer(arm, seen, probability, tag))
                _enter(environment, setting, streams, record, arm, raw, seen)
            record.progress[0] = t
            if record.stop[0] != 0:
                return STOPPED, t, 0, 0.0
        _remember(record, upper(spent), i)
    return FINISHED, t, 0, 0.0


@rare_kernel
def _visited(
    policy: Any, adversary: Any, setting: Setting, streams: Streams, record: Record, t: int, spent: Sum
) -> tuple[Any, Any, Sum, Fault]:
    """The policy, the attack and the cost after the fake visitors before round t, and a fault."""
    while spent.high + 1.0 <= setting.budget:
        round = Round(t + int(spent.high), 0, record.open_per_arm, record.available)
        comes, adversary = inject(adversary, round, policy, streams.adversary)
        if not comes:
            break
        arm, probability, tag = select(policy, round, streams.policy)
        if not 0 <= arm < len(record.pulls) or (ARMS_CHANGE and not record.available[arm]):
            return policy, adversary, spent, Fault(BAD_ARM, arm, 0.0)
        seen, adversary = reply(adversary, round, arm, policy, streams.adversary)
        if not abs(seen) <= LARGEST:
            return policy, adversary, spent, Fault(BAD_REWARD, arm, seen)
        policy = update(policy, Answer(arm, min(max(seen, 0.0), 1.0), probability, tag))
        spent = Sum(spent.high + 1.0, 0.0)
    return policy, adversary, spent, Fault(FINISHED, 0, 0.0)


@kernel
def _sent(record: Any, waiting: Waiting, t: int, answer: Answer) -> Waiting:
    """What is waiting after an answer has set out."""
    record.open_per_arm[answer.arm] += 1
    return send(record.queue, waiting, t, answer)


@kernel
def _answered(policy: Any, record: Any, waiting: Waiting, t: int) -> tuple[Any, Waiting]:
    """The policy after the answers that arrive before round t."""
    while is_due(record.queue, waiting, t):
        answer, waiting = take(record.queue, waiting)
        record.open_per_arm[answer.arm] -= 1
        policy = update(policy, answer)
    return policy, waiting


@kernel
def _with_changes(policy: Any, record: Any, changed: int, t: int) -> tuple[Any, int]:
    """The policy after the changes of arms before round t, and how many there have been."""
    changes = record.changes
    while changed < len(changes.rounds) and changes.rounds[changed] == t:
        arm = changes.arms[changed]
        record.available[arm] = changes.opens[changed]
        policy = open_arm(policy, arm) if changes.opens[changed] else close_arm(policy, arm)
        changed += 1
    return policy, changed


@rare_kernel
def _corrupted(
    adversary: Any, environment: Any, setting: Setting, streams: Streams, record: Record, round: Round, spent: Sum
) -> tuple[Sum, Any, Fault]:
    """Draw the rewards of all arms and let a medium attack change them. Returns a fault too."""
    raw_rewards, seen_rewards = record.raw_rewards, record.seen_rewards
    for k in range(len(raw_rewards)):
        raw_rewards[k] = seen_rewards[k] = draw(environment, k, streams.environment)
        if not 0.0 <= raw_rewards[k] <= 1.0:
            return spent, adversary, Fault(BAD_DRAW, k, raw_rewards[k])
    adversary = corrupt(adversary, round, seen_rewards, streams.adversary)
    for k in range(len(raw_rewards)):
        if not abs(seen_rewards[k]) <= LARGEST:
            return spent, adversary, Fault(BAD_REWARD, k, seen_rewards[k])
        if setting.bounded:
            seen_rewards[k] = min(max(seen_rewards[k], 0.0), 1.0)
    return meter_all(raw_rewards, seen_rewards, spent, setting.budget), adversary, Fault(FINISHED, 0, 0.0)


@kernel
def _enter(
    environment: Any, setting: Setting, streams: Streams, record: Record, arm: int, raw: float, seen: float
) -> None:
    """Enter a round in the record."""
    record.pulls[arm] += 1
    if WHOLE and CLOSED_FORM:
        record.totals.pulled[0, arm] += raw  # exact, and cheaper than to ask whether it is wanted
    elif setting.realized:
        _add(environment, streams, record, arm, raw)
    if (STRONG or MEDIUM) and seen != raw:
        add_at(record.totals.altered, arm, seen - raw)


@kernel
def _add(environment: Any, streams: Streams, record: Record, arm: int, raw: float) -> None:
    """Add a round to the totals of the realised regret."""
    totals = record.totals
    if WHOLE:
        totals.pulled[0, arm] += raw
    else:
        add_at(totals.pulled, arm, raw)
    if not CLOSED_FORM:
        for k in range(len(record.pulls)):
            if k != arm:
                if MEDIUM:
                    totals.unpulled[k] += record.raw_rewards[k]
                else:
                    totals.unpulled[k] += draw(environment, k, streams.unpulled)


@rare_kernel
def _remember(record: Record, spent: float, i: int) -> None:
    """Enter checkpoint i in the history."""
    history, totals = record.history, record.totals
    history.cost[i] = spent
    for k in range(len(record.pulls)):
        history.pulls[i, k] = record.pulls[k]
        history.pulled[i, k] = totals.pulled[0, k]
        history.altered[i, k] = totals.altered[0, k]
        history.unpulled[i, k] = totals.unpulled[k]
