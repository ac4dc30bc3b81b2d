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
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from blake3 import blake3

from rocky.compiler.records import Record
from rocky.version import __version__

CACHE_PATH: Final = ".rocky/cache/compile.bin"
_MAGIC: Final = b"rocky-compile-1\n"
_COMPILER_PACKAGES: Final = ("binder", "catalog", "compiler", "datatypes", "ir", "lints", "syntax")


def load_records(root: Path, stamp: bytes) -> dict[str, Record]:
    """The records of the last compile with the same compiler, catalogue and settings."""
    try:
        data = (root / CACHE_PATH).read_bytes()
    except OSError:
        return {}
    head = len(_MAGIC) + 32
    if not data.startswith(_MAGIC) or len(data) < head + 32:
        return {}
    digest, payload = data[len(_MAGIC) : head], data[head:]
    # marshal trusts its input, so the bytes must be those we wrote.
    if payload[:32] != stamp or blake3(payload).digest() != digest:
        return {}
    try:
        stored = marshal.loads(payload[32:])
    except (EOFError, ValueError, TypeError):
        return {}
    return {key: Record(*fields) for key, fields in stored.items()}


def save_records(root: Path, stamp: bytes, records: Mapping[str, Record]) -> bool:
    """Replace the cache. False when the folder cannot be written: the next compile is cold."""
    payload = stamp + marshal.dumps({key: tuple(record) for key, record in records.items()})
    data = _MAGIC + blake3(payload).digest() + payload
    folder = (root / CACHE_PATH).parent
    try:
        folder.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=folder, prefix="compile-", suffix=".tmp")
    except OSError:
        return False
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        os.replace(name, root / CACHE_PATH)  # noqa: PTH105 - mkstemp gives a string
    except OSError:
        with contextlib.suppress(OSError):
            os.unlink(name)  # noqa: PTH108 - mkstemp gives a string
        return False
    return True


def cache_stamp() -> bytes:
    """What must be equal for a cached record to mean anything now.

    The compiler's own sources are part of it, so that a change to a rule never meets an answer of
    the rule before it.
    """
    stamp = blake3(f"{sys.implementation.cache_tag} {__version__}".encode())
    package = Path(__file__).parent.parent
    for folder in _COMPILER_PACKAGES:
        for path in sorted((package / folder).rglob("*.[pj]*")):
            entry = path.stat()
            stamp.update(f"{path.name} {entry.st_size} {entry.st_mtime_ns}\n".encode())
    return stamp.digest()
