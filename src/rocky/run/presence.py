"""Presence: whether the files that a table's log names are there, and with the bytes they had."""

from blake3 import blake3

from rocky.run.checksums import hash_file
from rocky.store.snapshot import Snapshot
from rocky.store.warehouse import Table


def missing_file(table: Table, snapshot: Snapshot) -> str | None:
    """A file of a snapshot that is not there, or not as long as it was."""
    start = len(table.prefix) + 1
    sizes = {info.path[start:]: info.size for info in table.objects.list(table.prefix)}
    return next((file.path for file in snapshot.files if sizes.get(file.path) != file.size), None)


def damaged_file(table: Table, snapshot: Snapshot) -> str | None:
    """A file of a snapshot that does not hold the bytes it is named by. All are read."""
    for file in snapshot.files:
        path = f"{table.prefix}/{file.path}"
        local = table.objects.local_path(path)
        try:
            digest = hash_file(local) if local is not None else _hash_object(table, path)
        except OSError:
            return file.path
        if digest != file.address:
            return file.path
    return None


def _hash_object(table: Table, path: str) -> str | None:
    data = table.objects.read(path)
    return None if data is None else blake3(data).hexdigest()
