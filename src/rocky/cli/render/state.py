"""What the ledger remembers between runs, as text for people and as a JSON document."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Any

from rocky.cli.render.compilation import counted
from rocky.cli.render.tables import render_table
from rocky.cli.render.units import NOTHING, format_count, format_moment
from rocky.ledger.pipeline_records import GracePeriod, IdempotencyRecord
from rocky.ledger.pipeline_state import CountedTable
from rocky.ledger.readers.history import EMPTY_TOTALS, LedgerTotals
from rocky.ledger.run_records import PartitionRecord, PartitionStatus, WatermarkState


@dataclass(frozen=True, slots=True)
class StateView:
    """What there is to show. `version` is None when there is no file yet."""

    path: Path
    supported: int
    version: int | None = None
    totals: LedgerTotals = EMPTY_TOTALS
    watermarks: tuple[WatermarkState, ...] = ()
    partitions: tuple[PartitionRecord, ...] = ()
    grace_periods: tuple[GracePeriod, ...] = ()
    counted: tuple[CountedTable, ...] = ()
    loaded_files: Mapping[str, int] = field(default_factory=dict)
    keys_in_flight: tuple[IdempotencyRecord, ...] = ()


def state_document(view: StateView) -> dict[str, Any]:
    """What `rocky state -o json` prints."""
    document: dict[str, Any] = {
        "path": str(view.path),
        "schema_version_supported": view.supported,
        "runs": view.totals.runs,
        "executions": view.totals.executions,
        "artifacts": view.totals.artifacts,
        "watermarks": [each.to_json() for each in view.watermarks],
        "partitions": [each.to_json() for each in view.partitions],
        "grace_periods": [each.to_json() for each in view.grace_periods],
        "check_history": [
            {"table": each.table, "counts": each.counts, "last": each.last.to_json()}
            for each in view.counted
        ],
        "loaded_files": [
            {"table": table, "files": files} for table, files in view.loaded_files.items()
        ],
        "keys_in_flight": [_key_document(each) for each in view.keys_in_flight],
    }
    if view.version is not None:
        document["schema_version_on_disk"] = view.version
    return document


def render_state(view: StateView) -> str:
    """The file, how far each incremental table is, and which intervals are computed."""
    if view.version is None:
        return f"no state yet: `{view.path}` is made by the first run"
    totals = view.totals
    parts = [
        f"state: {view.path} (schema {view.version})",
        ", ".join(
            (
                counted(totals.runs, "run"),
                counted(totals.executions, "execution"),
                counted(totals.artifacts, "recorded file"),
            )
        ),
    ]
    if view.watermarks:
        parts += ["", _render_watermarks(view.watermarks)]
    if view.partitions:
        parts += ["", _render_partitions(view.partitions)]
    if view.grace_periods:
        parts += ["", _render_grace(view.grace_periods)]
    if view.counted or view.loaded_files:
        parts += ["", _render_tables(view)]
    if view.keys_in_flight:
        parts += ["", _render_keys(view.keys_in_flight)]
    return "\n".join(parts)


def _render_watermarks(watermarks: Sequence[WatermarkState]) -> str:
    rows = [
        (
            each.table,
            each.last_value or NOTHING,
            format_moment(each.updated_at),
            each.run_id or NOTHING,
        )
        for each in watermarks
    ]
    return render_table(("TABLE", "WATERMARK", "UPDATED (UTC)", "RUN"), rows, right=set())


def _render_grace(periods: Sequence[GracePeriod]) -> str:
    rows = [
        (
            each.table,
            each.column,
            each.change,
            format_moment(each.first_seen_at),
            format_moment(each.expires_at),
        )
        for each in periods
    ]
    head = ("TABLE", "COLUMN", "CHANGE", "SINCE (UTC)", "STAYS UNTIL (UTC)")
    return render_table(head, rows, right=set())


def _render_tables(view: StateView) -> str:
    """Tables whose rows were counted, or that files were loaded into."""
    counts = {each.table: each for each in view.counted}
    rows = []
    for table in sorted({*counts, *view.loaded_files}):
        found = counts.get(table)
        files = view.loaded_files.get(table)
        rows.append(
            (
                table,
                format_count(found.last.count) if found else NOTHING,
                format_moment(found.last.timestamp) if found else NOTHING,
                format_count(found.counts) if found else NOTHING,
                format_count(files) if files is not None else NOTHING,
            )
        )
    head = ("TABLE", "LAST COUNT", "COUNTED (UTC)", "COUNTS", "FILES LOADED")
    return render_table(head, rows, right={1, 3, 4})


def _render_keys(keys: Sequence[IdempotencyRecord]) -> str:
    rows = [
        (each.key, each.run_id or NOTHING, each.hostname or NOTHING, format_moment(each.since))
        for each in keys
    ]
    return render_table(("KEY IN FLIGHT", "RUN", "HOST", "SINCE (UTC)"), rows, right=set())


def _key_document(key: IdempotencyRecord) -> dict[str, Any]:
    found = key.to_json()
    # The lock's name is of use to nobody else; a run that has only been asked for has no id.
    hidden = {"owner"} | (set() if key.run_id else {"run_id"})
    return {name: value for name, value in found.items() if name not in hidden}


def _render_partitions(partitions: Sequence[PartitionRecord]) -> str:
    head = ("MODEL", "INTERVALS", "COMPUTED", "FAILED", "FIRST", "LAST", "ROWS")
    return render_table(head, list(_partition_rows(partitions)), right={1, 2, 3, 6})


def _partition_rows(partitions: Sequence[PartitionRecord]) -> Iterator[tuple[str, ...]]:
    for _, group in groupby(partitions, key=lambda each: each.model_name.lower()):
        mine = list(group)
        done = [each for each in mine if each.status is PartitionStatus.COMPUTED]
        failed = [each for each in mine if each.status is PartitionStatus.FAILED]
        yield (
            mine[-1].model_name,
            format_count(len(mine)),
            format_count(len(done)),
            format_count(len(failed)),
            done[0].partition_key if done else NOTHING,
            done[-1].partition_key if done else NOTHING,
            format_count(sum(each.row_count for each in done)),
        )
