"""Presence: whether the files that a table's log names are there, told by their names and sizes."""

from rocky.store.snapshot import Snapshot
from rocky.store.warehouse import Table


def missing_file(table: Table, snapshot: Snapshot) -> str | None:
    """A file of a snapshot that is not there, or not as long as it was."""
    start = len(table.prefix) + 1
    sizes = {info.path[start:]: info.size for info in table.objects.list(table.prefix)}
    return next((file.path for file in snapshot.files if sizes.get(file.path) != file.size), None)
