"""The plan of a replication: what is listed, what is unchanged, how the rest is copied.

Nothing is written here. Spark is asked only for the columns of tables that have something new, so a
source in which nothing happened is done with when it is listed.
"""

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from typing import Final

from rocky.analysis.compilation import Compilation
from rocky.analysis.masks.copies import CopiedTables
from rocky.errors import RockyError, SourceUnreadable
from rocky.language.datatypes.types import StructField
from rocky.ledger.readers.lookup import LookupReader
from rocky.pipelines.checks.evaluation import toggle_of
from rocky.pipelines.drift.projection import find_reached_columns
from rocky.pipelines.exclusion import Exclusion
from rocky.pipelines.generated_models import find_errors, plan_generated
from rocky.pipelines.owners import find_owners
from rocky.pipelines.pattern_use import TableColumns, stored_columns, unused_patterns
from rocky.pipelines.replication.copies import Copy, CopyTerms, plan_copy, refuse_copy
from rocky.pipelines.replication.copy_history import (
    CopyHistory,
    copy_marker,
    is_unchanged,
    load_copy_history,
)
from rocky.pipelines.replication.discovery import parse_filters
from rocky.pipelines.replication.routes import RoutedTable, Routing, route_tables
from rocky.pipelines.replication.source import open_discovery
from rocky.plan.request import RunRequest
from rocky.plan.steps import RunPlan
from rocky.project.configuration.pipelines import (
    SOURCE_PLACE,
    Checks,
    ReplicationPipeline,
)
from rocky.run.engine.protocol import Engine
from rocky.store.warehouse import Warehouse

UNCHANGED: Final = "unchanged_since_last_copy"
_AT_ONCE: Final = 16
"""Tables looked at at once: each waits for the disk, a server or Spark's analyser."""


@dataclass(frozen=True, slots=True)
class Replication:
    """A replication pipeline of a project, and where it works.

    `settings` are those of Spark and the environment, which object stores are reached with.
    `open_engine` starts Spark when it is first called.
    """

    name: str
    pipeline: ReplicationPipeline
    compilation: Compilation
    warehouse: Warehouse
    open_engine: Callable[[], Engine]
    settings: Mapping[str, str] = field(default_factory=dict, repr=False)


@dataclass(frozen=True, slots=True)
class ReplicationPlan:
    """What a run would do. `unchanged` have nothing new; `excluded` are not to be copied now.

    `gone` are tables that were copied once and that the source no longer has; `unused` is what is
    to be said of patterns that classify nothing.
    """

    routing: Routing
    copies: tuple[Copy, ...]
    unchanged: tuple[RoutedTable, ...]
    excluded: tuple[Exclusion, ...]
    history: CopyHistory
    run: RunPlan
    gone: tuple[str, ...] = ()
    unused: tuple[str, ...] = ()

    @property
    def failed(self) -> dict[str, str]:
        """What could not be listed, with why: it has no step, so the run itself says it."""
        return {each.name: each.message for each in self.routing.failed}

    @property
    def warnings(self) -> tuple[str, ...]:
        said = [each for copy in self.copies if copy.decision for each in copy.decision.warnings]
        said += [
            f"`{each}` was copied before, and is no longer in the source: its copy stays as it is"
            for each in self.gone
        ]
        if self.routing.unmatched:
            listed = ", ".join(f"`{each}`" for each in self.routing.unmatched[:5])
            more = f" and {len(self.routing.unmatched) - 5} more"
            said.append(
                "not copied, because `schema_pattern` does not match: "
                f"{listed}{more if len(self.routing.unmatched) > 5 else ''}"
            )
        return (*self.routing.warnings, *said, *self.unused)


def plan_replication(
    replication: Replication,
    request: RunRequest,
    lookups: LookupReader | None,
    now: datetime,
    *,
    done: Mapping[str, str] | None = None,
    prune: bool = True,
) -> ReplicationPlan:
    """List a source and decide how each table is copied.

    `done` are keys of targets that a run which is resumed has copied, with why they are left.
    Raises NothingSelected, RunRefused, SourceUnreadable when nothing at all can be listed.
    """
    pipeline, project = replication.pipeline, replication.compilation.project
    discovery = open_discovery(
        pipeline, project.root, replication.settings, replication.open_engine
    )
    discovered = discovery.discover(pipeline.source.catalog)
    routing = route_tables(pipeline, discovered, parse_filters(request.filters))
    history = load_copy_history(
        lookups, [each.target for each in routing.tables], source_checks(pipeline.checks)
    )
    spelled = (replace(each, target=history.spelled(each.target)) for each in routing.tables)
    routing = replace(routing, tables=tuple(spelled))
    left = done or {}
    refused = _refuse_others(replication, routing.tables, history)
    others = {each.routed.key for each in refused}
    wanted = [each for each in routing.tables if each.key not in left and each.key not in others]
    known = CopiedTables(replication.compilation)
    markers = {
        each.key: copy_marker(each, known.terms(replication.name, each.target)) for each in wanted
    }
    again = request.builds_whole or request.rebuild or not pipeline.prune_unchanged or not prune
    unchanged = [] if again else _find_unchanged(replication, wanted, markers, history)
    passed = {each.key for each in unchanged}
    changed = [each for each in wanted if each.key not in passed]
    terms = CopyTerms(
        history,
        now,
        project.config.schema_evolution.grace_period_days,
        request.builds_whole,
        partial(_reached, replication),
    )
    planned = [*refused, *_plan_copies(replication, changed, markers, terms)]
    copies, run = _plan_models(known, replication, planned)
    excluded = [
        *routing.excluded,
        *(
            Exclusion(each.found.name, each.target.full_name, left[each.key])
            for each in routing.tables
            if each.key in left and each.key not in others
        ),
        *(Exclusion(each.found.name, each.target.full_name, UNCHANGED) for each in unchanged),
    ]
    certain = not (request.filters or discovered.failed or routing.failed)
    gone = _find_gone(replication.name, routing, lookups) if certain and lookups is not None else ()
    unused = _find_unused(replication, routing, copies) if certain else ()
    return ReplicationPlan(
        routing, copies, tuple(unchanged), tuple(excluded), history, run, gone, unused
    )


