"""Routing: every table of a source gets its target and its settings, before anything is written.

Two tables with one target refuse the whole run: the second would overwrite the first, and whoever
reads the target could not know which it is. A filter does not help: what one run leaves out, the
next would copy to the same place.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from rocky.drift.projection import Projected
from rocky.errors import NothingSelected, RunRefused
from rocky.pipelines.replication.discovery import Discovered, FailedSource, FoundTable, Place
from rocky.pipelines.replication.filters import (
    Candidate,
    Filter,
    check_keys,
    check_matches,
    is_selected,
)
from rocky.pipelines.replication.overrides import Settings, override_warnings, resolve_settings
from rocky.pipelines.replication.patterns import Components, flatten, match_schema
from rocky.pipelines.replication.templates import fill_column, fill_template, name_problem
from rocky.pipelines.report import Excluded
from rocky.project.models import Target
from rocky.project.patterns import DEFAULT_CATALOG
from rocky.project.pipeline_rules import component_names
from rocky.project.pipelines import ReplicationPipeline
from rocky.project.placeholders import find_placeholders

DISABLED = "table_override_disabled"


@dataclass(frozen=True, slots=True)
class RoutedTable:
    """A table to copy, where to, and how. `key` is the target as Spark compares it."""

    found: FoundTable
    components: Components
    target: Target
    key: str
    strategy: str
    timestamp_column: str
    merge_keys: tuple[str, ...]
    metadata: tuple[Projected, ...]
    tenant: str | None
    asset_key: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Routing:
    """What a run is to copy. `unmatched` are schemas that the pattern does not match.

    `failed` are tables that would be copied and cannot be: the run goes on without them and fails.
    `known` are the full names of all targets that some run copies, whatever this one is to copy,
    and `schemas` where they come from.
    """

    tables: tuple[RoutedTable, ...]
    excluded: tuple[Excluded, ...] = ()
    failed: tuple[FailedSource, ...] = ()
    unmatched: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    known: tuple[str, ...] = ()
    schemas: tuple[str, ...] = ()


@dataclass(slots=True)
class _Sorted:
    """Tables as they are sorted out. `left_out` would be copied, but not now."""

    tables: list[RoutedTable] = field(default_factory=list)
    left_out: list[RoutedTable] = field(default_factory=list)
    excluded: list[Excluded] = field(default_factory=list)
    failed: list[FailedSource] = field(default_factory=list)
    known: list[str] = field(default_factory=list)


def route_tables(
    pipeline: ReplicationPipeline,
    discovered: Discovered,
    filters: Sequence[Filter] = (),
) -> Routing:
    """Where each table goes.

    Raises NothingSelected when nothing is left, and RunRefused when two tables have one target.
    """
    pattern = pipeline.source.schema_pattern
    check_keys(filters, () if pattern is None else component_names(pattern))
    schemas = {each.schema for each in discovered.tables}
    schemas.update(each.schema for each in discovered.failed)
    schemas.update(discovered.schemas)
    matched = {schema: match_schema(schema, pattern) for schema in schemas}
    _check_found(matched)
    catalogs = [each.catalog for each in discovered.tables[:1]]
    catalog = catalogs[0] if catalogs else pipeline.source.catalog
    found: list[FailedSource | FoundTable] = [*discovered.failed, *discovered.tables]
    found = [each for each in found if matched[each.schema] is not None]
    candidates = [
        Candidate(catalog, each.schema, each.table, matched[each.schema] or {}) for each in found
    ]
    check_matches(candidates, filters)
    router = _Router(pipeline, discovered.kind, matched)
    made = _Sorted()
    used: set[int] = set()
    for each, candidate in zip(found, candidates, strict=True):
        settings = resolve_settings(pipeline, each.schema, each.table or "")
        used.update(settings.rules)
        selected = is_selected(candidate, filters)
        if isinstance(each, FoundTable):
            _sort_in(made, router.route(each, settings), settings, selected=selected)
        elif each.table is not None and not settings.enabled:
            if selected:
                made.excluded.append(Excluded(each.name, None, DISABLED))
        elif selected:
            made.failed.append(each)
        if isinstance(each, FailedSource) and each.table is not None and settings.enabled:
            # It cannot be read now, and has its place all the same.
            unread = FoundTable(catalog, each.schema, each.table, Place(""))
            made.left_out.append(router.route(unread, settings))
            made.known.append(made.left_out[-1].target.full_name)
    refuse_collisions(made.tables, made.left_out, discovered.kind)
    return Routing(
        tuple(made.tables),
        tuple(made.excluded),
        tuple(made.failed),
        tuple(sorted(schema for schema, parts in matched.items() if parts is None)),
        override_warnings(pipeline, frozenset(used)),
        tuple(made.known),
        tuple(sorted(schema for schema, parts in matched.items() if parts is not None)),
    )


def _check_found(matched: Mapping[str, Components | None]) -> None:
    if any(parts is not None for parts in matched.values()):
        return
    if not matched:
        raise NothingSelected("the source has no schemas: nothing can be copied")
    shown = ", ".join(f"`{schema}`" for schema in sorted(matched)[:5])
    raise NothingSelected(
        f"none of {len(matched)} schemas of the source matches `schema_pattern`; there are {shown}"
    )


def _sort_in(made: _Sorted, routed: RoutedTable, settings: Settings, *, selected: bool) -> None:
    found = routed.found
    if settings.enabled:
        made.known.append(routed.target.full_name)
    if not selected:
        if settings.enabled and _problem(routed) is None:
            made.left_out.append(routed)
    elif not settings.enabled:
        made.excluded.append(Excluded(found.name, routed.target.full_name, DISABLED))
    elif (problem := _problem(routed)) is None:
        made.tables.append(routed)
    else:
        made.failed.append(FailedSource(found.schema, found.table, problem))


class _OfSchema(NamedTuple):
    """What all tables of a schema share; `metadata` is None when it names the table."""

    components: Components
    known: Components
    catalog: str
    schema: str
    metadata: tuple[Projected, ...] | None
    tenant: str | None
    asset_key: tuple[str, ...]


class _Router:
    """The targets of tables; what only depends on the schema is worked out once for each."""

    def __init__(
        self,
        pipeline: ReplicationPipeline,
        kind: str,
        matched: Mapping[str, Components | None],
    ) -> None:
        self._pipeline = pipeline
        self._kind = kind
        self._matched = matched
        self._kept: dict[str, _OfSchema] = {}
        self._names_tables = any(
            each.name == "table"
            for column in pipeline.metadata_columns
            for each in find_placeholders(column.value)
        )
        pattern, joint = pipeline.source.schema_pattern, pipeline.target.separator
        if joint is None:
            joint = pattern.separator if pattern is not None else "_"
        self._joint = joint

    def route(self, found: FoundTable, settings: Settings) -> RoutedTable:
        kept = self._kept.get(found.schema)
        if kept is None:
            kept = self._kept[found.schema] = self._keep(found)
        metadata = kept.metadata
        if metadata is None:
            metadata = self._fill(kept.known, found.table)
        target = Target(kept.catalog, kept.schema, found.table)
        return RoutedTable(
            found,
            kept.components,
            target,
            target.key,
            settings.strategy,
            settings.timestamp_column,
            settings.merge_keys if settings.strategy == "merge" else (),
            metadata,
            kept.tenant,
            (*kept.asset_key, found.table),
        )

    def _keep(self, found: FoundTable) -> _OfSchema:
        components = self._matched[found.schema] or {}
        known: Components = {
            "catalog": found.catalog or "",
            "id": found.schema,
            "schema": found.schema,
            **components,
        }
        tenant = components.get("tenant")
        catalog, schema = self._place(found.schema, known)
        return _OfSchema(
            components,
            known,
            catalog,
            schema,
            None if self._names_tables else self._fill(known, ""),
            tenant if isinstance(tenant, str) else None,
            (self._kind, *flatten(components)),
        )

    def _fill(self, known: Components, table: str) -> tuple[Projected, ...]:
        cells = {**known, "table": table}
        columns = self._pipeline.metadata_columns
        return tuple(fill_column(each, cells, self._joint) for each in columns)

    def _place(self, schema: str, known: Components) -> tuple[str, str]:
        target = self._pipeline.target
        catalog_template, schema_template = target.catalog_template, target.schema_template
        return (
            DEFAULT_CATALOG
            if catalog_template is None
            else fill_template(catalog_template, known, self._joint),
            schema
            if schema_template is None
            else fill_template(schema_template, known, self._joint),
        )


def _problem(routed: RoutedTable) -> str | None:
    """What keeps one table from being copied, however the others fare."""
    for part in (*routed.target, routed.found.schema):
        why = name_problem(part)
        if why is not None:
            return (
                f"`{routed.found.name}` cannot be copied to `{routed.target.full_name}`:"
                f" `{part}` {why}"
            )
    if routed.strategy == "merge" and not routed.merge_keys:
        return (
            f"`{routed.found.name}` has no `merge_keys` to merge by; set them for the pipeline or"
            " in an override"
        )
    return None


def refuse_collisions(
    tables: Sequence[RoutedTable], left_out: Sequence[RoutedTable], kind: str
) -> None:
    """Raises RunRefused when a target would be written twice, or is what is copied.

    Tables that are `left_out` of this run have their targets all the same.
    """
    first: dict[str, RoutedTable] = {}
    said: list[str] = []
    for routed in (*tables, *left_out):
        other = first.setdefault(routed.key, routed)
        name, shown = routed.found.name, routed.target.full_name
        if other is not routed:
            said.append(f"`{other.found.name}` and `{name}` would both be copied to `{shown}`")
    if kind == "catalog":
        itself = (each.found.name for each in tables if each.key == each.found.name.lower())
        said += [f"`{name}` would be copied onto itself" for name in itself]
    if said:
        raise RunRefused(
            f"{'; '.join(said)}; name more components in `catalog_template` or `schema_template`"
        )
