"""Files that are written completely or not at all, even if the machine is switched off."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


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
