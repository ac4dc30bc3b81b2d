"""Cache files under `.rocky/cache`: what the last load and the last compile learned of models.

A file is read whole, checked against its own digest, and replaced in one rename; one that cannot be
read is not there, and deleting one loses nothing but time. A model is believed to be unchanged when
size, modification time and change time of its files are, so an unchanged project is loaded without
opening its models; a file written so shortly before that a second write could have left the same
times is read again. Cached values of the compiler hold only while its own sources are the same.
"""

import contextlib
import gc
import marshal
import os
import sys
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from blake3 import blake3

from rocky.project.files import Stamp, read_bytes
from rocky.project.models import ModelFile, Row
from rocky.version import __version__

MODEL_CACHE_PATH: Final = ".rocky/cache/models.bin"
_MODEL_MAGIC: Final = b"rocky-models-2\n"
_MODEL_DIGEST: Final = 32
# The coarsest clock a file system is likely to have, in nanoseconds, twice over.
_GRAIN: Final = 20_000_000


@dataclass(frozen=True, slots=True)
class ModelCache:
    """Rows by path, and the time they were saved by the file system's own clock."""

    rows: dict[str, Row]
    saved: int

    def recall(self, path: str, stamps: tuple[Stamp, Stamp | None], inherited: bytes) -> Row | None:
        """The row of a model whose files and inheritance are those it was made from."""
        row = self.rows.get(path)
        if row is None or row[0] != stamps or row[1] != inherited:
            return None
        own, sidecar = stamps
        settled = self.saved - _GRAIN
        return row if own[2] < settled and (not sidecar or sidecar[2] < settled) else None


NO_MODEL_CACHE: Final = ModelCache({}, 0)


def load_model_cache(root: Path) -> ModelCache:
    """What was saved for this project by this version; nothing when in doubt."""
    path = root / MODEL_CACHE_PATH
    try:
        saved = path.stat().st_mtime_ns
        data = read_bytes(str(path))
    except OSError:
        return NO_MODEL_CACHE
    head = len(_MODEL_MAGIC) + _MODEL_DIGEST
    # marshal trusts its input, so the bytes must be those we wrote.
    if (
        not data.startswith(_MODEL_MAGIC)
        or blake3(data[head:]).digest() != data[len(_MODEL_MAGIC) : head]
    ):
        return NO_MODEL_CACHE
    try:
        version, rows = marshal.loads(data[head:])
    except (EOFError, ValueError, TypeError):
        return NO_MODEL_CACHE
    return ModelCache(rows, saved) if version == _loader_version() else NO_MODEL_CACHE


def save_model_cache(root: Path, memory: ModelCache, models: Iterable[ModelFile]) -> None:
    """Replace the memory when a model was read again or is gone.

    A folder that cannot be written only costs the next load some time.
    """
    rows = {model.path: model.row for model in models if model.row}
    known = memory.rows
    if rows.keys() == known.keys() and all(row is known[path] for path, row in rows.items()):
        return
    payload = marshal.dumps((_loader_version(), rows))
    _replace(root / MODEL_CACHE_PATH, _MODEL_MAGIC + blake3(payload).digest(), payload)


def _loader_version() -> str:
    """What must be equal for a row to mean the same: the interpreter and this package."""
    package = Path(__file__).parent
    files = sorted((str(path), path.stat().st_mtime_ns) for path in package.rglob("*.py"))
    digest = blake3(repr(files).encode()).hexdigest(8)
    return f"{sys.implementation.cache_tag} {__version__} {digest}"


MARSHAL_VERSION: Final = 2
"""Later versions write equal values as different bytes, depending on who else refers to them."""

_FOLDER: Final = ".rocky/cache"
_MAGIC: Final = b"rocky-cache-1\n"
_DIGEST: Final = 32
_COMPILER_PACKAGES: Final = ("analysis", "compiler", "diagnostics", "language", "project")
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
    written = _replace(path, _MAGIC + blake3(payload).digest(), payload)
    if written:
        _remove_abandoned(path)
    return written


def _replace(path: Path, head: bytes, payload: bytes) -> bool:
    """Replace a file whole. False when its folder cannot be written."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, draft = tempfile.mkstemp(dir=path.parent, prefix=f"{path.name}-", suffix=".tmp")
    except OSError:
        return False
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(head)
            file.write(payload)
        Path(draft).replace(path)
    except OSError:
        with contextlib.suppress(OSError):
            Path(draft).unlink()
        return False
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
