"""Calls: where a text says `@name(...)` or `@name`, and the arguments that are written there.

Comments, strings and quoted names are passed over. The arguments are told apart by commas outside
of all brackets; those of a type such as `map<string, int>` are brackets too.
"""

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from rocky.diagnostics.diagnostic import Span

RESERVED: Final = frozenset({"var", "start_date", "end_date"})
"""What `@name` means already."""

_PASSED: Final = r"--[^\n]*|/\*.*?(?:\*/|\Z)|'(?:[^'\\]|\\.)*'?|\"(?:[^\"\\]|\\.)*\"?|`[^`]*`?"
_MENTION: Final = re.compile(
    rf"(?:{_PASSED})|@(?P<name>[A-Za-z_]\w*)(?P<open>\s*\()?", re.DOTALL | re.ASCII
)
_MARK: Final = re.compile(
    rf"(?P<passed>{_PASSED})|(?P<type>\b(?:array|map|struct)\s*<)|(?P<mark>[()\[\],<>])",
    re.DOTALL | re.IGNORECASE,
)
_NAMED: Final = re.compile(r"\s*(?P<name>[A-Za-z_]\w*)\s*=>", re.ASCII)
_MAY_CALL: Final = re.compile(r"@(?!var\s*\()[A-Za-z_]\w*\s*\(", re.ASCII | re.IGNORECASE)
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
    at = 0
    while (found := _MENTION.search(text, at)) is not None:
        at = found.end()
        name = found["name"]
        if name is None or name.lower() in RESERVED:
            continue
        if found["open"] is None:
            yield Mention(name, Span(*found.span()))
            continue
        arguments, end, closed = split_list(text, found.end())
        yield Mention(name, Span(found.start(), end), arguments, closed)
        at = end


def split_list(text: str, start: int) -> tuple[tuple[WrittenArgument, ...], int, bool]:
    """The items of a list whose parenthesis opens just before an offset, and where it ends."""
    commas: list[int] = []
    closes = [")"]
    at = start
    while closes and (found := _MARK.search(text, at)) is not None:
        at = found.end()
        if found["type"] is not None:
            closes.append(">")
        elif found["mark"] in ("(", "["):
            closes.append(_CLOSED_BY[found["mark"]])
        elif found["mark"] == closes[-1]:
            closes.pop()
        elif found["mark"] == "," and len(closes) == 1:
            commas.append(found.start())
    end, closed = (at - 1, True) if not closes else (len(text), False)
    if not commas and not text[start:end].strip():
        return (), end + closed, closed
    edges = [start, *(comma + 1 for comma in commas)], [*commas, end]
    items = tuple(_item(text, low, high) for low, high in zip(*edges, strict=True))
    return items, end + closed, closed


def _item(text: str, start: int, end: int) -> WrittenArgument:
    named = _NAMED.match(text, start, end)
    value = _stripped(text, named.end() if named else start, end)
    return WrittenArgument(named["name"] if named else None, _stripped(text, start, end), value)


def _stripped(text: str, start: int, end: int) -> Span:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return Span(start, end)
