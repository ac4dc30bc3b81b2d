"""Declarations of functions, written: blocks for a file of `functions/`, as a person would."""

import json
from collections.abc import Iterable, Iterator

from rocky.language.datatypes.text import format_type
from rocky.language.declared_functions import DeclaredFunction
from rocky.project.toml.variables import spelled


def declare_functions(text: str, functions: Iterable[DeclaredFunction]) -> str:
    """The text of a file with blocks for more functions of a catalogue at its end."""
    blocks = [text.rstrip()] if text.strip() else []
    blocks += ["\n".join(_block(each)) for each in functions]
    return "\n\n".join(blocks) + "\n"


def _block(function: DeclaredFunction) -> Iterator[str]:
    yield "[[function]]"
    yield f"name = {_text(function.name)}"
    yield f'kind = "{function.kind}"'
    if function.parameters:
        yield "parameters = ["
        for each in function.parameters:
            more = f", default = {_text(each.default)}" if each.default is not None else ""
            kind = _text(format_type(each.type))
            yield f"  {{ name = {_text(each.name)}, type = {kind}{more} }},"
        yield "]"
    if function.columns is not None:
        yield "columns = ["
        for field in function.columns:
            more = "" if field.nullable else ", nullable = false"
            kind = _text(format_type(field.type))
            yield f"  {{ name = {_text(field.name)}, type = {kind}{more} }},"
        yield "]"
    elif function.returns is not None:
        yield f"returns = {_text(format_type(function.returns))}"


def _text(value: str) -> str:
    """A value: what comes from outside is no reference to a variable, whatever it is called."""
    return json.dumps(spelled(value), ensure_ascii=False).replace("\x7f", "\\u007f")
