"""Iceberg metadata, written from a Delta snapshot and from the metadata written before it.

The metadata of Delta version 7 is `metadata/v7.metadata.json`, so two writers of one version write
one file; `version-hint.text` says which is the latest. Only what changed is written: manifests of
files that stay are kept. When a change cannot be said in Iceberg's terms (a column dropped, a type
that is not widened, other partitions) the metadata begins anew.

Files are read and written through the store of the table itself: pyiceberg's own file access would
need the credentials of an object store a second time, in other words.
"""

import io
import uuid
from collections.abc import Callable, Sequence
from typing import Any, Final

from obstore.exceptions import BaseError
from pyiceberg.catalog.noop import NoopCatalog
from pyiceberg.exceptions import ResolveError, ValidationError
from pyiceberg.io import FileIO, InputFile, InputStream, OutputFile, OutputStream
from pyiceberg.manifest import DataFile as IcebergFile
from pyiceberg.manifest import DataFileContent, FileFormat
from pyiceberg.schema import Schema
from pyiceberg.table import Table as IcebergTable
from pyiceberg.table import Transaction
from pyiceberg.table.metadata import TableMetadata, TableMetadataUtil, new_table_metadata
from pyiceberg.table.sorting import UNSORTED_SORT_ORDER
from pyiceberg.typedef import Record
from pyiceberg.types import IcebergType, ListType, MapType, StructType

from rocky.errors import StoreUnwritable
from rocky.store.data_file import DataFile
from rocky.store.delta.comments import Comments, comments_of
from rocky.store.delta.labels import CLASSIFICATION, TABLE_LABELS
from rocky.store.delta.snapshot import Snapshot
from rocky.store.iceberg import FOLDER
from rocky.store.iceberg.schema import (
    column_metrics,
    iceberg_schema,
    partition_spec,
    partition_value,
)
from rocky.store.objects import Objects
from rocky.store.warehouse import Table


class StoredInput(InputFile):
    """A file that is read whole: manifests are small."""

    def __init__(self, location: str, objects: Objects, path: str) -> None:
        super().__init__(location)
        self._objects = objects
        self._path = path

    def __len__(self) -> int:
        found = self._objects.info(self._path)
        return found.size if found else 0

    def exists(self) -> bool:
        return self._objects.info(self._path) is not None

    def open(self, seekable: bool = True) -> InputStream:  # noqa: ARG002, FBT001, FBT002 - pyiceberg's signature
        data = self._objects.read(self._path)
        if data is None:
            raise FileNotFoundError(f"`{self.location}` is missing")
        return io.BytesIO(data)


class StoredOutput(OutputFile):
    """A file that appears, whole, when its stream is closed."""

    def __init__(self, location: str, objects: Objects, path: str) -> None:
        super().__init__(location)
        self._objects = objects
        self._path = path

    def __len__(self) -> int:
        return len(self.to_input_file())

    def exists(self) -> bool:
        return self.to_input_file().exists()

    def to_input_file(self) -> StoredInput:
        return StoredInput(self.location, self._objects, self._path)

    def create(self, overwrite: bool = False) -> OutputStream:  # noqa: ARG002, FBT001, FBT002 - pyiceberg's signature
        return _Stream(lambda data: self._objects.put(self._path, data))


class _Stream(io.BytesIO):
    """Bytes that are kept when the stream is closed."""

    def __init__(self, keep: Callable[[bytes], None]) -> None:
        super().__init__()
        self._keep = keep

    def close(self) -> None:
        if not self.closed:
            self._keep(self.getvalue())
        super().close()


class TableFileIO(FileIO):
    """The files below a table's location; `prefix` is its path below the root of the objects."""

    def __init__(self, objects: Objects, prefix: str, location: str) -> None:
        super().__init__({})
        self._objects = objects
        self._prefix = prefix
        self._location = location

    def new_input(self, location: str) -> StoredInput:
        return StoredInput(location, self._objects, self._path(location))

    def new_output(self, location: str) -> StoredOutput:
        return StoredOutput(location, self._objects, self._path(location))

    def delete(self, location: Any) -> None:
        self._objects.delete([self._path(getattr(location, "location", location))])

    def _path(self, location: str) -> str:
        return self._prefix + location.removeprefix(self._location)


HINT: Final = f"{FOLDER}/version-hint.text"
KEPT_SNAPSHOTS: Final = 100
"""More would make every commit slower: the metadata file names them all."""

