"""Resetting: a table's watermark deleted, so that its next run copies everything anew.

Nothing is done to the table: it stays as it is until that run has committed what replaces it.
"""

from time import monotonic, sleep
from typing import Final

from rocky.diagnostics.suggest import suggestion
from rocky.errors import NothingSelected
from rocky.ledger import Ledger
from rocky.ledger.claims import HeldBriefly
from rocky.ledger.database import WRITER_PATIENCE_SECONDS
from rocky.ledger.records import WatermarkState
from rocky.ledger.rows import key_of

RESET: Final = "rocky state delete"

_WATERMARKS: Final = "watermarks"
_PAUSE_SECONDS: Final = 0.1


def forget_watermark(
    ledger: Ledger, table: str, patience: float = WRITER_PATIENCE_SECONDS
) -> WatermarkState:
    """Delete the watermark of a table, given by its full name in any case; the one that was.

    Raises NothingSelected for a table without one, LedgerLocked when a living run writes it. A
    command that is at work on the table is waited for.
    """
    deadline = monotonic() + patience
    while True:
        try:
            return _forget(ledger, table.replace("`", ""))
        except HeldBriefly:
            if monotonic() > deadline:
                raise
            sleep(_PAUSE_SECONDS)


def _forget(ledger: Ledger, table: str) -> WatermarkState:
    with ledger.reader() as reader:
        known = {each.table.lower(): each for each in reader.watermarks()}
    found = known.get(table.lower())
    if found is None:
        raise NothingSelected(_unknown(table, [each.table for each in known.values()]))
    with ledger.claim([found.table], RESET), ledger.transaction() as rows:
        rows.remove(_WATERMARKS, key_of(found.table.lower()))
    return found


def _unknown(table: str, known: list[str]) -> str:
    hint = suggestion(table, known) or (
        "`rocky state` lists those that have one" if known else "no table has one yet"
    )
    return f"no watermark of a table `{table}`; {hint}"
