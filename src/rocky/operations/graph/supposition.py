"""Suppose: what would not compile if one column had another type, could be null, or were gone.

It is answered by compiling: the project as it is beside the project with that one difference. What
lineage reaches and the compiler has nothing to say of is listed after that.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from rocky.analysis.column_graph import column_graph
from rocky.analysis.compilation import Compilation, unpack_schema
from rocky.analysis.lineage import ColumnRef
from rocky.compiler.supposition import (
    Supposition,
    compile_supposed,
    is_only_column,
    is_typed,
)
from rocky.diagnostics import Code, Diagnostic, Severity
from rocky.errors import InvalidRequest
from rocky.language.datatypes.text import TypeSyntaxError, decode_type, parse_type
from rocky.language.datatypes.types import UNKNOWN, DataType
from rocky.operations.digest import Digest, Digested, counts
from rocky.operations.findings import Finding, findings_of
from rocky.operations.graph.lineage import find_relation_column
from rocky.operations.graph.lineage_report import Kind, LineageColumn, Relation
from rocky.operations.pipeline_tables import see_pipelines
from rocky.operations.workspace import Workspace, compile_workspace
from rocky.plan.arguments import Request

_OF_CONTRACTS = frozenset(
    {
        Code.CONTRACT_COLUMN_MISSING,
        Code.CONTRACT_TYPE_MISMATCH,
        Code.CONTRACT_NULLABLE,
        Code.CONTRACT_PROTECTED_REMOVED,
        Code.CONTRACT_EXTRA_COLUMN,
        Code.CONTRACT_NEW_NULLABLE,
        Code.CONTRACT_CLASSIFICATION,
    }
)


@dataclass(frozen=True, slots=True)
class SuppositionRequest(Request):
    """MODEL.COLUMN, of a source or a seed too, and what is supposed of it: one thing at least."""

    target: str
    column: str | None = None
    data_type: str | None = None
    nullable: bool = False
    dropped: bool = False


@dataclass(frozen=True, slots=True)
class SupposedColumn:
    """The column as it is and as it is supposed; `after` is null for one that is dropped."""

    model: str
    kind: Kind
    column: str
    before: LineageColumn
    after: LineageColumn | None


@dataclass(frozen=True, slots=True)
class BrokenModel:
    """A model with errors that it does not have now; `broken_now` where it has others already."""

    model: str
    path: str
    broken_now: bool
    errors: Sequence[Finding]


@dataclass(frozen=True, slots=True)
class RetypedColumn:
    """A column that would be another; null for one that is not there."""

    column: str
    before: LineageColumn | None
    after: LineageColumn | None


@dataclass(frozen=True, slots=True)
class RetypedModel:
    """A model that would compile as it does now, with other columns."""

    model: str
    path: str
    columns: tuple[RetypedColumn, ...]


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class SuppositionReport(Digested):
    """What compiling with the column as it is supposed comes to.

    `broken` are models that would not compile, `contracts` those whose contract would not hold,
    `retyped` those that would compile with other columns, `untold` those with columns made of what
    would not compile, of which no more can be told, and `reached` all others that lineage leads to.
    `errors` are new ones that belong to no model. `warnings` are new ones, of any. `errors_now`
    counts what is wrong already, and is not told again.
    """

    supposed: SupposedColumn
    broken: tuple[BrokenModel, ...]
    contracts: tuple[BrokenModel, ...]
    retyped: tuple[RetypedModel, ...]
    untold: tuple[RetypedModel, ...]
    reached: tuple[str, ...]
    errors: Sequence[Finding]
    warnings: Sequence[Finding]
    errors_now: int

    @property
    def is_harmless(self) -> bool:
        """Whether everything would compile as it does now, and every contract hold."""
        return not (self.broken or self.contracts or self.errors)

    def digest(self) -> Digest:
        told = {
            "would break": [each.model for each in self.broken],
            "contract would break": [each.model for each in self.contracts],
            "other columns": [each.model for each in self.retyped],
            "made of what would break": [each.model for each in self.untold],
            "reached": self.reached,
        }
        rows = [(name, what) for what, names in told.items() for name in names]
        broken = counts(model=len(self.broken), contract=len(self.contracts))
        findings = [error for each in (*self.broken, *self.contracts) for error in each.errors]
        title = f"{self.supposed.model}.{self.supposed.column}: {broken} would break"
        return Digest(title, ("model", "what"), rows, len(rows), [*findings, *self.errors])


def suppose(workspace: Workspace, request: SuppositionRequest) -> SuppositionReport:
    """What would not compile. Raises NothingSelected, and InvalidRequest for what is no type."""
    data_type = _type_of(request)
    before = compile_workspace(workspace, discovered=True)
    relation, column = find_relation_column(before, request.target, request.column)
    key = relation.name.lower()
    key = before.project.twins.get(key, key)
    if not is_typed(before, key, column.name):
        raise InvalidRequest(
            f"`{relation.name}.{column.name}` is not known to be there: nothing can be told of"
            " another in its place"
        )
    if request.dropped and is_only_column(before, key):
        raise InvalidRequest(
            f"`{column.name}` is the only column of `{relation.name}`: without it there is no table"
        )
    supposed = Supposition(key, column.name, data_type, request.nullable, request.dropped)
    # Only looked at: what pipelines' tables are like is remembered by who compiles for real.
    after = compile_supposed(before, supposed, partial(see_pipelines, remember=False))
    return _compared(before, after, _supposed_column(relation, column, supposed))


def _type_of(request: SuppositionRequest) -> DataType | None:
    """The type that is asked about. Raises InvalidRequest, also where nothing is asked."""
    if request.dropped and (request.data_type is not None or request.nullable):
        raise InvalidRequest("a column that is dropped has no type and no nulls: leave them out")
    if request.data_type is None:
        if not (request.dropped or request.nullable):
            raise InvalidRequest("say what becomes of the column: a type, nullable, or dropped")
        return None
    try:
        return parse_type(request.data_type)
    except TypeSyntaxError as error:
        raise InvalidRequest(str(error)) from error


def _supposed_column(
    relation: Relation, column: LineageColumn, supposed: Supposition
) -> SupposedColumn:
    kind = column.data_type if supposed.type is None else str(supposed.type)
    after = LineageColumn(column.name, kind, column.nullable or supposed.nullable)
    return SupposedColumn(
        relation.name,
        relation.kind,
        column.name,
        column,
        None if supposed.dropped else after,
    )


# ------------------------------------------------------------------ the two, compared


def _compared(
    before: Compilation, after: Compilation, supposed: SupposedColumn
) -> SuppositionReport:
    new = list(_new_findings(before.diagnostics, after.diagnostics))
    errors = [each for each in new if each.severity is Severity.ERROR]
    of_contracts = [each for each in errors if each.code in _OF_CONTRACTS]
    of_models = [each for each in errors if each.code not in _OF_CONTRACTS]
    broken = tuple(_broken(before, after, of_models))
    contracts = tuple(_broken(before, after, of_contracts))
    failing = {each.model for each in broken}
    others = list(_retyped(before, after, {*failing, supposed.model}))
    told = {supposed.model, *failing}
    told |= {each.model for each in contracts} | {each.model for each in others}
    return SuppositionReport(
        supposed=supposed,
        broken=broken,
        contracts=contracts,
        retyped=tuple(each for each in others if not _is_untold(each)),
        untold=tuple(each for each in others if _is_untold(each)),
        reached=tuple(sorted(_reached(before, supposed) - told)),
        errors=findings_of([each for each in errors if each.model is None], after.project),
        warnings=findings_of(
            [each for each in new if each.severity is Severity.WARNING], after.project
        ),
        errors_now=sum(each.severity is Severity.ERROR for each in before.diagnostics),
    )


def _new_findings(
    before: Iterable[Diagnostic], after: Iterable[Diagnostic]
) -> Iterator[Diagnostic]:
    """The findings that are not there now; of two that are alike, one may be."""
    known = Counter(map(_identity, before))
    for each in after:
        identity = _identity(each)
        if known[identity]:
            known[identity] -= 1
        else:
            yield each


def _identity(finding: Diagnostic) -> tuple[object, ...]:
    return (
        finding.code,
        finding.severity,
        finding.message,
        finding.path,
        finding.span,
        finding.model,
    )


def _broken(
    before: Compilation, after: Compilation, errors: Iterable[Diagnostic]
) -> Iterator[BrokenModel]:
    """The models that errors are of, in the order they would run."""
    found: dict[str, list[Diagnostic]] = {}
    for each in errors:
        if each.model is not None:
            found.setdefault(each.model, []).append(each)
    now = {each.model for each in before.diagnostics if each.severity is Severity.ERROR}
    ranks = {name: rank for rank, name in enumerate(after.order)}
    for name in sorted(found, key=lambda name: (ranks.get(name, len(ranks)), name)):
        model = after.project.models.get(name.lower())
        path = model.path if model is not None else found[name][0].path or ""
        yield BrokenModel(name, path, name in now, findings_of(found[name], after.project))


def _retyped(before: Compilation, after: Compilation, told: set[str]) -> Iterator[RetypedModel]:
    """The models with other columns, in the order they would run."""
    for name in after.order:
        key = name.lower()
        # A twin is nobody's model: it has the columns of the table that it shows.
        if name in told or key not in after.loaded.models or key not in before.models:
            continue
        old, new = before.models.record(key), after.models.record(key)
        if old.schema != new.schema:
            then = _columns_of(unpack_schema(old).columns)
            now = _columns_of(unpack_schema(new).columns)
            columns = tuple(
                RetypedColumn((now.get(each) or then[each]).name, then.get(each), now.get(each))
                for each in {**then, **now}
                if then.get(each) != now.get(each)
            )
            yield RetypedModel(name, after.project.models[key].path, columns)


def _is_untold(model: RetypedModel) -> bool:
    return any(
        each.after is not None and each.after.data_type == UNKNOWN.text for each in model.columns
    )


def _columns_of(columns: Iterable[tuple[str, str, bool]]) -> dict[str, LineageColumn]:
    return {
        name.lower(): LineageColumn(name, str(decode_type(kind)), nullable)
        for name, kind, nullable in columns
    }


def _reached(compilation: Compilation, supposed: SupposedColumn) -> set[str]:
    """All that values of the column get to, or whose rows they decide; no twins."""
    graph = column_graph(compilation)
    trace = graph.trace(ColumnRef(supposed.model, supposed.column), "downstream")
    names = {each.table for each in trace.reached} | {each.model for each in trace.influences}
    return {each for each in names if each.lower() not in compilation.project.twins}
