"""Arguments: whether a text is of the kind that a parameter asks for, and how it must be put.

A text is judged by what it parses to. One that could be read together with its neighbours is put in
parentheses.
"""

import re
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from sqlglot import exp

from rocky.language.datatypes.text import TypeSyntaxError, parse_type
from rocky.language.macros.calls import split_list
from rocky.language.macros.declaration import Kind
from rocky.language.quotes import find_quotes
from rocky.language.syntax.parser import ParsedQuery, SyntaxProblem, parse_query

OPENING: Final = "SELECT (\n"
"""What stands before an expression that is parsed by itself."""

_PART: Final = r"(?:[A-Za-z_]\w*|`(?:[^`]|``)+`)"
_NAME: Final = re.compile(rf"{_PART}(?:\s*\.\s*{_PART})*", re.ASCII)
_ATOM: Final = re.compile(
    rf"{_PART}(?:\s*\.\s*{_PART})*|[0-9][0-9A-Za-z.]*|'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"",
    re.ASCII | re.DOTALL,
)
_CALL: Final = re.compile(r"(?P<name>[A-Za-z_]\w*)?\s*\(", re.ASCII)
_NO_CALLS: Final = frozenset("all any case distinct exists in interval not select".split())
_GLUED: Final = re.compile(
    r"\s*(?:[.(\['\"]|(?:OVER|FILTER|WITHIN|IGNORE|RESPECT)\b)", re.IGNORECASE
)
"""What would become part of a call that it stands after."""
_NO_NAMES: Final = frozenset({"null", "true", "false"})
_ARTICLES: Final[dict[Kind, str]] = {
    "column": "the name of a column",
    "expression": "an expression",
    "literal": "a literal: a number, a text, a date, TRUE, FALSE or NULL",
    "table": "the name of a table, or a macro that stands for a query",
    "type": "a type",
}


def describe_kind(kind: Kind) -> str:
    """What an argument of a kind is, in words."""
    return _ARTICLES[kind]


class ColumnName(NamedTuple):
    """A column that a text names: where its name begins and ends, within how many queries."""

    start: int
    end: int
    depth: int


def parse_expression(text: str) -> ParsedQuery | SyntaxProblem:
    """One expression as the only item of a SELECT; places in it are `OPENING` further on."""
    return parse_query(f"{OPENING}{text}\n)")


def expression_of(parsed: ParsedQuery) -> Any:
    """The one expression that was parsed; None for what is none, or more than one."""
    items = parsed.tree.args.get("expressions") if isinstance(parsed.tree, exp.Select) else None
    clauses = {key for key, value in parsed.tree.args.items() if value} - {"expressions", "kind"}
    if not items or len(items) > 1 or clauses:
        return None
    node = items[0]
    if isinstance(node, exp.Subquery):
        return node.this
    if not isinstance(node, exp.Paren) or isinstance(node.this, exp.Alias | exp.Star):
        return None
    return node.this


def fits(kind: Kind, text: str, *, is_query: bool = False) -> bool:
    """Whether a text is what a parameter of a kind takes; `is_query` if it is that of a macro."""
    match kind:
        case "type":
            return _is_type(text)
        case "table":
            return is_query or _is_name(text)
        case "column":
            return _is_name(text)
        case "expression" | "literal":
            return _is_expression(text, literal=kind == "literal")


def _is_expression(text: str, *, literal: bool) -> bool:
    parsed = parse_expression(text)
    if isinstance(parsed, SyntaxProblem):
        return False
    node = expression_of(parsed)
    return node is not None and (not literal or _is_literal(node))


def is_unit(text: str) -> bool:
    """Whether a text stays one operand whatever stands beside it."""
    if _ATOM.fullmatch(text) is not None:
        return True
    call = _CALL.match(text)
    if call is None or (call["name"] or "").lower() in _NO_CALLS:
        return False
    return split_list(text, call.end())[1:] == (len(text), True)


def stands_alone(text: str, before: str, after: str) -> bool:
    """Whether a text needs no parentheses between two others: it has some, or is a plain call."""
    if _ATOM.fullmatch(text) is not None or not is_unit(text):
        return False
    following = _without_first_comments(after)
    glued = _GLUED.match(following) is not None or before.rstrip().endswith(".")
    return text.startswith("(") or not glued


def _without_first_comments(text: str) -> str:
    at = 0
    for kind, (start, end) in find_quotes(text):
        if kind != "comment" or text[at:start].strip():
            break
        at = end
    return text[at:]


def is_dotted(text: str) -> bool:
    """Whether a name has more than one part."""
    found = _NAME.fullmatch(text)
    return found is not None and re.search(r"\.", re.sub(r"`[^`]*`", "", text)) is not None


def columns_in(text: str) -> list[ColumnName]:
    """The columns that an expression names."""
    parsed = parse_expression(text)
    if isinstance(parsed, SyntaxProblem):
        return []
    shift = len(OPENING)
    return [
        ColumnName(start - shift, end - shift, depth - 1)
        for start, end, depth in find_columns(parsed.tree)
    ]


def find_columns(tree: exp.Expr) -> Iterator[ColumnName]:
    """The columns that a tree names; `depth` counts the queries around each, the tree's own too."""
    for column in tree.find_all(exp.Column):
        first = next(
            column.args[part]
            for part in ("catalog", "db", "table", "this")
            if column.args.get(part)
        )
        start, end = first.meta.get("start"), first.meta.get("end")
        if start is not None and end is not None:
            yield ColumnName(start, end + 1, depth_of(column))


def depth_of(node: exp.Expr) -> int:
    """How many queries stand around a node."""
    depth = 0
    above = node.parent
    while above is not None:
        depth += isinstance(above, exp.Select)
        above = above.parent
    return depth


def _is_name(text: str) -> bool:
    return _NAME.fullmatch(text) is not None and text.lower() not in _NO_NAMES


def _is_type(text: str) -> bool:
    try:
        parse_type(text)
    except TypeSyntaxError:
        return False
    return True


def _is_literal(node: Any) -> bool:
    match node:
        case exp.Literal() | exp.Boolean() | exp.Null() | exp.RawString():
            return True
        case exp.Neg(this=inner) | exp.Interval(this=inner):
            return _is_literal(inner)
        case exp.Cast(this=exp.Literal(is_string=True)):
            # DATE '2026-01-01' and its like.
            return True
        case _:
            return False
