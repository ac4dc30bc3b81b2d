"""Twins: where masks hold at `twin` or `view`, the models that show clear tables masked.

A table that would be masked is moved to the restricted schema and written clear; a model that
nobody wrote reads it and has its place, so that claims, records, reuse, branches, proofs and
erasure hold for both alike. Who writes SQL never meets the twin: its table's name means the clear
table to every model of the project, or a mask would be computed with, and masked a second time.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Final, NamedTuple

from blake3 import blake3

from rocky.analysis.column_masks import TableMasks
from rocky.analysis.compilation import (
    Compilation,
    CompiledModels,
    Record,
    unpack_findings,
    unpack_schema,
)
from rocky.analysis.names import Names
from rocky.compiler.model_binder import bind_model
from rocky.compiler.validity import Schemas
from rocky.diagnostics import Code, Diagnostic, Severity
from rocky.language.names import quote_name
from rocky.project import ModelFile, Project
from rocky.project.collisions import target_of_seed
from rocky.project.configuration.blocks import DEFAULT_ADAPTER, adapter_key
from rocky.project.configuration.config import model_patterns
from rocky.project.configuration.model import FormatOptions, ModelSettings, TargetSetting
from rocky.project.configuration.strategies import (
    ContentAddressed,
    DeleteInsert,
    FullRefresh,
    Strategy,
    View,
    has_target,
)
from rocky.project.inheritance import Inherited
from rocky.project.models import Target
from rocky.project.project import TWIN, ProjectTexts, mask_level, twin_key
from rocky.project.seeds import SeedTable
from rocky.project.toml.parser import locate_keys
from rocky.project.toml.variables import Keys

_GOVERNANCE: Final = "governance"


class _Original(NamedTuple):
    """A table that has a twin: a model's or a seed's. `open` is where it would be unmasked."""

    key: str
    table: ModelFile | SeedTable
    open: Target
    clear: Target


def with_twins(compilation: Compilation) -> tuple[Compilation, list[Diagnostic]]:
    """The compilation with the twins that its masks ask for, and what stands in their way.

    What is in the way of one leaves the compilation as it was: its errors refuse every run.
    """
    project = compilation.project
    if mask_level(project) == "write" or not compilation.masks.tables or project.twins:
        return compilation, []
    found = _originals(compilation)
    problems = [*_unregistered(project, found), *_collisions(project, found)]
    if problems or not found:
        return compilation, problems
    expanded = _expand(compilation, found)
    return _bind(compilation, expanded, found)


# ------------------------------------------------------------------ what is in the way


def _at(project: Project, keys: Keys, message: str, help_text: str) -> Diagnostic:
    places = locate_keys(project.texts[project.config_path].text)
    place = places.get(keys) or places.get(keys[:1])
    span = None if place is None else place.value
    return Diagnostic(Code.UNUSABLE_CONFIG, message, span, project.config_path, help=help_text)


def _level_keys(project: Project) -> Keys:
    said = project.config.governance.env.get(project.env or "")
    if said is not None and said.enforce is not None:
        return _GOVERNANCE, "env", str(project.env), "enforce"
    return _GOVERNANCE, "enforce"


def _originals(compilation: Compilation) -> list[_Original]:
    project = compilation.project
    found: list[_Original] = []
    masked = compilation.masks.tables
    tables: dict[str, ModelFile | SeedTable] = {**project.seeds, **project.models}
    for key, table in tables.items():
        if twin_key(key) not in masked:
            continue
        here = table.target if isinstance(table, ModelFile) else None
        target = here or target_of_seed(project.seeds[key], project.config)
        schema = project.config.governance.restricted(target.schema)
        if schema is None:
            # Which is an error of the settings.
            return []
        found.append(_Original(key, table, target, target._replace(schema=schema)))
    return found


def _unregistered(project: Project, found: list[_Original]) -> Iterator[Diagnostic]:
    """A view is in a catalogue or nowhere. Of a branch nothing is in one, and nothing is shown."""
    if mask_level(project) != "view" or project.branch is not None:
        return
    config = project.config
    adapters = {}
    for each in found:
        if isinstance(each.table, ModelFile):
            owner, own = each.table.pipeline, each.table.settings.adapter
        else:
            patterns = model_patterns(config)
            owner, own = (patterns[0].pipeline if patterns else None), None
        pipeline = config.pipeline.get(owner or "")
        named = own or (pipeline.target.adapter if pipeline is not None else DEFAULT_ADAPTER)
        adapters[adapter_key(config.adapter, named)] = each
    for name, each in adapters.items():
        if name is not None and not config.adapter[name].register:
            yield _at(
                project,
                _level_keys(project),
                f"`view` shows `{each.table.name}` masked in Spark's catalogue, and"
                f" `[adapter.{name}]` registers nothing there",
                f'set `register = true` in `[adapter.{name}]`, or use `enforce = "twin"`',
            )


def _collisions(project: Project, found: list[_Original]) -> Iterator[Diagnostic]:
    """What another table has the name of, or a name of the twins' own."""
    keys: Keys = (_GOVERNANCE, "restricted_schema")
    taken = {
        each.target.key: f"model `{each.name}`"
        for each in project.models.values()
        if has_target(each.strategy)
    }
    for seed in project.seeds.values():
        taken.setdefault(target_of_seed(seed, project.config).key, f"seed `{seed.name}`")
    for key, source in project.sources.items():
        taken.setdefault(key, f"source `{source.name}`")
        taken.setdefault(f"spark_catalog.{key}", f"source `{source.name}`")
    for each in found:
        name = each.table.name
        if each.clear.key == each.open.key:
            yield _at(
                project,
                keys,
                f"`{name}` would be written to the schema `{each.clear.schema}` anyway, so its"
                " masked twin would have the place of its clear table",
                "name another schema, or give the model another `[target]`",
            )
        elif each.clear.key in taken:
            yield _at(
                project,
                keys,
                f"the clear table of `{name}` would be `{each.clear.full_name}`, which is that of"
                f" {taken[each.clear.key]}",
                'name another schema; with `restricted_schema = "{schema}_restricted"` each'
                " schema has its own",
            )
        elif twin_key(each.key) in project.models or twin_key(each.key) in project.seeds:
            yield _at(
                project,
                _level_keys(project),
                f"the masked twin of `{name}` is called `{name}{TWIN}`, and something else is too",
                "rename that one",
            )
        else:
            taken[each.clear.key] = f"`{name}`"


