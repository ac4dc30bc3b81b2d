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
    NOTHING_UNPACKED,
    Compilation,
    CompiledModels,
    Record,
    Statistics,
    complete_reasons,
    unpack_schema,
)
from rocky.analysis.names import Names
from rocky.analysis.python_plans import NO_PLANS, Plans, lacks_plan
from rocky.compiler.function_check import check_functions
from rocky.compiler.graph import ModelGraph, graph_of, report_cycles
from rocky.compiler.model_passes import (
    Compiling,
    binding_pass,
    contract_pass,
    graph_pass,
    named_pass,
    portability_pass,
    settings_pass,
    unit_test_pass,
)
from rocky.compiler.pass_memory import PassMemory
from rocky.compiler.validity import BoundModels, find_stale, load_records, save_records
from rocky.diagnostics import Code, Diagnostic, Label
from rocky.diagnostics.suppression import apply_suppressions
from rocky.language.ir import ModelIr
from rocky.language.names import split_name
from rocky.project import ModelFile, Project
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
    plans: Plans = NO_PLANS,
) -> Compilation:
    """Compile a project. `jobs` limits the processes; `cache=False` neither reads nor writes it.

    `known` are records of a like project, used without a cache: one that does not hold is made
    anew, so the worst that can happen is work. With `portability` the targets of `[portability]`
    are judged too, which nothing that runs on Spark asks for. `plans` are those of Python models,
    which whoever stands above may build: this runs no code.
    """
    names = Names(project)
    stamp = cache_stamp() if cache else None
    cached = load_records(project.root, stamp) if stamp else known
    outcome = bind_models(project, model_keys(project), cached, names, jobs, plans)
    if stamp and (outcome.bound or cached.keys() != outcome.records.keys()):
        save_records(project.root, stamp, outcome.records)
        save_names(project.root, _columns(project, outcome.records))
    return judge_models(project, names, outcome, stamp, PassMemory(), portability=portability)


def model_keys(project: Project) -> dict[str, bytes]:
    """What a record of each model has to be made of."""
    return {key: model_key(model) for key, model in project.models.items()}


def model_key(model: ModelFile) -> bytes:
    """What a record of a model has to be made of."""
    return model.text_hash + model.settings_hash + model.name.encode("utf-8", "surrogatepass")


