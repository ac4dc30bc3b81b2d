"""The commits of tables that are cloned, promoted onto or moved back: only what runs have recorded.

Whoever can write the warehouse may alter a log for as long as such a command takes. What it copies
would be recorded as made by it, with nothing left to compare.
"""

from collections.abc import Iterable

from rocky.errors import ForeignCommit
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

    `models` are the names of models by target, in lower case. Of other tables nothing is asked.
    """
    adopter = CommitAdopter(ledger, RunId(""), beside_runs=True)
    for table, snapshot in tables:
        model = models.get(table.name.lower())
        if model is not None:
            adopter.refuse_foreign(model, PinnedTable(table, snapshot))


def find_planted_tables(
    ledger: Ledger, tables: Iterable[tuple[Table, Snapshot]], models: dict[str, str]
) -> frozenset[str]:
    """The names, in lower case, of tables of no model in `models` that no run has made."""
    adopter, found = CommitAdopter(ledger, RunId(""), beside_runs=True), set()
    for table, snapshot in tables:
        name = table.name.lower()
        if name not in models:
            try:
                adopter.refuse_foreign(name.rpartition(".")[2], PinnedTable(table, snapshot))
            except ForeignCommit:
                found.add(name)
    return frozenset(found)


def refuse_altered_version(ledger: Ledger, model: str, table: Table, snapshot: Snapshot) -> None:
    """Raise ForeignCommit for a table at an older version whose commits were altered since."""
    CommitAdopter(ledger, RunId(""), beside_runs=True).refuse_altered(
        model, PinnedTable(table, snapshot)
    )
