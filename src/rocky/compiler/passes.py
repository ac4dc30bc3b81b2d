"""compile_project: Project -> Compilation, as an ordered list of passes.

Load findings, functions, binding (cached), cycles, lints, contracts, imports, masks, twins,
suppression.
Nothing here prints, reads the clock or the environment; the cache is the only thing it writes. The
binder knows which column of which table an expression is; only here is it known whether that is a
line of a source's TOML, a seed's header or another model's select list.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from rocky.analysis.classification.declared import has_tags
from rocky.analysis.compilation import (
    NO_RECORDS,
    Compilation,
    CompiledModels,
    Record,
    Statistics,
    complete_reasons,
    unpack_findings,
    unpack_schema,
)
from rocky.analysis.contracts.check import check_contracts
from rocky.analysis.lints.rules import lint_graph, lint_settings
from rocky.analysis.names import Names
from rocky.analysis.unit_tests import check_unit_tests
from rocky.compiler.function_check import check_functions
from rocky.compiler.graph import report_cycles, topological_levels
from rocky.compiler.named_tables import (
    NamedTable,
    check_named_tables,
    find_table,
    names_tables,
)
from rocky.compiler.validity import BoundModels, find_stale, load_records, save_records
from rocky.diagnostics import Code, Diagnostic, Label
from rocky.diagnostics.suppression import apply_suppressions, find_allows
from rocky.language.ir import ModelIr
from rocky.language.names import split_name
from rocky.project import Project
from rocky.project.cache import cache_stamp
from rocky.project.check_sql import find_check_sql
from rocky.project.configuration.masks import NO_MASKS
from rocky.project.name_cache import save_names
from rocky.project.pipeline_tables import PipelineTable, find_open_target, pipeline_table
from rocky.project.project import mask_level, mask_strategies
from rocky.project.sources import SourceTable, undeclared_source


def place_origins(
    diagnostic: Diagnostic, project: Project, models: Mapping[str, ModelIr]
) -> Diagnostic:
    """The diagnostic with its upstream labels placed; a label nobody can place is dropped."""
    if all(label.column is None for label in diagnostic.labels):
        return diagnostic
    placed = (
        label if label.column is None else _place(label, label.column, project, models)
        for label in diagnostic.labels
    )
    return replace(diagnostic, labels=tuple(label for label in placed if label is not None))


def _place(
    label: Label, origin: tuple[str, str], project: Project, models: Mapping[str, ModelIr]
) -> Label | None:
    table, column = origin[0].lower(), origin[1].lower()
    if table in models:
        model, ir = project.models[table], models[table]
        produced = ir.column(column)
        if produced is None or produced.span is None:
            return None
        return Label(model.place_in_file(produced.span), label.message, model.path)
    declared = project.sources.get(table) or project.seeds.get(table)
    if declared is None:
        return None
    for field, place in zip(declared.columns, declared.column_places, strict=False):
        if field.name.lower() == column and place is not None:
            return Label(place, label.message, declared.file)
    return None


def compile_project(
    project: Project,
    *,
    jobs: int | None = None,
    cache: bool = True,
    known: Mapping[str, Record] = NO_RECORDS,
    portability: bool = False,
) -> Compilation:
    """Compile a project. `jobs` limits the processes; `cache=False` neither reads nor writes it.

    `known` are records of a like project, used without a cache: one that does not hold is made
    anew, so the worst that can happen is work. With `portability` the targets of `[portability]`
    are judged too, which nothing that runs on Spark asks for.
    """
    names = Names(project)
    stamp = cache_stamp() if cache else None
    cached = load_records(project.root, stamp) if stamp else known
    keys = {
        key: model.text_hash + model.settings_hash + model.name.encode("utf-8", "surrogatepass")
        for key, model in project.models.items()
    }
    outcome = _bind_models(project, keys, cached, names, jobs)
    if stamp and (outcome.bound or cached.keys() != outcome.records.keys()):
        save_records(project.root, stamp, outcome.records)
        save_names(project.root, _columns(project, outcome.records))
    project = _with_undeclared(project, outcome.records)
    models = CompiledModels(project, outcome.records, stamp)
    upstream, downstream = _edges(project, outcome)
    targets = project.config.portability.targets if portability else ()
    found = [
        *project.diagnostics,
        *check_functions(project, names, stamp),
        *_binding_findings(project, outcome, models),
        *report_cycles(project, outcome.cycles),
        *_settings_findings(project, outcome, models),
        *_named_findings(project, outcome, names, models),
        *lint_graph(_starred(outcome, models), project.models, downstream),
        *_portability_findings(project, outcome, names, targets),
        *check_contracts(project, models),
        *check_unit_tests(project, names),
        *_classification_findings(project, models, upstream),
        *_check_findings(project, names, models),
    ]
    if any(each.changed for each in project.imports.values()):
        # It binds, and a compile that binds nothing shall not pay for that.
        from rocky.analysis.imports.findings import with_imports  # noqa: PLC0415

        found = with_imports(found, project, models, names)
    compiled = Compilation(
        project,
        models,
        _order(project, upstream),
        upstream,
        downstream,
        (),
        _statistics(project, outcome, models),
    )
    if mask_strategies(project) or project.config.mask != NO_MASKS:
        # As above: a mask is bound, too.
        from rocky.analysis.masks.findings import with_masks  # noqa: PLC0415

        compiled, masked = with_masks(compiled)
        found += [place_origins(each, project, models) for each in masked]
        if mask_level(project) in ("twin", "view"):
            from rocky.compiler.twins import with_twins  # noqa: PLC0415 - as above

            compiled, hindered = with_twins(compiled)
            found += hindered
    if project.config.row_filter:
        from rocky.analysis.masks.row_filters import plan_row_filters  # noqa: PLC0415

        found += plan_row_filters(compiled)[1]
    found = [_in_steps(each) for each in found]
    idle = () if targets else (Code.DIALECT_DIVERGENCE,)
    return replace(compiled, diagnostics=tuple(_suppressed(project, found, idle)))


def _in_steps(found: Diagnostic) -> Diagnostic:
    """A finding in a `.rocky` file, with help that its author can write."""
    if found.help is None or found.path is None or not found.path.endswith(".rocky"):
        return found
    from rocky.language.dsl.advice import advice_in_steps  # noqa: PLC0415 - few projects have such

    return replace(found, help=advice_in_steps(found.help))


def _with_undeclared(project: Project, records: Mapping[str, Record]) -> Project:
    """The project with the tables that its models read and nobody declares among its sources."""
    if project.config.compile.undeclared == "error" and not project.open_targets:
        return project
    read = sorted({name for record in records.values() for name in record.reads})
    added: dict[str, SourceTable] = {}
    writers = dict(project.writers)
    for name in read:
        if any(name.lower() in group for group in _declared(project)):
            continue
        coming = find_open_target(project.open_targets, split_name(name))
        if coming is None:
            added[name] = undeclared_source(name, project.config_path)
            continue
        target, parts = coming
        added[name] = pipeline_table(project.config_path, target.pipeline, parts, target.warehouse)
        writers[name] = target.pipeline
    wanted = {name.lower() for name in read}
    kept = {
        key: each
        for key, each in project.sources.items()
        # What was discovered once and is read no more is no part of the project.
        if each.is_declared or not each.discovered_ms or key in wanted
    }
    if not added and len(kept) == len(project.sources):
        return project
    return replace(project, sources={**kept, **added}, writers=writers)


def _declared(project: Project) -> tuple[Mapping[str, object], ...]:
    return project.models, project.sources, project.seeds


def _bind_models(
    project: Project,
    keys: Mapping[str, bytes],
    cached: Mapping[str, Record],
    names: Names,
    jobs: int | None,
) -> BoundModels:
    """The record of every model; what the cache does not answer is bound."""
    models = project.models
    outcome, task = find_stale(models, keys, cached, names, project.blocked, jobs)
    if task is None:
        return outcome
    # The binder brings the parser library and the function catalogue with it: together half of what
    # a compile costs in which nothing is stale.
    from rocky.compiler.stale_models import bind_stale  # noqa: PLC0415

    bind_stale(task, outcome)
    # In the project's order, whichever worker finished first.
    records = {key: outcome.records[key] for key in models if key in outcome.records}
    return BoundModels(records, outcome.cycles, outcome.bound)


def _named_findings(
    project: Project, outcome: BoundModels, names: Names, models: Mapping[str, ModelIr]
) -> Iterator[Diagnostic]:
    """Findings about tests of tables that are not their models' own."""

    def find(name: str) -> NamedTable | None:
        return find_table(name, project, names, models)

    for key, record in outcome.records.items():
        model = project.models[key]
        if not record.names_columns or not names_tables(model):
            continue
        yield from check_named_tables(model, project, find)
        if any(each.table is not None for each in model.tests):
            from rocky.compiler.check_binder import bind_named_tests  # noqa: PLC0415 - as above

            for found in bind_named_tests(model, find, project, names):
                yield place_origins(found, project, models)


