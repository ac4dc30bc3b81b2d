"""Every family of expressions and queries, in one visible list."""

from collections.abc import Mapping
from typing import Any

from sqlglot import exp

from rocky.binder.casts import CASTS
from rocky.binder.columns import bind_column, bind_dot, bind_identifier, bind_lone_star
from rocky.binder.conditionals import CONDITIONALS
from rocky.binder.dispatch import EXPRESSIONS, QUERIES
from rocky.binder.forms import FORMS
from rocky.binder.functions import FUNCTIONS
from rocky.binder.joins import bind_derived, bind_lateral
from rocky.binder.literals import LITERALS
from rocky.binder.modifiers import MODIFIERS
from rocky.binder.operators import OPERATORS
from rocky.binder.relations import bind_table
from rocky.binder.select import bind_select
from rocky.binder.set_operations import bind_set_operation, bind_values
from rocky.binder.subqueries import SUBQUERIES
from rocky.binder.subscripts import bind_bracket
from rocky.binder.windows import WINDOWS


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
