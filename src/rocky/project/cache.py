"""Cache files: what the last load and the last compile learned of models.

They lie in the user's cache folder (`rocky.project.user_cache`), which tells whether this user
wrote them, in MessagePack, whose reader makes plain values of the types it was told and nothing
else. A file is replaced in one rename; one that cannot be read is not there, and deleting one loses
nothing but time. A model is believed to be unchanged when size, modification time and change time
of its files are, so an unchanged project is loaded without opening its models; a file written so
shortly before that a second write could have left the same times is read again. Cached values of
the compiler hold only while its own sources are the same.
"""

import contextlib
import gc
import os
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final, TypeVar

from blake3 import blake3
from msgspec import DecodeError
from msgspec.msgpack import Decoder, Encoder

from rocky.project.files import Stamp
from rocky.project.models import ModelFile, Row
from rocky.project.user_cache import cache_place, read_cache, write_cache
from rocky.version import __version__

MODELS: Final = "models.bin"
# The coarsest clock a file system is likely to have, in nanoseconds, twice over.
_GRAIN: Final = 20_000_000
# The clock of another file system may be a server's, and ahead.
_GRAIN_ELSEWHERE: Final = 2_000_000_000

Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class ModelCache:
    """Rows by path, and the latest change time of files that the rows are believed of."""

    rows: dict[str, Row]
    settled: int

    def recall(self, path: str, stamps: tuple[Stamp, Stamp | None], inherited: bytes) -> Row | None:
        """The row of a model whose files and inheritance are those it was made from."""
        row = self.rows.get(path)
        if row is None or row[0] != stamps or row[1] != inherited:
            return None
        own, sidecar = stamps
        settled = self.settled
        return row if own[2] < settled and (not sidecar or sidecar[2] < settled) else None


SEEDS: Final = "seeds.bin"
SeedRow = tuple[
    Stamp, bytes, tuple[tuple[str, str, bool], ...], tuple[tuple[int, int] | None, ...], bytes
]
"""A seed in which nothing was wrong: its stamp, its sidecar's hash, columns, places, content."""


@dataclass(frozen=True, slots=True)
class SeedCache:
    """Rows of seeds by path, believed as those of models are."""

    rows: dict[str, SeedRow]
    settled: int

    def recall(self, path: str, stamp: Stamp | None, sidecar: bytes) -> SeedRow | None:
        """The row of a seed whose file and sidecar are those it was made from."""
        row = self.rows.get(path)
        if row is None or row[0] != stamp or row[1] != sidecar:
            return None
        return row if row[0][2] < self.settled else None


NO_SEED_CACHE: Final = SeedCache({}, 0)
_SEED_ROWS: Final = Decoder(dict[str, SeedRow])


def load_seed_cache(root: Path) -> SeedCache:
    """What was saved of this project's seeds by this version; nothing when in doubt."""
    found = _load(root, SEEDS, _loader_version(), _SEED_ROWS)
    return SeedCache(found[0], found[1] - _grain(root)) if found is not None else NO_SEED_CACHE


def save_seed_cache(root: Path, memory: SeedCache, rows: dict[str, SeedRow]) -> None:
    """Replace the memory when a seed was read again or is gone."""
    if rows != memory.rows:
        save_values(root, SEEDS, _loader_version(), rows)


TABLES: Final = "tables.bin"
TableRow = tuple[tuple[int, int, int], str | None, int, tuple[tuple[str, str, bool], ...]]
"""A table on disk: times and inode of its log's folder, the pipeline that wrote it last, when, and
its columns."""


@dataclass(frozen=True, slots=True)
class TableCache:
    """Rows of tables by folder, believed while the folders of their logs have the same times."""

    rows: dict[str, TableRow]
    settled: int

    def recall(self, folder: str, stamp: tuple[int, int, int]) -> TableRow | None:
        """The row of a table that no commit has changed since."""
        row = self.rows.get(folder)
        if row is None or row[0] != stamp:
            return None
        return row if max(stamp[:2]) < self.settled else None


NO_TABLE_CACHE: Final = TableCache({}, 0)
_TABLE_ROWS: Final = Decoder(dict[str, TableRow])


def load_table_cache(root: Path) -> TableCache:
    """What was saved of the tables of this project's pipelines; nothing when in doubt."""
    found = _load(root, TABLES, _loader_version(), _TABLE_ROWS)
    # A warehouse may lie on another file system than the project.
    return TableCache(found[0], found[1] - _GRAIN_ELSEWHERE) if found else NO_TABLE_CACHE