def _check_findings(
    project: Project, names: Names, models: Mapping[str, ModelIr]
) -> Iterator[Diagnostic]:
    if next(find_check_sql(project.config), None) is None:
        return
    # As above: only a project whose checks are SQL pays for the binder.
    from rocky.compiler.check_binder import bind_checks  # noqa: PLC0415

    for found in bind_checks(project, names, models):
        yield place_origins(found, project, models)


def _classification_findings(
    project: Project, models: CompiledModels, upstream: Mapping[str, tuple[str, ...]]
) -> Iterator[Diagnostic]:
    """Findings about tags; of a project that gives none, nothing is looked at but that."""
    if not has_tags(project, models):
        return
    # As above: few projects have tags.
    from rocky.analysis.classification.findings import check_classifications  # noqa: PLC0415

    for found in check_classifications(project, models, upstream):
        yield place_origins(found, project, models)


def _settings_findings(
    project: Project, outcome: BoundModels, models: Mapping[str, ModelIr]
) -> Iterator[Diagnostic]:
    for key, record in outcome.records.items():
        if record.names_columns:
            yield from lint_settings(project.models[key], models[key], project.texts)


def _portability_findings(
    project: Project, outcome: BoundModels, names: Names, targets: Sequence[str]
) -> Iterable[Diagnostic]:
    if not targets:
        return ()
    # They read the table of dialects, which a compile that asks for none does without.
    from rocky.analysis.lints.portability import lint_portability  # noqa: PLC0415
    from rocky.compiler.function_check import lint_functions  # noqa: PLC0415

    return (
        *lint_portability(project, outcome.records, targets),
        *lint_functions(project, names, targets),
    )


