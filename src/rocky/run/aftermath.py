"""What follows a commit or an unfinished run: metadata for other readers, leftovers removed.

None of it can spoil a table: Iceberg metadata says what the Delta log says, and only files that no
version refers to are removed, an hour after they were written, when no writer can still want them.
"""

from datetime import timedelta
from typing import Final

from rocky.errors import LedgerLocked
from rocky.ledger.writer import Ledger
from rocky.plan.steps import RunPlan
from rocky.project.adapter import Adapter
from rocky.run.engine import Engine
from rocky.run.outcomes import RunReport
from rocky.run.step_results import Announcement
from rocky.store.iceberg import check_iceberg, publish_iceberg
from rocky.store.snapshot import Snapshot
from rocky.store.sweep import sweep_table
from rocky.store.warehouse import Table, Warehouse

LEFT_FOR: Final = timedelta(hours=1)


def announcements_for(adapter: Adapter) -> tuple[Announcement, ...]:
    """Who else is to know of a table. Raises ExtraMissing before anything has run."""
    found: list[Announcement] = []
    if adapter.iceberg:
        check_iceberg()
        found.append(Announcement(_publish_iceberg))
    if adapter.register:
        found.append(Announcement(_register, needs_engine=True))
    return tuple(found)


def _publish_iceberg(_engine: Engine | None, table: Table, snapshot: Snapshot) -> None:
    publish_iceberg(table, snapshot)


def _register(engine: Engine | None, table: Table, _snapshot: Snapshot) -> None:
    assert engine is not None
    engine.register(table)


def sweep_after(plan: RunPlan, report: RunReport, warehouse: Warehouse, ledger: Ledger) -> int:
    """Remove what an unfinished run left behind in the tables this one built; how many files.

    A table that another run has begun to write meanwhile is left for later.
    """
    if report.resumed_from is None:
        return 0
    before = round((report.started_at - LEFT_FOR).timestamp() * 1000)
    swept = 0
    for each in report.outcomes:
        if not each.succeeded or each.step.kind != "build":
            continue
        table = warehouse.table(plan.project.models[each.step.key].target)
        try:
            with ledger.claim([table.name], "rocky run"):
                swept += len(sweep_table(table, before))
        except LedgerLocked:
            continue
    return swept
