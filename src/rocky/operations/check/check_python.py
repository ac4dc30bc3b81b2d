"""Python models looked at from the inside: their code builds a plan, which is bound as SQL is.

This runs the author's Python, in a process apart, whatever `[python] analyse` says: it is asked for
by name.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from rocky.analysis.compilation import Compilation
from rocky.analysis.names import Names
from rocky.diagnostics import Code, Diagnostic, Severity
from rocky.diagnostics.diagnostic import Span, in_reading_order
from rocky.diagnostics.suggestion import suggestion
from rocky.errors import InvalidRequest
from rocky.frames.sandbox import Outcome, Place, Reason, Target, check_targets
from rocky.frames.table_schemas import read_schemas
from rocky.language.datatypes.types import StructField
from rocky.language.names import split_name
from rocky.operations.check.compile import chosen_models
from rocky.operations.check.python_jobs import JobFiles, check_jobs, is_job, job_findings
from rocky.operations.digest import Digest, Digested, counts
from rocky.operations.findings import Finding, describe_findings, errors_in, findings_of
from rocky.operations.report import hidden
from rocky.operations.workspace import Workspace, compile_workspace
from rocky.plan.arguments import Count, Request
from rocky.project import ModelFile, Project
from rocky.project.models import setting_place
from rocky.project.python_models import FUNCTION, inputs_of, output_of

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
    """What the code of Python models is, and what is wrong with it."""

    project: Project | JobFiles = hidden()
    found: tuple[Diagnostic, ...] = hidden()
    has_errors: bool
    models: tuple[CheckedPythonModel, ...]
    diagnostics: Sequence[Finding]

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
    compilation = compile_workspace(workspace, asker="person")
    models = [each for each in chosen_models(compilation, request.models) if each.is_python]
    chosen = {each.name.lower() for each in models}
    for name in request.models:
        if name.lower() not in chosen:
            raise InvalidRequest(f"model `{name}` is not Python: `rocky compile` checks it")
    names = Names(compilation.project)
    targets = [_target(each, compilation, names) for each in models]
    outcomes = check_targets([each for each in targets if each is not None], request.seconds)
    by_id = {each.id: each for each in outcomes}
    found: list[Diagnostic] = []
    checked: list[CheckedPythonModel] = []
    for model in models:
        outcome = by_id.get(model.key)
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
    files, jobs = check_jobs(request.models, schemas, Path.cwd(), request.seconds)
    found = tuple(each for job in jobs for each in job_findings(job, files))
    return CheckPythonReport(
        project=files,
        found=found,
        has_errors=bool(errors_in(found)),
        models=tuple(_described(each.name, each.path, each.outcome) for each in jobs),
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


def _target(model: ModelFile, compilation: Compilation, names: Names) -> Target | None:
    """What is run for a model; None where one of its tables is not known."""
    tables: dict[str, Sequence[StructField]] = {}
    for each in inputs_of(model):
        fields = _columns(each.parts, model.key, compilation, names)
        if fields is None:
            return None
        tables[each.table] = fields
    root = Path(compilation.project.root).resolve()
    folder = PurePosixPath(model.path).parent
    return Target(
        model.key,
        root / model.path,
        FUNCTION,
        root,
        tuple(root / each for each in (folder, *folder.parents)),
        {each.parameter: each.table for each in inputs_of(model)},
        tables,
    )


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


def _described(name: str, path: str, outcome: Outcome) -> CheckedPythonModel:
    reasons = [*outcome.gaps, *([outcome.needs_rows] if outcome.needs_rows else [])]
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
        tuple(each.text for each in reasons),
        outcome.sql if outcome.known and not outcome.gaps else None,
    )


# ------------------------------------------------------------------ findings


def _findings(model: ModelFile, outcome: Outcome, project: Project) -> Iterator[Diagnostic]:
    if outcome.failure is not None:
        yield _failed(model, outcome.failure, project)
        return
    if outcome.needs_rows is not None:
        yield _opaque(model, outcome.needs_rows, project)
        return
    for gap in outcome.gaps:
        yield _opaque(model, gap, project)
    for each in outcome.findings:
        path = _relative(each.path, project) or model.path
        yield replace(each, path=path, model=model.name)
    if outcome.known and not outcome.gaps and not errors_in(outcome.findings):
        yield from _declared(model, outcome, project)


def _failed(model: ModelFile, failure: Reason, project: Project) -> Diagnostic:
    path = _relative(failure.place.path, project)
    span = None
    if path is not None and failure.place.line:
        text = project.texts[path]
        whole = text.line_span(min(failure.place.line, len(text.line_starts)))
        line = text.text[whole.start : whole.end]
        span = Span(whole.end - len(line.lstrip()), whole.end)
    return Diagnostic(
        Code.CODE_RAISED,
        f"the code of `{model.name}` fails while its plan is built: {failure.text}",
        span,
        path or model.path,
        model=model.name,
    )


def _opaque(model: ModelFile, reason: Reason, project: Project) -> Diagnostic:
    path, span = _place(reason.place, project)
    return Diagnostic(
        Code.QUERY_NOT_UNDERSTOOD,
        f"what `{model.name}` gives cannot be worked out: {reason.text}",
        span,
        path or model.path,
        Severity.WARNING,
        help="its declared `output` is believed",
        model=model.name,
    )


def _declared(model: ModelFile, outcome: Outcome, project: Project) -> Iterator[Diagnostic]:
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


def _place(place: Place, project: Project) -> tuple[str | None, Span | None]:
    path = _relative(place.path, project)
    return path, place.span if path is not None else None


def _relative(path: str | None, project: Project) -> str | None:
    """A path as the project writes it; None for a file outside."""
    if path is None:
        return None
    root = Path(project.root).resolve()
    found = Path(path)
    return found.relative_to(root).as_posix() if found.is_relative_to(root) else None