def judge_models(
    project: Project,
    names: Names,
    outcome: BoundModels,
    stamp: bytes | None,
    memory: PassMemory,
    *,
    portability: bool,
    unpacked: Mapping[str, ModelIr] = NOTHING_UNPACKED,
) -> Compilation:
    """The compilation of a project whose models are bound; what `memory` has still holds.

    `unpacked` are models whose records are as they were.
    """
    loaded, project = project, _with_undeclared(project, outcome.records, memory)
    models = CompiledModels(project, outcome.records, stamp, unpacked)
    if memory.graph is None:
        memory.graph = _graph(project, outcome)
    graph = memory.graph
    at = Compiling(project, names, outcome.records, models, graph)
    targets = project.config.portability.targets if portability else ()
    if memory.functions is None:
        memory.functions = tuple(check_functions(project, names, stamp))
    found = [
        *project.diagnostics,
        *memory.functions,
        *_placed(at, memory.run(binding_pass(at), project.models)),
        *report_cycles(project, outcome.cycles),
        *memory.run(settings_pass(at), project.models),
        *_placed(at, memory.run(named_pass(at), project.models)),
        *memory.run(graph_pass(at), project.models),
        *_portability_findings(at, targets, memory),
        *memory.run(contract_pass(at), dict.fromkeys(sorted(project.contracts))),
        *memory.run(unit_test_pass(at), project.models),
        *_classification_findings(project, models, graph.upstream),
        *_check_findings(project, names, models),
    ]
    if any(each.changed for each in project.imports.values()):
        # It binds, and a compile that binds nothing shall not pay for that.
        from rocky.analysis.imports.findings import with_imports  # noqa: PLC0415

        found = with_imports(found, project, models, names)
    compiled = Compilation(
        project,
        models,
        graph.order,
        graph.upstream,
        graph.downstream,
        (),
        _statistics(project, outcome, models),
        loaded,
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
    return replace(compiled, diagnostics=tuple(_suppressed(project, found, idle, memory)))


def _placed(at: Compiling, found: Iterable[Diagnostic]) -> Iterator[Diagnostic]:
    for each in found:
        yield place_origins(each, at.project, at.models)


def _in_steps(found: Diagnostic) -> Diagnostic:
    """A finding in a `.rocky` file, with help that its author can write."""
    if found.help is None or found.path is None or not found.path.endswith(".rocky"):
        return found
    from rocky.language.dsl.advice import advice_in_steps  # noqa: PLC0415 - few projects have such

    return replace(found, help=advice_in_steps(found.help))


def _with_undeclared(
    project: Project, records: Mapping[str, Record], memory: PassMemory
) -> Project:
    """The project with the tables that its models read and nobody declares among its sources."""
    if project.config.compile.undeclared == "error" and not project.open_targets:
        return project
    if memory.undeclared is None or not memory.same_reads:
        memory.undeclared = _undeclared(project, records)
    sources, writers = memory.undeclared
    return replace(project, sources=sources, writers=writers)


def _undeclared(
    project: Project, records: Mapping[str, Record]
) -> tuple[dict[str, SourceTable], Mapping[str, str]]:
    """The sources with what nobody declares, and which pipelines write which of them."""
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
    return {**kept, **added}, writers


def _declared(project: Project) -> tuple[Mapping[str, object], ...]:
    return project.models, project.sources, project.seeds


def bind_models(
    project: Project,
    keys: Mapping[str, bytes],
    cached: Mapping[str, Record],
    names: Names,
    jobs: int | None,
    plans: Plans = NO_PLANS,
) -> BoundModels:
    """The record of every model; what the cache does not answer is bound."""
    models = project.models
    outcome, task = find_stale(models, keys, cached, names, project.blocked, jobs, plans)
    if task is None:
        return outcome
    # The binder brings the parser library and the function catalogue with it: together half of what
    # a compile costs in which nothing is stale.
    from rocky.compiler.stale_models import bind_stale  # noqa: PLC0415

    bind_stale(task, outcome)
    # In the project's order, whichever worker finished first.
    records = {key: outcome.records[key] for key in models if key in outcome.records}
    return BoundModels(records, outcome.cycles, outcome.bound)


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


def _portability_findings(
    at: Compiling, targets: Sequence[str], memory: PassMemory
) -> Iterable[Diagnostic]:
    if not targets:
        return ()
    if memory.portable_functions is None:
        # It binds bodies, which a compile that asks for no engine does without.
        from rocky.compiler.function_check import lint_functions  # noqa: PLC0415

        memory.portable_functions = tuple(lint_functions(at.project, at.names, targets))
    found = memory.run(portability_pass(at, targets), at.project.models)
    return (*found, *memory.portable_functions)


def _columns(
    project: Project, records: Mapping[str, Record]
) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The columns of each model, by the name that people type."""
    for key, model in project.models.items():
        columns = unpack_schema(records[key])[0] if key in records else ()
        yield model.name, tuple(name for name, _, _ in columns)


def _graph(project: Project, outcome: BoundModels) -> ModelGraph:
    """Who reads whom, by declared names; pipelines read on behalf of the tables they write."""
    copied = {
        each.name: each.reads
        for each in project.sources.values()
        if isinstance(each, PipelineTable) and each.key not in project.models
    }
    upstream = {project.models[key].name: each.reads for key, each in outcome.records.items()}
    upstream |= {name: reads for name, reads in copied.items() if reads}
    return graph_of([model.name for model in project.models.values()], upstream)


def _suppressed(
    project: Project, found: list[Diagnostic], idle: Sequence[Code], memory: PassMemory
) -> list[Diagnostic]:
    allows = memory.allows_of(project.models)
    # Asking a model for its levels may read its settings: only those are asked that need them.
    paths = {each.path for each in found} | allows.keys()
    named = (project.texts.model_at(path) for path in paths if path is not None)
    levels = {
        model.path: model.lints
        for model in named
        if model is not None and project.models.get(model.key) is model
    }
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
        complete_reasons(
            total,
            reasons,
            has_untyped=has_untyped_tables(project),
            lacks_plans=any(map(lacks_plan, outcome.records.values())),
        ),
    )
