"""Select chains: queries each of which reads the next one alone, down to a table or to a join.

The next one may be a subquery or a name of `WITH`. A name means those before it, not itself, and
only names of the whole text count: those that a query inside gives mean other things elsewhere.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from sqlglot import exp

_CLAUSES: Final = frozenset({"expressions", "from_", "where", "with_", "joins"})
_OF_A_TABLE: Final = frozenset({"this", "db", "catalog", "alias"})
_OF_A_SUBQUERY: Final = frozenset({"this", "alias"})

Names = Mapping[str, Any]
"""The queries that names of `WITH` may mean at some place, in the order of their names."""


@dataclass(frozen=True, slots=True)
class SelectChain:
    """Queries from the outermost on, and the table that the last one reads; None if that joins.

    `names` are those that may be meant in the last one.
    """

    selects: tuple[exp.Select, ...]
    table: exp.Table | None
    names: Names


def select_chain(tree: Any) -> SelectChain | None:
    """The chain of a whole text; None where it is of anything else than plain queries."""
    given = _outermost(tree).args.get("with_")
    if given is None:
        return chain_below(tree, {})
    if given.args.get("recursive"):
        return None
    return chain_below(tree, {each.alias.lower(): each for each in given.expressions}, given)


def chain_below(node: Any, names: Names, given: exp.With | None = None) -> SelectChain | None:
    """The chain from a relation on, whose query may have the `WITH` that is given and no other."""
    found: list[exp.Select] = []
    while True:
        if isinstance(node, exp.Subquery) and has_only(node, _OF_A_SUBQUERY):
            node = node.this
        elif isinstance(node, exp.Select) and has_only(node, _CLAUSES):
            start, own = node.args.get("from_"), node.args.get("with_")
            if start is None or (own is not None and own is not given):
                return None
            found.append(node)
            if node.args.get("joins"):
                return SelectChain(tuple(found), None, names)
            node = start.this
        elif isinstance(node, exp.Table) and has_only(node, _OF_A_TABLE):
            used = names.get(node.name.lower()) if len(node.parts) == 1 else None
            if used is None:
                is_name = isinstance(node.this, exp.Identifier)
                return SelectChain(tuple(found), node, names) if is_name else None
            before = list(names)[: list(names).index(node.name.lower())]
            names = {each: names[each] for each in before}
            node = used.this
        else:
            return None


def renames_columns(tree: exp.Expr) -> bool:
    """Whether a relation gets other names for its columns, as in `FROM t AS x(a, b)`."""
    return any(each.args.get("columns") for each in tree.find_all(exp.TableAlias))


def is_column_of(select: exp.Select, node: Any) -> bool:
    """Whether a node is a column of the relation that a query reads, and no part of a struct."""
    return (
        isinstance(node, exp.Column)
        and isinstance(node.this, exp.Identifier)
        and not node.args.get("db")
        and node.table.lower() in ("", select.args["from_"].this.alias_or_name.lower())
    )


def is_plain_star(expressions: list[Any]) -> bool:
    """Whether a query gives all columns as they are."""
    return (
        len(expressions) == 1
        and isinstance(expressions[0], exp.Star)
        and has_only(expressions[0], frozenset())
    )


def has_only(node: exp.Expr, keys: frozenset[str]) -> bool:
    """Whether a node has no other parts than these."""
    return {key for key, value in node.args.items() if value} <= keys


def _outermost(node: Any) -> Any:
    while isinstance(node, exp.Subquery) and has_only(node, _OF_A_SUBQUERY):
        node = node.this
    return node
