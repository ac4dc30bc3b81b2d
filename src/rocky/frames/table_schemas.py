"""Schemas of tables from a TOML file, for code that belongs to no project.

[tables]
orders = "order_id bigint not null, amount decimal(12,2)"

[tables."raw.customers"]
customer_id = "bigint not null"
name = "string"
"""

import tomllib
from pathlib import Path
from typing import Any

from rocky.errors import InvalidSchema
from rocky.language.datatypes.text import TypeSyntaxError, parse_schema
from rocky.language.datatypes.types import StructField
from rocky.language.names import quote_name


def read_schemas(path: Path) -> dict[str, list[StructField]]:
    """The tables that a file declares. Raises InvalidSchema."""
    try:
        read = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as fault:
        raise InvalidSchema(f"`{path}` cannot be read: {fault}") from fault
    tables = read.pop("tables", None)
    if not isinstance(tables, dict) or read:
        other = f"; there is `{next(iter(read))}`" if read else ""
        raise InvalidSchema(f"`{path}` has one table `[tables]`, and nothing else{other}")
    return {name: _fields(name, given, path) for name, given in tables.items()}


def _fields(name: str, given: Any, path: Path) -> list[StructField]:
    text = given
    if isinstance(given, dict):
        if not all(isinstance(kind, str) for kind in given.values()):
            help_text = "write a name with a dot in quotes"
            raise InvalidSchema(f"`{path}`: a column of `{name}` has no type; {help_text}")
        text = ", ".join(f"{quote_name(column)} {kind}" for column, kind in given.items())
    if not isinstance(text, str):
        raise InvalidSchema(f"`{path}`: the columns of `{name}` are a text or a table of types")
    try:
        return parse_schema(text)
    except TypeSyntaxError as fault:
        raise InvalidSchema(f"`{path}`: the columns of `{name}`: {fault}") from fault
