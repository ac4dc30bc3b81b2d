"""Captures: names of an expanded macro that must not mean what Spark would take them for.

A column in an argument is the caller's, also where the macro puts it into a query of its own; a
column that the macro names is one of its own tables. Spark looks in the innermost query first and
then in the one around it, so a name can be found on the wrong side: that is an error.
"""

from typing import Any

from sqlglot import exp

from rocky.diagnostics import Code
from rocky.language.binder.expr import Expr
from rocky.language.binder.scopes import Scope


def ban_of(identifier: Any, scope: Scope) -> int:
    """What a name must not mean, by the identifier it begins with."""
    meta = identifier._meta
    return scope.binding.bans.get(meta["start"], 0) if meta and "start" in meta else 0


def found_inside(parts: tuple[str, ...], node: exp.Expr, scope: Scope) -> Expr:
    """Report the caller's column that is found in a query of the macro."""
    written = ".".join(parts)
    return scope.binding.error(
        Code.MACRO_CAPTURE,
        f"`{written}` would be a column of a table that the macro reads",
        node,
        help=f"say whose column is meant: write the table's name or alias before `{written}`"
        if len(parts) == 1
        else "give the table in FROM an alias that is no column of the macro's tables",
    )


def found_outside(parts: tuple[str, ...], node: exp.Expr, scope: Scope) -> Expr:
    """Report the macro's column that is found in the query that calls it."""
    written = ".".join(parts)
    return scope.binding.error(
        Code.MACRO_CAPTURE,
        f"`{written}` is no column of the tables that stand around it in the macro, and would be"
        " one of another query",
        node,
        help="pass it to the macro as a parameter, or write the alias of a table before it",
    )
