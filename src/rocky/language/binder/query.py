"""Binding a whole query text: the one way into this package.

A `BoundQuery` holds everything the rest of Rocky wants to know of a query and no syntax tree, so
that trees can be dropped as soon as a model is bound. `install_rules` lists every family of
expressions and queries: a rule that is not in it is never called.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from sqlglot import exp

from rocky.diagnostics import Code, Diagnostic, Severity
from rocky.diagnostics.diagnostic import Span
from rocky.language.binder.clauses.joins import bind_derived, bind_lateral
from rocky.language.binder.clauses.relations import bind_table
from rocky.language.binder.clauses.select import bind_select
from rocky.language.binder.clauses.set_operations import bind_set_operation, bind_values
from rocky.language.binder.clauses.subqueries import SUBQUERIES
from rocky.language.binder.expr import Column, TooManyColumns
from rocky.language.binder.expressions.calls import mark_declared
from rocky.language.binder.expressions.casts import CASTS
from rocky.language.binder.expressions.columns import (
    bind_column,
    bind_dot,
    bind_identifier,
    bind_lone_star,
)
from rocky.language.binder.expressions.forms import CONDITIONALS, FORMS
from rocky.language.binder.expressions.functions import FUNCTIONS
from rocky.language.binder.expressions.literals import LITERALS
from rocky.language.binder.expressions.modifiers import MODIFIERS
from rocky.language.binder.expressions.operators import OPERATORS
from rocky.language.binder.expressions.subscripts import bind_bracket
from rocky.language.binder.expressions.windows import WINDOWS
from rocky.language.binder.name_uses import NameNotes
from rocky.language.binder.scopes import (
    EMPTY_RELATION,
    EXPRESSIONS,
    NO_BANS,
    QUERIES,
    Binding,
    Relation,
    Scope,
    bind_query,
)
from rocky.language.datatypes.types import TypeTooLarge
from rocky.language.syntax.parser import (
    NestedTooDeeply,
    ParsedQuery,
    SyntaxProblem,
    parse_query,
    with_deep_stack,
)
from rocky.language.tables import Tables


def install_rules() -> None:
    """Fill the dispatch tables."""
    families: tuple[Mapping[type, Any], ...] = (
        LITERALS,
        CASTS,
        OPERATORS,
        CONDITIONALS,
        FUNCTIONS,
        MODIFIERS,
        FORMS,
        WINDOWS,
        SUBQUERIES,
        {
            exp.Column: bind_column,
            exp.Identifier: bind_identifier,
            exp.Dot: bind_dot,
            exp.Bracket: bind_bracket,
            exp.Star: bind_lone_star,
        },
    )
    for family in families:
        EXPRESSIONS.update(family)
    QUERIES.update(
        {
            exp.Select: bind_select,
            exp.Union: bind_set_operation,
            exp.Intersect: bind_set_operation,
            exp.Except: bind_set_operation,
            exp.Subquery: bind_derived,
            exp.Table: bind_table,
            exp.Values: bind_values,
            exp.Lateral: bind_lateral,
        }
    )


install_rules()


@dataclass(frozen=True, slots=True)
class BoundQuery:
    """What binding found out. `known` is False when the list of columns is not complete."""

    columns: tuple[Column, ...]
    known: bool
    diagnostics: tuple[Diagnostic, ...]
    parsed: ParsedQuery | None = None
    binding: Binding | None = None

    @property
    def has_errors(self) -> bool:
        return any(each.severity is Severity.ERROR for each in self.diagnostics)


Parse = Callable[[str], ParsedQuery | SyntaxProblem]


def bind_text(
    text: str,
    tables: Tables,
    bans: Mapping[int, int] = NO_BANS,
    names: NameNotes | None = None,
    parse: Parse = parse_query,
) -> BoundQuery:
    """Parse and bind a query; a text too deep for the stack is tried again on a larger one.

    `bans` are names by their offsets, with what each must not mean. `names` is told of every name.
    """
    try:
        return _bind_text(text, tables, bans, names, parse)
    except RecursionError:
        pass
    try:
        return with_deep_stack(lambda: _bind_text(text, tables, bans, names, parse))
    except NestedTooDeeply:
        return _failed(SyntaxProblem("the query is nested too deeply", Span(0, len(text))))


def _bind_text(
    text: str, tables: Tables, bans: Mapping[int, int], names: NameNotes | None, parse: Parse
) -> BoundQuery:
    parsed = parse(text)
    if isinstance(parsed, SyntaxProblem):
        return _failed(parsed)
    binding = Binding(text, parsed.tokens, tables, bans, names)
    tree = parsed.tree
    mark_declared(tree, tables)
    if not isinstance(tree, exp.Query | exp.Values | exp.Table | exp.Subquery):
        binding.error(
            Code.UNSUPPORTED_STATEMENT,
            "this is not a query",
            None,
            None,
            help="a model is one SELECT; Rocky creates and fills the table itself",
            span=Span(parsed.tokens[0].start, parsed.tokens[0].end + 1),
        )
        return BoundQuery((), False, tuple(binding.diagnostics), parsed, binding)
    scope = Scope(binding, EMPTY_RELATION, None, {})
    try:
        relation: Relation = bind_query(tree, scope)
    except (TypeTooLarge, TooManyColumns) as fault:
        return _too_large(fault, binding, parsed)
    except _MALFORMED as fault:
        return _not_understood(fault, binding, parsed)
    return BoundQuery(
        tuple(relation.visible()), relation.known, tuple(binding.diagnostics), parsed, binding
    )


# What a rule raises when the library's tree lacks a part the rule counts on: mostly texts that are
# no SQL at all, and else a fault of ours. Neither may take the whole compile down.
_MALFORMED: Final = (LookupError, AttributeError, TypeError, ValueError, ArithmeticError)


def _too_large(fault: ValueError, binding: Binding, parsed: ParsedQuery) -> BoundQuery:
    """Types or columns beyond what Rocky works with, and beyond what anybody reads."""
    types = isinstance(fault, TypeTooLarge)
    binding.error(
        Code.TYPE_ERROR if types else Code.INVALID_CLAUSE,
        f"{fault} in this query",
        None,
        None,
        help="keep such values as text or VARIANT, or flatten them into columns"
        if types
        else "name the columns that are wanted instead of `*`",
        span=Span(0, len(parsed.text.rstrip())),
    )
    return BoundQuery((), False, tuple(binding.diagnostics), parsed, binding)


def _not_understood(fault: Exception, binding: Binding, parsed: ParsedQuery) -> BoundQuery:
    """An honest unknown for the whole query, with the fault named so that it can be mended."""
    binding.give_up("a query Rocky does not understand")
    if not binding.diagnostics:
        binding.diagnostics.append(
            Diagnostic(
                Code.QUERY_NOT_UNDERSTOOD,
                f"Rocky cannot work out this query ({type(fault).__name__}: {fault})",
                Span(0, len(parsed.text.rstrip())),
                severity=Severity.WARNING,
                help="ask Spark with `rocky compile --verify spark`; report it if Spark takes it",
            )
        )
    return BoundQuery((), False, tuple(binding.diagnostics), parsed, binding)


def _failed(problem: SyntaxProblem) -> BoundQuery:
    diagnostic = Diagnostic(
        Code.SYNTAX_ERROR,
        problem.message,
        problem.span,
        condition=problem.condition,
        help=problem.help,
    )
    return BoundQuery((), False, (diagnostic,))
