"""Files to load: what lies below a pipeline's folder, and the table each belongs to.

A file is known by its bytes, so one that was renamed is the same file and one that was overwritten
is another. Names that begin with a dot or an underscore are hidden, as everywhere in Spark.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Final, Literal

from rocky.errors import SourceUnreadable
from rocky.pipelines.exclusion import Exclusion
from rocky.project.configuration.pipelines import LoadPipeline
from rocky.project.models import Target
from rocky.project.toml.variables import Substituted, written
from rocky.run.checksums import Checksums, hash_file
from rocky.spark.source_files import find_data_files

FileFormat = Literal["csv", "parquet", "json"]

ALREADY_LOADED: Final = "already_loaded"
EMPTY: Final = "empty_file"
UNKNOWN_FORMAT: Final = "unknown_format"
OTHER_FORMAT: Final = "other_format"

_BY_SUFFIX: Final[Mapping[str, FileFormat]] = {
    ".csv": "csv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".json": "json",
    ".jsonl": "json",
    ".ndjson": "json",
}
_BY_SETTING: Final[Mapping[str, FileFormat]] = {
    "csv": "csv",
    "parquet": "parquet",
    "json_lines": "json",
}
_PACKED: Final = ".gz"
_UNFIT: Final = re.compile(r"[^A-Za-z0-9_]+")


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A file that can be loaded. `shown` is how people and records call it."""

    place: str
    shown: str
    size: int
    format: FileFormat
    digest: str


@dataclass(frozen=True, slots=True)
class TableFiles:
    """A table that files are for. `unreadable` says why they cannot be told apart, if so."""

    target: Target
    files: tuple[FoundFile, ...]
    unreadable: str | None = None


@dataclass(frozen=True, slots=True)
class FolderListing:
    """What lies in the folder, in order; what is not to be loaded at all, with why."""

    tables: tuple[TableFiles, ...]
    excluded: tuple[Exclusion, ...] = ()


@dataclass(slots=True)
class _ListedTable:
    """The files of one table as they are listed."""

    target: Target
    files: list[FoundFile]
    unreadable: str | None = None


def find_files(pipeline: LoadPipeline, root: Path, checksums: Checksums | None) -> FolderListing:
    """List and hash the files of a pipeline. Raises SourceUnreadable when there is no folder."""
    folder = root.absolute() / pipeline.source_dir.removeprefix("file://")
    if not folder.is_dir():
        raise SourceUnreadable(
            f"`source_dir` names `{written(pipeline.source_dir)}`, which is not a folder"
        )
    tables: dict[str, _ListedTable] = {}
    excluded: list[Exclusion] = []
    for place in _list(folder, pipeline.source_dir):
        inside = place.relative_to(folder)
        shown = _shown(pipeline.source_dir, place, inside, root)
        target = target_of(pipeline, inside)
        size = _size_of(place)
        form, reason = _format_of(place, pipeline.format)
        if form is None or size == 0:
            excluded.append(Exclusion(shown, target.full_name, reason or EMPTY))
            continue
        listed = tables.setdefault(target.key, _ListedTable(target, []))
        if size is None:
            why = "it is a link that leads nowhere" if place.is_symlink() else "it is gone"
            listed.unreadable = f"`{shown}` cannot be read: {why}"
            continue
        try:
            digest = checksums.of([str(place)])[0] if checksums else hash_file(place)
        except OSError as error:
            listed.unreadable = f"`{shown}` cannot be read: {error.strerror or error}"
            continue
        listed.files.append(FoundFile(str(place), shown, size, form, digest))
    made = (TableFiles(each.target, tuple(each.files), each.unreadable) for each in tables.values())
    return FolderListing(tuple(made), tuple(excluded))


def target_of(pipeline: LoadPipeline, inside: PurePath) -> Target:
    """The table of a file: the one that is set, else that of its first folder or of its name."""
    target = pipeline.target
    table = target.table
    if table is None:
        name = inside.parts[0] if len(inside.parts) > 1 else _stem(inside.name)
        # In one case: the folder of a table must not depend on which file is listed first.
        table = _UNFIT.sub("_", name).lower()
    return Target(target.catalog, target.schema, table)


def new_files(
    files: Sequence[FoundFile], known: frozenset[str]
) -> tuple[list[FoundFile], list[FoundFile]]:
    """The files that are new, and those that are not; of two with the same bytes one is new."""
    new: list[FoundFile] = []
    old: list[FoundFile] = []
    seen = set(known)
    for file in files:
        (old if file.digest in seen else new).append(file)
        seen.add(file.digest)
    return new, old


def _list(folder: Path, source_dir: str) -> Iterator[Path]:
    try:
        yield from sorted(find_data_files(folder, dangling=True))
    except OSError as error:
        raise SourceUnreadable(
            f"the folder `{written(source_dir)}` cannot be listed: {error.strerror or error}"
        ) from error


def _size_of(place: Path) -> int | None:
    """The size of a file; None when there is none behind its name."""
    try:
        return place.stat().st_size
    except FileNotFoundError:
        return None


def _shown(source_dir: str, place: Path, inside: Path, root: Path) -> str:
    if isinstance(source_dir, Substituted):
        # What a variable held may be a secret.
        return f"{source_dir.written.rstrip('/')}/{inside.as_posix()}"
    base = root.absolute()
    return place.relative_to(base).as_posix() if place.is_relative_to(base) else str(place)


def _stem(name: str) -> str:
    bare = name.removesuffix(_PACKED)
    return PurePath(bare).stem


def _format_of(place: Path, setting: str | None) -> tuple[FileFormat | None, str | None]:
    """How a file is read; or why it is not."""
    suffix = PurePath(place.name.lower().removesuffix(_PACKED)).suffix
    known = _BY_SUFFIX.get(suffix)
    if setting is None:
        return known, None if known else UNKNOWN_FORMAT
    wanted = _BY_SETTING[setting]
    return (None, OTHER_FORMAT) if known not in (None, wanted) else (wanted, None)
