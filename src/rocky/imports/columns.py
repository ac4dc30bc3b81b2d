"""A column as an interface file has it: its name, its type as text, whether it can be null."""

from typing import Any

from rocky.datatypes.text import TypeSyntaxError, parse_type, type_to_json
from rocky.datatypes.types import DataType


def column_entry(name: str, kind: DataType, *, nullable: bool) -> dict[str, Any]:
    """A column as an interface has it."""
    return {"name": name, "type": _type_entry(kind), "nullable": nullable}


def _type_entry(kind: DataType) -> Any:
    """The text of a type, or its JSON where the text does not tell that parts are never null."""
    try:
        if parse_type(kind.text) is kind:
            return kind.text
    except TypeSyntaxError:
        # A field's name that the text does not quote.
        pass
    return type_to_json(kind)
