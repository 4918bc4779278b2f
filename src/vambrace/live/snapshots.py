"""Learner states as plain JSON values and back. Never pickle: a snapshot is data and cannot run code."""

import dataclasses
import hashlib
import json
from collections.abc import Iterator
from contextlib import contextmanager
from math import inf, isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vambrace import registry, validation
from vambrace.errors import SnapshotError, VambraceError, displayed
from vambrace.live import ids
from vambrace.live.core import Core
from vambrace.live.events import Asked, Id
from vambrace.live.knowledge import LIVE, Record
from vambrace.live.settings import Settings, label_of
from vambrace.protocols import Policy

# Version 1 has no checksum, and states of version 1. Versions 1 and 2 have no labels, and whole numbers as ids.
FORMAT, VERSION = "vambrace-learner", 3
WORDS = ("inf", "-inf", "nan")  # values that are not numbers in JSON
RECORD = tuple(field.name for field in dataclasses.fields(Record))


def content_of(core: Core) -> dict[str, Any]:
    """Everything that a learner knows."""
    content: dict[str, Any] = {"format": FORMAT, "version": VERSION, "state_version": core.policy.state_version}
    content |= core.settings.to_dict()
    content |= {"asked": core.asked, "warm": core.warm, "time": core.time}
    content |= {"records": [[getattr(record, name) for name in RECORD] for record in core.arms]}
    content |= {"open": [_row(event) for event in core.open.values()]}
    content |= {"closed": [[key, left] if isinstance(left, float) else _row(left) for key, left in core.closed.items()]}
    content |= {"stream": [f"{word:016x}" for word in core.stream], "state": plain(core.state)}
    return content | {"checksum": checksum(content)}


def core_of(snapshot: Any, policy: Policy | None = None) -> Core:
    """The learner of a snapshot, of this version or an older one."""
    with reading():
        policy = check_header(snapshot, policy)
        present = snapshot if snapshot["version"] == VERSION else _present(snapshot)
        core = Core(Settings.from_dict(present, policy))
        core.set_arms([_record(values) for values in present["records"]])
        core.asked = validation.whole("asked", present["asked"], low=0, high=core.settings.horizon or inf)
        core.warm = validation.whole("warm", present["warm"], low=0)
        core.time = validation.number("time", present["time"], low=-inf, high=inf)
        core.set_state(filled(core.state, present_state(snapshot, policy), "state"))
        core.stream = words(present["stream"], len(core.stream)).tolist()
        for key, *waiting in present["open"]:
            core.open[key] = _waiting(_new(key, core), waiting, core)
        core.look_at_arms()
        for key, *left in present["closed"]:
            core.closed[_new(key, core)] = _reward(*left) if len(left) == 1 else _waiting(key, left, core)
        if core.asked < len(core.open) + len(core.closed):
            raise SnapshotError(f"snapshot: expected at most {core.asked} decisions, which were asked, got more")
        check_unchanged(snapshot)
    return core


def _present(snapshot: dict[str, Any]) -> dict[str, Any]:
    """A snapshot of version 1 or 2 in the present format; it knows nothing about decisions that are closed."""
    n_arms = validation.whole("n_arms", snapshot["n_arms"], low=1, high=10**6)
    asked, waiting = snapshot["asked"], [0] * n_arms
    for key, arm, *_ in snapshot["open"]:
        validation.whole("open decision", key, low=1, high=asked)
        waiting[validation.whole("arm of an open decision", arm, low=0, high=n_arms - 1)] += 1
    return snapshot | {
        "arms": list(range(n_arms)),
        "expires_after": None,
        "default_reward": None,
        "late": "record",
        "key": ids.new_key(),
        "warm": 0,
        "time": 0.0,
        "records": [list(dataclasses.astuple(Record(arm, asked=count))) for arm, count in enumerate(waiting)],
        "open": [[*entry, 0.0] for entry in snapshot["open"]],
        "closed": [],
    }


def _record(values: list[Any]) -> Record:
    found = dict(zip(RECORD, values, strict=True))
    for name in ("asked", "answers", "late", "expired", "abandoned"):
        validation.whole(f"{name} of an arm", found[name], low=0)
    validation.number("total of an arm", found["total"], low=0.0, high=float(found["answers"]))
    for name in ("retired", "binary"):
        validation.flag(f"{name} of an arm", found[name])
    return Record(**found | {"label": label_of(found["label"])})


def _new(key: Any, core: Core) -> Id:
    """An id that is not there yet."""
    if isinstance(key, bool) or not isinstance(key, str | int):
        raise SnapshotError(f"snapshot: expected ids of decisions, got {displayed(key)}")
    if key in core.open or key in core.closed:
        raise SnapshotError(f"snapshot: expected each decision once, got {displayed(key)} twice")
    return key


def _reward(value: Any) -> float:
    return validation.number("reward", value, low=0.0, high=1.0)


def _row(event: Asked) -> list[Any]:
    return [event.id, event.arm, event.probability, event.tag, event.time]


def _waiting(key: Id, values: list[Any], core: Core) -> Asked:
    arm, probability, tag, time = values
    return Asked(
        validation.number("time of a decision", time, low=-inf, high=inf),
        key,
        validation.whole("arm of a decision", arm, low=0, high=len(core.arms) - 1),
        validation.number("probability of a decision", probability, low=0.0, high=1.0, open_low=True),
        validation.whole("tag of a decision", tag, low=-LIVE, high=2**53),
    )


