"""Sweeps, as the ledger keeps them: which runs were forgotten, and rows removed because of it.

A sweep is told first and done next, in one transaction: the entries after that of its record are
the removals. So whoever reads the chain knows of every entry that is gone why it is.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final

from rocky.canonical import record_json
from rocky.errors import LedgerUnreadable
from rocky.ledger.idempotency import KEY_TABLE, find_expired
from rocky.ledger.ledger_file import LedgerFile
from rocky.ledger.record import Record, RunId, format_time, parse_time
from rocky.ledger.schema import RowWriter

SWEEPS: Final = "sweeps"
LAST_SWEEP: Final = "last_sweep"
_MICROSECOND: Final = timedelta(microseconds=1)

SWEPT: Final = (
    "run_history",
    "model_executions",
    "output_artifacts",
    "input_provenance",
    "collected_files",
)
"""The tables that a sweep may take rows from, of those that are evidence."""


@dataclass(frozen=True, slots=True)
class SweepRecord(Record):
    """One sweep. `runs` are forgotten: all began before `cutoff`. `removed` counts rows by table.

    Rows that are no evidence are not counted: nobody could tell whether they were there.
    """

    at: datetime
    cutoff: datetime
    reason: str
    runs: tuple[RunId, ...] = ()
    removed: Mapping[str, int] = field(default_factory=dict)


def record_sweep(ledger: LedgerFile, sweep: SweepRecord, rows: Mapping[str, Sequence[str]]) -> None:
    """Remove rows, given by table and key, and expired idempotency keys, and say so.

    All of it or nothing. What is expired is seen here: a key may be claimed anew at any time.
    """
    evidence = {table: keys for table, keys in rows.items() if table in SWEPT and keys}
    counted = {table: len(keys) for table, keys in evidence.items()}
    with ledger.transaction() as written:
        if evidence:
            at = _free_moment(written, sweep.at)
            told = SweepRecord(at, sweep.cutoff, sweep.reason, sweep.runs, counted)
            written.put(SWEEPS, format_time(at), record_json(told.to_json()))
        for table in SWEPT:
            for key in evidence.get(table, ()):
                written.remove(table, key)
        for table, keys in rows.items():
            if table not in SWEPT:
                for key in keys:
                    written.remove(table, key)
        for key in find_expired(ledger.path, written.rows(KEY_TABLE), sweep.at):
            written.remove(KEY_TABLE, key)
        written.put("metadata", LAST_SWEEP, f'"{format_time(sweep.at)}"')


def _free_moment(rows: RowWriter, at: datetime) -> datetime:
    """When a sweep is recorded: a microsecond later while another one is."""
    while rows.find(SWEEPS, format_time(at)) is not None:
        at += _MICROSECOND
    return at


def load_last_sweep(ledger: LedgerFile) -> datetime | None:
    """When a sweep last ended well; None when none did. Raises LedgerUnreadable."""
    with ledger.transaction() as rows:
        value = rows.find("metadata", LAST_SWEEP)
    try:
        return None if value is None else parse_time(value.strip('"'))
    except ValueError as wrong:
        raise LedgerUnreadable(
            f"the state file `{ledger.path}` does not say when it was last swept ({wrong});"
            " `rocky state retention sweep` puts that right"
        ) from wrong
