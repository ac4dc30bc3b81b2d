"""The checkpoints a ledger has on record, which its runs may believe in place of commits."""

from rocky.ledger.writer import Ledger


class RecordedCheckpoints:
    """Says which checkpoints runs of a ledger have made or compared. Threads may share it.

    Asked for a table whose log has one, so that tables which nobody reads cost nothing.
    """

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    def vouch(self, table: str, version: int, digest: str) -> bool:
        with self._ledger.lookups() as lookups:
            return lookups.has_checkpoint(table, version, digest)
