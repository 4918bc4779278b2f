"""Files that are written completely or not at all, even if the machine is switched off; and locks on files."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl


def try_lock(file: IO[str]) -> bool:
    """Whether the lock of this open file is now ours; the operating system releases it when the process ends."""
    try:
        if sys.platform == "win32":
            file.seek(1 << 20)  # a byte that is never read, so that what the file says stays readable
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        else:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def unlock(file: IO[str]) -> None:
    """Release the lock at once; to close the file would not do, if a copy of this process was made meanwhile."""
    if sys.platform == "win32":
        file.seek(1 << 20)
        msvcrt.locking(file.fileno(), msvcrt.LK_UNLCK, 1)
    else:
        fcntl.flock(file, fcntl.LOCK_UN)


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """A temporary file beside `path` to write to; it is renamed to `path` at the end, and removed after an error.

    The content is on disk before the name is, and both are on disk when the block ends: a machine that stops at any
    moment leaves the old file or the new one.
    """
    new_folders = [folder for folder in path.parents if not folder.exists()]
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f".{path.stem}.unfinished{path.suffix}")
    try:
        yield unfinished
        with unfinished.open("rb+") as file:
            os.fsync(file.fileno())
        unfinished.replace(path)
        for folder in (path.parent, *(each.parent for each in new_folders)) if os.name != "nt" else ():
            opened = os.open(folder, os.O_RDONLY)  # Windows, which writes names by itself, cannot open folders
            try:
                os.fsync(opened)
            finally:
                os.close(opened)
    except OSError as error:  # a full disk does not say which file it was
        if error.errno is not None and error.filename is None:
            error.filename = str(path)
        raise
    finally:
        unfinished.unlink(missing_ok=True)
