"""What the ledger remembers between runs, as text for people and as a JSON document."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

from rocky.cli.render.compilation import counted
from rocky.cli.render.tables import render_table
from rocky.cli.render.units import NOTHING, format_count, format_moment
from rocky.ledger.reader import EMPTY, LedgerTotals
from rocky.ledger.records import PartitionRecord, PartitionStatus, WatermarkState


@dataclass(frozen=True, slots=True)
class StateView:
    """What there is to show. `version` is None when there is no file yet."""

    path: Path
    supported: int
    version: int | None = None
    totals: LedgerTotals = EMPTY
    watermarks: tuple[WatermarkState, ...] = ()
    partitions: tuple[PartitionRecord, ...] = ()


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
    return "\n".join(parts)


def _render_watermarks(watermarks: Sequence[WatermarkState]) -> str:
    rows = [
        (each.table, each.last_value, format_moment(each.updated_at), each.run_id or NOTHING)
        for each in watermarks
    ]
    return render_table(("TABLE", "WATERMARK", "UPDATED (UTC)", "RUN"), rows, right=set())


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
