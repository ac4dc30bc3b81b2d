"""Calls: where a text says `@name(...)` or `@name`, and the arguments that are written there.

Comments, strings and quoted names are passed over; a comment at an end of an argument is no part of
it. The arguments are told apart by commas outside of all brackets; those of a type such as
`map<string, int>` are brackets too.
"""

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from rocky.diagnostics.diagnostic import Span
from rocky.language.quotes import only_code

RESERVED: Final = frozenset({"var", "start_date", "end_date"})
"""What `@name` means already."""

_MENTION: Final = re.compile(r"@(?P<name>[A-Za-z_]\w*)(?P<open>\s*\()?", re.ASCII)
_MARK: Final = re.compile(
    r"(?P<type>\b(?:array|map|struct)\s*<)|(?P<mark>[()\[\],<>])", re.IGNORECASE
)
_NAMED: Final = re.compile(r"\s*(?P<name>[A-Za-z_]\w*)\s*=>", re.ASCII)
_MAY_CALL: Final = re.compile(
    r"@(?!var\s*\()[A-Za-z_]\w*\s*(?:\(|--|/\*)", re.ASCII | re.IGNORECASE
)
_CLOSED_BY: Final = {"(": ")", "[": "]", "<": ">"}


class WrittenArgument(NamedTuple):
    """An argument as it stands: the name before `=>`, if any, and the place of its value."""

    name: str | None
    span: Span
    value: Span


class Mention(NamedTuple):
    """A `@name` at its place; with parentheses it is a call, without them a parameter.

    `arguments` is None for a parameter, and `closed` False for a call without its end.
    """

    name: str
    span: Span
    arguments: tuple[WrittenArgument, ...] | None = None
    closed: bool = True


def has_calls(text: str) -> bool:
    """Whether a text may call a macro: a cheap answer for the many that do not."""
    return "@" in text and _MAY_CALL.search(text) is not None


def find_mentions(text: str) -> Iterator[Mention]:
    """The calls and parameters of a text, in order; those in the arguments of a call are its own.

    What has a meaning already is left out.
    """
    code = only_code(text)
    at = 0
    while (found := _MENTION.search(code, at)) is not None:
        at = found.end()
        name = found["name"]
        if name.lower() in RESERVED:
            continue
        if found["open"] is None:
            yield Mention(name, Span(*found.span()))
            continue
        arguments, end, closed = _split(code, found.end())
        yield Mention(name, Span(found.start(), end), arguments, closed)
        at = end


def split_list(text: str, start: int) -> tuple[tuple[WrittenArgument, ...], int, bool]:
    """The items of a list whose parenthesis opens just before an offset, and where it ends."""
    return _split(only_code(text), start)


def _split(code: str, start: int) -> tuple[tuple[WrittenArgument, ...], int, bool]:
    commas: list[int] = []
    closes = [")"]
    at = start
    while closes and (found := _MARK.search(code, at)) is not None:
        at = found.end()
        if found["type"] is not None:
            closes.append(">")
        elif found["mark"] in ("(", "["):
            closes.append(_CLOSED_BY[found["mark"]])
        elif found["mark"] == closes[-1]:
            closes.pop()
        elif found["mark"] == "," and len(closes) == 1:
            commas.append(found.start())
    end, closed = (at - 1, True) if not closes else (len(code), False)
    if not commas and not code[start:end].strip():
        return (), end + closed, closed
    edges = [start, *(comma + 1 for comma in commas)], [*commas, end]
    items = tuple(_item(code, low, high) for low, high in zip(*edges, strict=True))
    return items, end + closed, closed


def _item(code: str, start: int, end: int) -> WrittenArgument:
    named = _NAMED.match(code, start, end)
    value = _stripped(code, named.end() if named else start, end)
    return WrittenArgument(named["name"] if named else None, _stripped(code, start, end), value)


def _stripped(code: str, start: int, end: int) -> Span:
    while start < end and code[start].isspace():
        start += 1
    while end > start and code[end - 1].isspace():
        end -= 1
    return Span(start, end)
