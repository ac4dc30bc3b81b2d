"""The checkpoints a ledger has on record, which its runs may believe in place of commits."""

from functools import cached_property

from rocky.ledger.writer import Ledger


class RecordedCheckpoints:
    """Says which checkpoints runs of a ledger have made or compared. Threads may share it.

    They are looked up once, when the first log with a checkpoint is read: one that comes later is
    not vouched for, and its commits are read.
    """

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    def vouch(self, table: str, version: int, digest: str) -> bool:
        return self._hashes.get((table.lower(), version)) == digest

    @cached_property
    def _hashes(self) -> dict[tuple[str, int], str]:
        with self._ledger.lookups() as lookups:
            return lookups.recorded_checkpoints()
