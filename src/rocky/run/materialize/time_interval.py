"""time_interval: each interval is computed by itself and replaced as a whole, one commit a batch.

A row outside its interval is an error, not a row left out: it would be lost, or come twice. One
interval that fails does not keep the others from being built; the failure is told at its key.
"""

from rocky.errors import ModelFailed
from rocky.language.datatypes.types import DataType
from rocky.language.names import quote_name, quote_text
from rocky.language.syntax.placeholders import fill_placeholders
from rocky.plan.intervals import Interval, all_keys, batches, interval_of, select_keys, span_of
from rocky.project.configuration.strategies import Grain, TimeInterval
from rocky.run.engine.failures import STEP_ERRORS, classify_step_failure
from rocky.run.engine.protocol import Written
from rocky.run.engine.sql import column_list
from rocky.run.materialize.build import Build, Built, BuiltPartition
from rocky.run.materialize.evolution import hash_without, open_base
from rocky.run.materialize.key_bounds import bounds_of
from rocky.run.materialize.starting_point import (
    Outcome,
    StartingPoint,
    add_hashes,
    commit_outcome,
    commit_replacement,
)
from rocky.run.materialize.workspace import Workspace, open_workspace
from rocky.store.data_file import DataFile
from rocky.store.delta.change import Committed
from rocky.store.delta.snapshot import ROWS_HASH

_PASSED_ON = frozenset({"cancelled", "internal"})
"""Failures of the run, not of an interval."""


def time_interval(build: Build, strategy: TimeInterval) -> Built:
    """Build the intervals that the window selects."""
    if build.full_refresh:
        keys = all_keys(strategy, build.now)
    else:
        keys = select_keys(strategy, build.window, build.now)
    commits: list[Committed] = []
    partitions: list[BuiltPartition] = []
    for batch in batches(keys, strategy.batch_size, strategy.granularity):
        try:
            anew = build.full_refresh and not commits
            committed, counts = _build_batch(build, strategy, batch, anew=anew)
        except STEP_ERRORS as error:
            failure = classify_step_failure(error)
            if failure.retryable or failure.kind in _PASSED_ON:
                raise
            partitions += [BuiltPartition(key, 0, failure.message) for key in batch]
            continue
        if committed is not None:
            commits.append(committed)
        partitions += [BuiltPartition(key, rows) for key, rows in zip(batch, counts, strict=True)]
    failed = next((each for each in partitions if each.error is not None), None)
    if failed is not None and not commits and build.table.snapshot() is None:
        raise ModelFailed(f"no interval could be built; `{failed.key}`: {failed.error}")
    rows_hash = commits[-1].snapshot.configuration.get(ROWS_HASH) if commits else None
    return Built(
        build.query or "",
        tuple(commits),
        sum(each.rows for each in partitions),
        rows_hash,
        "overwritten" if commits else "unchanged",
        partitions=tuple(partitions),
    )


def _build_batch(
    build: Build, strategy: TimeInterval, keys: list[str], *, anew: bool
) -> tuple[Committed | None, list[int]]:
    """Replace the rows of neighbouring intervals. The rows of each are counted."""
    grain = strategy.granularity
    span = span_of(keys, grain)
    with open_workspace(build) as workspace:
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
