"""Routes: every table of a source gets its target and its settings, before anything is written.

Two tables with one target refuse the whole run: the second would overwrite the first, and whoever
reads the target could not know which it is. A filter does not help: what one run leaves out, the
next would copy to the same place. Overrides give some tables other settings, field by field: a rule
for one table of one connector goes before one for a pattern of its tables, that before one for the
whole connector, and that before one for a table of any connector. Of equals the first wins.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from rocky.errors import NothingSelected, RunRefused
from rocky.pipelines.drift.projection import Projected
from rocky.pipelines.exclusion import Exclusion
from rocky.pipelines.replication.discovery import (
    Components,
    DiscoveredTable,
    FailedSource,
    Filter,
    FilterCandidate,
    SourceListing,
    SourcePlace,
    check_keys,
    check_matches,
    fill_column,
    fill_template,
    flatten_components,
    is_selected,
    match_schema,
    matches_glob,
    name_problem,
)
from rocky.project.configuration.config import DEFAULT_CATALOG
from rocky.project.configuration.pipelines import OverrideMatch, ReplicationPipeline, TableOverride
from rocky.project.configuration.replication_rules import component_names, find_placeholders
from rocky.project.models import Target

_WILD: Final = frozenset("*?")


@dataclass(frozen=True, slots=True)
class TableSettings:
    """How one table is copied. `rules` are the indexes of the overrides that matched it."""

    strategy: str
    timestamp_column: str
    merge_keys: tuple[str, ...]
    enabled: bool
    rules: frozenset[int] = frozenset()


def resolve_settings(pipeline: ReplicationPipeline, schema: str, table: str) -> TableSettings:
    """The settings of one table."""
    if not pipeline.table_overrides:
        keys = pipeline.merge_keys or pipeline.merge_keys_fallback
        return TableSettings(pipeline.strategy, pipeline.timestamp_column, keys, enabled=True)
    matching = sorted(
        (_specificity(rule.match), index)
        for index, rule in enumerate(pipeline.table_overrides)
        if _matches_override(rule.match, schema, table)
    )
    rules = [pipeline.table_overrides[index] for _, index in matching]
    enabled = _first_set(rules, "enabled")
    given = (
        _first_set(rules, "merge_keys"),
        pipeline.merge_keys,
        _first_set(rules, "merge_keys_fallback"),
        pipeline.merge_keys_fallback,
    )
    return TableSettings(
        _first_set(rules, "strategy") or pipeline.strategy,
        _first_set(rules, "timestamp_column") or pipeline.timestamp_column,
        next((each for each in given if each), ()),
        True if enabled is None else enabled,
        frozenset(index for _, index in matching),
    )


def override_warnings(pipeline: ReplicationPipeline, used: frozenset[int]) -> tuple[str, ...]:
    """The overrides that matched no table."""
    return tuple(
        f"override {index + 1} ({_describe_match(rule.match)}) matches no table"
        for index, rule in enumerate(pipeline.table_overrides)
        if index not in used
    )


def _first_set(rules: Sequence[TableOverride], name: str) -> Any:
    values = (getattr(rule, name) for rule in rules)
    return next((value for value in values if value is not None), None)


def _specificity(match: OverrideMatch) -> int:
    if match.connector is None:
        return 3
    if match.table is None:
        return 2
    return 1 if _WILD & set(match.table) else 0


def _matches_override(match: OverrideMatch, schema: str, table: str) -> bool:
    if match.connector is not None and match.connector.lower() != schema.lower():
        return False
    return match.table is None or matches_glob(match.table, table)


def _describe_match(match: OverrideMatch) -> str:
    parts = (("connector", match.connector), ("table", match.table))
    return ", ".join(f"{name} `{value}`" for name, value in parts if value is not None)


DISABLED = "table_override_disabled"


@dataclass(frozen=True, slots=True)
class RoutedTable:
    """A table to copy, where to, and how. `key` is the target as Spark compares it."""

    found: DiscoveredTable
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

    `failed` are tables that would be copied and cannot be: the run continues without them and
    fails. `known` are the full names of all targets that some run copies, whatever this one is to
    copy, and `schemas` where they come from.
    """

    tables: tuple[RoutedTable, ...]
    excluded: tuple[Exclusion, ...] = ()
    failed: tuple[FailedSource, ...] = ()
    unmatched: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    known: tuple[str, ...] = ()
    schemas: tuple[str, ...] = ()


