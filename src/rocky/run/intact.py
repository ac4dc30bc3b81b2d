"""Intact inputs: a table is read only while its files hold the bytes they are named by.

Spark reads a damaged page without a word, and the result would be recorded as made from files that
were never read. A file is hashed when it is first read and after it was touched, not each time.
"""

from rocky.errors import StoreUnreadable
from rocky.run.checksums import HASHED_UP_TO_BYTES, Checksums
from rocky.run.pinning import PinnedTable
from rocky.store.files import is_addressed


def refuse_damaged(pinned: PinnedTable, checksums: Checksums | None) -> None:
    """Raise StoreUnreadable for a file of ours on a disk that is not what its name says."""
    table, snapshot = pinned.table, pinned.snapshot
    if checksums is None or snapshot.bytes > HASHED_UP_TO_BYTES:
        # Of a larger table `rocky verify` reads everything.
        return
    for file in snapshot.files:
        local = table.place_of(file).local
        if local is None or not is_addressed(file.path) or not local.exists():
            # What lies elsewhere is its store's to keep; what is missing Spark itself names.
            continue
        if checksums.of([str(local)]) != (file.address,):
            raise StoreUnreadable(
                f"file `{local}` of `{table.name}` is damaged: its bytes are not those it is named"
                " by; put it back, or build its table again with `--force-rebuild`"
            )
