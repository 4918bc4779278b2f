"""Whether the live state of a learner is what its journal says."""

from typing import Any

from vambrace.errors import JournalError
from vambrace.live.fold import Fold, snapshot_text
from vambrace.live.journal import Journal


def check(journal: Journal) -> dict[str, Any]:
    """Replay a journal from its first event, and compare with the snapshot and with what a process opens.

    Args:
        journal: The journal. Others may write to it meanwhile.

    Returns:
        The number of events, the number of the event after which the snapshot was taken (None: there is none), and
        what differs ("": nothing does).
    """
    live = Fold(journal)
    replayed = Fold(journal)
    saved = journal.load_snapshot()
    try:
        opened = snapshot_text(live.load())
        if saved is not None:
            at_snapshot = snapshot_text(replayed.load(from_snapshot=False, upto=saved[0]))
            if at_snapshot != saved[1]:
                return _found(saved[0], saved, f"the snapshot after event {saved[0]:,} is another state")
        if snapshot_text(replayed.load(from_snapshot=False, upto=live.number)) != opened:
            return _found(live.number, saved, "the opened state is another one")
    except JournalError as error:
        return _found(replayed.number, saved, str(error))
    return _found(live.number, saved, "")


def _found(events: int, saved: tuple[int, str] | None, difference: str) -> dict[str, Any]:
    return {"events": events, "snapshot": None if saved is None else saved[0], "difference": difference}