def _find_unused(
    replication: Replication, routing: Routing, copies: Sequence[Copy]
) -> tuple[str, ...]:
    """What is to be said of patterns that classify nothing in a source that was listed whole."""
    looked = {
        each.routed.key: partial(_projected, each) for each in copies if each.decision is not None
    }
    tables = [
        TableColumns(
            each.target,
            looked.get(each.key) or stored_columns(replication.warehouse.table(each.target)),
        )
        for each in routing.tables
    ]
    return tuple(unused_patterns(replication.compilation.project, replication.name, tables))


def _projected(copy: Copy) -> list[str]:
    return [each.name for each in copy.decision.projection] if copy.decision is not None else []


def _find_gone(pipeline: str, routing: Routing, lookups: LookupReader) -> tuple[str, ...]:
    """Tables that this pipeline has copied and that its source no longer has.

    Only asked where the whole source was listed: what could not be read is not gone.
    """
    there = {each.key for each in routing.tables}
    there |= {(each.target or "").lower() for each in routing.excluded}
    newest = {name: run for name, run in lookups.newest_of_all().items() if name not in there}
    pipelines = lookups.pipelines_of(newest.values()) if newest else {}
    return tuple(sorted(name for name, run in newest.items() if pipelines.get(run) == pipeline))


def _refuse_others(
    replication: Replication, tables: Sequence[RoutedTable], history: CopyHistory
) -> list[Copy]:
    """Those of some tables whose targets somebody else writes: each is refused alone."""
    project = replication.compilation.project
    targets = [each.target for each in tables]
    owners = find_owners(project, replication.name, replication.warehouse, history.writers, targets)
    return [
        refuse_copy(
            each,
            f"`{each.found.name}` would be copied to `{each.target.full_name}`, which {other}"
            " writes; name more components in `catalog_template` or `schema_template`",
        )
        for each in tables
        if (other := owners.of(each.target)) is not None
    ]


def source_checks(checks: Checks) -> frozenset[str]:
    """The checks that hold a copy against its source, and so are only asked after it is copied."""
    if not checks.enabled:
        return frozenset()
    simple = {"row_count": checks.row_count, "column_match": checks.column_match}
    return frozenset(name for name, setting in simple.items() if toggle_of(setting)) | {
        each.name for each in checks.custom if SOURCE_PLACE in each.sql
    }


def _find_unchanged(
    replication: Replication,
    tables: Sequence[RoutedTable],
    markers: Mapping[str, str | None],
    history: CopyHistory,
) -> list[RoutedTable]:
    def looks_unchanged(routed: RoutedTable) -> bool:
        table = replication.warehouse.table(routed.target)
        return is_unchanged(routed, markers[routed.key], history, table)

    if replication.warehouse.objects.location.folder is not None:
        # Two looks at a disk are quicker than handing them to a thread.
        return [each for each in tables if looks_unchanged(each)]
    with ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="rocky-look") as pool:
        found = list(pool.map(looks_unchanged, tables))
    return [each for each, same in zip(tables, found, strict=True) if same]


def _plan_copies(
    replication: Replication,
    tables: Sequence[RoutedTable],
    markers: Mapping[str, str | None],
    terms: CopyTerms,
) -> list[Copy]:
    if not tables:
        return []
    engine = replication.open_engine()

    def describe(routed: RoutedTable) -> tuple[StructField, ...] | RockyError:
        try:
            return engine.describe(routed.found.declare())
        except SourceUnreadable as error:
            return error

    with ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="rocky-describe") as pool:
        columns = list(pool.map(describe, tables))
    return [
        plan_copy(each, markers[each.key], found, replication.warehouse.table(each.target), terms)
        for each, found in zip(tables, columns, strict=True)
    ]


def _plan_models(
    known: CopiedTables, replication: Replication, copies: Sequence[Copy]
) -> tuple[tuple[Copy, ...], RunPlan]:
    """The copies as a plan of generated models; one that does not compile fails alone."""
    plan = plan_generated(known, replication.name, [each.model for each in copies])
    wrong = find_errors(plan)
    if not wrong:
        return tuple(copies), plan
    checked = tuple(
        refuse_copy(
            each.routed, f"`{each.routed.found.name}` cannot be copied: {wrong[each.model.key]}"
        )
        if each.model.key in wrong
        else each
        for each in copies
    )
    again = plan_generated(known, replication.name, [each.model for each in checked])
    return checked, again


def _reached(replication: Replication, routed: RoutedTable, column: str) -> tuple[str, ...]:
    table = replication.warehouse.table(routed.target)
    return find_reached_columns(replication.compilation, routed.target, column, table.uri)
