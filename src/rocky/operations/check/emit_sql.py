"""Emit SQL: what would run, or what another engine would be given in its place.

It is the author's text with the front matter left out, variables filled in and macros expanded, and
nothing else changed, so what is given out is what Spark is given. The SQL functions that it calls
are made before it, so that it runs in a session that knows nothing of the project. Of a Python
model it is the query that its plan is, where there is one. With a dialect
it is rewritten, and comments say what of it is not exact. Models that would not run are refused.
"""

import html
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from rocky.analysis.compilation import Compilation, unpack_body, unpack_usage
from rocky.analysis.python_plans import kept_plan
from rocky.errors import RockyError
from rocky.language.declared_functions import FunctionKind
from rocky.language.dialects.table import Dialect
from rocky.operations.check.compile import chosen_findings, chosen_models
from rocky.operations.digest import Digest, Digested, counts, render_html, render_markdown
from rocky.operations.findings import errors_in, refuse_errors
from rocky.operations.report import hidden
from rocky.operations.workspace import Workspace, compile_workspace
from rocky.plan.arguments import Request
from rocky.project import ModelFile
from rocky.project.temporary_functions import create_statement, in_order_of_need
from rocky.run.materialize.mask_sql import mask_sql_of


@dataclass(frozen=True, slots=True)
class EmitSqlRequest(Request):
    """One model, or all; with `out`, into a file a model in that folder.

    `dialect` is the engine whose SQL is wanted; without one it is Spark's.
    """

    model: str | None = None
    out: Path | None = None
    dialect: Dialect | None = None


@dataclass(frozen=True, slots=True)
class InexactUse:
    """A function or form that the engine may read otherwise than Spark, by its line in the file."""

    name: str
    line: int
    reason: str


@dataclass(frozen=True, slots=True)
class EmittedFunction:
    """A declared function that a model calls, directly or through another.

    `sql` makes it in a session, without a semicolon; None for one that is no SQL.
    """

    name: str
    kind: FunctionKind
    sql: str | None


@dataclass(frozen=True, slots=True)
class EmittedModel:
    """A model and its SQL, with what of it is not exact; that of Spark is always.

    `functions` are the declared ones that it needs, each after those that it calls. Another engine
    cannot make them: for a dialect there are none.
    """

    name: str
    path: str
    target: str
    sql: str
    inexact: tuple[InexactUse, ...]
    functions: tuple[EmittedFunction, ...]

    @property
    def script(self) -> str:
        """What makes the functions, each ended by a semicolon, and the SQL of the model."""
        return function_script(self.functions) + self.sql


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class EmitSqlReport(Digested):
    """The SQL in the order it would run, and the files that were written.

    `left_out` are Python models whose rows no SQL gives.
    """

    left_out: tuple[str, ...] = hidden()
    dialect: str
    models: tuple[EmittedModel, ...]
    written: tuple[str, ...]

    def digest(self) -> Digest:
        names = [each.name for each in self.models]
        if len(names) == 1 and not self.written:
            return Digest(f"the SQL of {names[0]}, {counts(line=_lines(self.models[0]))}")
        title = f"the SQL of {counts(model=len(names))}"
        if self.written:
            title += f", written to {counts(file=len(self.written))}"
        rows = [(each.name, each.target, each.path, _lines(each)) for each in self.models]
        return Digest(title, ("model", "table", "file", "lines"), rows, len(rows))

    def _repr_markdown_(self) -> str:
        shown = "\n\n".join(f"```sql\n{each.script.rstrip()}\n```" for each in self._only)
        return "\n\n".join(filter(None, [render_markdown(self.digest()), shown]))

    def _repr_html_(self) -> str:
        shown = "".join(f"<pre>{html.escape(each.script)}</pre>" for each in self._only)
        return f"{render_html(self.digest())}{shown}"

    @property
    def _only(self) -> tuple[EmittedModel, ...]:
        """The model that was asked for: of many the SQL is not shown."""
        return self.models if len(self.models) == 1 and not self.written else ()


def function_script(functions: Iterable[EmittedFunction]) -> str:
    """The statements that make functions, each once; a comment for each that is no SQL."""
    made = {each.name: each for each in functions}.values()
    return "".join(
        # A body may end in a comment, which would hide what stands on its line.
        f"{each.sql}\n;\n\n"
        if each.sql is not None
        else f"-- needs the function {each.name}, which no SQL makes: it is {each.kind}\n\n"
        for each in made
        if each.kind != "catalog"
    )


def _lines(model: EmittedModel) -> int:
    return len(model.sql.strip().splitlines())


