"""Files that are written whole or not at all."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """A temporary name beside `path` to write to; it becomes `path` at the end, and vanishes after an error."""
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f".{path.stem}.unfinished{path.suffix}")
    try:
        yield unfinished
        unfinished.replace(path)
    except OSError as error:  # a full disk does not say which file it was
        if error.errno is not None and error.filename is None:
            error.filename = str(path)
        raise
    finally:
        unfinished.unlink(missing_ok=True)
