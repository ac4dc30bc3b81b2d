"""microbatch: as incremental, in batches of one granularity, each a commit with its own watermark.

A run that is stopped keeps the batches it committed, and the next one continues after them. Batches
come from the rows there are: an interval without rows costs nothing. A table that is loaded anew is
replaced in one commit.
"""

from rocky.language.names import quote_name
from rocky.language.syntax.placeholders import fill_placeholders
from rocky.plan.intervals import interval_of
from rocky.project.configuration.strategies import Grain, Microbatch
from rocky.run.materialize.build import Build, Built
from rocky.run.materialize.evolution import open_base
from rocky.run.materialize.incremental import Watermark, append, load_all, watermark_of
from rocky.run.materialize.workspace import Workspace, open_workspace
from rocky.store.delta.change import Committed
from rocky.store.delta.snapshot import ROWS_HASH

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