_COMMENT: Final = "comment"
_NAME_MAPPING: Final = "schema.name-mapping.default"
_PROPERTIES: Final = {
    "commit.manifest-merge.enabled": "true",
    "write.parquet.compression-codec": "zstd",
}


def write_metadata(table: Table, snapshot: Snapshot, *, anew: bool = False) -> str:
    """The location of metadata for a snapshot, which is written unless it is there.

    `anew` if it is to know of no other snapshot: all that was written before is removed.
    """
    publishing = _Publication(table)
    try:
        if anew:
            publishing.renew(snapshot)
        else:
            publishing.publish(snapshot)
    except (OSError, BaseError, ValidationError) as error:
        raise StoreUnwritable(
            f"cannot write Iceberg metadata of `{table.name}`: {error}"
        ) from error
    return f"{publishing.location}/{_path_of(snapshot.version)}"


def _path_of(version: int) -> str:
    return f"{FOLDER}/v{version}.metadata.json"


class _Publication:
    """One table's metadata on its way from one snapshot to another."""

    def __init__(self, table: Table) -> None:
        self.location = table.objects.place(table.prefix)
        self._table = table
        self._objects = table.objects
        self._prefix = table.prefix
        self._io = TableFileIO(table.objects, table.prefix, self.location)

    def publish(self, snapshot: Snapshot) -> None:
        path = f"{self._prefix}/{_path_of(snapshot.version)}"
        if self._objects.info(path) is None:
            metadata = self.metadata_of(snapshot)
            self._objects.create(path, metadata.model_dump_json().encode())
        latest = self._latest()
        if latest is None or latest < snapshot.version:
            self._objects.put(f"{self._prefix}/{HINT}", str(snapshot.version).encode())

    def renew(self, snapshot: Snapshot) -> None:
        """Begin anew at a snapshot, and remove what tells of others."""
        before = [info.path for info in self._objects.list(f"{self._prefix}/{FOLDER}")]
        transaction = self._begin(
            _new_metadata(self.location, iceberg_schema(snapshot.schema), snapshot)
        )
        _describe(transaction, comments_of(snapshot))
        self._change_files(transaction, snapshot)
        path, hint = f"{self._prefix}/{_path_of(snapshot.version)}", f"{self._prefix}/{HINT}"
        self._objects.put(path, transaction.table_metadata.model_dump_json().encode())
        self._objects.put(hint, str(snapshot.version).encode())
        # Last: until here readers find what there was, and from here on what there is.
        self._objects.delete([each for each in before if each not in (path, hint)])

    def metadata_of(self, snapshot: Snapshot) -> TableMetadata:
        schema = iceberg_schema(snapshot.schema)
        previous = self._previous(snapshot.version)
        evolved = previous and self._evolved(previous, schema, snapshot.partition_columns)
        transaction = evolved or self._begin(_new_metadata(self.location, schema, snapshot))
        _describe(transaction, comments_of(snapshot))
        self._change_files(transaction, snapshot)
        metadata = transaction.table_metadata
        return metadata.model_copy(
            update={
                "snapshots": metadata.snapshots[-KEPT_SNAPSHOTS:],
                "snapshot_log": metadata.snapshot_log[-KEPT_SNAPSHOTS:],
            }
        )

    def _latest(self) -> int | None:
        """The version that the hint names; None when there is no hint."""
        hint = self._objects.read(f"{self._prefix}/{HINT}")
        return None if hint is None else int(hint)

    def _previous(self, version: int) -> TableMetadata | None:
        latest = self._latest()
        if latest is None or latest > version:
            return None
        written = self._objects.read(f"{self._prefix}/{_path_of(latest)}")
        return None if written is None else TableMetadataUtil.parse_raw(written.decode())

    def _begin(self, metadata: TableMetadata) -> Transaction:
        place = f"{self.location}/metadata"
        table = IcebergTable(("rocky",), metadata, place, self._io, NoopCatalog("rocky"))
        # Never committed: what it makes of the metadata is what is written.
        return Transaction(table)

    def _evolved(
        self, previous: TableMetadata, schema: Schema, partition_columns: Sequence[str]
    ) -> Transaction | None:
        """The previous metadata with the columns of `schema`; None when Iceberg knows no way."""
        if [field.name for field in previous.spec().fields] != list(partition_columns):
            return None
        transaction = self._begin(previous)
        if _shape(previous.schema().as_struct()) == _shape(schema.as_struct()):
            return transaction
        try:
            with transaction.update_schema() as update:
                update.union_by_name(schema)
        except (ValidationError, ResolveError, ValueError):
            return None
        reached = transaction.table_metadata.schema().as_struct()
        return transaction if _shape(reached) == _shape(schema.as_struct()) else None

    def _change_files(self, transaction: Transaction, snapshot: Snapshot) -> None:
        metadata = transaction.table_metadata
        live = self._live(metadata)
        wanted = {str(self._table.place_of(file)): file for file in snapshot.files}
        gone = [live[location] for location in live.keys() - wanted.keys()]
        new = [location for location in wanted if location not in live]
        if not gone and not new:
            return
        update = transaction.update_snapshot({"rocky.delta-version": str(snapshot.version)})
        with update.overwrite() if gone else update.merge_append() as changed:
            for file in gone:
                changed.delete_data_file(file)
            for location in new:
                changed.append_data_file(_file_entry(location, wanted[location], metadata))

    def _live(self, metadata: TableMetadata) -> dict[str, IcebergFile]:
        current = metadata.current_snapshot()
        if current is None:
            return {}
        return {
            entry.data_file.file_path: entry.data_file
            for manifest in current.manifests(self._io)
            for entry in manifest.fetch_manifest_entry(self._io, discard_deleted=True)
        }


