"""Iceberg: a second set of metadata over the same files, for readers that know no Delta.

The Delta log stays the truth: Iceberg metadata is written after a commit, from the snapshot alone,
and can be written again at any time. Of the Iceberg modules only this one and
`table_columns`, which reads tables of others, may be imported without `pyiceberg`.
"""

from typing import Final

from rocky.errors import needs_extra
from rocky.store.delta.snapshot import Snapshot
from rocky.store.warehouse import Table

FOLDER: Final = "metadata"
"""Where the metadata lies in the folder of a table."""


def has_iceberg(table: Table) -> bool:
    """Whether there is metadata of Iceberg beside a table."""
    return any(True for _ in table.objects.list(f"{table.prefix}/{FOLDER}"))


def check_iceberg() -> None:
    """Raises `ExtraMissing` without `pyiceberg`."""
    with needs_extra("iceberg"):
        import rocky.store.iceberg.metadata  # noqa: F401, PLC0415


def publish_iceberg(table: Table, snapshot: Snapshot) -> str:
    """The location of Iceberg metadata that says what the snapshot says.

    Raises `ExtraMissing` without `pyiceberg`, and `StoreUnwritable` when a column has no Iceberg
    type or the files cannot be written.
    """
    with needs_extra("iceberg"):
        from rocky.store.iceberg.metadata import write_metadata  # noqa: PLC0415
    return write_metadata(table, snapshot)


def renew_iceberg(table: Table, snapshot: Snapshot) -> None:
    """Write metadata that knows of this snapshot alone, and remove what told of others.

    Manifests repeat bounds of values, and name files that may be gone. Raises as `publish_iceberg`.
    """
    with needs_extra("iceberg"):
        from rocky.store.iceberg.metadata import write_metadata  # noqa: PLC0415
    write_metadata(table, snapshot, anew=True)
