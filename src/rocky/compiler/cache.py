"""The compile cache: records of bound models in one disposable file.

Safe under concurrent use and under a killed process: it is read whole, checked against its own
digest, and replaced in one rename. A cache that cannot be read is no cache; deleting it loses
nothing but time.
"""

import contextlib
import marshal
import os
import sys
import tempfile
from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from blake3 import blake3

from rocky.compiler.records import MARSHAL_VERSION, Record
from rocky.version import __version__

CACHE_PATH: Final = ".rocky/cache/compile.bin"
_MAGIC: Final = b"rocky-compile-2\n"
_DIGEST: Final = 32
_COMPILER_PACKAGES: Final = (
    "binder",
    "catalog",
    "compiler",
    "datatypes",
    "diagnostics",
    "ir",
    "lints",
    "syntax",
)
_SUFFIXES: Final = (".py", ".json", ".gz")
_ABANDONED: Final = 3_600_000_000_000
"""A temporary file this much older, in nanoseconds, belongs to a process that was killed."""


def load_records(root: Path, stamp: bytes) -> dict[str, Record]:
    """The records of the last compile with the same compiler and catalogue."""
    try:
        data = (root / CACHE_PATH).read_bytes()
    except OSError:
        return {}
    start = len(_MAGIC) + _DIGEST
    payload = memoryview(data)[start:]
    # marshal trusts its input, so the bytes must be those we wrote.
    if not data.startswith(_MAGIC + blake3(payload).digest() + stamp):
        return {}
    try:
        stored = marshal.loads(payload[len(stamp) :])
    except (EOFError, ValueError, TypeError):
        return {}
    make = Record._make
    return {key: make(fields) for key, fields in stored.items()}


def save_records(root: Path, stamp: bytes, records: Mapping[str, Record]) -> bool:
    """Replace the cache. False when the folder cannot be written: the next compile is cold."""
    stored = {key: tuple(record) for key, record in records.items()}
    payload = stamp + marshal.dumps(stored, MARSHAL_VERSION)
    path = root / CACHE_PATH
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent, prefix="compile-", suffix=".tmp")
    except OSError:
        return False
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(_MAGIC + blake3(payload).digest())
            file.write(payload)
        Path(name).replace(path)
    except OSError:
        with contextlib.suppress(OSError):
            Path(name).unlink()
        return False
    _remove_abandoned(path)
    return True


def _remove_abandoned(path: Path) -> None:
    """Remove what killed processes left beside the cache."""
    with contextlib.suppress(OSError):
        written = path.stat().st_mtime_ns
        for each in path.parent.glob("compile-*.tmp"):
            if each.stat().st_mtime_ns < written - _ABANDONED:
                each.unlink()


def cache_stamp() -> bytes:
    """What must be equal for a cached record to mean anything now.

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
    return blake3("\n".join(lines).encode()).digest()


def _file_lines(folder: str) -> Iterator[str]:
    """Name, size and time of every source and data file in a folder and below."""
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.endswith(_SUFFIXES):
                found = entry.stat()
                yield f"{entry.path} {found.st_size} {found.st_mtime_ns}"
            elif "." not in entry.name and entry.name != "__pycache__" and entry.is_dir():
                yield from _file_lines(entry.path)
