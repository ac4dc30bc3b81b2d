"""time_interval and microbatch: a table built one interval of time after the other, a commit each.

A time_interval model computes each interval by itself and replaces it as a whole. A row outside its
interval is an error, not a row left out: it would be lost, or come twice. One interval that fails
does not keep the others from being built; the failure is told at its key.

A microbatch model is incremental in batches, each with its own watermark: a run that is stopped
keeps the batches it committed. Batches come from the rows there are, so an interval without rows
costs nothing. A table that is loaded anew is replaced in one commit.
"""

import json
from dataclasses import replace
from typing import Final

from rocky.diagnostics import Diagnostic
from rocky.errors import ModelFailed
from rocky.language.datatypes.types import DataType
from rocky.language.names import quote_name, quote_text
from rocky.language.syntax.references import fill_placeholders
from rocky.plan.intervals import Interval, all_keys, batches, interval_of, select_keys, span_of
from rocky.project.configuration.strategies import Grain, Microbatch, TimeInterval
from rocky.run.engine.failures import STEP_ERRORS, classify_step_failure
from rocky.run.engine.protocol import Written
from rocky.run.engine.sql import column_list
from rocky.run.materialize.build import Build, Built, BuiltPartition
from rocky.run.materialize.evolution import hash_without, open_base
from rocky.run.materialize.incremental import Watermark, append, load_all, watermark_of
from rocky.run.materialize.key_bounds import bounds_of
from rocky.run.materialize.workspace import (
    Outcome,
    StartingPoint,
    Workspace,
    add_hashes,
    commit_outcome,
    commit_replacement,
    open_workspace,
)
from rocky.store.data_file import DataFile
from rocky.store.delta.change import Committed
from rocky.store.delta.snapshot import ROWS_HASH

INTERVALS: Final = "intervals"
"""What commitInfo calls the keys of the time intervals that a commit has brought."""
INTERVALS_WHOLE: Final = "intervalsWhole"
"""What it says besides when they took the place of all rows there were."""
_PASSED_ON = frozenset({"cancelled", "internal", "claim_lost"})
"""Failures of the run, not of an interval."""


def time_interval(build: Build, strategy: TimeInterval) -> Built:
    """Build the intervals that the window selects."""
    if build.full_refresh:
        keys = all_keys(strategy, build.now)
    else:
        keys = select_keys(strategy, build.window, build.now)
    commits: list[Committed] = []
    partitions: list[BuiltPartition] = []
    finding: Diagnostic | None = None
    for batch in batches(keys, strategy.batch_size, strategy.granularity):
        try:
            anew = build.full_refresh and not commits
            committed, counts = _build_batch(build, strategy, batch, anew=anew)
        except STEP_ERRORS as error:
            failure = (build.classify or classify_step_failure)(error)
            if failure.retryable or failure.kind in _PASSED_ON:
                raise
            partitions += [BuiltPartition(key, 0, failure.message) for key in batch]
            finding = finding or failure.finding
            continue
        if committed is not None:
            commits.append(committed)
        partitions += [BuiltPartition(key, rows) for key, rows in zip(batch, counts, strict=True)]
    failed = next((each for each in partitions if each.error is not None), None)
    if failed is not None and not commits and build.table.snapshot() is None:
        raise _none_built(failed, finding)
    rows_hash = commits[-1].snapshot.configuration.get(ROWS_HASH) if commits else None
    return Built(
        build.query or "",
        tuple(commits),
        sum(each.rows for each in partitions),
        rows_hash,
        "overwritten" if commits else "unchanged",
        partitions=tuple(partitions),
        finding=finding,
    )


def _none_built(failed: BuiltPartition, finding: Diagnostic | None) -> ModelFailed:
    error = ModelFailed(f"no interval could be built; `{failed.key}`: {failed.error}")
    error.finding = finding
    return error


def _build_batch(
    build: Build, strategy: TimeInterval, keys: list[str], *, anew: bool
) -> tuple[Committed | None, list[int]]:
    """Replace the rows of neighbouring intervals. The rows of each are counted."""
    grain = strategy.granularity
    span = span_of(keys, grain)
    info = {**build.info, INTERVALS: json.dumps(keys)}
    if anew:
        info[INTERVALS_WHOLE] = "true"
    with open_workspace(replace(build, info=info)) as workspace:
        build = workspace.build
        query = build.query
        if query is not None:
            query = fill_placeholders(query, *span.texts(grain))
        workspace.bind_source(query)
        time = workspace.column(strategy.time_column)
        sql = _rows_inside(workspace, time.name, span.holds(quote_name(time.name), time.type))
        snapshot = build.table.snapshot()
        if snapshot is None or anew:
            written = workspace.write(sql, workspace.columns, build.layout, frozenset())
            outcome = Outcome(written.files, written.rows_hash)
            committed = commit_replacement(build, snapshot, workspace.columns, outcome)
            columns = workspace.columns
            base = StartingPoint(
                committed.snapshot, columns, columns, written.files, written.rows_hash
            )
            return committed, _count(workspace, base, written, keys, (time.name, time.type, grain))
        base = open_base(workspace, snapshot)
        inside, across = _overlapping(base.files, time.name, time.type, span)
        if across:
            view = workspace.bind_files("across", base, across)
            outside = f"NOT {span.holds(quote_name(time.name), time.type)}"
            sql += f" UNION ALL SELECT {column_list(workspace.names)} FROM {view} WHERE {outside}"
        gone = {file.path for file in (*inside, *across)}
        written = workspace.write(sql, base.columns, build.layout, base.paths - gone)
        kept = hash_without(workspace, base, (*inside, *across))
        stays = tuple(file for file in base.files if file.path not in gone)
        outcome = Outcome((*stays, *written.files), add_hashes((kept, written.rows_hash)))
        committed_change = commit_outcome(build, "OVERWRITE", base, outcome)
        counts = _count(workspace, base, written, keys, (time.name, time.type, grain))
        return committed_change, counts


