"""Records removed from a ledger: old runs by a sweep, the watermark of a table by request.

A sweep forgets runs that no longer prove anything, and the ledger says so. Only one sweep at a
time: it is claimed like a table, so that what it read still holds when it removes it. Runs go on
meanwhile; all they can rest on is of a kind that no sweep takes. Deleting a watermark does nothing
to its table, which stays until the next run has committed what replaces it.
"""

import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from pathlib import Path
from time import monotonic, sleep
from typing import Final, NamedTuple

from rocky.diagnostics.suggestion import suggestion
from rocky.errors import NothingSelected, RockyError
from rocky.evidence.retention.decisions import days_before
from rocky.evidence.retention.sweep_decisions import (
    KeepRunReason,
    SweepDecision,
    SweepFacts,
    decide_runs,
    load_sweep_facts,
    runs_in_logs,
)
from rocky.ledger import Ledger, open_evidence_reader
from rocky.ledger.claims import TableBusy, living_runs
from rocky.ledger.database import WRITER_PATIENCE_SECONDS
from rocky.ledger.idempotency import KEY_TABLE, find_expired
from rocky.ledger.record import RunId, key_of
from rocky.ledger.run_records import WatermarkState
from rocky.ledger.sweep import SWEPT, SweepRecord, load_last_sweep, record_sweep
from rocky.project.configuration.blocks import StateRetention
from rocky.store.warehouse import Warehouse

SWEEP: Final = "rocky state retention sweep"

_SWEEP_CLAIM: Final = "old runs"
"""What is claimed meanwhile; no table is called so."""

RUNS_AT_ONCE: Final = 500
"""Runs that are forgotten in one transaction: nobody else can write meanwhile."""

_RUN_TABLES: Final = frozenset(SWEPT) - {"collected_files"}

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class SweepReport:
    """What a sweep forgot, or would. `removed` counts rows by table, `kept` says why runs stay."""

    at: datetime
    cutoff: datetime
    runs: tuple[RunId, ...] = ()
    removed: Mapping[str, int] = field(default_factory=dict)
    kept: Mapping[KeepRunReason, int] = field(default_factory=dict)
    dry_run: bool = False
    duration_ms: int = 0
    over_budget: bool = False


def sweep_ledger(
    ledger: Ledger,
    warehouses: Sequence[Warehouse],
    retention: StateRetention,
    now: datetime,
) -> SweepReport:
    """Forget runs older than the retention that no table or record needs.

    Without the warehouse that an unfinished run wrote to, that run stays. Raises LedgerUnreadable,
    LedgerUnwritable, LedgerLocked when another sweep is running, and ClaimLost when its claim was
    taken away: what it has forgotten until then is whole. The caller leaves an anchor.
    """
    begun = monotonic()
    with ledger.claim([_SWEEP_CLAIM], SWEEP) as claim:
        report, rows = _find_swept_rows(ledger.path, warehouses, retention, now)
        why = (
            f"older than {retention.max_age_days} days, and not among the newest"
            f" {retention.min_runs_kept}"
        )
        for runs, part in _split_sweep(report.runs, rows):
            claim.check()
            record_sweep(ledger, SweepRecord(now, report.cutoff, why, runs), part)
    return _timed(report, int((monotonic() - begun) * 1000), retention.sweep_budget_ms)


class Compaction(NamedTuple):
    """How many bytes a state file lost; where it was left as it is, why."""

    freed: int = 0
    why_not: str | None = None


def compact_ledger(ledger: Ledger) -> Compaction:
    """Give back the room of what sweeps have removed; no row of evidence changes.

    Not while a run is running, which could not write its records meanwhile. What goes wrong undoes
    no sweep, and so is not raised.
    """
    try:
        with ledger.claim([_SWEEP_CLAIM], SWEEP):
            if living := living_runs(ledger.path):
                return Compaction(why_not=f"run `{living[0].run_id}` is running")
            return Compaction(ledger.compact())
    except RockyError as failure:
        return Compaction(why_not=str(failure))


def preview_sweep(
    state: Path, warehouses: Sequence[Warehouse], retention: StateRetention, now: datetime
) -> SweepReport:
    """What a sweep would forget. Nothing is changed. Raises LedgerUnreadable, LedgerLocked."""
    report, _ = _find_swept_rows(state, warehouses, retention, now)
    return replace(report, dry_run=True)


def sweep_if_due(
    ledger: Ledger, warehouses: Sequence[Warehouse], retention: StateRetention, now: datetime
) -> SweepReport | None:
    """A sweep, when the last one is long enough ago. None when it is not, or could not be made.

    A run must not fail because of it: what goes wrong is logged.
    """
    try:
        if not retention.applies_to or not _is_due(ledger, retention, now):
            return None
        return sweep_ledger(ledger, warehouses, retention, now)
    except RockyError as failure:
        logger.warning("the state file was not swept: %s", failure)
        return None


def _is_due(ledger: Ledger, retention: StateRetention, now: datetime) -> bool:
    last = load_last_sweep(ledger)
    return last is None or now - last >= timedelta(seconds=retention.sweep_interval_seconds)


