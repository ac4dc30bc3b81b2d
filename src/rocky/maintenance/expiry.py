"""Expiry: rows that are older than their model keeps them leave its table, in one commit.

How old a row is says the time column of the model's strategy; a row without a time stays. Rows go
by whole days, in UTC: a table asked twice on one day loses nothing the second time. Files that hold
no old row stay as they are, by the bounds in the log. The hash of the rows that go is subtracted
from that of the table, after the two parts of what was read have been found to make up the whole.

The rows are still in the table's older versions until nothing needs those.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Final, Literal, NamedTuple

from rocky.errors import RockyError
from rocky.language.datatypes.types import DATETIME_KINDS, StructField
from rocky.language.names import quote_name
from rocky.ledger.record import RunId
from rocky.maintenance.rewrite_records import Rewrite, deletion_records
from rocky.maintenance.table_work import (
    Maintenance,
    TableWork,
    find_obstacle,
    look_after,
    refuse_stopped,
)
from rocky.maintenance.tables import RecordedTable, find_tables, load_table_records
from rocky.plan.intervals import time_literal
from rocky.run.engine.protocol import Engine, Written
from rocky.run.engine.sql import FILE_NAME, column_list
from rocky.run.materialize.key_bounds import bounds_of
from rocky.run.materialize.workspace import NO_ROWS, add_hashes, subtract_hash
from rocky.run.prepare.session import RunSession
from rocky.spark.interface import TARGET_FILE_BYTES
from rocky.store.data_file import DataFile
from rocky.store.delta.snapshot import ROWS_HASH, Snapshot

EXPIRED: Final = "expire"
"""The `decision` of an execution that has deleted old rows."""
_MOST_FILES: Final = 10_000_000
_DAY_WIDTH: Final = 10
_TIME_WIDTH: Final = 23

ExpiryStatus = Literal["expired", "pending", "unchanged", "left_alone"]


class ExpiryRule(NamedTuple):
    """Rows of a table are kept for some days, by a column."""

    column: str
    days: int

    def cutoff(self, now: datetime) -> datetime:
        """The day, in UTC, before which rows go."""
        day = now.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
        return day - timedelta(days=self.days)


@dataclass(frozen=True, slots=True)
class ExpiringTable:
    """What happened to one table, or would; `reason` says why it was left alone.

    The rows of files `whole` are all old, those `across` may be. `after` is the table then, None
    while it is as it was, and `expired` the number of rows that went.
    """

    table: str
    model: str
    status: ExpiryStatus
    rule: ExpiryRule
    cutoff: datetime
    before: Snapshot
    whole: tuple[DataFile, ...] = ()
    across: tuple[DataFile, ...] = ()
    after: Snapshot | None = None
    expired: int | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Expiry:
    """What happened to some tables, and the run that it is recorded as; None where nothing was."""

    tables: tuple[ExpiringTable, ...]
    run_id: RunId | None = None


def plan_expiry(
    found: Sequence[RecordedTable], rules: Mapping[str, ExpiryRule], now: datetime
) -> Expiry:
    """What would be done with tables, by their targets in lower case. Needs no Spark."""
    return Expiry(tuple(_judge(each, rules[each.table.name.lower()], now) for each in found))


def _judge(found: RecordedTable, rule: ExpiryRule, now: datetime) -> ExpiringTable:
    snapshot, cutoff = found.snapshot, rule.cutoff(now)
    judged = ExpiringTable(found.table.name, found.model, "pending", rule, cutoff, snapshot)
    column = _column_of(snapshot, rule)
    reason = find_obstacle(found)
    if column is None:
        reason = f"it has no column `{rule.column}`"
    elif column.type.kind not in DATETIME_KINDS:
        reason = f"its column `{column.name}` is `{column.type}`, not a date or a timestamp"
    if reason is not None or column is None:
        return replace(judged, status="left_alone", reason=reason)
    whole, across = _old_files(snapshot.files, column, cutoff)
    if not whole and not across:
        return replace(judged, status="unchanged", expired=0)
    return replace(judged, whole=whole, across=across)


def _column_of(snapshot: Snapshot, rule: ExpiryRule) -> StructField | None:
    named = (each for each in snapshot.schema if each.name.lower() == rule.column.lower())
    return next(named, None)


def _old_files(
    files: Sequence[DataFile], column: StructField, cutoff: datetime
) -> tuple[tuple[DataFile, ...], tuple[DataFile, ...]]:
    """The files whose rows are all old, and those that may hold old ones, by their bounds."""
    # Bounds are cut to milliseconds, which moves none over the begin of a day.
    width = _DAY_WIDTH if column.type.kind == "date" else _TIME_WIDTH
    begin = cutoff.strftime("%Y-%m-%dT%H:%M:%S.000").zfill(_TIME_WIDTH)[:width]
    whole, across = [], []
    for file in files:
        bounds = bounds_of(file, column.name)
        if not isinstance(bounds.low, str) or not isinstance(bounds.high, str):
            if bounds.nulls != file.rows:
                across.append(file)
        elif bounds.high[:width] < begin and bounds.nulls == 0:
            whole.append(file)
        elif bounds.low[:width] < begin:
            across.append(file)
    return tuple(whole), tuple(across)


def expire_tables(
    opened: RunSession, wanted: Sequence[str], rules: Mapping[str, ExpiryRule], now: datetime
) -> Expiry:
    """Delete the old rows of tables, by target, in one run; what is done stays done.

    Raises RockyError for the first table whose rows cannot be deleted, which is as it was, and
    KeyboardInterrupt where it is to stop.
    """
    state, warehouse = opened.resources.ledger.path, opened.resources.warehouse
    found = find_tables(load_table_records(state), warehouse, wanted)
    planned = plan_expiry(found, rules, now)
    way = Maintenance(
        "retention",
        lambda each: _judge(each, rules[each.table.name.lower()], now),
        lambda begun, each, judged: _ExpiryWork(opened, begun, each).expire(judged),
    )
    return Expiry(*look_after(opened, way, found, planned.tables, now))


class _ExpiryWork(TableWork):
    """One table whose old rows are being deleted."""

    def expire(self, judged: ExpiringTable) -> ExpiringTable:
        resources = self.opened.resources
        started = resources.clock()
        self.require_sound((*judged.whole, *judged.across))
        engine = resources.open_engine()
        column = _column_of(self.snapshot, judged.rule)
        assert column is not None
        old = f"{quote_name(column.name)} < {time_literal(judged.cutoff, column.type)}"
        with self.explained(engine):
            judged = self._look(engine, judged, old)
            gone = (*judged.whole, *judged.across)
            if not gone:
                return replace(judged, status="unchanged", expired=0)
            left, expired = self._part(engine, judged, old)
            rows_hash = subtract_hash(self.snapshot.configuration[ROWS_HASH], expired)
            committed = self.commit("DELETE", gone, left.files, rows_hash)
        number = sum(file.rows for file in gone) - left.rows
        done = Rewrite(
            self.found,
            committed,
            EXPIRED,
            f"{number} rows from before {judged.cutoff:%Y-%m-%d} were deleted",
            self.begun.run_id,
            started,
            resources.clock(),
        )
        self.record(deletion_records(done, number), committed, engine)
        return replace(judged, status="expired", after=committed.snapshot, expired=number)

    def _look(self, engine: Engine, judged: ExpiringTable, old: str) -> ExpiringTable:
        """The same, knowing of each file across how many of its rows are old."""
        if not judged.across:
            return judged
        with self.bound(engine, judged.across) as view:
            named = f"SELECT {FILE_NAME} AS file FROM {view} WHERE {old}"  # noqa: S608 - quoted
            asked = f"SELECT file, count(*) FROM ({named}) AS found GROUP BY file"  # noqa: S608
            counts = dict(engine.rows(engine.frame(asked), _MOST_FILES))
        whole = [file for file in judged.across if counts.get(file.name) == file.rows]
        across = [file for file in judged.across if 0 < counts.get(file.name, 0) < file.rows]
        return replace(judged, whole=(*judged.whole, *whole), across=tuple(across))

    def _part(self, engine: Engine, judged: ExpiringTable, old: str) -> tuple[Written, str]:
        """The rows that stay, as files, and the hash of those that go. Raises RockyError."""
        refuse_stopped(self.opened.stop)
        table, snapshot, _ = self.found
        gone = (*judged.whole, *judged.across)
        paths = {file.path for file in gone}
        names = column_list(field.name for field in snapshot.schema)
        with self.bound(engine, gone) as view:
            rows = f"SELECT {names} FROM {view}"  # noqa: S608 - names are quoted
            read = engine.rows_hash(engine.frame(rows))
            expired = engine.rows_hash(engine.frame(f"{rows} WHERE {old}"))
        left = Written((), 0, NO_ROWS)
        if judged.across:
            kept = frozenset(file.path for file in snapshot.files if file.path not in paths)
            with self.bound(engine, judged.across) as view:
                stays = f"SELECT {names} FROM {view} WHERE ({old}) IS NOT TRUE"  # noqa: S608
                size = sum(file.size for file in judged.across)
                layout = replace(self.layout, pieces=max(1, size // TARGET_FILE_BYTES))
                left = engine.write(engine.frame(stays), table, layout, snapshot.schema, kept)
        if add_hashes((expired, left.rows_hash)) != read:
            raise RockyError(
                f"no row of `{table.name}` was deleted: what would go and what would stay do not"
                " make up what is there; the table is as it was"
            )
        return left, expired
