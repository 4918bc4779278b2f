"""`vb.open`: a learner whose events are in a database, for any number of threads, processes and machines."""

import re
from collections.abc import Callable, Sequence
from typing import Any

from vambrace.errors import InvalidParameter, JournalError
from vambrace.live.clock import Clock
from vambrace.live.commits import Commits
from vambrace.live.core import Core, Outcome
from vambrace.live.events import Asked, Id, Label
from vambrace.live.fold import Fold
from vambrace.live.learner import Decision, Learner, Result, asked, decision_of, id_of
from vambrace.live.settings import Late, Settings
from vambrace.live.sql import open_journal
from vambrace.protocols import Policy

LONGEST_KEY = 200
UNSTORABLE = re.compile("[\0\ud800-\udfff]")  # PostgreSQL has no text with a zero, and UTF-8 no halves of signs


class DurableLearner(Learner):
    """A learner on disk, with the methods of `Learner`. Made by `vb.open`.

    Args:
        fold: Its journal, and the core that it makes.

    A method returns when its events are on disk. If it raises `JournalError`, nothing was acknowledged: what it wanted
    may have happened or not. Call it again with the same decision, or the same `key`: it happens once. Only
    `warm_start` would count twice: look at `explain()` first.

    >>> import tempfile
    >>> import vambrace as vb
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     learner = vb.open(f"sqlite:///{folder}/shop.db", "prices", policy=vb.UCB1(), n_arms=3)
    ...     first, again = learner.ask(key="view-17"), learner.ask(key="view-17")  # a request that was sent twice
    ...     learner.close()
    >>> first == again
    True
    """

    def __init__(self, fold: Fold) -> None:
        self._settings = fold.load().settings
        self._fold, self._commits = fold, Commits(fold)

    def ask(self, *, key: str | None = None) -> Decision:
        """The next arm to play.

        Args:
            key: A name for this request, such as the id of a page view: the same key always gets the same decision.
        """
        if key is None:
            return self._alone(asked)
        if not isinstance(key, str) or not 1 <= len(key) <= LONGEST_KEY or UNSTORABLE.search(key):
            raise InvalidParameter(f"key: expected a text of 1 to {LONGEST_KEY} characters, got {key!r}")
        return self._alone(lambda core, now: self._ask_for(core, now, [key], self._fold.find_keys([key]))[0])

    def _ask_for(
        self, core: Core, now: float, keys: Sequence[str], known: dict[str, tuple[Asked, int]]
    ) -> list[Decision]:
        """A decision for each key: the one that it has, or a new one."""
        for key in keys:
            if key not in known:
                event = core.ask(now)
                self._fold.name_last(key)
                known[key] = event, core.rounds
        return [decision_of(core, *known[key]) for key in keys]

    def tell(self, decision: Decision | Id, reward: float) -> Outcome:
        """Report the reward of a decision, as `Learner.tell`.

        Args:
            decision: The decision or its id.
            reward: A number in [0, 1], as it was observed.
        """
        key = id_of(decision)
        return self._alone(lambda core, now: core.tell(now, key, reward))

    def close(self) -> None:
        """Close the connection to the database. Every event is on disk already; the next call connects again."""
        self._fold.journal.close()

    def _alone(self, work: Callable[[Core, float], Result]) -> Result:
        return self._commits.run(work)


def open(  # noqa: A001
    url: str,
    name: str,
    *,
    policy: Policy | None = None,
    arms: Sequence[Label] | None = None,
    n_arms: int | None = None,
    horizon: int | None = None,
    seed: int | None = None,
    expires_after: float | None = None,
    default_reward: float | None = None,
    late: Late = "record",
    clock: Clock | None = None,
) -> DurableLearner:
    """A learner in a database: made if it is new, continued or joined if it is there.

    Every process makes the same call. The first one makes the learner; the others join it, and all of them share what
    they learn. Without `policy` the learner must be there, with the settings that it was made with.

    Args:
        url: sqlite:///FILE (sqlite:////FILE with a path from the root) or postgresql://USER:PASSWORD@HOST/DATABASE.
        name: The name of the learner in this database: letters, digits, dots, hyphens and underscores.
        policy: A policy, such as vb.KLUCBWR(budget=100).
        arms: The labels of the first arms. `add_arm` and `retire_arm` change them later.
        n_arms: The number of arms, if they have no labels.
        horizon: The largest number of decisions; None: unknown, for policies that need none.
        seed: The seed of a randomised policy; None: one that nobody can predict.
        expires_after: After how many seconds an open decision is closed; None: never.
        default_reward: The reward that is counted when a decision expires; None: none is.
        late: What happens to an answer after that: "record": it is only noted; "count": the policy learns from it.
        clock: Where the time comes from; for tests.

    >>> import tempfile
    >>> import vambrace as vb
    >>> folder = tempfile.TemporaryDirectory()
    >>> url = f"sqlite:///{folder.name}/shop.db"
    >>> learner = vb.open(url, "headlines", policy=vb.KLUCBWR(budget=20), arms=["old", "new"])
    >>> decision = learner.ask()
    >>> again = vb.open(url, "headlines")  # in another process, or after a restart
    >>> again.tell(decision.id, reward=1.0), learner.tell(decision.id, reward=1.0)
    ('applied', 'duplicate')
    >>> learner.close(), again.close(), folder.cleanup()
    (None, None, None)
    """
    given = {"arms": arms, "n_arms": n_arms, "horizon": horizon, "seed": seed, "expires_after": expires_after}
    given |= {"default_reward": default_reward, "late": late}
    wanted = None if policy is None else Settings.made(policy, **given)  # type: ignore[arg-type]
    unused = [part for part, value in given.items() if value not in (None, "record")]
    if wanted is None and unused:
        raise InvalidParameter(f"policy: expected one together with {', '.join(unused)}, got None")
    fold = Fold(open_journal(url, name, create=wanted is not None), clock=clock, policy=policy)
    found = fold.settings()
    if found is None and wanted is not None:
        fold.create(wanted)  # another process may be faster; then its settings count
        found = fold.settings()
    if found is None:
        raise JournalError(f"the learner {name!r} has no events")  # no address: it may hold a password
    if wanted is not None:
        check_same(name, found, wanted.to_dict(), ignored={"key"} | ({"seed"} if seed is None else set()))
    return DurableLearner(fold)


def check_same(name: str, there: dict[str, Any], here: dict[str, Any], *, ignored: set[str]) -> None:
    """Refuse to join a learner that was made with other settings."""
    parts = [part for part in there if part not in ignored and there[part] != here[part]]
    if parts:
        other = "; ".join(f"{part}={there[part]!r}, not {here[part]!r}" for part in parts)
        raise InvalidParameter(f"{name}: the learner in this database has {other}")