def emit_sql(workspace: Workspace, request: EmitSqlRequest) -> EmitSqlReport:
    """The SQL that would run. Raises NothingSelected, ErrorsFound, and RockyError for Python."""
    compilation = compile_workspace(workspace, asker="person")
    names = (request.model,) if request.model is not None else ()
    models = chosen_models(compilation, names)
    findings = chosen_findings(compilation, models) if names else compilation.diagnostics
    undone = "nothing would run, so nothing is printed"
    refuse_errors(compilation, errors_in(findings), undone=undone)
    python = {
        each.key: why
        for each in models
        if each.is_python and (why := _why_no_sql(each, compilation, request.dialect)) is not None
    }
    if python and names:
        why = next(iter(python.values()))
        raise RockyError(f"model `{models[0].name}` is Python, and no SQL gives its rows: {why}")
    left_out = tuple(each.name for each in models if each.key in python)
    models = [each for each in models if each.key not in python]
    emitted = tuple(_emit(each, compilation, request.dialect) for each in models)
    written: tuple[str, ...] = ()
    if request.out is not None:
        written = _write_files(emitted, compilation.project.root, request.out)
    return EmitSqlReport(
        left_out=left_out, dialect=request.dialect or "spark", models=emitted, written=written
    )


def _emit(model: ModelFile, compilation: Compilation, dialect: Dialect | None) -> EmittedModel:
    head = (model.name, model.path, model.target.full_name)
    masks = compilation.masks.of(model.key)
    if dialect is None:
        sql = _masked(model, compilation) if masks else _sql_of(model, compilation)
        return EmittedModel(*head, sql, (), _functions(model, compilation))
    if masks:
        raise RockyError(
            f"model `{model.name}` is written masked, and masks are Spark SQL: in the SQL of"
            f" {dialect} its values would be clear"
        )
    # It brings the parser library with it.
    from rocky.analysis.transpilation import transpile_model  # noqa: PLC0415

    uses = unpack_usage(compilation.models.record(model.key))
    found = transpile_model(model, uses, dialect)
    inexact = tuple(InexactUse(each.name, each.line, each.reason) for each in found.inexact)
    return EmittedModel(*head, found.sql, inexact, ())


def _sql_of(model: ModelFile, compilation: Compilation) -> str:
    """A model's query; of a Python model the one that its plan is."""
    if not model.is_python:
        return model.sql
    plan = kept_plan(compilation.models.record(model.key).plan)
    assert plan is not None
    return f"{plan.sql}\n"


def _why_no_sql(model: ModelFile, compilation: Compilation, dialect: Dialect | None) -> str | None:
    """Why there is no SQL that gives the rows of a Python model; None where there is."""
    plan = kept_plan(compilation.models.record(model.key).plan)
    if plan is None:
        off = compilation.project.config.python.analyse == "never"
        return '`analyse = "never"`: its code is not run' if off else "its plan is not known"
    for note in (plan.needs_rows, plan.failure, *plan.gaps):
        if note is not None:
            return note.text
    if plan.functions:
        return f"`{plan.functions[0].name}` is code"
    return f"its plan is Spark's, and is not rewritten for {dialect}" if dialect else None


def _functions(model: ModelFile, compilation: Compilation) -> tuple[EmittedFunction, ...]:
    declared = compilation.project.functions
    if not declared:
        return ()
    called = [name for name, _ in unpack_body(compilation.models.record(model.key)).functions]
    return tuple(
        EmittedFunction(
            each.name,
            each.signature.kind,
            create_statement(each) if each.signature.kind == "sql" else None,
        )
        for each in in_order_of_need(declared, called)
    )


def _masked(model: ModelFile, compilation: Compilation) -> str:
    """A model's query with its masks around it, as what is written."""
    masks = compilation.masks.of(model.key)
    chosen = mask_sql_of(compilation, model.key)
    names = [each.name for each in compilation.models[model.key].columns]
    keyed = any(each.key is not None for each in masks.values())
    note = "-- rocky_keyed_hash is a function that a run makes, with the key inside\n"
    query = _sql_of(model, compilation).rstrip().removesuffix(";")
    return f"{note if keyed else ''}SELECT {chosen.apply(names)} FROM (\n{query}\n)\n"  # noqa: S608 - the author's


def _write_files(models: Sequence[EmittedModel], root: Path, out: Path) -> tuple[str, ...]:
    """Write NAME.sql for each model. Refuses to write over the models themselves."""
    own = {(root / model.path).resolve() for model in models}
    # A sidecar may give a model any name; a slash in it must not lead out of the folder.
    paths = {model.name: out / f"{model.name.replace('/', '_')}.sql" for model in models}
    for path in paths.values():
        if path.resolve() in own:
            raise RockyError(f"`{path}` is a model of the project: choose another folder for --out")
    out.mkdir(parents=True, exist_ok=True)
    for model in models:
        paths[model.name].write_text(model.script, encoding="utf-8", newline="")
    return tuple(path.as_posix() for path in paths.values())
