"""Table schemas: the columns that the logs of tables on disk name, read once for each commit.

What a log said is remembered by the times of its folder, which a commit changes: a project beside a
thousand copies does not open a thousand logs.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from rocky.errors import RockyError, StoreUnreadable
from rocky.language.datatypes.text import decode_type, encode_type
from rocky.language.datatypes.types import DataType, StructField
from rocky.project.cache import (
    NO_TABLE_CACHE,
    TableCache,
    TableRow,
    load_table_cache,
    save_table_cache,
)
from rocky.store.delta.recorded_schema import LOG_FOLDER, last_pipeline, read_recorded_schema


@dataclass(frozen=True, slots=True)
class TableSchema:
    """The columns of a table, the pipeline that wrote it last, and when, in milliseconds."""

    columns: tuple[StructField, ...]
    pipeline: str | None
    at_ms: int


@dataclass(slots=True)
class TableSchemas:
    """The schemas of one look at the warehouses."""

    memory: TableCache = NO_TABLE_CACHE
    rows: dict[str, TableRow] = field(default_factory=dict)
    _found: dict[Path, TableSchema | None] = field(default_factory=dict)
    _types: dict[str, DataType] = field(default_factory=dict)

    def of(self, folder: Path) -> TableSchema | None:
        """The schema of the table in a folder; None where there is none, or none can be read.

        A run reports what cannot be read: to a compile its columns are unknown.
        """
        if folder not in self._found:
            self._found[folder] = self._look(folder)
        return self._found[folder]

    def _look(self, folder: Path) -> TableSchema | None:
        log = folder / LOG_FOLDER
        try:
            found = log.stat()
        except OSError:
            return None
        key, stamp = str(folder), (found.st_mtime_ns, found.st_ctime_ns, found.st_ino)
        row = self.memory.recall(key, stamp) or _read(folder, stamp)
        if row is None:
            return None
        self.rows[key] = row
        columns = tuple(StructField(name, self._type(kind), null) for name, kind, null in row[3])
        return TableSchema(columns, row[1], row[2])

    def _type(self, text: str) -> DataType:
        found = self._types.get(text)
        if found is None:
            found = self._types[text] = decode_type(text)
        return found


@contextmanager
def open_schemas(root: Path, *, remember: bool) -> Iterator[TableSchemas]:
    """The schemas of a project's tables; what was read is kept for the next look."""
    memory = load_table_cache(root) if remember else NO_TABLE_CACHE
    schemas = TableSchemas(memory)
    yield schemas
    if remember:
        save_table_cache(root, memory, schemas.rows)


def _read(folder: Path, stamp: tuple[int, int, int]) -> TableRow | None:
    try:
        recorded = read_recorded_schema(folder)
    except StoreUnreadable:
        return _read_checkpoint(folder, stamp)
    if recorded is None:
        return None
    said = recorded.info.get("pipeline")
    pipeline = said if isinstance(said, str) else last_pipeline(folder)
    return stamp, pipeline, recorded.at_ms, _columns(recorded.columns)


def _read_checkpoint(folder: Path, stamp: tuple[int, int, int]) -> TableRow | None:
    # Only a table whose commits are gone needs the whole reader of logs.
    from rocky.store.delta.log import Log  # noqa: PLC0415
    from rocky.store.location import locate  # noqa: PLC0415
    from rocky.store.objects import open_objects  # noqa: PLC0415

    try:
        objects = open_objects(locate(str(folder.parent), Path(), {}))
        snapshot = Log(folder.name, folder.name, objects).snapshot()
    except RockyError:
        return None
    if snapshot is None:
        return None
    return stamp, None, snapshot.timestamp_ms, _columns(snapshot.schema)


def _columns(fields: tuple[StructField, ...]) -> tuple[tuple[str, str, bool], ...]:
    return tuple((each.name, encode_type(each.type), each.nullable) for each in fields)
