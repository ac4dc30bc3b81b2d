"""Iceberg: a second set of metadata over the same files, for readers that know no Delta.

The Delta log stays the truth: Iceberg metadata is written after a commit, from the snapshot alone,
and can be written again at any time. Of the Iceberg modules only this one may be imported without
`pyiceberg`.
"""

from rocky.store.delta.snapshot import Snapshot
from rocky.store.extras import load_extra
from rocky.store.warehouse import Table


def check_iceberg() -> None:
    """Raises `ExtraMissing` without `pyiceberg`."""
    load_extra("rocky.store.iceberg_metadata", "iceberg")


def publish_iceberg(table: Table, snapshot: Snapshot) -> str:
    """The location of Iceberg metadata that says what the snapshot says.

    Raises `ExtraMissing` without `pyiceberg`, and `StoreUnwritable` when a column has no Iceberg
    type or the files cannot be written.
    """
    metadata = load_extra("rocky.store.iceberg_metadata", "iceberg")
    return str(metadata.write_metadata(table, snapshot))
