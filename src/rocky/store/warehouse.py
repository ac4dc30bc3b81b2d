"""The warehouse: a folder or bucket path whose tables lie at `<catalog>/<schema>/<table>`.

Names are as declared, and Spark compares them without case; two targets that differ only in case
are refused when the project is compiled, so they never meet here.
"""

import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final, Protocol

from rocky.errors import ChangeRefused, StoreUnreadable
from rocky.store.data_file import DataFile
from rocky.store.delta.change import Change, Committed
from rocky.store.delta.commit import commit_change
from rocky.store.delta.log import (
    CHECKPOINT_FAILED,
    LOG_FOLDER,
    Log,
    Vouch,
    is_checkpoint_due,
    vouch_for_none,
    write_checkpoint,
)
from rocky.store.delta.snapshot import Snapshot
from rocky.store.location import locate
from rocky.store.objects import FileLocation, Objects, locate_file, open_objects

STAGING: Final = "_staging"
RESERVED: Final = "_rocky"
"""The folder beside the catalogs that holds what is about the warehouse and is no table."""
BRANCH_PREFIX: Final = "branch__"
"""What the folders beside the catalogs begin with that are warehouses of branches."""


class TableName(Protocol):
    """Anything that names a table in three parts."""

    @property
    def catalog(self) -> str: ...
    @property
    def schema(self) -> str: ...
    @property
    def table(self) -> str: ...


@dataclass(frozen=True, slots=True)
class Table:
    """One table's place, whether or not there is a table.

    `prefix` is its path below the warehouse's root, `uri` what Spark reads.
    """

    name: str
    prefix: str
    objects: Objects = field(repr=False)
    log: Log = field(repr=False, compare=False)

    @property
    def uri(self) -> str:
        return self.objects.location.spark_place(self.prefix)

    def snapshot(self, version: int | None = None) -> Snapshot | None:
        """The table at a version, or now; None only when there truly is no table.

        Raises `StoreUnreadable` when that cannot be told, also for a version there is not.
        """
        return self.log.snapshot(version)

    def commit(self, change: Change) -> Committed:
        """Make a change the next version, rebased onto what others have committed meanwhile.

        Raises `ConcurrentChange` when it has to be computed again, `ChangeRefused` when the table
        cannot take it, `StoreUnwritable`. A checkpoint that fails is only a warning.
        """
        return self.with_checkpoint(commit_change(self.log, change))

    def with_checkpoint(self, committed: Committed) -> Committed:
        """A commit that was just made, with its checkpoint if one is due."""
        version = committed.snapshot.version
        if committed.repeated or not is_checkpoint_due(version):
            return committed
        warning = write_checkpoint(self.log, version)
        committed = replace(committed, warnings=() if warning is None else (warning,))
        try:
            # One that failed may have left its file, and readers may come to believe it.
            digest = self.log.checkpoint_hash(version)
        except StoreUnreadable as error:
            return replace(
                committed, warnings=(*committed.warnings, f"{CHECKPOINT_FAILED}: {error}")
            )
        if digest is None and warning is None:
            # It was made by reading the log as others do, from a checkpoint if there is one.
            warning = (
                f"{CHECKPOINT_FAILED} of table `{self.name}` at version {version} is recorded: it"
                " says otherwise than the commits do; `rocky verify` says more"
            )
            return replace(committed, warnings=(warning,))
        return replace(committed, checkpoint_hash=digest)

    def history(self) -> list[dict[str, Any]]:
        """What each commit says of itself, with its `version`, newest first."""
        return self.log.history()

    def new_staging(self) -> str:
        """A fresh staging folder's path, relative to the table. Nothing is made.

        Raises `StoreUnreadable` where a link would lead what is written there elsewhere.
        """
        self.objects.local_path(f"{self.prefix}/{STAGING}")
        return f"{STAGING}/{uuid.uuid4().hex}"

    def place_of(self, file: DataFile) -> FileLocation:
        """Where a data file lies: not in the table's folder when a clone shares it."""
        return locate_file(self.objects, self.prefix, file.path)

    def file_uri(self, file: DataFile) -> str:
        """What Spark reads a data file by."""
        return self.place_of(file).spark_uri


@dataclass(frozen=True, slots=True)
class Warehouse:
    """All tables below one root. `vouch` knows their recorded checkpoints."""

    objects: Objects
    vouch: Vouch = field(default=vouch_for_none, repr=False, compare=False)
    _tables: dict[str, Table] = field(default_factory=dict, repr=False, compare=False)

    @property
    def uri(self) -> str:
        return self.objects.location.uri

    def vouched_by(self, vouch: Vouch) -> "Warehouse":
        """The same warehouse, for whoever has records of its checkpoints."""
        return Warehouse(self.objects, vouch)

    def table(self, target: TableName) -> Table:
        """The place of a table, whether or not there is one."""
        parts = (target.catalog, target.schema, target.table)
        name = ".".join(parts)
        if target.catalog.lower() == RESERVED:
            raise ChangeRefused(
                f"table `{name}` cannot be stored: Rocky keeps things of its own in `{RESERVED}`;"
                " name another catalog"
            )
        if target.catalog.lower().startswith(BRANCH_PREFIX):
            raise ChangeRefused(
                f"table `{name}` cannot be stored: folders that begin with `{BRANCH_PREFIX}` hold"
                " the tables of branches; name another catalog"
            )
        if any(part in ("", ".", "..") or "/" in part or "\0" in part for part in parts):
            raise ChangeRefused(f"table `{name}` cannot be stored: its name does not name a folder")
        return self._table(name, "/".join(parts))

    def holds(self, target: TableName) -> bool:
        """Whether there is such a table. Raises `StoreUnreadable` when that cannot be told."""
        return self.table(target).snapshot() is not None

    def tables(self) -> Iterator[Table]:
        """Every table there is, in the order of their names."""
        for catalog in self.objects.folders(""):
            if catalog == RESERVED or catalog.lower().startswith(BRANCH_PREFIX):
                continue
            for schema in self.objects.folders(catalog):
                for folder in self.objects.folders(schema):
                    if f"{folder}/{LOG_FOLDER}" in self.objects.folders(folder):
                        yield self._table(folder.replace("/", "."), folder)

    def _table(self, name: str, prefix: str) -> Table:
        # One object a table, so that what was read of its log is read once.
        log = Log(name, prefix, self.objects, vouch=self.vouch)
        return self._tables.setdefault(prefix, Table(name, prefix, self.objects, log))


def open_warehouse(root: str, *, base: Path, options: Mapping[str, str] | None = None) -> Warehouse:
    """The warehouse at `root`: a folder relative to `base`, or an `s3://` URI.

    `options` are settings of Spark (`spark.hadoop.fs.s3a.*`) and variables of the environment.
    Raises `StoreUnreadable` where a link stands for the folder of a branch, which lies in the
    warehouse of its parent; another warehouse's own folder may well be one.
    """
    folder = base / root.rstrip("/")
    if "://" not in root and folder.name.startswith(BRANCH_PREFIX) and folder.is_symlink():
        raise StoreUnreadable(
            f"could not read `{folder}`: it is a symbolic link, and the folder of a branch cannot"
            " be one; remove the link"
        )
    return Warehouse(open_objects(locate(root, base, options or {})))