# ------------------------------------------------------------------ the twins


def _expand(compilation: Compilation, found: list[_Original]) -> Project:
    """The project with clear tables in their schema, and the twins in their place."""
    project = compilation.project
    models, seeds = dict(project.models), dict(project.seeds)
    for each in found:
        if isinstance(each.table, ModelFile):
            models[each.key] = each.table.at(each.clear)
        else:
            seeds[each.key] = replace(each.table, target=TargetSetting(*each.clear))
    for each in found:
        masks = compilation.masks.of(twin_key(each.key))
        models[twin_key(each.key)] = _twin(compilation, each, masks)
    return replace(
        project,
        models=models,
        seeds=seeds,
        texts=ProjectTexts(str(project.root), {each.path: each for each in models.values()}),
        twins={twin_key(each.key): each.key for each in found},
    )


def _twin(compilation: Compilation, original: _Original, masks: TableMasks) -> ModelFile:
    """The model that reads a clear table; what masks it is in the plan of masks, as of any."""
    project, table = compilation.project, original.table
    if isinstance(table, ModelFile):
        columns = [each[0] for each in unpack_schema(compilation.models.record(table.key)).columns]
        parts = [table.name]
        told = ModelSettings(
            description=table.settings.description,
            intent=table.settings.intent,
            columns=table.settings.columns,
            format_options=_layout(table, masks),
            adapter=table.settings.adapter,
            store=table.settings.store,
        )
        pipeline = table.pipeline
    else:
        columns = [each.name for each in table.columns]
        parts = table.name.split(".")
        told = ModelSettings(description=table.description)
        patterns = model_patterns(project.config)
        pipeline = patterns[0].pipeline if patterns else None
    strategy: Strategy = View() if mask_level(project) == "view" else FullRefresh()
    settings = told._replace(
        name=f"{table.name}{TWIN}",
        strategy=strategy,
        target=TargetSetting(*original.open),
        owner=table.owner,
        tags=table.tags,
    )
    listed = ", ".join(map(quote_name, columns))
    sql = f"SELECT {listed} FROM {'.'.join(map(quote_name, parts))}"  # noqa: S608 - names are quoted
    said = repr(settings).encode("utf-8", "surrogatepass")
    hashes = blake3(sql.encode("utf-8", "surrogatepass")).digest(), blake3(said).digest()
    target = original.open
    inherited = Inherited(str(project.root), pipeline, settings, target.catalog, target.schema, b"")
    path = f"masked twin of {table.name}.sql"
    return ModelFile.loaded(path, sql, 0, settings, None, inherited, hashes)


def _layout(model: ModelFile, masks: TableMasks) -> FormatOptions | None:
    """How the clear table is cut into files, as far as that goes by columns without a mask."""
    options, strategy = model.settings.format_options or FormatOptions(), model.strategy
    partitions = options.partition_by
    if isinstance(strategy, DeleteInsert):
        partitions = strategy.partition_by
    elif isinstance(strategy, ContentAddressed) and strategy.partition_columns:
        partitions = strategy.partition_columns
    # A partition column with a mask is an error.
    kept = FormatOptions(
        partitions, tuple(each for each in options.cluster_by if each.lower() not in masks)
    )
    return kept if kept != FormatOptions() else None


def _bind(
    compilation: Compilation, project: Project, found: list[_Original]
) -> tuple[Compilation, list[Diagnostic]]:
    names = Names(project)
    records: dict[str, Record] = dict(compilation.models.records())
    upstream, downstream = dict(compilation.upstream), dict(compilation.downstream)
    behind: dict[str, str] = {}
    first: list[str] = []
    problems: list[Diagnostic] = []
    for each in found:
        key = twin_key(each.key)
        model = project.models[key]
        identity = model.text_hash + model.settings_hash + model.name.encode()
        record = bind_model(model, identity, names, Schemas(project.models, records))
        records[key] = record
        problems += _errors_of(record, model, project, each)
        upstream[model.name] = record.reads
        for read in record.reads:
            downstream[read] = tuple(sorted({*downstream.get(read, ()), model.name}))
        if isinstance(each.table, ModelFile):
            behind[each.table.name] = model.name
        else:
            first.append(model.name)
    order = [*first]
    for name in compilation.order:
        order += [name, behind[name]] if name in behind else [name]
    models = CompiledModels(project, records, compilation.models.stamp)
    made = replace(
        compilation,
        project=project,
        models=models,
        order=tuple(order),
        upstream=upstream,
        downstream=downstream,
    )
    return made, problems


def _errors_of(
    record: Record, model: ModelFile, project: Project, original: _Original
) -> Iterator[Diagnostic]:
    """What would keep a twin from being built, told of the file whose twin it is."""
    table = original.table
    for each in unpack_findings(record, model, project.texts):
        if each.severity is Severity.ERROR:
            yield Diagnostic(
                each.code,
                f"no masked twin can be made of `{table.name}`: {each.message}",
                None,
                table.path,
                help=each.help,
                model=table.name,
            )
