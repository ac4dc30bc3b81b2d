"""Delta tables of others as sources: read by their log, so that plain Spark is enough.

Files of other writers lack the columns their table is partitioned by: Spark reads these from the
names of folders, and only where the names say what the log says. What our log reader does not know
(deletion vectors, column mapping) is left to Delta's own connector, where there is one.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote

from rocky.errors import SourceUnreadable, StoreUnreadable
from rocky.project.sources import SourceTable
from rocky.spark.readers import SourceRead, read_lake_files, read_source
from rocky.spark.registration import CONNECTOR_HELP, has_connector
from rocky.spark.source_files import PinnedFile, named, place_of
from rocky.store.files import DataFile
from rocky.store.locations import locate
from rocky.store.log import Log
from rocky.store.objects import Objects, open_objects
from rocky.store.snapshot import Snapshot

_VERSION: Final = "versionasof"
_NULL: Final = "__HIVE_DEFAULT_PARTITION__"


def read_delta_source(
    session: Any, source: SourceTable, root: Path, options: Mapping[str, str]
) -> SourceRead:
    """A Delta table as it is now, or at the option `versionAsOf`. Raises SourceUnreadable.

    `options` are settings of Spark, which hold what an object store has to be told.
    """
    asked = {name.lower(): text for name, text in source.options.items()}
    if source.path is None or set(asked) - {_VERSION}:
        return _read_by_connector(session, source, root, "its options are for Delta's connector")
    try:
        snapshot, objects, prefix = _find(source, root, options, asked.get(_VERSION))
    except StoreUnreadable as error:
        return _read_by_connector(session, source, root, str(error))
    base = objects.location.spark_place(prefix)
    partitioned = any("/" in file.path for file in snapshot.files)
    for file in snapshot.files:
        if snapshot.partition_columns and not _tells(file, flat=not partitioned):
            reason = f"Spark cannot tell the partition of `{file.path}` by its folder"
            return _read_by_connector(session, source, root, reason)
    files = tuple(
        PinnedFile(f"{base}/{file.path}", file.size, file.modified_ms) for file in snapshot.files
    )
    frame = read_lake_files(
        session, source, snapshot.schema, files, base=base if partitioned else None
    )
    return SourceRead(frame, files, f"{snapshot.version} of {snapshot.table_id}")


def _find(
    source: SourceTable, root: Path, options: Mapping[str, str], version: str | None
) -> tuple[Snapshot, Objects, str]:
    """The table's snapshot, and where its files are."""
    place = place_of(source, root).rstrip("/")
    above, _, prefix = place.rpartition("/")
    objects = open_objects(locate(above or "/", root, options))
    if version is not None and not version.isdigit():
        raise StoreUnreadable(f"`versionAsOf = {version}` is no version")
    wanted = None if version is None else int(version)
    snapshot = Log(source.name, prefix, objects, foreign=True).snapshot(wanted)
    if snapshot is None:
        raise SourceUnreadable(f"{named(source)}: there is no Delta table at `{source.path}`")
    return snapshot, objects, prefix


def _tells(file: DataFile, *, flat: bool) -> bool:
    """Whether Spark finds a file's partition in its folders; in our own it is in the file."""
    *folders, name = file.path.split("/")
    if flat:
        return len(name.partition(".")[0]) == 64
    told = dict(folder.split("=", 1) for folder in folders if "=" in folder)
    # As Spark does: a letter beyond ASCII that was escaped byte by byte is not put together again.
    values = {unquote(key, "latin-1"): unquote(value, "latin-1") for key, value in told.items()}
    wanted = {
        key: _NULL if value in (None, "") else value for key, value in file.partition_values.items()
    }
    return values == wanted


def _read_by_connector(session: Any, source: SourceTable, root: Path, reason: str) -> SourceRead:
    if has_connector(session):
        return read_source(session, source, root)
    raise SourceUnreadable(f"{named(source)} cannot be read: {reason}; {CONNECTOR_HELP}")