@dataclass(slots=True)
class _SortedTables:
    """Tables as they are sorted out. `left_out` would be copied, but not now."""

    tables: list[RoutedTable] = field(default_factory=list)
    left_out: list[RoutedTable] = field(default_factory=list)
    excluded: list[Exclusion] = field(default_factory=list)
    failed: list[FailedSource] = field(default_factory=list)
    known: list[str] = field(default_factory=list)


def route_tables(
    pipeline: ReplicationPipeline,
    discovered: SourceListing,
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
    found: list[FailedSource | DiscoveredTable] = [*discovered.failed, *discovered.tables]
    found = [each for each in found if matched[each.schema] is not None]
    candidates = [
        FilterCandidate(catalog, each.schema, each.table, matched[each.schema] or {})
        for each in found
    ]
    check_matches(candidates, filters)
    router = _Router(pipeline, discovered.kind, matched)
    made = _SortedTables()
    used: set[int] = set()
    for each, candidate in zip(found, candidates, strict=True):
        settings = resolve_settings(pipeline, each.schema, each.table or "")
        used.update(settings.rules)
        selected = is_selected(candidate, filters)
        if isinstance(each, DiscoveredTable):
            _sort_in(made, router.route(each, settings), settings, selected=selected)
        elif each.table is not None and not settings.enabled:
            if selected:
                made.excluded.append(Exclusion(each.name, None, DISABLED))
        elif selected:
            made.failed.append(each)
        if isinstance(each, FailedSource) and each.table is not None and settings.enabled:
            # It cannot be read now, and has its place all the same.
            unread = DiscoveredTable(catalog, each.schema, each.table, SourcePlace(""))
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


def _sort_in(
    made: _SortedTables, routed: RoutedTable, settings: TableSettings, *, selected: bool
) -> None:
    found = routed.found
    if settings.enabled:
        made.known.append(routed.target.full_name)
    if not selected:
        if settings.enabled and _problem(routed) is None:
            made.left_out.append(routed)
    elif not settings.enabled:
        made.excluded.append(Exclusion(found.name, routed.target.full_name, DISABLED))
    elif (problem := _problem(routed)) is None:
        made.tables.append(routed)
    else:
        made.failed.append(FailedSource(found.schema, found.table, problem))


class _SchemaRoute(NamedTuple):
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
        self._kept: dict[str, _SchemaRoute] = {}
        self._names_tables = any(
            each.name == "table"
            for column in pipeline.metadata_columns
            for each in find_placeholders(column.value)
        )
        pattern, joint = pipeline.source.schema_pattern, pipeline.target.separator
        if joint is None:
            joint = pattern.separator if pattern is not None else "_"
        self._joint = joint

    def route(self, found: DiscoveredTable, settings: TableSettings) -> RoutedTable:
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

    def _keep(self, found: DiscoveredTable) -> _SchemaRoute:
        components = self._matched[found.schema] or {}
        known: Components = {
            "catalog": found.catalog or "",
            "id": found.schema,
            "schema": found.schema,
            **components,
        }
        tenant = components.get("tenant")
        catalog, schema = self._place(found.schema, known)
        return _SchemaRoute(
            components,
            known,
            catalog,
            schema,
            None if self._names_tables else self._fill(known, ""),
            tenant if isinstance(tenant, str) else None,
            (self._kind, *flatten_components(components)),
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