def _rows_inside(workspace: Workspace, time: str, inside: str) -> str:
    """The rows of the source, of which one outside the interval stops the query."""
    if workspace.build.query is None:
        # A Python model is not told its interval: what lies outside is left out.
        return f"SELECT {column_list(workspace.names)} FROM {workspace.source} WHERE {inside}"
    said = quote_text(
        f"model `{workspace.build.model.name}` gives a row outside the interval it was asked for:"
        f" its `{time}` is "
    )
    column = quote_name(time)
    told = f"raise_error(concat({said}, coalesce(CAST({column} AS STRING), 'null')))"
    # In the select list, not in WHERE: a filter may be moved to rows the query leaves out.
    selected = ", ".join(
        f"IF({inside}, {column}, {told}) AS {column}" if name == time else quote_name(name)
        for name in workspace.names
    )
    return f"SELECT {selected} FROM {workspace.source}"


def _overlapping(
    files: tuple[DataFile, ...], time: str, kind: DataType, span: Interval
) -> tuple[list[DataFile], list[DataFile]]:
    """The files wholly inside an interval, and those that may lie across an end of it."""
    width = 10 if kind.kind == "date" else 23
    low, high = (
        each.strftime("%Y-%m-%dT%H:%M:%S.000").zfill(23)[:width] for each in (span.start, span.end)
    )
    inside, across = [], []
    for file in files:
        bounds = bounds_of(file, time)
        if not isinstance(bounds.low, str) or not isinstance(bounds.high, str) or bounds.nulls:
            across.append(file)
        elif bounds.low[:width] >= low and bounds.high[:width] < high:
            inside.append(file)
        elif bounds.high[:width] >= low and bounds.low[:width] < high:
            across.append(file)
    return inside, across


def _count(
    workspace: Workspace,
    base: StartingPoint,
    written: Written,
    keys: list[str],
    time: tuple[str, DataType, Grain],
) -> list[int]:
    """The rows of each key among those written."""
    if not written.files:
        return [0] * len(keys)
    name, kind, grain = time
    view = workspace.bind_files("written", base, written.files)
    counts = ", ".join(
        f"count_if({interval_of(key, grain).holds(quote_name(name), kind)})" for key in keys
    )
    (row,) = workspace.ask(f"SELECT {counts} FROM {view}")
    return [int(each) for each in row]


_WIDEST = ("0001-01-01", "9999-12-31")
_KEYS: dict[Grain, str] = {
    "hour": "yyyy-MM-dd'T'HH",
    "day": "yyyy-MM-dd",
    "month": "yyyy-MM",
    "year": "yyyy",
}
_MOST_BATCHES = 100_000


def microbatch(build: Build, strategy: Microbatch) -> Built:
    """Append what is new, batch by batch."""
    commits: list[Committed] = []
    rows = 0
    last: Watermark | None = None
    with open_workspace(build) as workspace:
        bind_between(workspace, *_WIDEST)
        column = workspace.column(strategy.timestamp_column)
        snapshot = build.table.snapshot()
        low = None if build.full_refresh else watermark_of(snapshot, column.name)
        found = _batches(workspace, column.name, strategy.granularity, low)
        if low is None and (snapshot is not None or not found):
            # What is there goes with one commit: batch by batch, readers would miss most of it.
            last = Watermark(column.name, column.type.text, found[-1][1]) if found else None
            committed, written = load_all(workspace, snapshot, last)
            commits.append(committed)
            rows, snapshot, found = written.rows, committed.snapshot, []
        for number, (key, value) in enumerate(found):
            high = last = Watermark(column.name, column.type.text, value)
            interval = interval_of(key, strategy.granularity)
            bind_between(workspace, *interval.texts(strategy.granularity))
            if low is None or snapshot is None:
                committed, written = load_all(workspace, snapshot, high)
            else:
                base = open_base(workspace, snapshot)
                committed, written = append(workspace, base, low, high, number)
            commits.append(committed)
            rows += written.rows
            low, snapshot = high, committed.snapshot
    mark = last or low
    return Built(
        build.query or "",
        tuple(commits),
        rows,
        snapshot.configuration.get(ROWS_HASH) if snapshot is not None else None,
        "appended" if commits else "unchanged",
        mark.value if mark is not None else None,
    )


def bind_between(workspace: Workspace, start: str, end: str) -> None:
    """The model's rows between two times, as far as its query asks for them."""
    query = workspace.build.query
    workspace.bind_source(fill_placeholders(query, start, end) if query is not None else None)


def _batches(
    workspace: Workspace, column: str, grain: Grain, low: Watermark | None
) -> list[tuple[str, str]]:
    """The keys of intervals that have new rows, each with its highest time, in order."""
    name = quote_name(column)
    where = f"{name} > {low.sql}" if low is not None else f"{name} IS NOT NULL"
    found = workspace.ask(
        f"SELECT date_format({name}, {_quoted(_KEYS[grain])}), CAST(max({name}) AS STRING)"
        f" FROM {workspace.source} WHERE {where} GROUP BY 1 ORDER BY 1",
        _MOST_BATCHES,
    )
    return [(key, value) for key, value in found]


def _quoted(pattern: str) -> str:
    return f'"{pattern}"'
