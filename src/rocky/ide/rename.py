"""Rename: one change of the project that compiles as before, or the reason why there is none.

What is returned was compiled: the same findings, and the same columns but for their new names.
"""

import re
from typing import Final, NamedTuple

from rocky.diagnostics.diagnostic import Span
from rocky.ide.column_rename import rename_column, rename_local, renamed_columns
from rocky.ide.edits import Check, EditSet, Refused, TextEdit
from rocky.ide.model_rename import rename_model
from rocky.ide.references import references_of
from rocky.ide.symbols import Symbol, output_places, symbol_at
from rocky.ide.verification import Renaming, verify_change
from rocky.ide.view import OpenFile
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
    made = output_places(file).get(span) if symbol.name in file.view.project.sources else None
    if made is not None and file.model is not None:
        # What a source calls its columns is not for us to say; what the model calls them is.
        symbol = Symbol("column", file.model.key, made)
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
    symbol = target.symbol
    columns = renamed_columns(file.view, symbol) if symbol.kind == "column" else set()
    tables = {symbol.name: new} if symbol.kind == "table" else {}
    return verify_change(file.view, change, check, Renaming(new, tables, columns))


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
