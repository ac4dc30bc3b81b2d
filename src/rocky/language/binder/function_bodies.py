"""Bodies of SQL functions: bound with the types of the parameters, as Spark inlines them.

What a body gives depends on its arguments only through their nullability, so it is bound once for
each pattern of it and remembered on the declaration. A body reads no tables: a run pins what its
models read, and would not see what is read inside a function.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from sqlglot import exp

from rocky.diagnostics import Code, Diagnostic
from rocky.diagnostics.diagnostic import Span
from rocky.language.binder.expr import (
    HAS_AGGREGATE,
    HAS_GENERATOR,
    HAS_WINDOW,
    VOLATILE,
    WHOLE,
    Column,
    Expr,
)
from rocky.language.binder.scopes import (
    EMPTY_RELATION,
    Binding,
    Relation,
    Scope,
    bind_expression,
    bind_query,
)
from rocky.language.datatypes import types as t
from rocky.language.datatypes.casts import can_cast, cast_nullable, cast_refusal
from rocky.language.datatypes.types import DataType, StructField
from rocky.language.declared_functions import DeclaredFunction, FunctionParameter
from rocky.language.functions.tag_rules import ENDS
from rocky.language.syntax.parser import ParsedQuery, SyntaxProblem, parse_query
from rocky.language.tables import Table, Tables

_SELECT: Final = "SELECT "
_QUERY_WORDS: Final = ("select", "with", "values", "from", "table")
_COMPLEX: Final = (
    (HAS_AGGREGATE, "an aggregate function"),
    (HAS_WINDOW, "a window function"),
    (HAS_GENERATOR, "a function that gives rows"),
)


@dataclass(frozen=True, slots=True)
class BodyColumn:
    """A value that a body gives; `sources` has parameters, by place, with how they reach it.

    Beside how stands what is left of their tags.
    """

    name: str
    type: DataType
    nullable: bool
    sources: tuple[tuple[int, int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class BoundBody:
    """What a call gives: one column for a value, all of them for rows.

    Spans of `diagnostics` are places in the body's text. `functions` are the declared ones that it
    calls, with their digests.
    """

    columns: tuple[BodyColumn, ...]
    known: bool
    volatile: tuple[str, ...] = ()
    unknowns: tuple[tuple[str, int], ...] = ()
    functions: tuple[tuple[str, bytes], ...] = ()
    gives_chance: bool = False
    diagnostics: tuple[Diagnostic, ...] = ()


class _BodyTables:
    """What a body may name: functions, and no tables."""

    def __init__(self, inner: Tables) -> None:
        self._inner = inner

    def find(self, parts: tuple[str, ...]) -> Table | None:  # noqa: ARG002 - of the protocol
        return None

    def undeclared(self, parts: tuple[str, ...]) -> Table | None:  # noqa: ARG002 - as above
        return None

    def function(self, parts: tuple[str, ...]) -> DeclaredFunction | None:
        return self._inner.function(parts)

    def function_names(self) -> Sequence[str]:
        return list(self._inner.function_names())

    @property
    def declares_functions(self) -> bool:
        return self._inner.declares_functions

    def names(self) -> Sequence[str]:
        return ()


def bind_body(function: DeclaredFunction, nullables: tuple[bool, ...], tables: Tables) -> BoundBody:
    """What a function's body gives for arguments of which some may be null."""
    found = function.bodies.get(nullables)
    if found is None:
        found = function.bodies[nullables] = _bind_body(function, nullables, tables)
    bound: BoundBody = found
    return bound


def bind_default(parameter: FunctionParameter, tables: Tables) -> tuple[Expr, BoundBody]:
    """The default of a parameter as an expression of its type, and what was found binding it."""
    text = f"{_SELECT}{parameter.default}"
    parsed = parse_query(text)
    if isinstance(parsed, SyntaxProblem):
        return Expr(t.UNKNOWN, True), _not_sql(parsed, len(_SELECT))
    binding = Binding(text, parsed.tokens, _BodyTables(tables))
    node = _expression(parsed)
    if node is None:
        return Expr(t.UNKNOWN, True), _failed(
            "the default is not one expression", parameter.default
        )
    value = bind_expression(node, Scope(binding, EMPTY_RELATION, None, {}))
    kind, nullable = _returned(value, parameter.type, node, binding)
    told = Expr(kind, nullable, flags=value.flags)
    return told, _outcome((), binding, len(_SELECT), value.flags)


