"""Memory: what the last load learned about each model, in one disposable file.

A model is believed to be unchanged when size, modification time and change time of its
files are, so an unchanged project is loaded without opening its models. A file written so
shortly before the memory was saved that a second write could have left the same times is
read again.
"""

import contextlib
import marshal
import os
import sys
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from blake3 import blake3

from rocky.project.files import Stamp, read_bytes
from rocky.project.models import ModelFile, Row
from rocky.version import __version__

MEMORY_PATH: Final = ".rocky/cache/models.bin"
_MAGIC: Final = b"rocky-models-2\n"
_DIGEST: Final = 32
# The coarsest clock a file system is likely to have, in nanoseconds, twice over.
_GRAIN: Final = 20_000_000


@dataclass(frozen=True, slots=True)
class Memory:
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


NO_MEMORY: Final = Memory({}, 0)


def load_memory(root: Path) -> Memory:
    """What was saved for this project by this version; nothing when in doubt."""
    path = root / MEMORY_PATH
    try:
        saved = path.stat().st_mtime_ns
        data = read_bytes(str(path))
    except OSError:
        return NO_MEMORY
    head = len(_MAGIC) + _DIGEST
    # marshal trusts its input, so the bytes must be those we wrote.
    if not data.startswith(_MAGIC) or blake3(data[head:]).digest() != data[len(_MAGIC) : head]:
        return NO_MEMORY
    try:
        version, rows = marshal.loads(data[head:])
    except (EOFError, ValueError, TypeError):
        return NO_MEMORY
    return Memory(rows, saved) if version == _version() else NO_MEMORY


def save_memory(root: Path, memory: Memory, models: Iterable[ModelFile]) -> None:
    """Replace the memory when a model was read again or is gone.

    A folder that cannot be written only costs the next load some time.
    """
    rows = {model.path: model.row for model in models if model.row}
    known = memory.rows
    if rows.keys() == known.keys() and all(row is known[path] for path, row in rows.items()):
        return
    payload = marshal.dumps((_version(), rows))
    data = _MAGIC + blake3(payload).digest() + payload
    folder = (root / MEMORY_PATH).parent
    with contextlib.suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=folder, prefix="models-", suffix=".tmp")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
            Path(name).replace(root / MEMORY_PATH)
        except OSError:
            Path(name).unlink(missing_ok=True)


def _version() -> str:
    """What must be equal for a row to mean the same: the interpreter and this package."""
    package = Path(__file__).parent
    files = sorted((path.name, path.stat().st_mtime_ns) for path in package.glob("*.py"))
    digest = blake3(repr(files).encode()).hexdigest(8)
    return f"{sys.implementation.cache_tag} {__version__} {digest}"