def _find_swept_rows(
    state: Path, warehouses: Sequence[Warehouse], retention: StateRetention, now: datetime
) -> tuple[SweepReport, dict[str, Sequence[str]]]:
    """What goes, and the keys of its rows by table."""
    # Asked first: a run that ends in between is then in both answers.
    living = {claim.run_id for claim in living_runs(state)}
    reader = open_evidence_reader(state)
    if reader is None:
        return SweepReport(now, days_before(now, retention.max_age_days)), {}
    with reader:
        facts = load_sweep_facts(reader, retention, living, now)
        expired = find_expired(state, reader.rows(KEY_TABLE), now)
    verdicts = _decide(facts, warehouses, retention)
    rows = _rows_of(facts, verdicts, retention)
    removed = {table: len(keys) for table, keys in {**rows, KEY_TABLE: expired}.items() if keys}
    return SweepReport(now, facts.cutoff, verdicts.forgotten, removed, verdicts.kept), rows


def _decide(
    facts: SweepFacts, warehouses: Sequence[Warehouse], retention: StateRetention
) -> SweepDecision:
    verdicts = decide_runs(facts.runs, facts.old, facts.leaning({}), retention.applies_to)
    if KeepRunReason.UNCERTAIN not in verdicts.kept:
        return verdicts
    # Logs are read only when something hangs on them.
    undecided = [each for each in facts.old if facts.runs[each].unfinished]
    logs = runs_in_logs(facts, undecided, warehouses)
    return decide_runs(facts.runs, facts.old, facts.leaning(logs), retention.applies_to)


def _rows_of(
    facts: SweepFacts, verdicts: SweepDecision, retention: StateRetention
) -> dict[str, Sequence[str]]:
    """The keys to remove, by table."""
    gone = verdicts.forgotten
    rows: dict[str, Sequence[str]] = {"run_history": list(gone)}
    for table, by_run in facts.keys.items():
        rows[table] = [key for run_id in gone for key in by_run.get(run_id, ())]
    if "audit" in retention.applies_to:
        rows["collected_files"] = sorted(key for keys in facts.collected.values() for key in keys)
    forgotten = frozenset(gone)
    rows["run_progress"] = [
        key
        for run_id, keys in sorted(facts.progress.items())
        if run_id in facts.finished or run_id in forgotten or run_id not in facts.runs
        for key in keys
    ]
    return rows


def _split_sweep(
    runs: Sequence[RunId], rows: Mapping[str, Sequence[str]]
) -> Iterator[tuple[tuple[RunId, ...], dict[str, Sequence[str]]]]:
    """A sweep in parts, each of it whole, so that others may write in between."""
    of_runs = {table: keys for table, keys in rows.items() if table in _RUN_TABLES}
    for first in range(0, len(runs), RUNS_AT_ONCE):
        part = frozenset(runs[first : first + RUNS_AT_ONCE])
        yield (
            tuple(sorted(part)),
            {
                table: [key for key in keys if key.partition("|")[0] in part]
                for table, keys in of_runs.items()
            },
        )
    yield (), {table: keys for table, keys in rows.items() if table not in _RUN_TABLES}


def _timed(report: SweepReport, duration_ms: int, budget_ms: int) -> SweepReport:
    over = duration_ms > budget_ms
    logger.log(
        logging.WARNING if over else logging.INFO,
        "the state file was swept in %d ms: %d runs forgotten",
        duration_ms,
        len(report.runs),
    )
    return replace(report, duration_ms=duration_ms, over_budget=over)


DELETE_WATERMARK: Final = "rocky state delete"

_WATERMARKS: Final = "watermarks"
_PAUSE_SECONDS: Final = 0.1


def remove_watermark(
    ledger: Ledger, table: str, patience: float = WRITER_PATIENCE_SECONDS
) -> WatermarkState:
    """Delete the watermark of a table, given by its full name in any case; the one that was.

    Raises NothingSelected for a table without one, LedgerLocked when a living run writes it. A
    command that is at work on the table is waited for.
    """
    deadline = monotonic() + patience
    while True:
        try:
            return _remove(ledger, table.replace("`", ""))
        except TableBusy:
            if monotonic() > deadline:
                raise
            sleep(_PAUSE_SECONDS)


def _remove(ledger: Ledger, table: str) -> WatermarkState:
    with ledger.reader() as reader:
        known = {each.table.lower(): each for each in reader.watermarks()}
    found = known.get(table.lower())
    if found is None:
        raise NothingSelected(_describe_unknown(table, [each.table for each in known.values()]))
    with ledger.claim([found.table], DELETE_WATERMARK), ledger.transaction() as rows:
        rows.remove(_WATERMARKS, key_of(found.table.lower()))
    return found


def _describe_unknown(table: str, known: list[str]) -> str:
    hint = suggestion(table, known) or (
        "`rocky state` lists those that have one" if known else "no table has one yet"
    )
    return f"no watermark of a table `{table}`; {hint}"
