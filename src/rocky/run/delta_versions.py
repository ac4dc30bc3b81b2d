"""Delta tables of others, found by their log: needs no Spark.

Files of other writers lack the columns their table is partitioned by: Spark reads these from the
names of folders, and only where the names say what the log says. What our log reader does not know
(deletion vectors, column mapping) is left to Delta's own connector, where there is one.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import unquote

from rocky.errors import SourceUnreadable, StoreUnreadable
from rocky.evidence.hashes import canonical_json, text_hash
from rocky.project.sources import SourceTable
from rocky.project.variables import written
from rocky.spark.source_files import hide_place, named, place_of
from rocky.store.elsewhere import place_of as place_of_file
from rocky.store.files import DataFile, is_addressed
from rocky.store.locations import locate
from rocky.store.log import Log
from rocky.store.objects import Objects, open_objects
from rocky.store.snapshot import Snapshot

_VERSION: Final = "versionasof"
_HASH_LENGTH: Final = 16
_NULL: Final = "__HIVE_DEFAULT_PARTITION__"


class NotPlain(ValueError):
    """A table that only Delta's connector can read; the message says why."""


@dataclass(frozen=True, slots=True)
class DeltaSource:
    """A Delta table at a version; `base` is its place as Spark reads it."""

    snapshot: Snapshot
    base: str
    objects: Objects
    prefix: str

    @property
    def version(self) -> str:
        """The version, the table's id, and a hash of the files it names.

        A table that was put back from a copy and written on has the same versions with other rows.
        """
        files = sorted([file.name, file.size] for file in self.snapshot.files)
        hashed = text_hash(canonical_json(files))[:_HASH_LENGTH]
        return f"{self.snapshot.version} of {self.snapshot.table_id} {hashed}"

    @property
    def has_folders(self) -> bool:
        return any("/" in file.name for file in self.snapshot.files)

    def file_uri(self, file: DataFile) -> str:
        """What Spark reads a file by."""
        return place_of_file(self.objects, self.prefix, file.path).spark_uri


def find_delta_source(
    source: SourceTable, root: Path, options: Mapping[str, str], version: str | None = None
) -> DeltaSource:
    """A Delta table at a version that was found before, or as it is now.

    The option `versionAsOf` has its say. `options` are settings of Spark, which hold what an object
    store has to be told. Raises SourceUnreadable, NotPlain.
    """
    asked = {name.lower(): text for name, text in source.options.items()}
    if source.path is None or set(asked) - {_VERSION}:
        raise NotPlain("its options are for Delta's connector")
    number = version.partition(" ")[0] if version is not None else asked.get(_VERSION)
    if number is not None and not number.isdigit():
        raise NotPlain(f"`versionAsOf = {number}` is no version")
    place = place_of(source, root).rstrip("/")
    above, _, prefix = place.rpartition("/")
    objects = open_objects(locate(above or "/", root, options))
    try:
        log = Log(source.name, prefix, objects, foreign=True)
        snapshot = log.snapshot(None if number is None else int(number))
    except StoreUnreadable as error:
        raise NotPlain(hide_place(source, str(error))) from error
    place_text = written(source.path)
    if snapshot is None:
        raise SourceUnreadable(f"{named(source)}: there is no Delta table at `{place_text}`")
    found = DeltaSource(snapshot, objects.location.spark_place(prefix), objects, prefix)
    if version not in (None, found.version):
        raise SourceUnreadable(f"{named(source)}: another table took the place of `{place_text}`")
    _refuse_hidden_partitions(found)
    return found


def _refuse_hidden_partitions(found: DeltaSource) -> None:
    if not found.snapshot.partition_columns:
        return
    flat = not found.has_folders
    for file in found.snapshot.files:
        if not _tells(file, flat=flat):
            raise NotPlain(f"Spark cannot tell the partition of `{file.path}` by its folder")


def _tells(file: DataFile, *, flat: bool) -> bool:
    """Whether Spark finds a file's partition in its folders; in our own it is in the file."""
    *folders, name = file.name.split("/")
    if flat:
        return is_addressed(name)
    told = dict(folder.split("=", 1) for folder in folders if "=" in folder)
    # As Spark does: a letter beyond ASCII that was escaped byte by byte is not put together again.
    values = {unquote(key, "latin-1"): unquote(value, "latin-1") for key, value in told.items()}
    wanted = {
        key: _NULL if value in (None, "") else value for key, value in file.partition_values.items()
    }
    return values == wanted