def _starred(outcome: BoundModels, models: Mapping[str, ModelIr]) -> dict[str, ModelIr]:
    """The few models whose output follows an input's columns: the only ones the graph lints see."""
    return {key: models[key] for key, record in outcome.records.items() if record.star is not None}


def _binding_findings(
    project: Project, outcome: BoundModels, models: Mapping[str, ModelIr]
) -> Iterator[Diagnostic]:
    # In the project's order, whichever worker finished first.
    for key, model in project.models.items():
        record = outcome.records.get(key)
        if record is not None and record.findings:
            for found in unpack_findings(record, model, project.texts):
                yield place_origins(found, project, models)


def _columns(
    project: Project, records: Mapping[str, Record]
) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The columns of each model, by the name that people type."""
    for key, model in project.models.items():
        columns = unpack_schema(records[key])[0] if key in records else ()
        yield model.name, tuple(name for name, _, _ in columns)


def _edges(
    project: Project, outcome: BoundModels
) -> tuple[dict[str, tuple[str, ...]], dict[str, tuple[str, ...]]]:
    """Who reads whom, by declared names; pipelines read on behalf of the tables they write."""
    readers: dict[str, list[str]] = {}
    copied = {
        each.name: each.reads
        for each in project.sources.values()
        if isinstance(each, PipelineTable) and each.key not in project.models
    }
    upstream = {project.models[key].name: each.reads for key, each in outcome.records.items()}
    upstream |= {name: reads for name, reads in copied.items() if reads}
    for name, reads in upstream.items():
        for each in reads:
            readers.setdefault(each, []).append(name)
    return upstream, {name: tuple(sorted(each)) for name, each in readers.items()}


def _order(project: Project, upstream: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    names = [model.name for model in project.models.values()]
    levels, left_over = topological_levels(names, upstream)
    return (*(name for level in levels for name in level), *left_over)


def _suppressed(
    project: Project, found: list[Diagnostic], idle: Sequence[Code]
) -> list[Diagnostic]:
    allows = {
        model.path: find_allows(model.text, model.path, start=model.sql_offset)
        for model in project.models.values()
        if model.marked
    }
    # Asking a model for its levels may read its settings: only those are asked that need them.
    paths = {each.path for each in found} | allows.keys()
    levels = {model.path: model.lints for model in project.models.values() if model.path in paths}
    for each in found:
        # A lint of what a model's settings say, in a file of their own.
        model = project.models.get(each.model.lower()) if each.model is not None else None
        place = model.settings_place if model is not None else None
        if model is not None and place is not None and each.path == place.path != model.path:
            levels[place.path] = model.lints
    return apply_suppressions(found, allows, project.config.lints, levels, idle=idle)


def has_untyped_tables(project: Project) -> bool:
    """Whether the project declares a source without columns."""
    return any(not each.columns for each in project.sources.values())


def _statistics(
    project: Project, outcome: BoundModels, models: Mapping[str, ModelIr]
) -> Statistics:
    unknown = {key: record.unknown for key, record in outcome.records.items() if record.unknown}
    reasons: dict[str, int] = {}
    for key in unknown:
        for reason, count in models[key].unknowns:
            reasons[reason] = reasons.get(reason, 0) + count
    total = sum(unknown.values())
    return Statistics(
        len(outcome.records),
        len(outcome.bound),
        sum(record.columns for record in outcome.records.values()),
        total,
        complete_reasons(total, reasons, has_untyped=has_untyped_tables(project)),
    )
