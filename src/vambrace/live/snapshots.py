"""Learner states as plain JSON values and back. Never pickle: a snapshot is data and cannot run code."""

import hashlib
import json
from collections.abc import Iterator
from contextlib import contextmanager
from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vambrace import registry
from vambrace.errors import SnapshotError, VambraceError, displayed
from vambrace.protocols import Policy

FORMAT, VERSION = "vambrace-learner", 2  # version 1 has no checksum, and states of version 1
WORDS = ("inf", "-inf", "nan")  # values that are not numbers in JSON


def header(policy: Policy) -> dict[str, Any]:
    """The fields that identify the format and the policy of a snapshot."""
    versions = {"format": FORMAT, "version": VERSION, "state_version": policy.state_version}
    return {**versions, "policy": registry.spec_of(policy)}


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
    if isinstance(version, bool) or version not in (1, VERSION):
        raise SnapshotError(f"snapshot: expected version 1 or {VERSION}, got {version!r}")
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
