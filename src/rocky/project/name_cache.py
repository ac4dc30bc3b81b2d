"""The names of models and columns as the last compile saw them: what a shell completes.

A cache file like the others: made by this user, replaced in one rename, and worth nothing but time.
Nothing is decided by it.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final, NamedTuple

from msgspec import DecodeError
from msgspec.msgpack import Decoder

from rocky.project.cache import save_values
from rocky.project.user_cache import read_cache

NAMES: Final = "names.bin"
_STAMP: Final = b"names-1\n"
_COLUMNS: Final = Decoder(dict[str, tuple[str, ...]])


class ProjectNames(NamedTuple):
    """The columns of each model, by name, and when they were saved, by the file system's clock."""

    columns: Mapping[str, tuple[str, ...]]
    saved: int


NO_NAMES: Final = ProjectNames({}, 0)


def save_names(root: Path, columns: Iterator[tuple[str, tuple[str, ...]]]) -> bool:
    """Replace the names. False when the folder cannot be written."""
    return save_values(root, NAMES, _STAMP, dict(columns))


def load_names(root: Path) -> ProjectNames:
    """The names that this user's last compile left; none when in doubt."""
    found = read_cache(root, NAMES)
    if found is None or bytes(found.payload[: len(_STAMP)]) != _STAMP:
        return NO_NAMES
    try:
        return ProjectNames(_COLUMNS.decode(found.payload[len(_STAMP) :]), found.saved)
    except DecodeError:
        return NO_NAMES
