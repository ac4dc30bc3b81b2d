"""Python models looked at from the inside: their code builds a plan, which is bound as SQL is.

This runs the author's Python, in a process apart, whatever `[python] analyse` says: it is asked for
by name.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from rocky.analysis.compilation import Compilation
from rocky.analysis.names import CompiledTables, Names
from rocky.analysis.python_plans import PlanNote, kept_plan
from rocky.compiler.passes import compile_project
from rocky.diagnostics import Code, Diagnostic, Severity
from rocky.diagnostics.diagnostic import Span, in_reading_order
from rocky.diagnostics.suggestion import suggestion
from rocky.errors import InvalidRequest, RockyError
from rocky.frames.plan_outcome import PlanOutcome, bind_plan, note_span
from rocky.frames.table_schemas import read_schemas
from rocky.language.datatypes.types import StructField
from rocky.language.names import split_name
from rocky.operations.check.compile import chosen_models
from rocky.operations.check.python_jobs import JobFiles, check_jobs, is_job, job_findings
from rocky.operations.digest import Digest, Digested, counts
from rocky.operations.findings import Finding, describe_findings, errors_in, findings_of
from rocky.operations.python_plans import open_plans
from rocky.operations.report import hidden
from rocky.operations.workspace import Workspace, compile_workspace, load_workspace
from rocky.plan.arguments import Count, Request
from rocky.project import ModelFile, Project
from rocky.project.models import setting_place
from rocky.project.python_models import output_of

SECONDS = 30
"""How long a model may take to build its plan; one that only builds a plan needs a hundredth."""


@dataclass(frozen=True, slots=True)
class CheckPythonRequest(Request):
    """The Python models to look at; all when none is named. `seconds` is the time of each.

    A model may also be a function of any file, `jobs/*.py::enrich`: its tables are those of the
    project, or of `schemas`, a TOML file.
    """

    models: tuple[str, ...] = ()
    seconds: Count = SECONDS
    schemas: Path | None = None


@dataclass(frozen=True, slots=True)
class PythonColumnSource:
    """A column of a table that a column is made from, and how."""

    table: str
    column: str
    kind: str


@dataclass(frozen=True, slots=True)
class PythonColumn:
    """A column that the code of a model gives."""

    name: str
    type: str
    nullable: bool
    sources: tuple[PythonColumnSource, ...]


@dataclass(frozen=True, slots=True)
class CheckedPythonModel:
    """A Python model as its code is.

    `columns` are those its plan gives, complete where `columns_complete` says so; `unknown` are the
    reasons why something is not known. `sql` gives the same rows, where there is such a query.
    """

    name: str
    path: str
    columns: tuple[PythonColumn, ...]
    columns_complete: bool
    unknown: tuple[str, ...]
    sql: str | None


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class CheckPythonReport(Digested):
    """What the code of Python models is, and what is wrong with it.

    `skipped` are functions of files that have a parameter without a table: a warning says which.
    """

    project: Project | JobFiles = hidden()
    found: tuple[Diagnostic, ...] = hidden()
    has_errors: bool
    models: tuple[CheckedPythonModel, ...]
    diagnostics: Sequence[Finding]
    skipped: tuple[str, ...] = ()

    @property
    def of_models(self) -> bool:
        """Whether models were looked at, and not functions of files."""
        return isinstance(self.project, Project)

    def digest(self) -> Digest:
        rows = ((each.name, len(each.columns), "; ".join(each.unknown)) for each in self.models)
        title = f"{counts(model=len(self.models))}, {counts(error=len(errors_in(self.found)))}"
        head = ("model", "columns", "not known")
        return Digest(title, head, rows, len(self.models), self.diagnostics)


def check_python(workspace: Workspace, request: CheckPythonRequest) -> CheckPythonReport:
    """Run the code of Python models and bind their plans. Raises InvalidRequest, RockyError."""
    jobs = [each for each in request.models if is_job(each)]
    if jobs and len(jobs) == len(request.models):
        return _check_jobs(workspace, request)
    if jobs or request.schemas is not None:
        raise InvalidRequest("`FILE.py::FUNCTION` and `--schemas` go together, without models")
    compilation = _compiled(workspace, request.seconds)
    models = [each for each in chosen_models(compilation, request.models) if each.is_python]
    chosen = {each.name.lower() for each in models}
    for name in request.models:
        if name.lower() not in chosen:
            raise InvalidRequest(f"model `{name}` is not Python: `rocky compile` checks it")
    names = Names(compilation.project)
    found: list[Diagnostic] = []
    checked: list[CheckedPythonModel] = []
    for model in models:
        outcome = _outcome(model, compilation, names)
        if outcome is None:
            # What it reads is unknown, which a compile has reported.
            continue
        found += _findings(model, outcome, compilation.project)
        checked.append(_described(model.name, model.path, outcome))
    return CheckPythonReport(
        project=compilation.project,
        found=tuple(found),
        has_errors=bool(errors_in(found)),
        models=tuple(checked),
        diagnostics=findings_of(found, compilation.project),
    )


def _check_jobs(workspace: Workspace, request: CheckPythonRequest) -> CheckPythonReport:
    """The same of functions that are no models."""
    schemas = (
        read_schemas(request.schemas) if request.schemas is not None else project_tables(workspace)
    )
    files, jobs, skipped = check_jobs(request.models, schemas, Path.cwd(), request.seconds)
    found = (*skipped, *(each for job in jobs for each in job_findings(job, files)))
    return CheckPythonReport(
        project=files,
        found=found,
        has_errors=bool(errors_in(found)),
        models=tuple(_described(each.name, each.path, each.outcome) for each in jobs),
        skipped=tuple(each.model for each in skipped if each.model is not None),
        diagnostics=describe_findings(in_reading_order(found), files.texts),
    )


def project_tables(workspace: Workspace) -> dict[str, Sequence[StructField]]:
    """The tables of a project whose columns are known, models among them."""
    compilation = compile_workspace(workspace)
    names = Names(compilation.project)
    tables: dict[str, Sequence[StructField]] = {}
    for name in names.shown:
        fields = _columns(tuple(split_name(name.lower())), "", compilation, names)
        if fields is not None:
            tables[name] = fields
    return tables


def _compiled(workspace: Workspace, seconds: float) -> Compilation:
    """The project with a plan of each Python model. Raises RockyError where none can be built."""
    project = load_workspace(workspace)
    with open_plans(project, "by name", seconds=seconds) as plans:
        compilation = compile_project(project, plans=plans)
    if plans.hindrance is not None:
        raise RockyError(f"Python cannot be checked: {plans.hindrance}")
    return compilation


def _outcome(model: ModelFile, compilation: Compilation, names: Names) -> PlanOutcome | None:
    """What is known of a model by its plan; None where there is none."""
    plan = kept_plan(compilation.models.record(model.key).plan)
    if plan is None:
        return None
    project = compilation.project
    tables = CompiledTables(project, compilation.models, names, model.key, lambda table: table)
    code = model.imports.code.items()
    texts = {path: data.decode("utf-8", "replace") for path, data in code}
    return bind_plan(plan, tables, {**texts, model.path: model.text}, Path(project.root))


def _columns(
    parts: tuple[str, ...], reader: str, compilation: Compilation, names: Names
) -> Sequence[StructField] | None:
    key = names.model(parts, reader)
    if key is not None:
        ir = compilation.models.get(key)
        if ir is None or not ir.known:
            return None
        return [StructField(each.name, each.type, each.nullable) for each in ir.columns]
    table = names.external(parts)
    return table.fields if table is not None and table.known else None


def _described(name: str, path: str, outcome: PlanOutcome) -> CheckedPythonModel:
    return CheckedPythonModel(
        name,
        path,
        tuple(
            PythonColumn(
                each.name,
                str(each.type),
                each.nullable,
                tuple(PythonColumnSource(edge.table, edge.column, edge.kind) for edge in edges),
            )
            for each, edges in zip(outcome.columns, outcome.lineage, strict=True)
        ),
        outcome.known,
        tuple(each.text for each in outcome.unknown),
        outcome.sql if outcome.known and not outcome.plan.gaps else None,
    )


# ------------------------------------------------------------------ findings


def _findings(model: ModelFile, outcome: PlanOutcome, project: Project) -> Iterator[Diagnostic]:
    failure = outcome.plan.failure
    if failure is not None:
        message = f"the code of `{model.name}` fails while its plan is built: {failure.text}"
        yield _at(model, failure, Code.CODE_RAISED, message)
        return
    for each in outcome.unknown:
        message = f"what `{model.name}` gives cannot be worked out: {each.text}"
        opaque = _at(model, each, Code.QUERY_NOT_UNDERSTOOD, message, Severity.WARNING)
        yield replace(opaque, help="its declared `output` is believed")
    for found in outcome.findings:
        yield replace(found, path=found.path or model.path, model=model.name)
    if outcome.known and not outcome.unknown and not errors_in(outcome.findings):
        yield from _declared(model, outcome, project)


def _at(
    model: ModelFile,
    note: PlanNote,
    code: Code,
    message: str,
    severity: Severity = Severity.ERROR,
) -> Diagnostic:
    path = note.path or model.path
    return Diagnostic(code, message, note_span(note), path, severity, model=model.name)


def _declared(model: ModelFile, outcome: PlanOutcome, project: Project) -> Iterator[Diagnostic]:
    """Where the declared output is not what the code gives; none need be declared."""
    declared = output_of(model)
    if not declared:
        return
    given = [each.name.lower() for each in outcome.columns]
    path, span = setting_place(model, project.texts, ("output",), on_key=True)
    for at, each in enumerate(declared):
        if each.name.lower() not in given:
            names = [column.name for column in outcome.columns]
            yield _differs(
                model,
                f"`{each.name}` is declared, and the code gives no such column",
                (path, _entry(model, project, at) or span),
                suggestion(each.name, names),
            )
            continue
        found = outcome.columns[given.index(each.name.lower())]
        if found.type is not each.type:
            yield _differs(
                model,
                f"`{each.name}` is declared `{each.type}`, and the code gives `{found.type}`",
                (path, _entry(model, project, at) or span),
                f'write `type = "{found.type}"`, or cast the column',
            )
    names = [each.name.lower() for each in declared]
    extra = [each.name for each in outcome.columns if each.name.lower() not in names]
    for name in extra:
        yield _differs(
            model,
            f"the code gives a column `{name}`, which is not declared",
            (path, span),
            "declare it, or do not select it",
        )
    if not extra and sorted(names) == sorted(given) and names != given:
        order = ", ".join(f"`{each.name}`" for each in outcome.columns)
        yield _differs(
            model,
            "the columns are declared in another order than the code gives them",
            (path, span),
            f"the code gives {order}",
        )


def _entry(model: ModelFile, project: Project, at: int) -> Span | None:
    _, span = setting_place(model, project.texts, ("output", at, "type"))
    return span


def _differs(
    model: ModelFile, message: str, place: tuple[str, Span | None], advice: str | None
) -> Diagnostic:
    path, span = place
    return Diagnostic(Code.UNUSABLE_FILE, message, span, path, help=advice, model=model.name)
