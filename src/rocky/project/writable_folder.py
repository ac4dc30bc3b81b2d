"""Whether a folder can be written, which only writing tells.

Permissions say nothing of a disk that is mounted to be read, of one that is full, of a file that
stands in a folder's place, and nothing at all to root.
"""

import errno
import os
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Final

_PREFIX: Final = ".rocky-probe-"


def write_problem(folder: Path) -> OSError | None:
    """Why nothing can be written in a folder; None when a file could be, and it is removed again.

    Of a folder that does not exist yet, the nearest above it is tried, where it would be made.
    """
    there = folder
    while not os.path.lexists(there) and there != there.parent:
        there = there.parent
    if not there.is_dir():
        return NotADirectoryError(errno.ENOTDIR, "not a folder", str(there))
    try:
        handle, name = tempfile.mkstemp(prefix=_PREFIX, dir=there)
    except OSError as failure:
        failure.filename = str(there)
        return failure
    try:
        os.write(handle, b"rocky")
    except OSError as failure:
        failure.filename = str(there)
        return failure
    finally:
        os.close(handle)
        with suppress(OSError):
            Path(name).unlink()
    return None


def open_problem(path: Path) -> OSError | None:
    """Why a file that is there cannot be opened to be written; nothing of it is changed."""
    try:
        with path.open("r+b"):
            return None
    except FileNotFoundError:
        return None
    except OSError as failure:
        return failure
