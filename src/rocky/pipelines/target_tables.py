"""Target tables: what the project's pipelines write, as sources that its models can read.

Nothing is asked that a compile could not wait for: no Spark, no object store, no ledger. A table is
known from the settings, from the declaration of what it is copied from, or because it lies in a
warehouse on disk; its columns are those of the declaration, then those that the newest commit of
the table names.
"""

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final, NamedTuple

from rocky.errors import RockyError
from rocky.language.datatypes.types import StructField
from rocky.language.names import split_name
from rocky.pipelines.copy_tags import add_contract_tags, add_copied_tags
from rocky.pipelines.drift.projection import project_unchanged
from rocky.pipelines.project_words import EVERY_WORD, MANY, Words, words_of
from rocky.pipelines.replication.discovery import name_problem
from rocky.pipelines.replication.routes import RoutedTable, route_tables
from rocky.pipelines.source_tables import source_tables
from rocky.pipelines.table_schemas import TableSchemas, open_schemas
from rocky.pipelines.target_patterns import ANY, checked_tables, closed_patterns, target_patterns
from rocky.project import Project
from rocky.project.collisions import target_of_seed
from rocky.project.configuration.blocks import adapter_key
from rocky.project.configuration.paths import BRANCH_PREFIX
from rocky.project.configuration.pipelines import (
    LoadPipeline,
    Pipeline,
    QualityPipeline,
    ReplicationPipeline,
    SnapshotPipeline,
    TransformationPipeline,
)
from rocky.project.configuration.strategies import HISTORY_FIELDS, has_target
from rocky.project.imports import ImportedTable
from rocky.project.models import Target
from rocky.project.pipeline_tables import (
    OpenTarget,
    PipelineTable,
    full_parts,
    pipeline_table,
)
from rocky.project.schema_cache import (
    CachedSchema,
    UnusedSchema,
    file_of,
    place_of,
    place_of_replication,
)
from rocky.project.sources import SourceTable

Writer = ReplicationPipeline | LoadPipeline | SnapshotPipeline | QualityPipeline
_RESERVED: Final = "_rocky"


def with_pipeline_tables(
    project: Project, root: Path | None = None, *, remember: bool = False
) -> Project:
    """The project with what its pipelines write among its sources.

    What a file declares stays as it is declared. `root` is where relative places of the settings
    begin, where that is not the project's own folder. With `remember`, logs of tables that are as
    the last such look left them are not read again.
    """
    if all(isinstance(each, TransformationPipeline) for each in project.config.pipeline.values()):
        return project
    project = replace(project, sources=_without_found(project.sources))
    place = project.root if root is None else root
    with open_schemas(place, remember=remember) as schemas:
        return _Finder(project, place, schemas).find()


def _without_found(sources: Mapping[str, SourceTable]) -> dict[str, SourceTable]:
    """Sources without those that no file names: an earlier look or a compile has found them."""
    return {
        key: each
        for key, each in sources.items()
        if each.is_declared or each.discovered_ms or isinstance(each, ImportedTable)
    }


class _Listed(NamedTuple):
    """A folder of a warehouse that may be a table of a pipeline, and the pattern that it fits."""

    schema_folder: Path
    target: Target
    pattern: OpenTarget


