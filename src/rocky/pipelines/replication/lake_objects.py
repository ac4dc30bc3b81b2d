"""Lakes in an object store: one listing of all keys, grouped into tables; no Spark.

Times there are coarser than in folders, so a table that has just changed has no marker.
"""

import time
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from rocky.errors import SourceUnreadable, StoreUnreadable
from rocky.pipelines.replication.discovery import Discovered, FailedSource, FoundTable, Place
from rocky.pipelines.replication.lake import LakeFile, join_place, marker_of, options_for
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
from rocky.store.locations import locate
from rocky.store.objects import open_objects

_GRAIN_NS: Final = 2_000_000_000
_TABLE_DEPTH: Final = 2
_NS_PER_MS: Final = 1_000_000

Files = dict[tuple[str, str], list[LakeFile]]


@dataclass(frozen=True, slots=True)
class ObjectLake:
    """A lake below an `s3://` URI. `settings` are Spark's and the environment's: they hold keys."""

    path: str
    format: str = "auto"
    options: Mapping[str, str] = field(default_factory=dict, repr=False)
    settings: Mapping[str, str] = field(default_factory=dict, repr=False)

    def discover(self, catalog: str | None) -> Discovered:
        now = time.time_ns()
        base = catalog or ""
        objects = open_objects(locate(self.path.rstrip("/"), Path(), self.settings))
        grouped: Files = defaultdict(list)
        logs: set[tuple[str, str]] = set()
        try:
            for found in objects.list(base):
                below = found.path.removeprefix(base).strip("/")
                names, file = _taken_apart(below)
                if names is None:
                    continue
                files = grouped[names]
                if file.startswith(f"{LOG}/"):
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
        tables: list[FoundTable] = []
        failed: list[FailedSource] = []
        for (schema, name), files in sorted(grouped.items()):
            try:
                seen = _last_commit(files) if (schema, name) in logs else files
                tables.append(self._find(catalog, (schema, name), seen, now))
            except NoTable as error:
                table = table_name(name)
                message = f"`{schema}.{table}` cannot be read: {error}"
                failed.append(FailedSource(schema, table, message))
        schemas = tuple(sorted({schema for schema, _ in grouped}))
        return Discovered("lake", tuple(tables), tuple(failed), schemas)

    def _find(
        self, catalog: str | None, names: tuple[str, str], files: list[LakeFile], now: int
    ) -> FoundTable:
        schema, name = names
        form = choose_format(self.format, [file.path or name for file in files])
        below = "/".join(part for part in (catalog, schema, name) if part is not None)
        fresh = now - max(file.modified_ns for file in files) < _GRAIN_NS
        place = join_place(_spark_path(self.path), below)
        return FoundTable(
            catalog,
            schema,
            table_name(name),
            Place(form, place, options_for(form, self.format, self.options)),
            None if fresh else marker_of(files),
        )


def _last_commit(files: list[LakeFile]) -> list[LakeFile]:
    """Of a Delta table its last commit, which stands for all. Raises NoTable without one."""
    commits = [file for file in files if file.path.startswith(f"{LOG}/")]
    if not commits:
        raise NoTable(f"its `{LOG}` holds no commit")
    return [max(commits)]


def _taken_apart(path: str) -> tuple[tuple[str, str] | None, str]:
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
    if first == LOG:
        return is_commit(rest)
    return not any(map(is_hidden, file.split("/")))


def _spark_path(path: str) -> str:
    """The URI as Spark wants it. One from a variable keeps how it was written."""
    if not path.startswith("s3://"):
        return path
    replaced = f"s3a://{path.removeprefix('s3://')}"
    return Substituted(replaced, path.written) if isinstance(path, Substituted) else replaced