def save_table_cache(root: Path, memory: TableCache, rows: dict[str, TableRow]) -> None:
    """Replace the memory when a table was read again or is gone."""
    if rows != memory.rows:
        save_values(root, TABLES, _loader_version(), rows)


NO_MODEL_CACHE: Final = ModelCache({}, 0)
_ROWS: Final = Decoder(dict[str, Row])


def load_model_cache(root: Path) -> ModelCache:
    """What was saved for this project by this version; nothing when in doubt."""
    found = _load(root, MODELS, _loader_version(), _ROWS)
    return ModelCache(found[0], found[1] - _grain(root)) if found is not None else NO_MODEL_CACHE


def save_model_cache(root: Path, memory: ModelCache, models: Iterable[ModelFile]) -> None:
    """Replace the memory when a model was read again or is gone.

    A folder that cannot be written only costs the next load some time.
    """
    rows = {model.path: model.row for model in models if model.row}
    known = memory.rows
    if rows.keys() == known.keys() and all(row is known[path] for path, row in rows.items()):
        return
    save_values(root, MODELS, _loader_version(), rows)


def _grain(root: Path) -> int:
    """How long before a file was saved the project's files must have been as they are."""
    folder = cache_place(root).folder
    try:
        same = folder is not None and folder.stat().st_dev == root.stat().st_dev
    except OSError:
        same = False
    return _GRAIN if same else _GRAIN_ELSEWHERE


@cache
def _loader_version() -> bytes:
    """What must be equal for a row to mean the same: the interpreter and this package.

    A process goes on with the sources that it began with, whatever becomes of the files.
    """
    package = Path(__file__).parent
    files = sorted((str(path), path.stat().st_mtime_ns) for path in package.rglob("*.py"))
    said = f"{sys.implementation.cache_tag} {__version__} {files!r}"
    return blake3(said.encode("utf-8", "surrogateescape")).digest()


_ENCODER: Final = Encoder()
_COMPILER_PACKAGES: Final = (
    "analysis",
    "compiler",
    "diagnostics",
    "frames",
    "language",
    "project",
)
_SUFFIXES: Final = (".py", ".json", ".gz")


def load_values(
    root: Path, name: str, stamp: bytes, decoder: Decoder[dict[str, Value]]
) -> dict[str, Value]:
    """What was saved under a name with the same stamp; nothing when in doubt."""
    found = _load(root, name, stamp, decoder)
    return found[0] if found is not None else {}


def save_values(root: Path, name: str, stamp: bytes, values: dict[str, Any]) -> bool:
    """Replace what is saved under a name. False when the folder cannot be written."""
    return write_cache(root, name, stamp + _encode(values))


def pack(value: Any) -> bytes:
    """Bytes that are a function of the values alone, never of object identity.

    Half a pair of UTF-16, which no encoding has, is written as its escape.
    """
    try:
        return _ENCODER.encode(value)
    except UnicodeEncodeError:
        return _ENCODER.encode(_escape(value))


def _escape(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode()
    if isinstance(value, tuple | list):
        return [_escape(each) for each in value]
    return value


def _load(
    root: Path, name: str, stamp: bytes, decoder: Decoder[dict[str, Value]]
) -> tuple[dict[str, Value], int] | None:
    found = read_cache(root, name)
    if found is None or found.payload[: len(stamp)] != stamp:
        return None
    try:
        with collector_paused():
            return decoder.decode(found.payload[len(stamp) :]), found.saved
    except (DecodeError, UnicodeDecodeError, RecursionError):
        return None


def _encode(values: dict[str, Any]) -> bytes:
    """The values that can be written down; the others cost time at each command."""
    try:
        return _ENCODER.encode(values)
    except (UnicodeEncodeError, OverflowError):
        # A file name that is no text, or a number beyond 64 bits.
        return _ENCODER.encode({key: each for key, each in values.items() if _fits(key, each)})


def _fits(key: str, value: Any) -> bool:
    try:
        _ENCODER.encode((key, value))
    except (UnicodeEncodeError, OverflowError):
        return False
    return True


@contextlib.contextmanager
def collector_paused() -> Iterator[None]:
    """Ten thousand values are made at once and none of them is garbage."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


@cache
def cache_stamp() -> bytes:
    """What must be equal for a cached value to mean anything to this process.

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
