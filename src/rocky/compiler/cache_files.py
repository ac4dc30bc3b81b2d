"""Cache files: plain values under `.rocky/cache`, each file safe on its own.

Safe under concurrent use and under a killed process: a file is read whole, checked against its own
digest, and replaced in one rename. One that cannot be read is not there; deleting one loses nothing
but time.
"""

import contextlib
import gc
import marshal
import os
import sys
import tempfile
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from blake3 import blake3

from rocky.version import __version__

MARSHAL_VERSION: Final = 2
"""Later versions write equal values as different bytes, depending on who else refers to them."""

_FOLDER: Final = ".rocky/cache"
_MAGIC: Final = b"rocky-cache-1\n"
_DIGEST: Final = 32
_COMPILER_PACKAGES: Final = (
    "binder",
    "catalog",
    "compiler",
    "datatypes",
    "diagnostics",
    "ir",
    "lints",
    "project",
    "syntax",
)
_SUFFIXES: Final = (".py", ".json", ".gz")
_ABANDONED: Final = 3_600_000_000_000
"""A temporary file this much older, in nanoseconds, belongs to a process that was killed."""


def load_values(root: Path, name: str, stamp: bytes) -> dict[str, tuple[Any, ...]]:
    """What was saved under a name with the same stamp; nothing when in doubt."""
    try:
        data = (root / _FOLDER / name).read_bytes()
    except OSError:
        return {}
    payload = memoryview(data)[len(_MAGIC) + _DIGEST :]
    # marshal trusts its input, so the bytes must be those we wrote.
    if not data.startswith(_MAGIC + blake3(payload).digest() + stamp):
        return {}
    try:
        with _collector_paused():
            values: dict[str, tuple[Any, ...]] = marshal.loads(payload[len(stamp) :])
    except (EOFError, ValueError, TypeError):
        return {}
    return values


def save_values(root: Path, name: str, stamp: bytes, values: dict[str, tuple[Any, ...]]) -> bool:
    """Replace what is saved under a name. False when the folder cannot be written."""
    payload = stamp + marshal.dumps(values, MARSHAL_VERSION)
    path = root / _FOLDER / name
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f"{name}-", suffix=".tmp")
    except OSError:
        return False
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(_MAGIC + blake3(payload).digest())
            file.write(payload)
        Path(temporary).replace(path)
    except OSError:
        with contextlib.suppress(OSError):
            Path(temporary).unlink()
        return False
    _remove_abandoned(path)
    return True


@contextlib.contextmanager
def _collector_paused() -> Iterator[None]:
    """Ten thousand values are made at once and none of them is garbage."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _remove_abandoned(path: Path) -> None:
    """Remove what killed processes left beside a file."""
    with contextlib.suppress(OSError):
        written = path.stat().st_mtime_ns
        for each in path.parent.glob(f"{path.name}-*.tmp"):
            if each.stat().st_mtime_ns < written - _ABANDONED:
                each.unlink()


def cache_stamp() -> bytes:
    """What must be equal for a cached value to mean anything now.

    The compiler's own sources are part of it, so that a change to a rule never meets an answer of
    the rule before it; so is the parser library, which is looked for and not loaded.
    """
    package = Path(__file__).parent.parent
    lines = [f"{sys.implementation.cache_tag} {__version__}"]
    for folder in _COMPILER_PACKAGES:
        lines += sorted(_file_lines(str(package / folder)))
    parser = find_spec("sqlglot")
    if parser is not None and parser.origin is not None:
        lines += sorted(_file_lines(str(Path(parser.origin).parent)))
    return blake3("\n".join(lines).encode("utf-8", "surrogateescape")).digest()


def _file_lines(folder: str) -> Iterator[str]:
    """Name, size and time of every source and data file in a folder and below."""
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.endswith(_SUFFIXES):
                found = entry.stat()
                yield f"{entry.path} {found.st_size} {found.st_mtime_ns}"
            elif "." not in entry.name and entry.name != "__pycache__" and entry.is_dir():
                yield from _file_lines(entry.path)
