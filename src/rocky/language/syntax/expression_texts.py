"""Expression texts: SQL that stands for one expression, as `expr("a + 1")` has it.

It is parsed by itself, so that a text which is more or less than an expression is refused before
it is put anywhere.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from sqlglot import exp

from rocky.diagnostics.diagnostic import Span
from rocky.language.syntax.parser import SyntaxProblem, parse_query

_BEFORE: Final = "SELECT "


@dataclass(frozen=True, slots=True)
class ExpressionText:
    """One expression: its columns with their places, whether it has an alias or is a star.

    `reads` tells that there is a query inside, whose names are its own.
    """

    columns: tuple[tuple[tuple[str, ...], Span], ...]
    alias: str | None
    star: bool
    reads: bool
    body: Span


@lru_cache(maxsize=512)
def read_expression(text: str) -> ExpressionText | SyntaxProblem:
    """What the text is, with places in it; a problem when it is not one expression."""
    parsed = parse_query(_BEFORE + text)
    if isinstance(parsed, SyntaxProblem):
        at = Span(max(parsed.span.start - len(_BEFORE), 0), max(parsed.span.end - len(_BEFORE), 1))
        return SyntaxProblem(parsed.message, at, parsed.condition, parsed.help)
    tree = parsed.tree
    alone = isinstance(tree, exp.Select) and all(
        not value or name in ("expressions", "kind") for name, value in tree.args.items()
    )
    if not alone or len(tree.expressions) != 1:
        return SyntaxProblem("this is not one expression", Span(0, len(text)))
    item = tree.expressions[0]
    alias = item.alias if isinstance(item, exp.Alias) else None
    value = item.this if isinstance(item, exp.Alias) else item
    several = isinstance(item, exp.Aliases)
    columns = tuple(_column(node) for node in value.find_all(exp.Column))
    return ExpressionText(
        tuple(each for each in columns if each is not None),
        alias or None,
        star=several or value.is_star or any(True for _ in value.find_all(exp.Star)),
        reads=any(True for _ in value.find_all(exp.Query)),
        body=_body(item, text, len(text)),
    )


def _column(node: exp.Column) -> tuple[tuple[str, ...], Span] | None:
    identifiers = [part for part in node.parts if isinstance(part, exp.Identifier)]
    places = [part.meta for part in identifiers]
    if not identifiers or any("start" not in each for each in places):
        return None
    start = places[0]["start"] - len(_BEFORE)
    end = places[-1]["end"] + 1 - len(_BEFORE)
    return tuple(part.name for part in identifiers), Span(start, end)


def _body(item: exp.Expr, text: str, end: int) -> Span:
    """The expression without its alias."""
    if not isinstance(item, exp.Alias):
        return Span(0, end)
    at = item.args["alias"].meta.get("start")
    before = text[: at - len(_BEFORE)].rstrip() if at is not None else text
    if before[-3:].lower().endswith(" as") or before[-3:].lower().endswith(")as"):
        before = before[:-2].rstrip()
    return Span(0, len(before))
