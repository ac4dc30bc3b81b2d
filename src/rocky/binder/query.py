"""Binding a whole query text: the one way into this package.

A `BoundQuery` holds everything the rest of Rocky wants to know of a query and no syntax tree, so
that trees can be dropped as soon as a model is bound.
"""

from dataclasses import dataclass
from typing import Final

from sqlglot import exp

from rocky.binder.binding import Binding
from rocky.binder.dispatch import bind_query
from rocky.binder.expression import Column
from rocky.binder.rules import install_rules
from rocky.binder.scopes import EMPTY_RELATION, Relation, Scope
from rocky.catalog.tables import Tables
from rocky.diagnostics import Code, Diagnostic, Severity
from rocky.source import Span
from rocky.syntax.parser import (
    NestedTooDeeply,
    ParsedQuery,
    SyntaxProblem,
    parse_query,
    with_deep_stack,
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


def bind_text(text: str, tables: Tables) -> BoundQuery:
    """Parse and bind a query; a text too deep for the stack is tried again on a larger one."""
    try:
        return _bind_text(text, tables)
    except RecursionError:
        pass
    try:
        return with_deep_stack(lambda: _bind_text(text, tables))
    except NestedTooDeeply:
        return _failed(SyntaxProblem("the query is nested too deeply", Span(0, len(text))))


def _bind_text(text: str, tables: Tables) -> BoundQuery:
    parsed = parse_query(text)
    if isinstance(parsed, SyntaxProblem):
        return _failed(parsed)
    binding = Binding(text, parsed.tokens, tables)
    tree = parsed.tree
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
    except _MALFORMED as fault:
        return _not_understood(fault, binding, parsed)
    return BoundQuery(
        tuple(relation.visible()), relation.known, tuple(binding.diagnostics), parsed, binding
    )


# What a rule raises when the library's tree lacks a part the rule counts on: mostly texts that are
# no SQL at all, and else a fault of ours. Neither may take the whole compile down.
_MALFORMED: Final = (LookupError, AttributeError, TypeError, ValueError, ArithmeticError)


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
