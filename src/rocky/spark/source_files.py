"""The files of a source: found when it is pinned, so that a model reads these and no later ones.

No pyspark here. A relative path starts at the project's folder. Names that begin with a dot or an
underscore are hidden from Spark, and so from the list.
"""

import os
from collections.abc import Iterator
from glob import has_magic, iglob
from pathlib import Path
from typing import Any, NamedTuple

from rocky.errors import SourceUnreadable
from rocky.project.sources import SourceTable
from rocky.project.toml.variables import Substituted, written


class PinnedFile(NamedTuple):
    """A file as it was found."""

    path: str
    size: int
    modified_ms: int


class Pinned(NamedTuple):
    """The files of a source, sorted, and the folder whose `key=value` folders are columns."""

    files: tuple[PinnedFile, ...]
    base: str | None = None


def pin_files(session: Any, source: SourceTable, root: Path) -> Pinned:
    """The files of a source. Raises SourceUnreadable when there are none, and what Spark raises."""
    place = source_location(source, root)
    if not is_remote(place):
        return pin_local_files(source, root)
    return _require_files(source, place, _pin_remote(session, place))


def pin_local_files(source: SourceTable, root: Path) -> Pinned:
    """The files of a source that lies in folders; needs no Spark. Raises SourceUnreadable."""
    place = source_location(source, root)
    if source.files:
        return Pinned(tuple(sorted(_pin_file(root.absolute() / each) for each in source.files)))
    return _require_files(source, place, _pin_local(place))


def _require_files(source: SourceTable, place: str, pinned: Pinned) -> Pinned:
    if not pinned.files:
        what = "no file matches" if has_magic(place) else "there is no data at"
        raise SourceUnreadable(f"{source_label(source)}: {what} `{written(source.path or '')}`")
    return pinned


def source_label(source: SourceTable) -> str:
    """How a message names a source."""
    if not source.is_declared:
        return f"table `{source.name}` (no source declares it)"
    return f"source `{source.name}` (declared in `{source.file}`)"


def hide_location(source: SourceTable, message: str) -> str:
    """A message without what came from variables: that may be a secret."""
    for value in (source.path, *source.options.values()):
        if isinstance(value, Substituted) and value:
            message = message.replace(str(value), value.written)
            above = folder_above(value)
            if len(above) > 1:
                message = message.replace(above, value.written)
    return message


def folder_above(pattern: str) -> str:
    """What stands before the first wildcard of a path, up to its last slash."""
    if not has_magic(pattern):
        return ""
    plain: list[str] = []
    for part in pattern.split("/"):
        if has_magic(part):
            break
        plain.append(part)
    return "/".join(plain)


def source_location(source: SourceTable, root: Path) -> str:
    """A URI as it is; a path from the project's folder on."""
    text = source.path or ""
    return text if is_remote(text) else str(root.absolute() / text.removeprefix("file://"))


def is_remote(place: str) -> bool:
    """Whether only Spark can look there."""
    return "://" in place and not place.startswith("file://")


def _pin_local(place: str) -> Pinned:
    # The pattern may be absolute, which `Path.glob` refuses.
    found = sorted(iglob(place, recursive=True)) if has_magic(place) else [place]  # noqa: PTH207
    if Path(place).exists():
        # A folder whose own name holds a bracket.
        found = [place]
    files = []
    for name in found:
        path = Path(name)
        files += list(find_data_files(path)) if path.is_dir() else [path] if path.is_file() else []
    pinned = tuple(sorted(map(_pin_file, files)))
    return Pinned(pinned, place if Path(place).is_dir() else None)


def _pin_file(file: Path) -> PinnedFile:
    status = file.stat()
    return PinnedFile(str(file), status.st_size, status.st_mtime_ns // 1_000_000)


def find_data_files(folder: Path, *, dangling: bool = False) -> Iterator[Path]:
    """The files at and below a folder, also behind links to folders, as Spark finds them.

    And, if asked for, `dangling` links, which lead nowhere.
    """
    yield from _walk(folder, frozenset(), dangling=dangling)


def _walk(folder: Path, above: frozenset[tuple[int, int]], *, dangling: bool) -> Iterator[Path]:
    status = folder.stat()
    itself = (status.st_dev, status.st_ino)
    if itself in above:
        # A link to a folder that it lies in.
        return
    with os.scandir(folder) as entries:
        found = [entry for entry in entries if not _is_hidden(entry.name)]
    for entry in found:
        if entry.is_dir():
            yield from _walk(Path(entry.path), above | {itself}, dangling=dangling)
        elif entry.is_file() or (dangling and entry.is_symlink() and not Path(entry.path).exists()):
            yield Path(entry.path)


def _is_hidden(name: str) -> bool:
    return name.startswith(".") or (name.startswith("_") and "=" not in name)


def _pin_remote(session: Any, place: str) -> Pinned:
    """Ask Spark, whose client may be the only one with the keys; no content is read."""
    listed = session.read.format("binaryFile").load(place)
    times = "unix_millis(modificationTime)"
    files = [
        PinnedFile(path, size, modified)
        for path, size, modified in listed.selectExpr("path", "length", times).collect()
    ]
    return Pinned(tuple(sorted(files)), None if has_magic(place) else place)