def checksum(content: dict[str, Any]) -> str:
    """A fingerprint of a snapshot: for example, a changed horizon cannot be noticed in the state."""
    return hashlib.sha256(json.dumps(content, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def check_unchanged(snapshot: dict[str, Any]) -> None:
    """Refuse a snapshot that was changed after it was written."""
    if snapshot["version"] == 1:
        return
    found = checksum({key: value for key, value in snapshot.items() if key != "checksum"})
    if found != snapshot["checksum"]:
        raise SnapshotError(f"snapshot: expected the checksum {snapshot['checksum']!r}, got {found}: it was changed")


def present_state(snapshot: dict[str, Any], policy: Policy) -> Any:
    """The state in a snapshot as the policy writes it today."""
    version = 1 if snapshot["version"] == 1 else snapshot["state_version"]
    if not isinstance(version, int) or isinstance(version, bool) or not 1 <= version <= policy.state_version:
        wanted = f"a state of {policy.name} in version 1 to {policy.state_version}"
        raise SnapshotError(f"snapshot: expected {wanted}, got {version!r}")
    return snapshot["state"] if version == policy.state_version else policy.migrate(snapshot["state"], version)


def check_header(snapshot: Any, policy: Policy | None) -> Policy:
    """The policy that a snapshot belongs to."""
    if not isinstance(snapshot, dict) or snapshot.get("format") != FORMAT:
        raise SnapshotError(f"snapshot: expected a dict with format {FORMAT!r}, got {displayed(snapshot)}")
    version = snapshot.get("version")
    if isinstance(version, bool) or version not in range(1, VERSION + 1):
        raise SnapshotError(f"snapshot: expected version 1 to {VERSION}, got {version!r}")
    if policy is None:
        return registry.policy(snapshot["policy"])
    if registry.spec_of(policy) != snapshot["policy"]:
        raise SnapshotError(f"snapshot: expected policy {registry.spec_of(policy)}, got {snapshot['policy']!r}")
    return policy


@contextmanager
def reading() -> Iterator[None]:
    """Turn any error that a damaged snapshot causes into one clear error."""
    try:
        yield
    except SnapshotError:
        raise
    except VambraceError as error:
        raise SnapshotError(f"snapshot: {error}") from error
    except KeyError as error:
        raise SnapshotError(f"snapshot: expected the key {error.args[0]!r}, got none") from error
    except (TypeError, ValueError, OverflowError) as error:
        raise SnapshotError(f"snapshot: expected what `snapshot()` gave, got damaged values ({error})") from error


def plain(value: Any) -> Any:
    """NamedTuples as dicts, arrays as lists, numbers as Python numbers, and inf and nan, which JSON lacks, as words."""
    if hasattr(value, "_fields"):
        return {name: plain(getattr(value, name)) for name in value._fields}
    if isinstance(value, np.ndarray | np.generic):
        return plain(value.tolist())
    if isinstance(value, list):
        return [plain(each) for each in value]
    if not isinstance(value, bool | int | float):
        raise SnapshotError(f"snapshot: expected a state of numbers and arrays, got {displayed(value)}")
    return repr(value) if isinstance(value, float) and not isfinite(value) else value


def filled(template: Any, value: Any, where: str) -> Any:
    """The value in the shape and types of a fresh state."""
    if hasattr(template, "_fields"):
        if not isinstance(value, dict) or set(value) != set(template._fields):
            raise SnapshotError(f"{where}: expected the fields {', '.join(template._fields)}, got {displayed(value)}")
        fields = template._asdict().items()
        return type(template)(*(filled(part, value[name], f"{where}.{name}") for name, part in fields))
    if isinstance(template, np.ndarray):
        values, kind = np.array(value, dtype=object), template.dtype.type(0).item()
        if values.shape != template.shape:
            raise SnapshotError(f"{where}: expected an array of shape {template.shape}, got {values.shape}")
        return np.array([_scalar(kind, each, where) for each in values.flat], template.dtype).reshape(values.shape)
    return _scalar(template, value, where)


def _scalar(template: Any, value: Any, where: str) -> Any:
    """A flag if the template is a flag, an integer if it is an integer, otherwise a number or one of the words."""
    kind = bool if isinstance(template, bool) else int if isinstance(template, int) else float
    if kind is float and value in WORDS:
        return float(value)
    if isinstance(value, bool) != (kind is bool) or not isinstance(value, int | float if kind is float else kind):
        raise SnapshotError(f"{where}: expected a value like {template!r}, got {displayed(value)}")
    return kind(value)


def words(value: Any, count: int) -> NDArray[np.uint64]:
    """A random stream from its hexadecimal words."""
    if not isinstance(value, list) or len(value) != count:
        raise SnapshotError(f"stream: expected {count} words, got {displayed(value)}")
    if not all(isinstance(word, str) and len(word) == 16 for word in value) or not any(int(w, 16) for w in value):
        raise SnapshotError(f"stream: expected words of 16 hexadecimal digits, not all zero, got {displayed(value)}")
    return np.array([int(word, 16) for word in value], dtype=np.uint64)
