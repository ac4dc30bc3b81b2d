"""The commits of tables that are cloned, promoted onto or moved back: only what runs have recorded.

Whoever can write the warehouse may alter a log for as long as such a command takes. What it copies
would be recorded as made by it, with nothing left to compare.
"""

from collections.abc import Iterable

from rocky.ledger import Ledger
from rocky.ledger.record import RunId
from rocky.run.prepare.pins import PinnedTable
from rocky.run.record.commits import CommitAdopter
from rocky.store.delta.snapshot import Snapshot
from rocky.store.warehouse import Table


def refuse_foreign_tables(
    ledger: Ledger, tables: Iterable[tuple[Table, Snapshot]], models: dict[str, str]
) -> None:
    """Raise ForeignCommit for a table, as it is now, that somebody else has written or altered.

    `models` are the names of models by target, in lower case. Of tables that are nobody's, and of
    no model, nothing is asked.
    """
    adopter = CommitAdopter(ledger, RunId(""), beside_runs=True)
    for table, snapshot in tables:
        model = models.get(table.name.lower())
        if model is not None:
            adopter.refuse_foreign(model, PinnedTable(table, snapshot))


def refuse_altered_version(ledger: Ledger, model: str, table: Table, snapshot: Snapshot) -> None:
    """Raise ForeignCommit for a table at an older version whose commits were altered since."""
    CommitAdopter(ledger, RunId(""), beside_runs=True).refuse_altered(
        model, PinnedTable(table, snapshot)
    )