def gives_chance(function: DeclaredFunction, tables: Tables) -> bool:
    """Whether two calls of a function in one row may give two values."""
    if function.kind != "sql" or function.deterministic is False or not function.usable:
        return function.deterministic is False
    return bind_body(function, (True,) * len(function.parameters), tables).gives_chance


def note_body(
    function: DeclaredFunction, tables: Tables
) -> tuple[ParsedQuery, Binding, int] | None:
    """What a body parses to, what binding it has noted, and how much text stands before it."""
    nullables = (True,) * len(function.parameters)
    _, parsed, binding, before = _bind_parsed(function, nullables, tables)
    return None if parsed is None or binding is None else (parsed, binding, before)


def _bind_body(
    function: DeclaredFunction, nullables: tuple[bool, ...], tables: Tables
) -> BoundBody:
    return _bind_parsed(function, nullables, tables)[0]


def _bind_parsed(
    function: DeclaredFunction, nullables: tuple[bool, ...], tables: Tables
) -> tuple[BoundBody, ParsedQuery | None, Binding | None, int]:
    """A body bound, what it parses to, what binding it has noted, and what stands before it."""
    body = function.body or ""
    is_query = body.lstrip("( \n\t").lower().startswith(_QUERY_WORDS)
    if function.gives_rows and not is_query:
        told = _failed("a function that RETURNS TABLE has a query as its body", body)
        return told, None, None, 0
    # A value may be written as a query, with or without parentheses around it.
    wraps = is_query and not function.gives_rows and not body.lstrip().startswith("(")
    before = "" if function.gives_rows else f"{_SELECT}{'(' if wraps else ''}"
    text = f"{before}{body}\n{')' * wraps}"
    parsed = parse_query(text)
    if isinstance(parsed, SyntaxProblem):
        return _not_sql(parsed, len(before)), None, None, 0
    binding = Binding(text, parsed.tokens, _BodyTables(tables))
    scope = Scope(binding, _parameters(function, nullables, binding), None, {})
    if function.gives_rows:
        bound = _bind_rows(function, parsed, scope, len(before))
    else:
        bound = _bind_value(function, parsed, scope, len(before))
    return bound, parsed, binding, len(before)


def _bind_value(
    function: DeclaredFunction, parsed: ParsedQuery, scope: Scope, before: int
) -> BoundBody:
    binding = scope.binding
    node = _expression(parsed)
    if node is None:
        return _failed("the body is not one expression", function.body)
    value = bind_expression(node, scope)
    for flag, what in _COMPLEX:
        if value.flags & flag:
            binding.error(
                Code.UNUSABLE_FUNCTION,
                f"the body of a function that gives a value cannot hold {what}",
                node,
                "USER_DEFINED_FUNCTIONS.CANNOT_CONTAIN_COMPLEX_FUNCTIONS",
                help="aggregate in the model, or in a subquery inside the body",
            )
    kind, nullable = _returned(value, function.returns, node, binding)
    column = BodyColumn("", kind, nullable, _sources(value, binding))
    return _outcome((column,), binding, before, value.flags)


def _bind_rows(
    function: DeclaredFunction, parsed: ParsedQuery, scope: Scope, before: int
) -> BoundBody:
    binding, tree = scope.binding, parsed.tree
    if not isinstance(tree, exp.Query | exp.Values | exp.Subquery):
        return _failed("a function that RETURNS TABLE has a query as its body", function.body)
    relation = bind_query(tree, scope)
    found = relation.visible()
    wanted: Sequence[StructField | None] = function.columns or [None] * len(found)
    known = relation.known
    if known and len(wanted) != len(found):
        binding.error(
            Code.UNUSABLE_FUNCTION,
            f"the body gives {len(found)} columns, and {len(wanted)} are declared",
            tree,
            "USER_DEFINED_FUNCTIONS.RETURN_COLUMN_COUNT_MISMATCH",
        )
        known = False
    columns: list[BodyColumn] = []
    flags = 0
    if known:
        for value, field in zip(found, wanted, strict=True):
            kind, nullable = _returned(value, field.type if field else None, tree, binding)
            name = field.name if field else value.name or ""
            columns.append(BodyColumn(name, kind, nullable, _sources(value, binding)))
            flags |= value.flags
    elif function.columns:
        columns = [BodyColumn(each.name, each.type, True) for each in function.columns]
        known = True
    return _outcome(tuple(columns), binding, before, flags, known=known)


