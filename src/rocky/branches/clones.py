"""Clones: every table of a parent cloned without copying, and recorded in the branch's new ledger.

The branch's own ledger begins with a run that records each clone, with what is known of how it was
made: so the branch verifies by itself, continues incremental tables where they were, and builds
only what its code makes differently. Production's ledger gets its row last: until then there is no
branch, and what a creation that died has left is cleared away by the next one.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Final

from rocky.branches.record_transfer import TableArrival, transfer_records
from rocky.branches.tables import same_table_in, table_content
from rocky.errors import PromotionUnfinished
from rocky.ledger import Ledger
from rocky.ledger.pipeline_state import append_counts, load_counts
from rocky.ledger.readers.table import TableRecords
from rocky.ledger.record import RunId
from rocky.ledger.run_records import RunRecord, RunStatus, TotalsRecord
from rocky.ledger.writer import RunFindings
from rocky.run.prepare.caller import RunOrigin
from rocky.run.prepare.claims import refuse_unfinished_erasure, write_ledger_anchor
from rocky.store.clone import clone_tables
from rocky.store.delta.change import Committed
from rocky.store.delta.snapshot import Snapshot
from rocky.store.journal import has_journal
from rocky.store.warehouse import Table, Warehouse

CLONED: Final = "clone"
"""The `decision` of a table that a branch was made with."""


@dataclass(frozen=True, slots=True)
class Parent:
    """What a branch is made of: tables at versions, and what is recorded of them, by target."""

    name: str
    warehouse: Warehouse
    tables: Mapping[Table, Snapshot]
    known: Mapping[str, TableRecords] = field(default_factory=dict)
    state: Path | None = None

    @property
    def versions(self) -> dict[str, int]:
        return {table.name: snapshot.version for table, snapshot in self.tables.items()}


@dataclass(frozen=True, slots=True)
class BranchOrigin:
    """Who makes a branch, when, with which settings."""

    circumstances: RunOrigin
    config_hash: str
    now: datetime


def clone_parent(
    ledger: Ledger, warehouse: Warehouse, parent: Parent, origin: BranchOrigin
) -> RunId:
    """Clone the parent's tables into a warehouse and record them in a ledger that is empty.

    Raises ChangeRefused where a table lies there already, and what store and ledger raise.
    """
    refuse_unfinished_promotion(parent.warehouse)
    run_id = ledger.begin_run(_run_record(warehouse, origin), [])
    try:
        clones = [
            (table, at, same_table_in(table, warehouse)) for table, at in parent.tables.items()
        ]
        info = partial(_info, ledger, run_id, parent)
        made = clone_tables(clones, info)
        arrived = dict(zip((clone for _, _, clone in clones), made, strict=True))
        _record(ledger, run_id, parent, arrived, origin.now)
    except BaseException as error:
        ledger.finish_run(run_id, RunStatus.FAILURE, origin.now, reason=str(error) or "stopped")
        raise
    found = RunFindings(TotalsRecord(models=len(parent.tables)))
    # The anchor is written before the run says so, and once more after its record is complete.
    write_ledger_anchor(warehouse, ledger, ledger.head(), run_id, origin.now)
    ledger.finish_run(run_id, RunStatus.SUCCESS, origin.now, found=found, anchored=True)
    write_ledger_anchor(warehouse, ledger, ledger.head(), run_id, origin.now)
    return run_id


def refuse_unfinished_promotion(warehouse: Warehouse) -> None:
    """Raises PromotionUnfinished where a branch would be made of half a promotion."""
    if has_journal(warehouse):
        raise PromotionUnfinished(
            "a promotion was interrupted, so some tables may be moved and others not;"
            " `rocky branch recover` finishes it"
        )
    refuse_unfinished_erasure(warehouse)


def _run_record(warehouse: Warehouse, origin: BranchOrigin) -> RunRecord:
    place = warehouse.objects.place("")
    record = origin.circumstances.open_record(origin.now, origin.config_hash, place)
    return replace(record, selection=("branch create",))


def _info(ledger: Ledger, run_id: RunId, parent: Parent, table: Table) -> dict[str, str]:
    return {
        "runId": run_id,
        "model": _model_name(parent, table),
        "ledgerHead": ledger.head().entry_hash,
        "ledgerId": ledger.ledger_id,
    }


def _record(
    ledger: Ledger,
    run_id: RunId,
    parent: Parent,
    arrived: Mapping[Table, Committed],
    now: datetime,
) -> None:
    contents = {
        table.name.lower(): (table_content(made.snapshot), made.snapshot.version)
        for table, made in arrived.items()
    }

    def version_of(target: str, identity: str | None) -> int | None:
        content, version = contents.get(target.lower(), (None, None))
        return version if content is not None and content == identity else None

    records = []
    for (table, at), (clone, made) in zip(parent.tables.items(), arrived.items(), strict=True):
        known = parent.known.get(table.name.lower())
        if known is not None and known.execution.commit_version != at.version:
            # Somebody else has changed the table since: what is recorded is of other rows.
            known = None
        built = f", built by {known.run_id}" if known is not None else ""
        arrival = TableArrival(
            run_id,
            now,
            clone,
            made,
            _model_name(parent, table),
            CLONED,
            f"cloned from version {at.version} of {parent.name}{built}",
            version_of,
            base=made.snapshot.version,
        )
        records.append(transfer_records(arrival, known))
    ledger.record_models(run_id, records)
    _take_counts(ledger, parent)


def _take_counts(ledger: Ledger, parent: Parent) -> None:
    """What checks compare row counts with."""
    if parent.state is None:
        return
    known = load_counts(parent.state, parent.versions)
    for at in range(max(map(len, known.values()), default=0)):
        append_counts(ledger, {name: rows[at] for name, rows in known.items() if at < len(rows)})


def _model_name(parent: Parent, table: Table) -> str:
    known = parent.known.get(table.name.lower())
    return known.execution.model_name if known is not None else table.name
