"""Extracting a CTE: its query becomes a model of its own, which the other query then reads."""

import re
from typing import Final

from rocky.diagnostics.diagnostic import Span
from rocky.ide.edits import EditSet, Refused, TextEdit
from rocky.ide.view import OpenFile, PlacedName
from rocky.language.names import bare_name

_OPENS: Final = re.compile(r"\s+as\s*\(", re.IGNORECASE)
_WITH: Final = re.compile(r"\bwith\s+$", re.IGNORECASE)
_COMMA_AFTER: Final = re.compile(r"\s*,\s*")
_COMMA_BEFORE: Final = re.compile(r",\s*$")


def extract_cte(file: OpenFile, offset: int) -> EditSet | Refused:
    """The change that makes a model of the CTE whose name is at an offset."""
    name = file.name_at(offset)
    if name is None or name.use.role != "cte" or file.kind != "sql" or file.model is None:
        return Refused("there is no CTE here")
    place = name.definition
    if place is None:
        return Refused("the CTE is not defined in this file")
    called = bare_name(file.text[place.start : place.end])
    if file.view.names.model((called.lower(),), "") is not None:
        return Refused(f"there is a model `{called}` already")
    code = file.code
    opened = _OPENS.match(code, place.end)
    if opened is None:
        return Refused("a CTE that lists its columns cannot be moved as it is")
    body = Span(opened.end(), _closing(code, opened.end()))
    other = next((each for each in _inside(file, body) if each.use.role == "cte"), None)
    if other is not None:
        return Refused(f"it reads the CTE `{other.use.name}`, which only this query knows")
    edit = _removal(file, code, place, body)
    if edit is None:
        return Refused("a recursive CTE cannot be a model of its own")
    folder = file.path.rpartition("/")[0]
    path = f"{folder}/{called}.sql" if folder else f"{called}.sql"
    return EditSet((edit,), created=((path, _as_model(file.text[body.start : body.end])),))


def _inside(file: OpenFile, body: Span) -> list[PlacedName]:
    """The names within a CTE that were given outside of it."""
    return [
        each
        for each in file.names
        if body.start <= each.span.start < body.end
        and each.definition is not None
        and not body.start <= each.definition.start < body.end
    ]


def _removal(file: OpenFile, code: str, name: Span, body: Span) -> TextEdit | None:
    """The edit that takes a CTE out of its WITH, and the WITH too if it was the only one."""
    end = body.end + 1
    after = _COMMA_AFTER.match(code, end)
    if after is not None:
        return TextEdit(file.path, Span(name.start, after.end()), "")
    before = _COMMA_BEFORE.search(code, 0, name.start)
    if before is not None:
        return TextEdit(file.path, Span(before.start(), end), "")
    word = _WITH.search(code, 0, name.start)
    if word is None:
        return None
    space = re.compile(r"\s*").match(code, end)
    return TextEdit(file.path, Span(word.start(), space.end() if space else end), "")


def _as_model(body: str) -> str:
    """The text of a CTE with its first line at the margin."""
    lines = body.strip("\n").splitlines()
    indents = [len(line) - len(line.lstrip()) for line in lines[1:] if line.strip()]
    first = len(lines[0]) - len(lines[0].lstrip()) if lines else 0
    shift = min([first, *indents]) if body.startswith("\n") else min(indents, default=0)
    kept = [lines[0][min(first, shift) :], *(line[shift:] for line in lines[1:])] if lines else []
    return "\n".join(kept).strip() + "\n"


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
