"""Copies: a routed table turned into a generated model, with what is noted of it.

The query selects what drift decides: columns of the source, of the types the copy has, nulls where
the source has nothing any more, and the pipeline's own columns. How far an incremental copy is,
and what is new, the strategy finds out when it runs.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from rocky.errors import RockyError, SourceUnreadable
from rocky.language.datatypes.types import StructField
from rocky.language.names import quote_name
from rocky.pipelines.drift.decision import DriftDecision, GraceTerms, decide_drift
from rocky.pipelines.drift.projection import Projected
from rocky.pipelines.generated_models import GeneratedModel, GeneratedSource
from rocky.pipelines.replication.copy_history import (
    CopyHistory,
    find_source_change,
    format_columns,
    source_of,
)
from rocky.pipelines.replication.discovery import flatten_components
from rocky.pipelines.replication.routes import RoutedTable
from rocky.project.configuration.strategies import FullRefresh, Incremental, Merge, Strategy
from rocky.run.outcomes import StepNotes
from rocky.store.warehouse import Table

_RANK: Final = "rocky_rank"
REPLACED: Final = "the source has other columns now: the table is replaced"


@dataclass(frozen=True, slots=True)
class Copy:
    """One table to copy. `decision` is None where the source could not be looked at."""

    routed: RoutedTable
    model: GeneratedModel
    notes: StepNotes
    decision: DriftDecision | None = None
    columns: tuple[StructField, ...] = ()

    @property
    def refusal(self) -> str | None:
        return self.notes.refusal


@dataclass(frozen=True, slots=True)
class CopyTerms:
    """What all copies of a run share. `reached` finds what reads a column of a target."""

    history: CopyHistory
    now: datetime
    grace_days: int
    full_refresh: bool
    reached: Callable[[RoutedTable, str], tuple[str, ...]]


def plan_copy(
    routed: RoutedTable,
    marker: str | None,
    columns: tuple[StructField, ...] | RockyError,
    table: Table,
    terms: CopyTerms,
) -> Copy:
    """How one table is copied; `columns` are the source's own, or why they cannot be read.

    Whatever is wrong with it is a refusal of this table alone.
    """
    try:
        if isinstance(columns, RockyError):
            raise columns
        other = find_source_change(routed, terms.history)
        decision = _decide(routed, columns, table, terms, whole=other is not None)
        strategy = _strategy(routed, decision, columns)
    except RockyError as error:
        return _refused(routed, str(error))
    source = _source(routed, columns)
    rows = _rows(routed, source, columns)
    sql = f"SELECT {_select_list(routed, decision)} FROM {rows}"  # noqa: S608 - names are quoted
    notes = StepNotes(
        routed.asset_key,
        marker,
        format_columns(columns),
        decision.records,
        decision.grace,
        tuple(
            period
            for period in terms.history.grace.get(routed.key, ())
            if period.column.lower() in decision.ended
        ),
        full_refresh=other or (REPLACED if decision.replace else None),
        copied_from=source_of(routed),
    )
    model = GeneratedModel(
        routed.target,
        sql,
        strategy,
        (source,),
        _tags(routed),
        columns=tuple(each.name for each in decision.projection),
    )
    return Copy(routed, model, notes, decision, columns)


def _rows(routed: RoutedTable, source: GeneratedSource, columns: tuple[StructField, ...]) -> str:
    """What a copy reads: the source, or for a merge the newest version of each of its rows.

    Two versions with one time are both kept, and the merge says that it cannot choose.
    """
    names = {each.name.lower(): each.name for each in columns}
    time = names.get(routed.timestamp_column.lower())
    keys = [names[key.lower()] for key in routed.merge_keys if key.lower() in names]
    if routed.strategy != "merge" or time is None or not keys:
        return source.sql_name
    by = ", ".join(map(quote_name, keys))
    return (
        f"(SELECT *, rank() OVER (PARTITION BY {by} ORDER BY {quote_name(time)} DESC NULLS LAST)"  # noqa: S608 - names are quoted
        f" AS {_RANK} FROM {source.sql_name}) WHERE {_RANK} = 1"
    )


def _decide(
    routed: RoutedTable,
    columns: tuple[StructField, ...],
    table: Table,
    terms: CopyTerms,
    *,
    whole: bool,
) -> DriftDecision:
    snapshot, anew = table.snapshot(), whole or terms.full_refresh
    decision = decide_drift(
        columns,
        terms.history.find_columns(routed.target),
        snapshot.schema if snapshot is not None and not anew else None,
        routed.metadata,
        GraceTerms(
            routed.target.full_name,
            terms.history.grace.get(routed.key, ()),
            terms.now,
            terms.grace_days,
        ),
    )
    reached = {each.column: terms.reached(routed, each.column) for each in decision.records}
    return decision.with_reached(reached)


def _strategy(
    routed: RoutedTable, decision: DriftDecision, columns: tuple[StructField, ...]
) -> Strategy:
    """The strategy of a copy. Raises SourceUnreadable when it needs a column that is not there."""
    live = {each.name.lower() for each in columns}
    live.update(each.name.lower() for each in routed.metadata)
    if routed.strategy == "full_refresh":
        return FullRefresh()
    if routed.strategy == "merge":
        keys = tuple(
            _column(routed, decision, live, ("merge_keys", key)) for key in routed.merge_keys
        )
        return Merge(keys, _updated(keys, decision))
    wanted = ("timestamp_column", routed.timestamp_column)
    return Incremental(_column(routed, decision, live, wanted))


def _updated(keys: tuple[str, ...], decision: DriftDecision) -> tuple[str, ...] | None:
    """What a merge changes in rows that are there: not what the source no longer has a word on."""
    if not decision.filled:
        return None
    kept = {
        *keys,
        *(each.name for each in decision.projection if each.name.lower() in decision.filled),
    }
    return tuple(each.name for each in decision.projection if each.name not in kept)


def _column(
    routed: RoutedTable, decision: DriftDecision, live: set[str], wanted: tuple[str, str]
) -> str:
    setting, name = wanted
    names = {each.name.lower(): each.name for each in decision.projection}
    found = names.get(name.lower())
    if found is None or name.lower() not in live:
        # A full refresh would not find it either.
        raise SourceUnreadable(
            f"`{routed.found.name}` has no column `{name}`, which `{setting}` names; name another,"
            ' for this table in an override, or copy it with `strategy = "full_refresh"`'
        )
    if name.lower() in decision.doubtful:
        # Rows would be told apart by nulls, or not be seen at all.
        raise SourceUnreadable(
            f"column `{found}` of `{routed.found.name}`, which `{setting}` names, has another"
            " type now; name another, or run with `--full-refresh` to copy the whole table again"
        )
    return found


def _select_list(routed: RoutedTable, decision: DriftDecision) -> str:
    own = {each.name.lower() for each in routed.metadata}
    made = tuple(
        # A column that is added to a table later has no value in the rows that are there.
        Projected(each.name, f"nullif({each.sql}, NULL)", each.field)
        if each.name.lower() in own
        else each
        for each in decision.projection
    )
    return replace(decision, projection=made).select_list


def _source(routed: RoutedTable, columns: tuple[StructField, ...]) -> GeneratedSource:
    found = routed.found
    nullable = tuple(StructField(each.name, each.type, nullable=True) for each in columns)
    return GeneratedSource(
        found.name, nullable, found.place.format, found.place.path, found.place.options
    )


def _refused(routed: RoutedTable, why: str) -> Copy:
    """A table that fails before anything is read: its model only carries its name."""
    model = GeneratedModel(
        routed.target, "SELECT CAST(NULL AS STRING) AS unknown", FullRefresh(), (), _tags(routed)
    )
    return Copy(routed, model, StepNotes(routed.asset_key, refusal=why))


def refuse_copy(routed: RoutedTable, why: str) -> Copy:
    """A copy that turned out not to be possible."""
    return _refused(routed, why)


def _tags(routed: RoutedTable) -> Mapping[str, str]:
    """The parts of a source's name, so that cost is told by tenant or region."""
    return {
        name: "_".join(flatten_components({name: value}))
        for name, value in routed.components.items()
    }
