"""Lakes: tables as folders, `<path>/[<catalog>/]<schema>/<table>`, listed without Spark.

A table may also be one file in its schema's folder. Its marker is a hash of the path, size and
time of every file, or of the last commit of a Delta table; nothing is opened.
"""

import os
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, NamedTuple

from blake3 import blake3

from rocky.errors import SourceUnreadable
from rocky.pipelines.replication.discovery import Discovered, FailedSource, FoundTable, Place
from rocky.pipelines.replication.lake_formats import (
    LOG,
    NoTable,
    choose_format,
    format_of,
    is_commit,
    is_hidden,
    table_name,
)
from rocky.project.variables import Substituted, written

_GRAIN_NS: Final = 20_000_000
"""Within this time of a change a second one could leave a file the same time."""


class LakeFile(NamedTuple):
    """A file as a listing shows it; the path starts at its table's folder."""

    path: str
    size: int
    modified_ns: int


@dataclass(frozen=True, slots=True)
class FolderLake:
    """A lake in folders. A relative `path` starts at `root`, the project's folder."""

    path: str
    root: Path
    format: str = "auto"
    options: Mapping[str, str] = field(default_factory=dict, repr=False)

    def discover(self, catalog: str | None) -> Discovered:
        base = self.root / self.path.removeprefix("file://")
        if catalog is not None:
            base /= catalog
        try:
            schemas = sorted(entry.name for entry in _folders(str(base)))
        except OSError as error:
            shown = "/".join((written(self.path).rstrip("/"), *([catalog] if catalog else [])))
            raise SourceUnreadable(
                f"the lake at `{shown}` cannot be listed: {_said(error)}"
            ) from error
        tables: list[FoundTable] = []
        failed: list[FailedSource] = []
        for schema in schemas:
            try:
                names = sorted(_tables(f"{base}/{schema}"))
            except OSError as error:
                message = f"schema `{schema}` cannot be listed: {_said(error)}"
                failed.append(FailedSource(schema, None, message))
                continue
            for name, is_folder in names:
                try:
                    tables.append(
                        self._find(str(base), catalog, (schema, name), is_folder=is_folder)
                    )
                except (OSError, NoTable) as error:
                    said = _said(error) if isinstance(error, OSError) else str(error)
                    table = table_name(name)
                    message = f"`{schema}.{table}` cannot be read: {said}"
                    failed.append(FailedSource(schema, table, message))
        return Discovered("lake", tuple(tables), tuple(failed), tuple(schemas))

    def _find(
        self, base: str, catalog: str | None, names: tuple[str, str], *, is_folder: bool
    ) -> FoundTable:
        schema, name = names
        place = f"{base}/{schema}/{name}"
        files = _list_files(place, is_folder=is_folder)
        if _is_fresh(files):
            time.sleep(_GRAIN_NS / 1e9)
            files = _list_files(place, is_folder=is_folder)
        form = choose_format(self.format, [file.path for file in files])
        below = "/".join(part for part in (catalog, schema, name) if part is not None)
        return FoundTable(
            catalog,
            schema,
            table_name(name),
            Place(form, join_place(self.path, below), options_for(form, self.format, self.options)),
            None if _is_fresh(files) else marker_of(files),
        )


def join_place(path: str, below: str) -> str:
    """A place below a path; one from a variable stays hidden."""
    joined = f"{path.rstrip('/')}/{below}"
    if isinstance(path, Substituted):
        return Substituted(joined, f"{path.written.rstrip('/')}/{below}")
    return joined


def options_for(form: str, asked: str, options: Mapping[str, str]) -> Mapping[str, str]:
    """The options of a table: those for other formats are not for Delta, unless all is Delta."""
    return {} if form == "delta" and asked == "auto" else options


def marker_of(files: list[LakeFile]) -> str:
    """What changes when a table's files do."""
    text = "\n".join(f"{path}\t{size}\t{ns}" for path, size, ns in sorted(files))
    return blake3(text.encode("utf-8", "surrogateescape")).hexdigest()


def _is_fresh(files: list[LakeFile]) -> bool:
    newest = max((file.modified_ns for file in files), default=0)
    return time.time_ns() - newest < _GRAIN_NS


def _folders(path: str) -> Iterator["os.DirEntry[str]"]:
    with os.scandir(path) as entries:
        for entry in entries:
            if not is_hidden(entry.name) and entry.is_dir():
                yield entry


def _tables(path: str) -> Iterator[tuple[str, bool]]:
    """Folders, and files whose suffix tells that they are data."""
    with os.scandir(path) as entries:
        for entry in entries:
            if is_hidden(entry.name):
                continue
            is_folder = entry.is_dir()
            if is_folder or format_of(entry.name) is not None:
                yield entry.name, is_folder


def _list_files(place: str, *, is_folder: bool) -> list[LakeFile]:
    """The files of a table; of a Delta table its last commit, which stands for all."""
    if is_folder:
        return list(_walk(place, "", frozenset()))
    status = os.stat(place)  # noqa: PTH116 - called for thousands of tables
    return [LakeFile(place.rpartition("/")[2], status.st_size, status.st_mtime_ns)]


def _walk(folder: str, below: str, above: frozenset[tuple[int, int]]) -> Iterator[LakeFile]:
    """Files at and below a folder, also behind links to folders, as Spark finds them."""
    with os.scandir(folder) as entries:
        found = list(entries)
    log = None if below else next((each for each in found if each.name == LOG), None)
    if log is not None:
        yield _last_commit(log.path)
        return
    inner: list[os.DirEntry[str]] = []
    for entry in found:
        if is_hidden(entry.name):
            continue
        if entry.is_dir():
            inner.append(entry)
        else:
            status = entry.stat()
            yield LakeFile(f"{below}{entry.name}", status.st_size, status.st_mtime_ns)
    if not inner:
        return
    status = os.stat(folder)  # noqa: PTH116 - called for thousands of tables
    itself = (status.st_dev, status.st_ino)
    # A link to a folder that it lies in leads nowhere new.
    for entry in inner if itself not in above else ():
        yield from _walk(entry.path, f"{below}{entry.name}/", above | {itself})


def _last_commit(log: str) -> LakeFile:
    names = [name for name in os.listdir(log) if is_commit(name)]  # noqa: PTH208 - as above
    if not names:
        raise NoTable(f"its `{LOG}` holds no commit")
    name = max(names)
    status = os.stat(f"{log}/{name}")  # noqa: PTH116 - as above
    return LakeFile(f"{LOG}/{name}", status.st_size, status.st_mtime_ns)


def _said(error: OSError) -> str:
    return (error.strerror or str(error)).lower()
