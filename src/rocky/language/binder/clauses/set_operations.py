"""UNION, INTERSECT and EXCEPT, and VALUES: rows of several shapes brought to one."""

from typing import Any, Final

from sqlglot import exp

from rocky.diagnostics import Code
from rocky.language.binder.clauses.keys import bind_tail
from rocky.language.binder.clauses.pivots import bind_pivots
from rocky.language.binder.clauses.relations import aliased
from rocky.language.binder.clauses.subqueries import bind_with
from rocky.language.binder.clauses.time_windows import refuse_time_window
from rocky.language.binder.expr import (
    DIRECT,
    HAS_AGGREGATE,
    HAS_GENERATOR,
    HAS_OUTER,
    HAS_SUBQUERY,
    HAS_WINDOW,
    VOLATILE,
    Column,
    Expr,
    merge_sources,
    renamed_fields,
    unknown,
)
from rocky.language.binder.expressions.calls import bind_arguments, function_name
from rocky.language.binder.scopes import (
    EMPTY_RELATION,
    INFLUENCE_GROUP,
    Relation,
    Scope,
    bind_query,
)
from rocky.language.datatypes import types as t
from rocky.language.datatypes.casts import cast_nullable
from rocky.language.datatypes.coercion import inline_table_type, same_type, set_operation_type
from rocky.language.datatypes.comparison import set_operation_column
from rocky.language.datatypes.operators import OperandMismatch, distinct_refusal
from rocky.language.syntax.dialect import PIPE

_NOT_CONSTANT: Final = (
    HAS_AGGREGATE | HAS_GENERATOR | HAS_WINDOW | HAS_OUTER | HAS_SUBQUERY | VOLATILE
)
_WORDS: Final = {exp.Union: "UNION", exp.Intersect: "INTERSECT", exp.Except: "EXCEPT"}


def bind_set_operation(node: exp.SetOperation, outer: Scope) -> Relation:
    """A chain of set operations; the left spine is walked in a loop, however long."""
    scope = bind_with(node, outer)
    spine: list[Any] = []
    at: Any = node
    while at.__class__ in _WORDS and (at is node or not _has_clauses(at)):
        spine.append(at)
        at = at.args["this"]
    _check_branch(at, scope)
    relation = bind_query(at, scope)
    for step in reversed(spine):
        right = bind_query(step.args["expression"], scope)
        relation = _combine(relation, right, step, scope)
    bind_tail(node, relation, None, scope)
    return relation


def _check_branch(node: Any, scope: Scope) -> None:
    """A first branch with clauses that Spark reads at the end of the whole query only."""
    if node.__class__ in (exp.Select, exp.Values, *_WORDS):
        clause = next((node.args[name] for name in _TAIL if node.args.get(name)), None)
        if clause is not None and node.args.get(PIPE) is None:
            scope.binding.error(
                Code.SYNTAX_ERROR,
                "ORDER BY and LIMIT stand after the last branch of a set operation",
                clause,
                "PARSE_SYNTAX_ERROR",
                help="put the branch in parentheses",
            )


_TAIL: Final = ("order", "sort", "cluster", "distribute", "limit", "offset")


def _has_clauses(node: exp.Expr) -> bool:
    return any(node.args.get(clause) for clause in ("with_", "order", "limit", "offset"))


def _combine(left: Relation, right: Relation, node: Any, scope: Scope) -> Relation:
    if not (left.known and right.known):
        return left if left.known else Relation(left.columns, known=False)
    if node.args.get("by_name"):
        return _by_name(left, right, node, scope)
    ours, theirs = left.visible(), right.visible()
    word = _WORDS[node.__class__]
    if len(ours) != len(theirs):
        scope.binding.error(
            Code.SET_OPERATION_MISMATCH,
            f"{word} of {len(ours)} columns with {len(theirs)}",
            node.args["expression"],
            "NUM_COLUMNS_MISMATCH",
            help="select the same number of columns in every branch",
        )
        return left
    columns = [
        _column(word, a, b, index, node, scope)
        for index, (a, b) in enumerate(zip(ours, theirs, strict=True))
    ]
    if word != "UNION" and any(
        not same_type(a.type, b.type) for a, b in zip(ours, theirs, strict=True)
    ):
        # One cast makes Spark cast every column, which merges what may be null inside them.
        for column, a, b in zip(columns, ours, theirs, strict=True):
            column.type = set_operation_type(a.type, b.type) or column.type
    distinct = node.args.get("distinct", True)
    if distinct:
        _check_distinct(columns, node, scope)
    if distinct or word != "UNION":
        for column in (*ours, *theirs):
            scope.binding.influence(column.sources, INFLUENCE_GROUP)
    return Relation(columns)


def _column(word: str, a: Column, b: Column, index: int, node: Any, scope: Scope) -> Column:
    outcome = set_operation_column(word, a, b)
    if isinstance(outcome, OperandMismatch):
        scope.binding.error(
            Code.SET_OPERATION_MISMATCH,
            f"column {index + 1} of {word} is `{a.type}` (`{a.name}`) in one branch "
            f"and `{b.type}` (`{b.name}`) in another",
            node.args["expression"],
            outcome.condition,
            help="cast one of them",
        )
        kind, nullable = t.UNKNOWN, True
    else:
        kind, nullable = outcome
    # A branch that is not cast keeps its columns, and their qualifiers, as those of the whole.
    kept = a.qualifier if same_type(kind, a.type) else ()
    found = a.copy(ident=scope.binding.fresh(), qualifier=kept)
    found.type, found.nullable = kind, nullable
    if word != "EXCEPT":
        theirs = renamed_fields(b.sources, b.type, a.type)
        found.sources = a.sources | theirs if a.sources else theirs
    return found


