"""Windowed queries: windows over one table, all by the same columns, every row of which is kept.

Such a query hands its rows over once, by those columns. Told where the windows read into how many
tasks, it needs not do so again for the files of its table. A query that filters what windows gave
is none: Spark may then drop rows before it hands them over.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sqlglot import exp

from rocky.diagnostics.diagnostic import Span
from rocky.language.syntax.parser import (
    SyntaxProblem,
    name_span,
    parse_query,
    with_deep_stack,
)
from rocky.language.syntax.select_chains import (
    has_only,
    is_column_of,
    is_plain_star,
    renames_columns,
    select_chain,
)

_OF_A_WINDOW: Final = frozenset({"this", "partition_by", "order", "spec", "over"})
_OVER_ROWS: Final = (exp.AggFunc, exp.Any, exp.WithinGroup, exp.Filter, exp.UDTF)


@dataclass(frozen=True, slots=True)
class WindowedQuery:
    """What a windowed query reads, and by which of the table's columns, in lower case.

    `place` is the name in the text that the windows read from, `order` what the first of them that
    has an order puts rows in, as far as that is columns. `calls` are the functions that it
    calls for a row, in lower case, `over` those that it calls over rows.
    """

    table: tuple[str, ...]
    keys: tuple[str, ...]
    place: Span
    order: tuple[str, ...] = ()
    calls: frozenset[str] = frozenset()
    over: frozenset[str] = frozenset()


def windowed_query(sql: str) -> WindowedQuery | None:
    """What a windowed query is made of; None for any other query."""
    try:
        return _find(sql)
    except RecursionError:
        return with_deep_stack(lambda: _find(sql))


def _find(sql: str) -> WindowedQuery | None:
    parsed = parse_query(sql)
    if isinstance(parsed, SyntaxProblem) or renames_columns(parsed.tree):
        return None
    chain = select_chain(parsed.tree)
    if chain is None or chain.table is None:
        return None
    selects, table = chain.selects, chain.table
    windows = list(parsed.tree.find_all(exp.Window))
    if not windows or not _are_alone(parsed.tree, selects, table):
        return None
    owner = windows[0].parent_select
    start = next((at for at, each in enumerate(selects) if each is owner), None)
    if start is None or any(each.args.get("where") for each in selects[:start]):
        return None
    source = selects[start].args["from_"].this
    keys = _common_keys(windows, selects[start], source)
    if not keys or not all(_hands_on(each, keys) for each in selects[start + 1 :]):
        return None
    place = name_span(source) if isinstance(source, exp.Table) else None
    of_windows = {id(_function_of(each)) for each in windows}
    calls: tuple[set[str], set[str]] = (set(), set())
    for node in parsed.tree.find_all(exp.Anonymous):
        calls[id(node) in of_windows].add(str(node.this).lower())
    parts = tuple(part.name.lower() for part in table.parts)
    if place is None:
        return None
    order = next((found for found in map(_order, windows) if found), ())
    return WindowedQuery(parts, keys, place, order, *map(frozenset, calls))


def _order(window: exp.Window) -> tuple[str, ...]:
    """The columns that a window's rows are in order by: those before one that is none, or falls."""
    found: list[str] = []
    order = window.args.get("order")
    for each in order.expressions if order is not None else ():
        if not isinstance(each.this, exp.Column) or each.args.get("desc"):
            break
        found.append(each.this.name.lower())
    return tuple(found)


def _are_alone(tree: Any, selects: Sequence[exp.Select], table: exp.Table) -> bool:
    """Whether a query reads nothing else, and looks at several rows in windows only."""
    known = {id(each) for each in selects}
    for node in tree.walk():
        if isinstance(node, exp.Select):
            if id(node) not in known:
                return False
        elif isinstance(node, exp.SetOperation | exp.Values) or node.args.get("pipe"):
            return False
        elif isinstance(node, exp.Table):
            if node is not table and not isinstance(node.parent, exp.From):
                return False
        elif isinstance(node, _OVER_ROWS):
            return False
    return True


def _common_keys(
    windows: list[exp.Window], select: exp.Select, source: exp.Expr
) -> tuple[str, ...]:
    """The columns that all windows are over; none where they differ, or are no plain columns."""
    found = {_keys(each, source.alias_or_name.lower()) for each in windows}
    written = {id(each) for each in _written_windows(select)}
    if len(found) != 1 or any(id(each) not in written for each in windows):
        return ()
    return found.pop()


def _written_windows(select: exp.Select) -> Iterator[exp.Expr]:
    for expression in select.expressions:
        yield from expression.find_all(exp.Window)


def _keys(window: exp.Window, source: str) -> tuple[str, ...]:
    columns = window.args.get("partition_by") or ()
    if not has_only(window, _OF_A_WINDOW):
        return ()
    if not all(
        isinstance(each, exp.Column)
        and isinstance(each.this, exp.Identifier)
        and each.table.lower() in ("", source)
        and not each.args.get("db")
        for each in columns
    ):
        return ()
    return tuple(each.name.lower() for each in columns)


def _hands_on(select: exp.Select, keys: tuple[str, ...]) -> bool:
    """Whether a query gives columns as it gets them, by their own names."""
    made = select.expressions
    if is_plain_star(made):
        return True
    if any(each.is_star for each in made):
        return False
    names = [each.alias_or_name.lower() for each in made]
    plain = {each.name.lower() for each in made if is_column_of(select, each)}
    return all(names.count(key) == 1 and key in plain for key in keys)


def _function_of(window: exp.Window) -> Any:
    function = window.this
    return function.this if isinstance(function, exp.IgnoreNulls | exp.RespectNulls) else function
