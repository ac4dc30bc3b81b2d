"""Repair: texts near a half-written one that parse, with a name where the cursor is.

The first is the text as it is. Those after it give up more and more: what is open is closed, then
only the FROM clause of the query at the cursor and the CTEs before it are kept. Whoever reads them
takes the first in which the name is found to stand in a scope. Nothing here knows the grammar: it
counts parentheses and looks for the words that begin clauses.
"""

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from rocky.diagnostics.diagnostic import Span
from rocky.language.quotes import only_code

CURSOR: Final = "rocky_cursor_"
"""The name that stands at the cursor."""

_WORD: Final = re.compile(r"[A-Za-z0-9_]*")
_CLAUSE: Final = re.compile(
    r"\b(?:where|group\s+by|having|order\s+by|sort\s+by|cluster\s+by|distribute\s+by|limit|offset"
    r"|union|intersect|except|minus|window|qualify|select)\b",
    re.IGNORECASE,
)
_FROM: Final = re.compile(r"\bfrom\b", re.IGNORECASE)
_SETS: Final = re.compile(r"\b(?:union|intersect|except|minus)\b", re.IGNORECASE)
_CTE_HEAD: Final = re.compile(r"[\w`]+\s*(?:\([^()]*\)\s*)?\bas\s*$", re.IGNORECASE)
_CONDITION: Final = re.compile(r"\b(?:on|using)\b", re.IGNORECASE)
_ITEM: Final = re.compile(
    r"\b(?:from|join)\s+(?P<name>(?:`[^`]+`|\w+)(?:\.(?:`[^`]+`|\w+)){0,2})"
    r"(?:\s+(?:as\s+)?(?P<alias>(?!(?:where|group|having|order|limit|join|on|using|left|right|full"
    r"|inner|cross|union|lateral|natural|semi|anti|select|window)\b)\w+))?",
    re.IGNORECASE,
)


class Word(NamedTuple):
    """The word at the cursor: what of it stands before the cursor, and all of its place."""

    prefix: str
    span: Span


def word_at(text: str, offset: int) -> Word:
    """The word that an offset is in, at the end of, or before; empty between marks."""
    start = offset
    while start > 0 and (text[start - 1].isalnum() or text[start - 1] == "_"):
        start -= 1
    found = _WORD.match(text, offset)
    return Word(text[start:offset], Span(start, found.end() if found is not None else offset))


def repairs(text: str, word: Span) -> Iterator[str]:
    """Texts of a query with the cursor's name at a place, from the nearest to the barest."""
    head, tail = text[: word.start], text[word.end :]
    yield f"{head}{CURSOR}{tail}"
    code = only_code(f"{head}{CURSOR}{tail}")
    missing = code.count("(") - code.count(")")
    if missing > 0:
        yield f"{head}{CURSOR}{')' * missing}{tail}"
        yield f"{head}{CURSOR}{tail}{')' * missing}"
    yield from _barest(text, word.start)


def _barest(text: str, offset: int) -> Iterator[str]:
    """The query around an offset as a FROM clause under a select list that is the cursor."""
    code = only_code(text)
    for region in _regions(code, offset):
        tables = _from_clause(code, text, region, offset)
        if tables is None:
            continue
        before = _ctes_before(code, text, region)
        yield f"{before} SELECT {CURSOR} {tables}"
        yield f"SELECT {CURSOR} {tables}"


def _regions(code: str, offset: int) -> Iterator[Span]:
    """The parentheses around an offset, from the inside out, then all of the text."""
    depth, at = 0, offset - 1
    while at >= 0:
        if code[at] == ")":
            depth += 1
        elif code[at] == "(":
            if depth == 0:
                yield Span(at + 1, _closing(code, at + 1))
            else:
                depth -= 1
        at -= 1
    yield Span(0, len(code))


def _closing(code: str, start: int) -> int:
    depth = 0
    for at in range(start, len(code)):
        if code[at] == "(":
            depth += 1
        elif code[at] == ")":
            if depth == 0:
                return at
            depth -= 1
    return len(code)


def _flat(code: str, region: Span) -> str:
    """A part of a text in which everything inside of parentheses is blank."""
    depth, made = 0, []
    for mark in code[region.start : region.end]:
        depth -= mark == ")"
        made.append(mark if depth <= 0 or mark == "\n" else " ")
        depth += mark == "("
    return "".join(made)


def _from_clause(code: str, text: str, region: Span, offset: int) -> str | None:
    flat = _flat(code, region)
    at = offset - region.start
    breaks = [found.start() for found in _SETS.finditer(flat)]
    low = max((each for each in breaks if each < at), default=0)
    high = min((each for each in breaks if each >= at), default=len(flat))
    found = _FROM.search(flat, low, high)
    if found is None:
        return None
    ends = _CLAUSE.search(flat, found.end(), high)
    end = ends.start() if ends is not None else high
    if found.start() < at <= end:
        # Inside of it: what stands after the cursor, and the condition that it is in, is unsure.
        end = at
        conditions = list(_CONDITION.finditer(flat, found.end(), end))
        end = conditions[-1].start() if conditions else end
    return text[region.start + found.start() : region.start + end].rstrip().rstrip(",")


def _ctes_before(code: str, text: str, region: Span) -> str:
    """The CTEs that a query in a region may read: those before it, or all of its own."""
    own = re.match(r"\s*with\b", code[region.start :], re.IGNORECASE)
    if own is not None:
        flat = _flat(code, region)
        main = re.search(r"\bselect\b", flat, re.IGNORECASE)
        return text[region.start : region.start + main.start()] if main is not None else ""
    head = _CTE_HEAD.search(code, 0, max(region.start - 1, 0))
    if head is None:
        main = re.search(r"\bselect\b", _flat(code, Span(0, len(code))), re.IGNORECASE)
        before = text[: main.start()] if main is not None and main.start() < region.start else ""
        return before if re.match(r"\s*with\b", only_code(before), re.IGNORECASE) else ""
    before = text[: head.start()].rstrip()
    return before.rstrip(",") if before.endswith(",") else ""


def named_tables(text: str) -> list[tuple[str, str]]:
    """Tables that a text names after FROM and JOIN, each with its alias or its last part."""
    found = []
    for item in _ITEM.finditer(only_code(text)):
        name = item["name"].replace("`", "")
        found.append((name, item["alias"] or name.rpartition(".")[2]))
    return list(dict.fromkeys(found))
