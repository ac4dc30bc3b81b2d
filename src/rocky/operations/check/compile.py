"""Compile: every model, column, type and contract judged."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cache, lru_cache
from pathlib import Path

from rocky.analysis.compilation import Compilation, complete_reasons, unpack_schema
from rocky.analysis.contracts import record_baselines
from rocky.analysis.lineage import reach_models
from rocky.analysis.python_plans import lacks_plan
from rocky.compiler.fingerprints import Fingerprints, fingerprints_of
from rocky.compiler.passes import has_untyped_tables
from rocky.diagnostics import Code, Diagnostic, Severity
from rocky.errors import InvalidRequest
from rocky.language.datatypes.text import decode_type
from rocky.language.datatypes.types import UNKNOWN
from rocky.language.dialects.table import Dialect
from rocky.language.ir import is_deterministic
from rocky.operations.check.consumers import with_consumers_of
from rocky.operations.check.spark_verification import SparkVerification, ask_spark
from rocky.operations.check.unknown_tables import (
    CachedTable,
    IgnoredSchema,
    UnknownTable,
    cached_tables,
    unknown_tables,
    untyped_sources,
)
from rocky.operations.digest import Digest, Digested, counts
from rocky.operations.findings import Finding, errors_in, findings_of
from rocky.operations.python_plans import compile_analysed
from rocky.operations.report import Blake3, OnDemand, hidden
from rocky.operations.workspace import (
    Workspace,
    broken_models,
    load_workspace,
    model_named,
)
from rocky.plan.arguments import Count, Request
from rocky.project import ModelFile, Project
from rocky.project.project import for_dialects


@dataclass(frozen=True, slots=True)
class CompileRequest(Request):
    """Which models to report on (all without any), and what else to look at.

    `consumers` are interfaces of projects that read this one. `live` compares declared sources with
    what is there now, `verify` every type with Spark's own analyser; both start Spark.
    `record_baselines` records what is nullable now, for contracts with `no_new_nullable`.
    `expand_macros` reports the SQL of models that call macros, with those expanded.
    Without `cache`, the cache is neither read nor written. `target_dialect` is an engine that
    models are meant for besides Spark, in place of those in `[portability]`.
    """

    models: tuple[str, ...] = ()
    consumers: tuple[Path, ...] = ()
    live: bool = False
    verify: bool = False
    record_baselines: bool = False
    jobs: Count | None = None
    cache: bool = True
    expand_macros: bool = False
    target_dialect: Dialect | None = None


@dataclass(frozen=True, slots=True)
class CompiledColumn:
    """A column of a model."""

    name: str
    type: str
    nullable: bool


@dataclass(frozen=True, slots=True)
class CompiledModel:
    """A model as it compiled; one that could not be read has no columns and no hashes."""

    name: str
    path: str
    target: str
    strategy: str
    columns: tuple[CompiledColumn, ...]
    columns_complete: bool
    reads: tuple[str, ...]
    deterministic: bool | None
    determinism: tuple[str, ...]
    recipe_hash: Blake3 | None
    skip_hash: Blake3 | None


@dataclass(frozen=True, slots=True)
class ExpandedModel:
    """A model that calls macros: their files by name, and its SQL with the calls expanded."""

    model: str
    path: str
    macros: Mapping[str, str]
    sql: str


@dataclass(frozen=True, slots=True)
class UnknownReason:
    """Why columns are of unknown type, and how many."""

    reason: str
    count: int


@dataclass(frozen=True, slots=True)
class CompileSummary:
    """The numbers of a compile. `bound` models were worked on, the others came from the cache.

    `untyped_sources` are tables that declare no columns, or that nobody declares. The columns of
    `unknown_tables`, which pipelines of the project write, nobody knows yet. Those of
    `cached_tables` are what `rocky discover --cache` found.
    """

    models: int
    columns: int
    unknown_columns: int
    unknown_reasons: tuple[UnknownReason, ...]
    bound: int
    errors: int
    warnings: int
    notes: int
    untyped_sources: tuple[str, ...] = ()
    unknown_tables: tuple[UnknownTable, ...] = ()
    cached_tables: tuple[CachedTable, ...] = ()
    ignored_schemas: tuple[IgnoredSchema, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class CompileReport(Digested):
    """What a compile found. `broken_inputs` are models further up that have errors of their own."""

    project: Project = hidden()
    found: tuple[Diagnostic, ...] = hidden()
    broken_inputs: tuple[str, ...] = hidden()
    has_errors: bool
    models: Sequence[CompiledModel]
    diagnostics: Sequence[Finding]
    summary: CompileSummary
    baselines_recorded: tuple[str, ...]
    verify: SparkVerification | None
    expanded: tuple[ExpandedModel, ...] | None = None

    @property
    def failed(self) -> bool:
        return self.has_errors or (self.verify is not None and bool(self.verify.differences))

    def digest(self) -> Digest:
        rows = ((m.name, m.strategy, len(m.columns), ", ".join(m.reads)) for m in self.models)
        head, said = ("model", "strategy", "columns", "reads"), self.summary
        size = counts(model=said.models, column=said.columns)
        found = counts(error=said.errors, warning=said.warnings)
        return Digest(f"{size}, {found}", head, rows, len(self.models), self.diagnostics)


def compile_models(workspace: Workspace, request: CompileRequest) -> CompileReport:
    """Compile the project. Raises InvalidRequest, and what loading raises."""
    if request.record_baselines and request.models:
        raise InvalidRequest("`--record-baselines` is for all contracts: leave out `--model`")
    if request.live and request.models:
        raise InvalidRequest("`--live` looks at all sources: leave out `--model`")
    # A baseline is committed: no column of it comes from a folder of this machine.
    look = not request.record_baselines
    project = load_workspace(workspace, cache=request.cache, discovered=look)
    if request.target_dialect is not None:
        project = for_dialects(project, (request.target_dialect,))
    compilation = _compile(project, request)
    recorded = record_baselines(project, compilation.models) if request.record_baselines else []
    if recorded:
        compilation = _compile(project, request)
    compilation = with_consumers_of(compilation, request.consumers)
    models = chosen_models(compilation, request.models)
    found = chosen_findings(compilation, models) if request.models else compilation.diagnostics
    if request.live:
        found = (*found, *_look_at_sources(project))
    verify = ask_spark(workspace, compilation, models) if request.verify else None
    expanded = tuple(_expanded(models)) if request.expand_macros else None
    report = _report(project, compilation, models, found)
    broken = _broken_inputs(compilation, models) if request.models else ()
    return replace(
        report,
        broken_inputs=broken,
        baselines_recorded=tuple(recorded),
        verify=verify,
        expanded=expanded,
    )


def report_compilation(project: Project, compilation: Compilation) -> CompileReport:
    """What a compile of all of a project says, from one that was made. Raises InterfaceRefused."""
    compilation = with_consumers_of(compilation, ())
    models = chosen_models(compilation, ())
    return _report(project, compilation, models, compilation.diagnostics)


def _report(
    project: Project,
    compilation: Compilation,
    models: Sequence[ModelFile],
    found: tuple[Diagnostic, ...],
) -> CompileReport:
    return CompileReport(
        project=project,
        found=found,
        broken_inputs=(),
        has_errors=bool(errors_in(found)),
        models=_describe_models(compilation, models),
        diagnostics=findings_of(found, project),
        summary=summarise(compilation, models, found),
        baselines_recorded=(),
        verify=None,
    )


def _expanded(models: Iterable[ModelFile]) -> Iterator[ExpandedModel]:
    for model in models:
        found = model.expanded.macros.items() if model.expanded is not None else ()
        macros = {name: path for path, name in sorted(found) if name}
        if macros:
            yield ExpandedModel(model.name, model.path, macros, model.sql)


def _compile(project: Project, request: CompileRequest) -> Compilation:
    return compile_analysed(
        project, "person", jobs=request.jobs, cache=request.cache, portability=True
    )


# ------------------------------------------------------------------ what was asked for


def chosen_models(compilation: Compilation, names: Sequence[str]) -> list[ModelFile]:
    """The models that are named, or all, in the order they would run. Raises NothingSelected."""
    project = compilation.project
    ordered = [project.models[name.lower()] for name in compilation.order]
    wanted = {model_named(project, name).key for name in names}
    return [model for model in ordered if model.key in wanted] if names else ordered


def chosen_findings(
    compilation: Compilation, models: Sequence[ModelFile]
) -> tuple[Diagnostic, ...]:
    """The findings of some models, and those in `rocky.toml`, which concern every model.

    A clash of two models is reported at one of them and concerns both.
    """
    names = {model.name.lower() for model in models}
    paths = {model.path for model in models} | {compilation.project.config_path}
    own = {path for model in models for path in (model.path, model.settings_path) if path}
    return tuple(
        each
        for each in compilation.diagnostics
        if (each.model.lower() in names if each.model is not None else each.path in paths)
        or (each.code is Code.DUPLICATE_TARGET and any(label.path in own for label in each.labels))
    )


def _broken_inputs(compilation: Compilation, models: Sequence[ModelFile]) -> tuple[str, ...]:
    """Models further up that have errors: they may be why types are unknown here."""
    chosen = {model.name for model in models}
    above = reach_models(compilation.upstream, chosen) - chosen
    return tuple(sorted(above & broken_models(compilation)))


# ------------------------------------------------------------------ what came of it


def summarise(
    compilation: Compilation, models: Sequence[ModelFile], found: Iterable[Diagnostic]
) -> CompileSummary:
    """The numbers of a compile, of all models or of some."""
    severities = Counter(each.severity for each in found)
    statistics = compilation.statistics
    if len(models) == len(compilation.project.models):
        columns, unknown = statistics.columns, statistics.unknown_columns
        reasons = list(statistics.unknown_reasons)
    else:
        chosen = [compilation.models[each.key] for each in models if each.key in compilation.models]
        columns = sum(len(each.columns) for each in chosen)
        unknown = sum(column.type is UNKNOWN for each in chosen for column in each.columns)
        counts = Counter[str]()
        for model in chosen:
            counts.update(dict(model.unknowns))
        untyped = has_untyped_tables(compilation.project)
        unplanned = any(map(lacks_plan, compilation.models.records().values()))
        reasons = list(
            complete_reasons(unknown, counts, has_untyped=untyped, lacks_plans=unplanned)
        )
    return CompileSummary(
        len(models),
        columns,
        unknown,
        tuple(UnknownReason(reason, count) for reason, count in reasons),
        statistics.bound,
        severities[Severity.ERROR],
        severities[Severity.WARNING],
        severities[Severity.INFO],
        untyped_sources(compilation),
        unknown_tables(compilation),
        cached_tables(compilation, datetime.now(UTC)),
        tuple(IgnoredSchema(x.file, x.why) for x in compilation.project.unused_schemas),
    )


def _describe_models(
    compilation: Compilation, models: Sequence[ModelFile]
) -> Sequence[CompiledModel]:
    """The models, each described when it is looked at; hashes are then made for all at once."""

    @cache
    def hashes() -> dict[str, Fingerprints]:
        return fingerprints_of(compilation, [each.key for each in models])

    return OnDemand(models, lambda each: _describe(compilation, each, hashes().get(each.key)))


def _describe(
    compilation: Compilation, model: ModelFile, hashes: Fingerprints | None
) -> CompiledModel:
    head = (model.name, model.path, model.target.full_name, model.strategy.type)
    if hashes is None:
        return CompiledModel(*head, (), False, (), None, (), None, None)
    # From the record: unpacking the lineage of every model would cost more than all the rest.
    record = compilation.models.record(model.key)
    columns, known = unpack_schema(record)
    return CompiledModel(
        *head,
        tuple(map(_column, columns)),
        known,
        record.reads,
        is_deterministic(record.determinism),
        record.determinism,
        hashes.recipe,
        hashes.skip_hash,
    )


# Most columns of a project are carried from model to model: one value serves them all.
@lru_cache(maxsize=1 << 16)
def _column(column: tuple[str, str, bool]) -> CompiledColumn:
    name, kind, nullable = column
    return CompiledColumn(name, decode_type(kind).text, nullable)


# ------------------------------------------------------------------ what Spark says


def _look_at_sources(project: Project) -> list[Diagnostic]:
    # Nothing that starts Spark is near a compile that does not ask for it.
    from rocky.pipelines.drift import live  # noqa: PLC0415
    from rocky.plan.adapters import find_adapter  # noqa: PLC0415

    return live.compare_live(project, find_adapter(project, "default"))
