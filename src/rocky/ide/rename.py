"""Rename: one change of the project that compiles as before, or the reason why there is none.

What is returned was compiled: the same findings, and the same columns but for their new names. The
caller brings the compiler, because only it knows how to compile texts that are not on disk.
"""

import re
from collections import Counter
from typing import Final, NamedTuple

from rocky.analysis.compilation import Compilation
from rocky.diagnostics.diagnostic import Diagnostic, Span
from rocky.ide.column_rename import rename_column, rename_local, renamed_columns
from rocky.ide.edits import Check, EditSet, Refused, TextEdit, edited_texts
from rocky.ide.model_rename import rename_model
from rocky.ide.references import references_of
from rocky.ide.symbols import Symbol, symbol_at
from rocky.ide.view import OpenFile, View
from rocky.language.names import bare_name

_UNFIT: Final = re.compile(r"[`\"'\\\n\r\t.]|^\s|\s$")


class Renamable(NamedTuple):
    """What would be renamed: the place of its name at the cursor, and the name."""

    span: Span
    name: str
    symbol: Symbol


def find_renamable(file: OpenFile, offset: int) -> Renamable | Refused:
    """What stands at an offset, if it can have another name."""
    found = symbol_at(file, offset)
    if found is None:
        return Refused("there is no name here that could be changed")
    symbol, span = found
    if symbol.kind in ("function", "macro", "field"):
        return Refused(f"a {symbol.kind} is not renamed here: models, columns and local names are")
    if symbol.kind == "table" and symbol.name not in file.view.project.models:
        return Refused(f"`{symbol.name}` is no model of this project")
    name = symbol.name if symbol.kind == "table" else bare_name(file.text[span.start : span.end])
    return Renamable(span, name, symbol)


def rename(file: OpenFile, offset: int, new: str, check: Check) -> EditSet | Refused:
    """The change that gives what stands at an offset another name."""
    target = find_renamable(file, offset)
    if isinstance(target, Refused):
        return target
    if file.text != file.view.text_of(file.path):
        return Refused("the file is newer than what was compiled: try again")
    if not new or _UNFIT.search(new):
        return Refused(f"`{new}` cannot be a name: no quotes, no dots, no white space at its ends")
    change = _change(file, target.symbol, new)
    if isinstance(change, Refused):
        return change
    return _verified(file.view, target.symbol, new, change, check)


def _change(file: OpenFile, symbol: Symbol, new: str) -> EditSet | Refused:
    match symbol.kind:
        case "table":
            return rename_model(file.view, symbol, new)
        case "column":
            edits = rename_column(file.view, symbol, new)
            return edits if isinstance(edits, Refused) else EditSet(tuple(edits))
        case "local":
            return EditSet(tuple(rename_local(file, symbol, new)))
        case _:
            return EditSet(tuple(_parameter_edits(file, symbol, new)))


def _parameter_edits(file: OpenFile, symbol: Symbol, new: str) -> list[TextEdit]:
    places = references_of(file.view, symbol, file)
    return [TextEdit(each.path, each.span, new) for each in places]


def _verified(
    view: View, symbol: Symbol, new: str, change: EditSet, check: Check
) -> EditSet | Refused:
    """The change, if the project compiles with it as it did, but for the name."""
    compiled = check(edited_texts(view, change))
    moved = {each.new: each.old for each in change.moves}
    worse = _new_findings(view.compilation, compiled, moved)
    if worse is not None:
        return Refused(f"with the new name, `{worse.path}` would say: {worse.message}")
    columns = renamed_columns(view, symbol) if symbol.kind == "column" else set()
    tables = {symbol.name: new} if symbol.kind == "table" else {}
    for key in view.compilation.models:
        reason = _difference(view.compilation, compiled, key, tables, columns, new)
        if reason is not None:
            return Refused(reason)
    return change


def _new_findings(
    before: Compilation, after: Compilation, moved: dict[str, str]
) -> Diagnostic | None:
    """A finding that was not there before, by its code and its file."""
    known = Counter((each.code, each.path) for each in before.diagnostics)
    for each in after.diagnostics:
        path = moved.get(each.path or "", each.path)
        known[each.code, path] -= 1
        if known[each.code, path] < 0:
            return each
    return None


def _difference(
    before: Compilation,
    after: Compilation,
    key: str,
    tables: dict[str, str],
    columns: set[tuple[str, str]],
    new: str,
) -> str | None:
    """How a model would come out otherwise than with the new name; None if it would not."""
    now = tables.get(key, key).lower()
    if now not in after.models:
        return f"`{key}` would not be compiled"
    old, made = before.models[key], after.models[now]
    wanted = [
        (new.lower() if (key, each.name.lower()) in columns else each.name.lower(), each)
        for each in old.columns
    ]
    found = [(each.name.lower(), each.type, each.nullable) for each in made.columns]
    if [(name, each.type, each.nullable) for name, each in wanted] != found:
        return f"the columns of `{old.name}` would be others"
    reads = {tables.get(each.lower(), each).lower() for each in old.reads}
    if reads != {each.lower() for each in made.reads}:
        return f"`{old.name}` would read other tables"
    return None
