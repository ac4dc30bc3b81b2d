"""One query over the names of a project: its columns, what it reads, and what is wrong with it."""

from collections.abc import Sequence
from dataclasses import dataclass

from rocky.operations.digest import Digest, Digested
from rocky.operations.findings import ErrorsFound, Finding
from rocky.operations.rows.query import check_query
from rocky.operations.workspace import Workspace, compile_workspace, known_branch
from rocky.plan.arguments import Request

_NAME = "sql"


@dataclass(frozen=True, slots=True)
class QueryRequest(Request):
    """The text of a query."""

    sql: str


@dataclass(frozen=True, slots=True)
class QueryColumn:
    """A column that a query gives."""

    name: str
    type: str
    nullable: bool


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class QueryReport(Digested):
    """What a query gives, as far as it compiles; it is not run."""

    ok: bool
    columns: tuple[QueryColumn, ...] = ()
    reads: tuple[str, ...] = ()
    diagnostics: Sequence[Finding] = ()

    def digest(self) -> Digest:
        rows = [(each.name, each.type, each.nullable) for each in self.columns]
        title = "it compiles" if self.ok else "it does not compile"
        return Digest(title, ("column", "type", "nullable"), rows, len(rows), self.diagnostics)


def check_project_query(workspace: Workspace, request: QueryRequest) -> QueryReport:
    """Check a query. Its mistakes are in the report; raises what compiling the project raises."""
    compilation = compile_workspace(known_branch(workspace), discovered=True)
    try:
        found = check_query(compilation, request.sql, _NAME)
    except ErrorsFound as mistake:
        return QueryReport(ok=False, diagnostics=mistake.diagnostics)
    return QueryReport(
        ok=True,
        columns=tuple(
            QueryColumn(each.name, str(each.type), each.nullable) for each in found.fields
        ),
        reads=tuple(sorted(each.key for each in found.reads)),
    )
