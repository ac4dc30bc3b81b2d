"""Semantic tokens: what the names of a query are, which no grammar of colours can know."""

from typing import Final, Literal, NamedTuple

from rocky.diagnostics.diagnostic import Span
from rocky.ide.symbols import all_mentions
from rocky.ide.view import OpenFile

TokenKind = Literal[
    "table", "cte", "relation", "column", "field", "parameter", "function", "macro", "variable"
]
Modifier = Literal["definition", "classified", "declared"]

_KINDS: Final[dict[str, TokenKind]] = {
    "table": "table",
    "cte": "cte",
    "alias": "relation",
    "column": "column",
    "output": "column",
    "lateral": "column",
    "field": "field",
    "variable": "variable",
}


class SemanticToken(NamedTuple):
    """A name and what it is. A `classified` column has tags, a `declared` function is our own."""

    span: Span
    kind: TokenKind
    modifiers: tuple[Modifier, ...] = ()


def semantic_tokens(file: OpenFile) -> tuple[SemanticToken, ...]:
    """The names of a file in order; none overlaps another, none goes over a line's end."""
    found: dict[Span, SemanticToken] = {}
    for name in file.names:
        kind = _KINDS.get(name.use.role)
        if kind is None:
            continue
        modifiers: list[Modifier] = []
        if name.definition == name.span or name.use.role == "output":
            modifiers.append("definition")
        if name.use.table and name.use.column and _is_tagged(file, name.use.table, name.use.column):
            modifiers.append("classified")
        found[name.span] = SemanticToken(name.span, kind, tuple(modifiers))
    functions = file.view.project.functions
    for call in file.calls:
        own: tuple[Modifier, ...] = ("declared",) if call.name.lower() in functions else ()
        found.setdefault(call.span, SemanticToken(call.span, "function", own))
    for mention in all_mentions(file.text[file.sql_start :]) if _has_macros(file) else ():
        start = file.sql_start + mention.span.start
        span = Span(start, start + 1 + len(mention.name))
        called = mention.arguments is not None
        found[span] = SemanticToken(span, "macro" if called else "parameter")
    return _apart(file.text, sorted(found.values()))


def _has_macros(file: OpenFile) -> bool:
    return file.kind in ("sql", "rocky", "macro") and "@" in file.text


def _is_tagged(file: OpenFile, table: str, column: str) -> bool:
    return bool(file.view.classifications.of(table.lower(), column.lower()))


def _apart(text: str, tokens: list[SemanticToken]) -> tuple[SemanticToken, ...]:
    found: list[SemanticToken] = []
    end = 0
    for each in tokens:
        if each.span.start >= end and "\n" not in text[each.span.start : each.span.end]:
            found.append(each)
            end = each.span.end
    return tuple(found)
