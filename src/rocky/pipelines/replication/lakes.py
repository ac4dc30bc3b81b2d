"""Lakes: tables as folders, `<path>/[<catalog>/]<schema>/<table>`, on disk or in an object store.

They are listed without Spark, and nothing is opened: formats are told by the names of files. A
table may also be one file in its schema's folder. Its marker is a hash of the path, size and time
of every file, or of the last commit of a Delta table. Times in an object store are coarser than in
folders, so a table there that has just changed has no marker.
"""

import os
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, NamedTuple

from blake3 import blake3

from rocky.errors import SourceUnreadable, StoreUnreadable
from rocky.pipelines.replication.discovery import (
    DiscoveredTable,
    FailedSource,
    SourceListing,
    SourcePlace,
)
from rocky.pipelines.replication.lake_names import format_of, is_hidden, table_name
from rocky.project.toml.variables import Substituted, written
from rocky.store.location import locate
from rocky.store.objects import open_objects

DELTA_LOG: Final = "_delta_log"


class NotATable(ValueError):
    """A folder that cannot be read as a table; the message says why."""


def is_commit(name: str) -> bool:
    """Whether a file in a Delta log is a commit, whose name is its version."""
    return name.endswith(".json") and name[:-5].isdigit()


def choose_format(asked: str, paths: Sequence[str]) -> str:
    """The format of a table with these files. Raises NotATable when it cannot be told."""
    if not paths:
        raise NotATable("it holds no data")
    has_log = any(path.startswith(f"{DELTA_LOG}/") for path in paths)
    if asked == "delta" and not has_log:
        raise NotATable(f"it has no `{DELTA_LOG}`")
    if asked != "auto":
        return asked
    if has_log:
        return "delta"
    found = {format_of(path) for path in paths}
    if len(found) > 1 or None in found:
        shown = ", ".join(f"`{path}`" for path in sorted(paths)[:3])
        raise NotATable(
            f"its format cannot be told from its files ({shown}); set `format` of the source"
        )
    return str(found.pop())