@dataclass(slots=True)
class _Finder:
    """One look at the pipelines of a project, and what it has found, by key."""

    project: Project
    root: Path
    schemas: TableSchemas
    found: dict[str, PipelineTable] = field(default_factory=dict)
    words: Words = EVERY_WORD
    unused: list[UnusedSchema] = field(default_factory=list)
    owned: frozenset[str] = frozenset()
    declared: dict[str, SourceTable] = field(default_factory=dict)

    def find(self) -> Project:
        project = self.project
        self.owned = frozenset(_own_targets(project))
        self.declared = {
            ".".join(full): each
            for key, each in project.sources.items()
            if (full := full_parts(split_name(key))) is not None
        }
        patterns = [
            pattern
            for name, pipeline in self._pipelines()
            for pattern in target_patterns(name, pipeline, self._warehouse(pipeline))
        ]
        for name, pipeline in self._pipelines():
            for target in _targets(pipeline):
                self._add(name, self._warehouse(pipeline), target)
        warehouses = dict.fromkeys(each.warehouse for each in patterns)
        listed = [
            table
            for warehouse in warehouses
            for table in self._list(warehouse, [x for x in patterns if x.warehouse == warehouse])
        ]
        if len(listed) > MANY:
            self.words = words_of(project)
        for table in listed:
            if self.words.mean(table.target.table):
                self._take(table)
        left = (table for table in listed if not self.words.mean(table.target.table))
        others = {(x.pattern.pipeline, ".".join(x.target[:2]).lower()) for x in left}
        closed = closed_patterns(patterns, self.found.values(), others)
        for name, pipeline in self._pipelines():
            if isinstance(pipeline, ReplicationPipeline):
                self._route(name, pipeline)
        for name, pipeline in self._pipelines():
            self._follow(name, pipeline)
        self.found = add_contract_tags(project, self.root, self.found)
        new = {key: each for key, each in self.found.items() if key not in self.declared}
        told = add_copied_tags(self.found, self.declared)
        return replace(
            project,
            sources={**project.sources, **told, **dict(sorted(new.items()))},
            open_targets=tuple(closed),
            writers=self._writers(),
            unused_schemas=(*project.unused_schemas, *self.unused),
        )

    def _pipelines(self) -> Iterator[tuple[str, Writer]]:
        for name, pipeline in self.project.config.pipeline.items():
            if not isinstance(pipeline, TransformationPipeline):
                yield name, pipeline

    def _warehouse(self, pipeline: Pipeline) -> str:
        adapters = self.project.config.adapter
        key = adapter_key(adapters, pipeline.target.adapter)
        # A wrong name of an adapter is reported already.
        return adapters[key if key is not None else next(iter(adapters))].warehouse

    def _add(self, name: str, warehouse: str, target: Target) -> PipelineTable | None:
        """Note a table, with the columns that it has now; None for one that somebody else owns."""
        if target.key in self.owned or any(map(name_problem, target)):
            return None
        known = self.found.get(target.key)
        if known is not None:
            return known
        made = pipeline_table(self.project.config_path, name, target, warehouse)
        folder = self._folder(warehouse)
        recorded = self.schemas.of(folder.joinpath(*target)) if folder is not None else None
        if recorded is not None:
            made = replace(
                made, columns=recorded.columns, known_by="last_copy", at_ms=recorded.at_ms
            )
        elif made.is_remote:
            made = self._kept(made)
        self.found[target.key] = made
        return made

    def _kept(self, table: PipelineTable) -> PipelineTable:
        """A table in an object store with the columns that it had when it was discovered."""
        kept = self.project.cached_schemas.get(table.key)
        if kept is None or kept.parts or kept.pipeline is None:
            return table
        if kept.place != place_of(table):
            why = f"it is of another place than `{table.name}` is at now"
            self.unused.append(UnusedSchema(file_of(kept.name), why))
            return table
        return replace(table, columns=kept.columns, known_by="cache", at_ms=kept.at_ms)

    def _folder(self, warehouse: str) -> Path | None:
        if "://" in warehouse and not warehouse.startswith("file://"):
            return None
        return self.root / warehouse.removeprefix("file://")

    # -------------------------------------------------------------- what lies there

    def _list(self, warehouse: str, patterns: list[OpenTarget]) -> Iterator[_Listed]:
        """The tables of a warehouse on disk that pipelines may have written, unread."""
        folder = self._folder(warehouse)
        if folder is None:
            return
        for catalog in _folders(folder):
            if catalog == _RESERVED or catalog.lower().startswith(BRANCH_PREFIX):
                continue
            for schema in _folders(folder / catalog):
                fitting = [x for x in patterns if x.takes(catalog.lower(), schema.lower())]
                # Paths are made for those alone that are looked at.
                place = folder / catalog / schema
                for name in _folders(place) if fitting else ():
                    target = Target(catalog, schema, name)
                    if target.key not in self.owned and target.key not in self.found:
                        yield _Listed(place, target, fitting[0])

    def _take(self, listed: _Listed) -> None:
        """Note a table that lies there, if a pipeline has written it."""
        recorded = self.schemas.of(listed.schema_folder / listed.target.table)
        if recorded is None:
            return
        said, pattern = recorded.pipeline, listed.pattern
        writer = self.project.config.pipeline.get(str(said))
        if isinstance(writer, TransformationPipeline):
            # What is left of a model that is gone.
            return
        if writer is not None or pattern.schema != ANY:
            # A pipeline may be renamed, and its tables stay its own.
            owner = str(said) if writer is not None else pattern.pipeline
            self._add(owner, pattern.warehouse, listed.target)

    # -------------------------------------------------------------- what will lie there

    def _route(self, name: str, pipeline: ReplicationPipeline) -> None:
        """The targets of what is declared, or lies in a lake on disk, whether copied yet or not."""
        cached = self._cached(name, pipeline)
        listing, declared = source_tables(self.project, pipeline, self.root, cached)
        if len(listing.tables) > MANY:
            if self.words is EVERY_WORD:
                self.words = words_of(self.project)
            meant = (each for each in listing.tables if self.words.mean(each.table))
            listing = replace(listing, tables=tuple(meant))
        try:
            routing = route_tables(pipeline, listing) if listing.tables else None
        except RockyError:
            # A run says what is wrong with the names; until then nobody knows where they go.
            return
        for routed in routing.tables if routing is not None else ():
            table = self._add(name, self._warehouse(pipeline), routed.target)
            source = declared.get(routed.found.name)
            if table is not None and source is not None:
                self.found[routed.key] = _copied(table, routed, source)
            kept = cached.get(routed.found.name.lower())
            if table is not None and source is None and kept is not None:
                self.found[routed.key] = _discovered(table, routed, kept)

    def _cached(self, name: str, pipeline: ReplicationPipeline) -> dict[str, CachedSchema]:
        """What was discovered of a pipeline's source, by the names of its tables."""
        place = place_of_replication(pipeline.source)
        kept = self.project.cached_schemas.values()
        own = [x for x in kept if x.pipeline == name and x.parts]
        self.unused += [
            UnusedSchema(file_of(x.name), f"pipeline `{name}` copies from another place now")
            for x in own
            if x.place != place
        ]
        return {x.key: x for x in own if x.place == place}

    def _follow(self, name: str, pipeline: Writer) -> None:
        """What tables are made from: the source of a history, what rows were set aside from."""
        if isinstance(pipeline, SnapshotPipeline):
            source = Target(*pipeline.source[:3])
            table = self.found.get(Target(*pipeline.target[:3]).key)
            if table is not None:
                self.found[table.key] = self._history(table, source)
        if isinstance(pipeline, ReplicationPipeline | LoadPipeline | SnapshotPipeline):
            bases = [each for each in self.found.values() if each.pipeline == name]
            base_targets = [Target(*each.parts) for each in bases]
        else:
            base_targets = [each for each in checked_tables(pipeline) if each.table]
        for base in base_targets:
            self._set_aside(name, pipeline, base)

    def _history(self, table: PipelineTable, source: Target) -> PipelineTable:
        above = self._named(source)
        made = table if above is None else replace(table, reads=(above,))
        declared = self.declared.get(source.key) or self.found.get(source.key)
        if declared is None or not declared.columns:
            return made
        if isinstance(declared, PipelineTable) and declared.known_by != "declaration":
            # What the history was made from last is what the table itself says.
            return made if made.columns else _with_columns(made, declared.columns, HISTORY_FIELDS)
        return _with_columns(made, declared.columns, HISTORY_FIELDS)

    def _set_aside(self, name: str, pipeline: Writer, base: Target) -> None:
        quarantine = pipeline.checks.quarantine
        if not (pipeline.checks.enabled and quarantine.enabled) or quarantine.mode == "tag":
            return
        suffixes = [quarantine.suffix_valid]
        suffixes += [quarantine.suffix_quarantine] if quarantine.mode == "split" else []
        for suffix in suffixes:
            if base.table.endswith((quarantine.suffix_valid, quarantine.suffix_quarantine)):
                continue
            target = base._replace(table=f"{base.table}{suffix}")
            made = self._add(name, self._warehouse(pipeline), target)
            above = self._named(base)
            if made is None or above is None:
                continue
            made = replace(made, reads=(above,))
            source = self.found.get(base.key) or self.declared.get(base.key)
            if suffix == quarantine.suffix_valid and source is not None and not made.columns:
                made = replace(made, columns=source.columns, known_by="declaration")
            self.found[target.key] = made

    def _named(self, target: Target) -> str | None:
        """The node of the graph that a table is, by name."""
        declared = self.declared.get(target.key) or self.found.get(target.key)
        if declared is not None:
            return declared.name
        models = self.project.models.values()
        return next((each.name for each in models if each.target.key == target.key), None)

    def _writers(self) -> dict[str, str]:
        """By the key of a source, the pipeline that writes it; also of those that are declared."""
        writers = {key: each.pipeline for key, each in self.found.items()}
        by_path = {
            os.path.normpath(self.root / str(each.path)): each.pipeline
            for each in self.found.values()
        }
        for full, source in self.declared.items():
            at = os.path.normpath(self.root / source.path) if source.path is not None else ""
            writer = by_path.get(at) or (writers.pop(full, None) if source.path is None else None)
            if writer is not None:
                writers[source.key] = writer
        return writers