def _parameters(
    function: DeclaredFunction, nullables: tuple[bool, ...], binding: Binding
) -> Relation:
    """The parameters as columns, which also answer to the function's name before them."""
    return Relation(
        [
            Column(
                each.name,
                each.type,
                nullable,
                frozenset((binding.origin("", str(at)) << 3,)),
                binding.fresh(),
                (function.name.lower(),),
            )
            for at, (each, nullable) in enumerate(zip(function.parameters, nullables, strict=True))
        ]
    )


def _expression(parsed: ParsedQuery) -> Any:
    """The only item of a select list that is the whole query; None for any other query."""
    tree = parsed.tree
    if tree.__class__ is not exp.Select:
        return None
    items = tree.args.get("expressions") or []
    others = [name for name, value in tree.args.items() if value and name != "expressions"]
    if len(items) != 1 or others or items[0].__class__ in (exp.Alias, exp.Star):
        return None
    return items[0]


def _returned(
    value: Expr, target: DataType | None, node: exp.Expr, binding: Binding
) -> tuple[DataType, bool]:
    """A value as the declared type, which Spark casts it to."""
    if target is None or value.type is target:
        return value.type, value.nullable
    if value.type is t.UNKNOWN:
        return target, True
    if not can_cast(value.type, target):
        refusal = cast_refusal(value.type, target)
        binding.error(
            Code.TYPE_ERROR,
            f"the body gives `{value.type}`, which cannot be cast to the declared `{target}`",
            node,
            refusal.condition if refusal else "DATATYPE_MISMATCH.CAST_WITHOUT_SUGGESTION",
        )
        return target, True
    return target, cast_nullable(value.type, target, value.nullable)


def _sources(value: Expr, binding: Binding) -> tuple[tuple[int, int, int], ...]:
    """Which parameters a value is made from, by place, each by the strongest way."""
    found: dict[int, tuple[int, int]] = {}
    for source in value.sources:
        place = int(binding.origins[(source & WHOLE) >> 3][1])
        kind, left = found.get(place, (0, ENDS))
        effect = binding.shares.way_of(source).effect
        found[place] = max(kind, source & 7), min(left, effect)
    return tuple((place, *how) for place, how in sorted(found.items()))


def _outcome(
    columns: tuple[BodyColumn, ...],
    binding: Binding,
    before: int,
    flags: int,
    *,
    known: bool = True,
) -> BoundBody:
    return BoundBody(
        columns,
        known,
        tuple(sorted(binding.volatile)),
        tuple(sorted(binding.unknowns.items())),
        tuple(sorted(binding.functions.items())),
        bool(flags & VOLATILE),
        tuple(_in_body(each, before) for each in binding.diagnostics),
    )


def _in_body(found: Diagnostic, before: int) -> Diagnostic:
    """A finding at its place in the body, in words that fit a function."""
    span = found.span
    if span is not None:
        start = max(span.start - before, 0)
        found = replace(found, span=Span(start, max(span.end - before, start)))
    if found.code is not Code.UNKNOWN_TABLE:
        return found
    return replace(
        found,
        code=Code.UNUSABLE_FUNCTION,
        message=f"a function cannot read a table ({found.message})",
        condition=None,
        help="read the table in the model and pass its columns: what a run reads is pinned",
    )


def _not_sql(problem: SyntaxProblem, before: int) -> BoundBody:
    start = max(problem.span.start - before, 0)
    span = Span(start, max(problem.span.end - before, start))
    found = Diagnostic(
        Code.SYNTAX_ERROR, problem.message, span, condition=problem.condition, help=problem.help
    )
    return BoundBody((), False, diagnostics=(found,))


def _failed(message: str, body: str | None) -> BoundBody:
    span = Span(0, len(body or ""))
    return BoundBody((), False, diagnostics=(Diagnostic(Code.UNUSABLE_FUNCTION, message, span),))