_FOLDER_GRAIN_NS: Final = 20_000_000
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

    def discover(self, catalog: str | None) -> SourceListing:
        base = self.root / self.path.removeprefix("file://")
        if catalog is not None:
            base /= catalog
        try:
            schemas = sorted(entry.name for entry in _folders(str(base)))
        except OSError as error:
            shown = "/".join((written(self.path).rstrip("/"), *([catalog] if catalog else [])))
            raise SourceUnreadable(
                f"the lake at `{shown}` cannot be listed: {_describe_error(error)}"
            ) from error
        tables: list[DiscoveredTable] = []
        failed: list[FailedSource] = []
        for schema in schemas:
            try:
                names = sorted(_tables(f"{base}/{schema}"))
            except OSError as error:
                message = f"schema `{schema}` cannot be listed: {_describe_error(error)}"
                failed.append(FailedSource(schema, None, message))
                continue
            for name, is_folder in names:
                try:
                    tables.append(
                        self._find(str(base), catalog, (schema, name), is_folder=is_folder)
                    )
                except (OSError, NotATable) as error:
                    said = _describe_error(error) if isinstance(error, OSError) else str(error)
                    table = table_name(name)
                    message = f"`{schema}.{table}` cannot be read: {said}"
                    failed.append(FailedSource(schema, table, message))
        return SourceListing("lake", tuple(tables), tuple(failed), tuple(schemas))

    def _find(
        self, base: str, catalog: str | None, names: tuple[str, str], *, is_folder: bool
    ) -> DiscoveredTable:
        schema, name = names
        place = f"{base}/{schema}/{name}"
        files = _list_files(place, is_folder=is_folder)
        if _is_fresh(files):
            time.sleep(_FOLDER_GRAIN_NS / 1e9)
            files = _list_files(place, is_folder=is_folder)
        form = choose_format(self.format, [file.path for file in files])
        below = "/".join(part for part in (catalog, schema, name) if part is not None)
        return DiscoveredTable(
            catalog,
            schema,
            table_name(name),
            SourcePlace(
                form, join_place(self.path, below), options_for(form, self.format, self.options)
            ),
            None if _is_fresh(files) else files_marker(files),
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


def files_marker(files: list[LakeFile]) -> str:
    """What changes when a table's files do."""
    text = "\n".join(f"{path}\t{size}\t{ns}" for path, size, ns in sorted(files))
    return blake3(text.encode("utf-8", "surrogateescape")).hexdigest()


def _is_fresh(files: list[LakeFile]) -> bool:
    newest = max((file.modified_ns for file in files), default=0)
    return time.time_ns() - newest < _FOLDER_GRAIN_NS


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
    log = None if below else next((each for each in found if each.name == DELTA_LOG), None)
    if log is not None:
        yield _last_commit_in_folder(log.path)
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


def _last_commit_in_folder(log: str) -> LakeFile:
    names = [name for name in os.listdir(log) if is_commit(name)]  # noqa: PTH208 - as above
    if not names:
        raise NotATable(f"its `{DELTA_LOG}` holds no commit")
    name = max(names)
    status = os.stat(f"{log}/{name}")  # noqa: PTH116 - as above
    return LakeFile(f"{DELTA_LOG}/{name}", status.st_size, status.st_mtime_ns)


def _describe_error(error: OSError) -> str:
    return (error.strerror or str(error)).lower()


_OBJECT_GRAIN_NS: Final = 2_000_000_000
_TABLE_DEPTH: Final = 2
_NS_PER_MS: Final = 1_000_000

LakeFiles = dict[tuple[str, str], list[LakeFile]]


@dataclass(frozen=True, slots=True)
class ObjectLake:
    """A lake below an `s3://` URI. `settings` are Spark's and the environment's: they hold keys."""

    path: str
    format: str = "auto"
    options: Mapping[str, str] = field(default_factory=dict, repr=False)
    settings: Mapping[str, str] = field(default_factory=dict, repr=False)

    def discover(self, catalog: str | None) -> SourceListing:
        now = time.time_ns()
        base = catalog or ""
        objects = open_objects(locate(self.path.rstrip("/"), Path(), self.settings))
        grouped: LakeFiles = defaultdict(list)
        logs: set[tuple[str, str]] = set()
        try:
            for found in objects.list(base):
                below = found.path.removeprefix(base).strip("/")
                names, file = _split_key(below)
                if names is None:
                    continue
                files = grouped[names]
                if file.startswith(f"{DELTA_LOG}/"):
                    logs.add(names)
                if _is_seen(file):
                    files.append(LakeFile(file, found.size, found.modified_ms * _NS_PER_MS))
        except StoreUnreadable as error:
            said = str(error).replace(str(self.path), written(self.path))
            raise SourceUnreadable(f"the lake cannot be listed: {said}") from error
        if not grouped:
            raise SourceUnreadable(
                f"the lake at `{written(self.path)}` holds no tables"
                + (f" of catalog `{catalog}`" if catalog else "")
            )
        tables: list[DiscoveredTable] = []
        failed: list[FailedSource] = []
        for (schema, name), files in sorted(grouped.items()):
            try:
                seen = _last_commit_of(files) if (schema, name) in logs else files
                tables.append(self._find(catalog, (schema, name), seen, now))
            except NotATable as error:
                table = table_name(name)
                message = f"`{schema}.{table}` cannot be read: {error}"
                failed.append(FailedSource(schema, table, message))
        schemas = tuple(sorted({schema for schema, _ in grouped}))
        return SourceListing("lake", tuple(tables), tuple(failed), schemas)

    def _find(
        self, catalog: str | None, names: tuple[str, str], files: list[LakeFile], now: int
    ) -> DiscoveredTable:
        schema, name = names
        form = choose_format(self.format, [file.path or name for file in files])
        below = "/".join(part for part in (catalog, schema, name) if part is not None)
        fresh = now - max(file.modified_ns for file in files) < _OBJECT_GRAIN_NS
        place = join_place(_spark_path(self.path), below)
        return DiscoveredTable(
            catalog,
            schema,
            table_name(name),
            SourcePlace(form, place, options_for(form, self.format, self.options)),
            None if fresh else files_marker(files),
        )


def _last_commit_of(files: list[LakeFile]) -> list[LakeFile]:
    """Of a Delta table its last commit, which stands for all. Raises NotATable without one."""
    commits = [file for file in files if file.path.startswith(f"{DELTA_LOG}/")]
    if not commits:
        raise NotATable(f"its `{DELTA_LOG}` holds no commit")
    return [max(commits)]


def _split_key(path: str) -> tuple[tuple[str, str] | None, str]:
    """The schema and table that a key is of, if any, and the rest of it."""
    parts = path.split("/")
    if len(parts) < _TABLE_DEPTH or any(map(is_hidden, parts[:_TABLE_DEPTH])):
        return None, ""
    schema, table, rest = parts[0], parts[1], parts[_TABLE_DEPTH:]
    if not rest and format_of(table) is None:
        return None, ""
    return (schema, table), "/".join(rest)


def _is_seen(file: str) -> bool:
    """Whether a file of a table counts: Spark would read it, or it is a commit of a Delta log."""
    first, _, rest = file.partition("/")
    if first == DELTA_LOG:
        return is_commit(rest)
    return not any(map(is_hidden, file.split("/")))


def _spark_path(path: str) -> str:
    """The URI as Spark wants it. One from a variable keeps how it was written."""
    if not path.startswith("s3://"):
        return path
    replaced = f"s3a://{path.removeprefix('s3://')}"
    return Substituted(replaced, path.written) if isinstance(path, Substituted) else replaced