def _describe(transaction: Transaction, comments: Comments) -> None:
    """Say of the table and its columns what its log says of them."""
    metadata = transaction.table_metadata
    fields = {field.name: field.doc or "" for field in metadata.schema().fields}
    wanted = {name: comments.columns.get(name.lower(), "") for name in fields}
    changed = {name: text for name, text in wanted.items() if text != fields[name]}
    if changed:
        with transaction.update_schema() as update:
            for name, text in changed.items():
                update.update_column((name,), doc=text)
    said = _properties_of(comments)
    known = {
        name: text
        for name, text in metadata.properties.items()
        if name == _COMMENT or name in TABLE_LABELS or name.startswith(f"{CLASSIFICATION}.")
    }
    new = {name: text for name, text in said.items() if known.get(name) != text}
    gone = known.keys() - said.keys()
    if new:
        transaction.set_properties(new)
    if gone:
        transaction.remove_properties(*sorted(gone))


def _properties_of(comments: Comments) -> dict[str, str]:
    """What properties say of a table: a column of Iceberg has a text, and no tags."""
    found = {} if comments.table is None else {_COMMENT: comments.table}
    found |= comments.labels.table
    for column, labels in comments.labels.columns.items():
        for key, tags in labels.items():
            found[f"{CLASSIFICATION}.{column}{key.removeprefix(CLASSIFICATION)}"] = tags
    return found


def _new_metadata(location: str, schema: Schema, snapshot: Snapshot) -> TableMetadata:
    metadata = new_table_metadata(
        schema,
        partition_spec(schema, snapshot.partition_columns),
        UNSORTED_SORT_ORDER,
        location,
        dict(_PROPERTIES),
        uuid.uuid5(uuid.NAMESPACE_OID, snapshot.table_id),
    )
    # Spark numbers no fields in its files: readers find columns by their names.
    mapping = metadata.schema().name_mapping.model_dump_json()
    return metadata.model_copy(update={"properties": {**_PROPERTIES, _NAME_MAPPING: mapping}})


def _file_entry(location: str, file: DataFile, metadata: TableMetadata) -> IcebergFile:
    schema, spec = metadata.schema(), metadata.spec()
    partition = [
        partition_value(file.partition_values[field.name], schema.find_type(field.source_id))
        for field in spec.fields
    ]
    return IcebergFile.from_args(
        content=DataFileContent.DATA,
        file_path=location,
        file_format=FileFormat.PARQUET,
        partition=Record(*partition),
        record_count=file.rows,
        file_size_in_bytes=file.size,
        spec_id=spec.spec_id,
        **column_metrics(file, schema),
    )


def _shape(type: IcebergType) -> Any:  # noqa: A002 - the noun of Iceberg's fields
    """A type without the numbers of its fields."""
    if isinstance(type, StructType):
        return tuple((field.name, _shape(field.field_type)) for field in type.fields)
    if isinstance(type, ListType):
        return ("list", _shape(type.element_type))
    if isinstance(type, MapType):
        return ("map", _shape(type.key_type), _shape(type.value_type))
    return str(type)
