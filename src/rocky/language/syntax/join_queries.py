"""Joined queries: the rows of one table, the driving one, with others joined to them one by one.

What is told of a join is by which column of the driving table rows meet, if they meet by one column
of each and by nothing else. Tables that are all joined by the same column can be handed over by it
once, for the joins and for the files of the result.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from sqlglot import exp

from rocky.diagnostics.diagnostic import Span
from rocky.language.syntax.parser import (
    SyntaxProblem,
    name_span,
    parse_query,
    with_deep_stack,
)
from rocky.language.syntax.row_wise import is_lookup
from rocky.language.syntax.select_chains import (
    Names,
    SelectChain,
    chain_below,
    is_column_of,
    is_plain_star,
    renames_columns,
    select_chain,
)

_ONLY_ASK: Final = frozenset({"SEMI", "ANTI"})
"""Joins that only ask whether there are rows. Spark makes them first, below what is handed over."""
_OVER_ROWS: Final = (exp.AggFunc, exp.Any, exp.Window, exp.WithinGroup, exp.Filter, exp.UDTF)


@dataclass(frozen=True, slots=True)
class JoinedTable:
    """A table that is joined, where its name stands, and the name of its own that meets a column.

    `place` is of the name in FROM, which may be one of `WITH`; `table` is what that reads. `by` is
    the column of the driving table that has to be equal to `column`, both as FROM knows them, and
    None where rows meet otherwise; `key` is what the table calls its column. In lower case.
    `is_asked_about` where a WHERE over the join may drop rows of this table.
    """

    table: tuple[str, ...]
    place: Span
    by: str | None = None
    column: str = ""
    key: str = ""
    is_asked_about: bool = False


@dataclass(frozen=True, slots=True)
class JoinQuery:
    """What a joined query reads, and the functions that it calls, in lower case.

    `keys` are the columns of the driving table that something is joined by, with their names in
    that table; `given` says what the result calls them, where it has them.
    """

    driving: JoinedTable
    others: tuple[JoinedTable, ...]
    keys: dict[str, str]
    given: dict[str, str]
    calls: frozenset[str]


def join_query(sql: str) -> JoinQuery | None:
    """What a joined query is made of; None for any other query."""
    try:
        return _find(sql)
    except RecursionError:
        return with_deep_stack(lambda: _find(sql))


def _find(sql: str) -> JoinQuery | None:
    parsed = parse_query(sql)
    if isinstance(parsed, SyntaxProblem) or renames_columns(parsed.tree):
        return None
    chain = select_chain(parsed.tree)
    if chain is None or chain.table is not None:
        return None
    selects, names = chain.selects, chain.names
    if any(not _is_of_rows(each) for each in selects):
        return None
    joining = selects[-1]
    asked = _asked_about(selects, _names_in_from(joining))
    first = _relation(joining.args["from_"].this, names)
    if first is None:
        return None
    alias = joining.args["from_"].this.alias_or_name.lower()
    others: list[JoinedTable] = []
    keys: dict[str, str] = {}
    for join in joining.args["joins"]:
        other = _joined(join, alias, names)
        if other is None:
            return None
        found = _column_below(first[1], other.by) if other.by is not None else None
        if other.by is not None and found is not None:
            keys[other.by] = found
        name = join.this.alias_or_name.lower()
        others.append(replace(other, is_asked_about=bool(asked & {"", name})))
    given = {key: _given_as(joining, alias, key) for key in keys}
    calls = {str(each.this).lower() for each in parsed.tree.find_all(exp.Anonymous)}
    return JoinQuery(
        JoinedTable(_table_below(first[1]), first[0]),
        tuple(others),
        keys,
        {key: name for key, name in given.items() if name is not None},
        frozenset(calls),
    )


def _is_of_rows(select: exp.Select) -> bool:
    """Whether what a query gives and asks for is of single rows."""
    asked = (select.args.get("where"), *(e.args.get("on") for e in select.args.get("joins") or ()))
    parts = [*select.expressions, *(each for each in asked if each is not None)]
    return not any(
        isinstance(node, (exp.Query, *_OVER_ROWS)) for part in parts for node in part.walk()
    )


def _asked_about(selects: Sequence[exp.Select], relations: set[str]) -> set[str]:
    """The relations whose columns a WHERE over the join names; the empty name is any of them."""
    if any(each.args.get("where") for each in selects[:-1]):
        return {""}
    where = selects[-1].args.get("where")
    if where is None:
        return set()
    firsts = {
        each.parts[0].name.lower() if each.table else "" for each in where.find_all(exp.Column)
    }
    # What is no relation here may be a struct of any of them.
    return {each if each in relations else "" for each in firsts}


def _names_in_from(select: exp.Select) -> set[str]:
    relations = (select.args["from_"].this, *(each.this for each in select.args["joins"]))
    return {each.alias_or_name.lower() for each in relations}


def _joined(join: exp.Join, driving: str, names: Names) -> JoinedTable | None:
    found = _relation(join.this, names)
    if found is None or not is_lookup(join):
        return None
    place, below = found
    if _ONLY_ASK & {str(join.args.get(each) or "").upper() for each in ("kind", "side")}:
        return JoinedTable(_table_below(below), place)
    columns = _meeting(join, driving, join.this.alias_or_name.lower())
    key = _column_below(below, columns[1]) if columns is not None else None
    if columns is None or key is None:
        return JoinedTable(_table_below(below), place)
    return JoinedTable(_table_below(below), place, *columns, key)


def _meeting(join: exp.Join, driving: str, own: str) -> tuple[str, str] | None:
    """The column of the driving table and that of the joined one, where these alone are equal."""
    using = join.args.get("using")
    if using:
        name = using[0].name.lower()
        return (name, name) if len(using) == 1 else None
    on = join.args["on"].unnest()
    if not isinstance(on, exp.EQ):
        return None
    sides = {}
    for side in (on.left.unnest(), on.right.unnest()):
        if not isinstance(side, exp.Column) or not isinstance(side.this, exp.Identifier):
            return None
        if side.args.get("db"):
            return None
        sides[side.table.lower()] = side.name.lower()
    return (sides[driving], sides[own]) if sides.keys() == {driving, own} else None


def _relation(node: Any, names: Names) -> tuple[Span, SelectChain] | None:
    """Where the name of a relation stands, and what it reads; None unless that is one table."""
    place = name_span(node) if isinstance(node, exp.Table) else None
    below = chain_below(node, names) if place is not None else None
    if place is None or below is None or below.table is None:
        return None
    return (place, below) if all(map(_is_of_rows, below.selects)) else None


def _table_below(below: SelectChain) -> tuple[str, ...]:
    return tuple(part.name.lower() for part in below.table.parts) if below.table is not None else ()


def _column_below(below: SelectChain, column: str) -> str | None:
    """What the table below calls a column that is handed up as it is."""
    for select in below.selects:
        made = select.expressions
        if is_plain_star(made):
            continue
        if any(each.is_star for each in made):
            return None
        found = [each for each in made if each.alias_or_name.lower() == column]
        plain = found[0].unalias() if len(found) == 1 else None
        if plain is None or not is_column_of(select, plain):
            return None
        column = plain.name.lower()
    return column


def _given_as(select: exp.Select, driving: str, column: str) -> str | None:
    """What a query calls a column of the driving table."""
    for each in select.expressions:
        plain = each.unalias()
        if not isinstance(plain, exp.Column) or plain.name.lower() != column:
            continue
        if plain.table.lower() in ("", driving):
            return str(each.alias_or_name).lower()
    return None
