"""Presence: whether the files that a table's log names are there, and with the bytes they had."""

from blake3 import blake3

from rocky.run.checksums import hash_file
from rocky.store.elsewhere import FilePlace
from rocky.store.snapshot import Snapshot
from rocky.store.warehouse import Table


def missing_file(table: Table, snapshot: Snapshot) -> str | None:
    """A file of a snapshot that is not there, or not as long as it was."""
    sizes: dict[str, dict[str, int]] = {}
    for file in snapshot.files:
        place = table.place_of(file)
        # What lies elsewhere lies in the folder of another table, which is listed once as well.
        folder = place.path.removesuffix(f"/{file.name}")
        if folder not in sizes:
            sizes[folder] = {info.path: info.size for info in place.objects.list(folder)}
        if sizes[folder].get(place.path) != file.size:
            return file.path
    return None


def damaged_file(table: Table, snapshot: Snapshot) -> str | None:
    """A file of a snapshot that does not hold the bytes it is named by. All are read."""
    for file in snapshot.files:
        place = table.place_of(file)
        local = place.local
        try:
            digest = hash_file(local) if local is not None else _hash_object(place)
        except OSError:
            return file.path
        if digest != file.address:
            return file.path
    return None


def _hash_object(place: FilePlace) -> str | None:
    data = place.read()
    return None if data is None else blake3(data).hexdigest()