def _check_distinct(columns: list[Column], node: Any, scope: Scope) -> None:
    for column in columns:
        refusal = distinct_refusal(column.type)
        if refusal is not None:
            scope.binding.error(
                Code.SET_OPERATION_MISMATCH, refusal.message, node, refusal.condition
            )
            return


def _by_name(left: Relation, right: Relation, node: Any, scope: Scope) -> Relation:
    """UNION BY NAME: no Spark SQL yet; the columns are paired by name all the same."""
    scope.binding.error(
        Code.SYNTAX_ERROR,
        "Spark has no UNION BY NAME",
        node.args["expression"],
        "PARSE_SYNTAX_ERROR",
        help="list the columns of both branches in one order",
    )
    ours, theirs = left.visible(), right.visible()
    by_key = {column.key: column for column in theirs}
    columns: list[Column] = []
    for index, column in enumerate(ours):
        other = by_key.pop(column.key, None)
        if other is None:
            scope.binding.error(
                Code.SET_OPERATION_MISMATCH,
                f"the second branch of UNION BY NAME has no column `{column.name}`",
                node.args["expression"],
                "UNRESOLVED_COLUMN.WITH_SUGGESTION",
            )
            return left
        columns.append(_column("UNION", column, other, index, node, scope))
    return Relation(columns)


def bind_values(node: exp.Values, scope: Scope) -> Relation:
    """An inline table: each column takes the type all rows agree on."""
    binding = scope.binding
    inner = Scope(binding, EMPTY_RELATION, None, scope.ctes, "values")
    rows: list[list[Expr]] = []
    refuse_time_window(node.args["expressions"], "an inline table", scope)
    broken = False
    for row in node.args["expressions"]:
        cells = _cells(row)
        bound = bind_arguments("struct", cells, inner)
        for at, cell in enumerate(cells):
            # A star over nothing gives no value at all.
            fault = _not_constant(cell, bound[at] if at < len(bound) else unknown())
            if fault is not None:
                binding.error(Code.INVALID_CLAUSE, fault[0], cell, fault[1])
                broken = True
        rows.append(bound)
    widths = {len(row) for row in rows}
    if broken and (0 in widths or len(widths) > 1):
        return Relation([], known=False)
    if len(widths) > 1:
        binding.error(
            Code.INVALID_CLAUSE,
            f"rows of an inline table have {' and '.join(map(str, sorted(widths)))} values",
            node,
            "INVALID_INLINE_TABLE.NUM_COLUMNS_MISMATCH",
        )
        return Relation([], known=False)
    columns = [
        _values_column(index, rows, node, scope) for index in range(widths.pop() if widths else 0)
    ]
    relation = aliased(Relation(columns), node.args.get("alias"), node, scope)
    pivots = node.args.get("pivots")
    return bind_pivots(relation, pivots, scope) if pivots else relation


def _cells(row: Any) -> list[Any]:
    """The values of a row; `((1, 2))` and `(struct(1, 2))` are the row `(1, 2)` to Spark."""
    cells: list[Any] = row.args["expressions"] if row.__class__ is exp.Tuple else [row]
    inner = cells[0] if len(cells) == 1 else None
    while inner.__class__ is exp.Paren:
        inner = inner.args["this"]
    if inner.__class__ is exp.Tuple:
        return list(inner.args["expressions"])
    if inner.__class__ is exp.Anonymous and function_name(inner).lower() == "struct":
        return list(inner.args["expressions"])
    return cells


def _not_constant(cell: Any, value: Expr) -> tuple[str, str] | None:
    """What is wrong with a value of an inline table, and Spark's condition; None if nothing."""
    if cell.__class__ is exp.Star:
        return "`*` cannot stand in an inline table", "INVALID_USAGE_OF_STAR_OR_REGEX"
    if cell.__class__ is exp.Var:
        return f"no column `{cell.name}` in scope", "UNRESOLVED_COLUMN.WITHOUT_SUGGESTION"
    words = "a value of an inline table must be a constant"
    if value.flags & HAS_SUBQUERY:
        return words, "UNSUPPORTED_SUBQUERY_EXPRESSION_CATEGORY.SCALAR_SUBQUERY_IN_VALUES"
    if value.flags & _NOT_CONSTANT or cell.find(exp.Lambda) is not None:
        return words, "INVALID_INLINE_TABLE.CANNOT_EVALUATE_EXPRESSION_IN_INLINE_TABLE"
    return None


def _values_column(index: int, rows: list[list[Expr]], node: exp.Values, scope: Scope) -> Column:
    cells = [row[index] for row in rows]
    kind = inline_table_type([cell.type for cell in cells])
    if kind is None:
        types = ", ".join(dict.fromkeys(f"`{cell.type}`" for cell in cells))
        scope.binding.error(
            Code.SET_OPERATION_MISMATCH,
            f"column {index + 1} of the inline table has no common type: {types}",
            node,
            "INVALID_INLINE_TABLE.INCOMPATIBLE_TYPES_IN_INLINE_TABLE",
        )
        kind = t.UNKNOWN
    nullable = any(cast_nullable(cell.type, kind, cell.nullable) for cell in cells)
    sources = merge_sources(cells, DIRECT)
    return Column(f"col{index + 1}", kind, nullable, sources, scope.binding.fresh())