def _own_targets(project: Project) -> Iterator[str]:
    """The tables that models and seeds write, by key."""
    for model in project.models.values():
        if has_target(model.strategy):
            yield model.target.key
    for seed in project.seeds.values():
        yield target_of_seed(seed, project.config).key


def _targets(pipeline: Pipeline) -> Iterator[Target]:
    """The tables that settings name."""
    if isinstance(pipeline, SnapshotPipeline | LoadPipeline):
        target = pipeline.target
        if target.table is not None:
            yield Target(target.catalog, target.schema, target.table)


def _copied(table: PipelineTable, routed: RoutedTable, source: SourceTable) -> PipelineTable:
    """A copy of a declared source: its columns, the pipeline's own, and what the copy has beside.

    Columns that the source no longer has stay in the copy for a while.
    """
    made = replace(
        table,
        reads=(source.name,),
        classification=source.classification,
        described=source.described,
    )
    if not source.columns:
        return made
    fields = [project_unchanged(each).field for each in source.columns]
    fields += [each.field for each in routed.metadata]
    return _with_columns(made, fields, ())


def _discovered(table: PipelineTable, routed: RoutedTable, schema: CachedSchema) -> PipelineTable:
    """A copy of what was discovered and kept; what the copy itself has goes before that."""
    if table.columns:
        return table
    fields = [project_unchanged(each).field for each in schema.columns]
    fields += [each.field for each in routed.metadata]
    return replace(_with_columns(table, fields, ()), known_by="cache", at_ms=schema.at_ms)


def _with_columns(
    table: PipelineTable, columns: Iterable[StructField], more: Iterable[StructField]
) -> PipelineTable:
    made = {each.name.lower(): each for each in (*columns, *more)}
    kept = [each for each in table.columns if each.name.lower() not in made]
    fields = tuple(StructField(str(each.name), each.type, each.nullable) for each in made.values())
    return replace(table, columns=(*fields, *kept), known_by="declaration")


def _folders(folder: Path) -> list[str]:
    try:
        with os.scandir(folder) as entries:
            return sorted(each.name for each in entries if each.is_dir())
    except OSError:
        return []
