"""Queries for rows to look at: compiled first, then asked of Spark over what names stand for now.

A condition becomes the query `SELECT ... FROM relation WHERE (condition)`; findings point into what
was typed. A model that was never built is read by its query, and so is all that it reads.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from uuid import uuid4

from rocky.analysis.compilation import Compilation
from rocky.analysis.disclosure import Disclosure, Secrets
from rocky.analysis.names import CompiledTables, Names
from rocky.diagnostics import Diagnostic
from rocky.diagnostics.diagnostic import SourceText, Span
from rocky.errors import RockyError
from rocky.language.binder.query import BoundQuery, bind_text
from rocky.language.datatypes.types import StructField
from rocky.language.declared_functions import DeclaredFunction
from rocky.language.names import quote_name
from rocky.language.tables import Table as NamedTable
from rocky.language.tables import Tables
from rocky.operations.findings import ErrorsFound, errors_in, refuse_errors
from rocky.operations.rows.disclosure import (
    CheckedRows,
    Relation,
    disclosure_for,
    secrets_in,
    secrets_read,
    without_values,
)
from rocky.operations.rows.values import choose_columns
from rocky.operations.workspace import Workspace
from rocky.plan.adapters import adapter_of, find_adapter
from rocky.plan.refusals import refusing_findings
from rocky.plan.steps import Read, plan_steps, resolve_name
from rocky.project import Project
from rocky.run.prepare.pins import open_project_warehouse
from rocky.store.parquet.rows import column_values
from rocky.store.warehouse import Warehouse

if TYPE_CHECKING:
    from rocky.run.engine.protocol import Engine, Frame

_SHOWN: Final = "rocky_shown"
"""What a query calls the relation that is shown."""
_UNDONE: Final = "no row was read"


@dataclass(frozen=True, slots=True)
class Answer:
    """The columns and the first rows of a query, and what is hidden in each column.

    The values are as they were read: whoever shows them has them said by `shown`.
    """

    fields: tuple[StructField, ...]
    values: tuple[tuple[Any, ...], ...] = field(repr=False)
    secrets: tuple[Secrets, ...] = ()


def declared_relation(compilation: Compilation, read: Read, columns: Sequence[str]) -> Relation:
    """A model, a seed or a source to be asked. Raises ErrorsFound for one that does not compile."""
    from rocky.run.checks.relations import columns_of, name_of  # noqa: PLC0415 - knows pyspark

    _refuse_broken(compilation, (read,))
    name = name_of(compilation.project, read)
    schema = columns_of(compilation, read)
    return Relation(name, choose_columns(schema, columns, name), schema, read=read)


def check_rows(compilation: Compilation, relation: Relation, where: str | None) -> CheckedRows:
    """The query for the rows of a relation. Raises ErrorsFound for a wrong condition."""
    names = ", ".join(quote_name(field.name) for field in relation.fields)
    start = f"SELECT {names} FROM {_SHOWN} AS {quote_name(relation.alias)}"  # noqa: S608 - quoted
    if where is None:
        return CheckedRows(start)
    bare, start = f"{start} WHERE\n", f"{start} WHERE (\n"
    shown = NamedTable(relation.name, relation.schema, (relation.alias.lower(),))
    tables = _ShownTables(_tables_of(compilation), shown)
    # First as it was typed: a mistake is not to be told of parentheses that nobody wrote.
    _check(compilation, f"{bare}{where}", tables, _Typed("--where", where, len(bare)))
    typed = _Typed("--where", where, len(start))
    return CheckedRows(
        f"{start}{where}\n)", *_check(compilation, f"{start}{where}\n)", tables, typed)
    )


def check_query(compilation: Compilation, sql: str, name: str = "--sql") -> CheckedRows:
    """A query over names of the project. Raises ErrorsFound for one that does not compile.

    Findings call the text that was typed by a `name`.
    """
    tables = _ShownTables(_tables_of(compilation), None)
    return CheckedRows(sql, *_check(compilation, sql, tables, _Typed(name, sql, 0)))


class _Typed(NamedTuple):
    """A text as it was typed, and where it begins in the query."""

    name: str
    text: str
    start: int

    def place(self, each: Diagnostic) -> Diagnostic:
        """A finding in the query as one in the text."""
        return replace(
            each,
            path=self.name,
            span=self._moved(each.span),
            labels=tuple(
                replace(label, span=self._moved(label.span))
                for label in each.labels
                if label.path is None and label.column is None
            ),
            fix=None,
        )

    def _moved(self, span: Span | None) -> Span | None:
        if span is None:
            return None
        start, end = (min(max(at - self.start, 0), len(self.text)) for at in span)
        return Span(start, end)


def _tables_of(compilation: Compilation) -> CompiledTables:
    names = Names(compilation.project)
    return CompiledTables(compilation.project, compilation.models, names, "", lambda table: table)


class _ShownTables:
    """The tables of a project, the relation that is shown, and which of them were asked for."""

    def __init__(self, inner: Tables, shown: NamedTable | None) -> None:
        self._inner = inner
        self._shown = shown
        self.asked: set[tuple[str, ...]] = set()

    def find(self, parts: tuple[str, ...]) -> NamedTable | None:
        if self._shown is not None and parts == (_SHOWN,):
            return self._shown
        self.asked.add(parts)
        return self._inner.find(parts)

    def undeclared(self, parts: tuple[str, ...]) -> NamedTable | None:  # noqa: ARG002 - of the protocol
        """None: only what models read is among the sources of the run that answers."""
        return None

    def function(self, parts: tuple[str, ...]) -> DeclaredFunction | None:
        return self._inner.function(parts)

    def function_names(self) -> Iterable[str]:
        return self._inner.function_names()

    @property
    def declares_functions(self) -> bool:
        return self._inner.declares_functions

    def names(self) -> Iterable[str]:
        return self._inner.names()


def _check(
    compilation: Compilation, sql: str, tables: _ShownTables, typed: _Typed
) -> tuple[tuple[Read, ...], tuple[StructField, ...], BoundQuery]:
    """What a query reads of the project, its columns, and all of it bound. Raises ErrorsFound."""
    bound = bind_text(sql, tables)
    errors = errors_in(bound.diagnostics)
    if errors:
        project = _with_text(compilation.project, typed)
        message = f"`{typed.name}` does not compile: {_UNDONE}"
        raise ErrorsFound(message, [typed.place(each) for each in errors], project)
    names = Names(compilation.project)
    found = {resolve_name(compilation.project, names, each, "") for each in tables.asked}
    reads = tuple(sorted(each for each in found if each is not None))
    _refuse_broken(compilation, reads)
    fields = tuple(StructField(each.name or "", each.type, each.nullable) for each in bound.columns)
    return reads, fields, bound


def _refuse_broken(compilation: Compilation, reads: Sequence[Read]) -> None:
    """Raise ErrorsFound where a model that is read does not compile, or one that it reads."""
    models = [each.key for each in reads if each.kind == "model"]
    if models:
        errors = refusing_findings(plan_steps(compilation, models))
        refuse_errors(compilation, errors, undone=_UNDONE)


class _Texts(Mapping[str, SourceText]):
    """The texts of a project, and one that was typed."""

    def __init__(self, texts: Mapping[str, SourceText], typed: _Typed) -> None:
        self._texts = texts
        self._typed = typed

    def __getitem__(self, path: str) -> SourceText:
        if path == self._typed.name:
            return SourceText(path, self._typed.text)
        return self._texts[path]

    def __iter__(self) -> Any:
        return iter(self._texts)

    def __len__(self) -> int:
        return len(self._texts)


def _with_text(project: Project, typed: _Typed) -> Project:
    return replace(project, texts=_Texts(project.texts, typed))  # type: ignore[arg-type]


def ask_rows(
    workspace: Workspace,
    compilation: Compilation,
    checked: CheckedRows,
    limit: int,
    adapter: str | None,
    relation: Relation | None = None,
) -> Answer:
    """The first rows of a query, asked of Spark. Raises RockyError when it fails there."""
    # It knows pyspark, which rows of a table must not load.
    from rocky.run.prepare.session import open_announced_engine  # noqa: PLC0415

    project = compilation.project
    chosen = find_adapter(project, adapter or _adapter_of(project, checked, relation))
    warehouse = open_project_warehouse(chosen, project.root, workspace.environment)
    looking = disclosure_for(workspace, compilation)
    with (
        open_announced_engine(project, chosen, workspace.listener, workspace.spark) as engine,
        _bound_frame(compilation, warehouse, engine, checked, relation, looking) as frame,
    ):
        fields = engine.columns(frame)
        table = engine.table(frame, limit)
    columns = [column_values(column) for column in table.columns]
    rows = zip(*columns, strict=True) if columns else iter(())
    secrets = secrets_in(looking, checked, relation, fields)
    return Answer(_promised(fields, relation), tuple(rows), secrets)


def frame_rows(
    workspace: Workspace,
    compilation: Compilation,
    checked: CheckedRows,
    adapter: str | None,
    relation: Relation | None = None,
) -> Any:
    """The query as a DataFrame on the caller's session. Raises RockyError where Spark refuses it.

    Nothing is computed yet; which versions of tables it reads is decided here and now. Hidden
    values are null.
    """
    from rocky.run.engine.frames import open_frame_engine  # noqa: PLC0415 - as above

    project = compilation.project
    chosen = find_adapter(project, adapter or _adapter_of(project, checked, relation))
    warehouse = open_project_warehouse(chosen, project.root, workspace.environment)
    looking = disclosure_for(workspace, compilation)
    with (
        open_frame_engine(chosen, project.root, workspace.spark, project.functions) as engine,
        _bound_frame(compilation, warehouse, engine, checked, relation, looking) as frame,
    ):
        fields = engine.columns(frame)
        secrets = secrets_in(looking, checked, relation, fields)
        return without_values(frame, fields, secrets) if any(secrets) else frame


@contextmanager
def _bound_frame(
    compilation: Compilation,
    warehouse: Warehouse,
    engine: "Engine",
    checked: CheckedRows,
    relation: Relation | None,
    looking: Disclosure,
) -> "Iterator[Frame]":
    """The query over views of what its names stand for now, which are gone afterwards."""
    from rocky.run.checks.relations import BoundRelations  # noqa: PLC0415 - knows pyspark
    from rocky.run.engine.failures import (  # noqa: PLC0415
        STEP_ERRORS,
        classify_step_failure,
        may_quote,
        unsaid,
    )

    prefix = f"rocky_show_{uuid4().hex[:12]}"
    view = f"{prefix}_shown"
    try:
        with BoundRelations(compilation, warehouse, engine, prefix, preview=True) as relations:
            own: dict[tuple[str, ...], str] = {}
            if relation is not None and relation.read is not None:
                own = {(_SHOWN,): relations.view_of(relation.read)}
            elif relation is not None and relation.table and relation.snapshot:
                engine.views.bind_table(view, relation.table, relation.snapshot)
                own = {(_SHOWN,): view}
            yield engine.frame(relations.bind(checked.sql, own))
    except STEP_ERRORS as failure:
        said = classify_step_failure(failure, engine.explain)
        secrets = secrets_read(looking, compilation, checked, relation)
        if secrets and may_quote(said):
            # Nor may its stack be printed, which ends with the value.
            raise RockyError(f"Spark could not read the rows: {unsaid(said, secrets)}") from None
        if isinstance(failure, RockyError):
            raise
        raise RockyError(f"Spark could not read the rows: {said.message}") from failure
    finally:
        engine.views.unbind([view])


def _promised(
    fields: tuple[StructField, ...], relation: Relation | None
) -> tuple[StructField, ...]:
    """The columns as they are declared where they are; Spark knows less of what may be null."""
    return fields if relation is None else relation.fields


def _adapter_of(project: Project, checked: CheckedRows, relation: Relation | None) -> str:
    """The adapter of the first model that is read, which has the tables of the others."""
    reads = (*((relation.read,) if relation and relation.read else ()), *checked.reads)
    model = next((project.models[each.key] for each in reads if each.kind == "model"), None)
    return adapter_of(project, model)
