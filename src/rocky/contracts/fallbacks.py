"""Fallbacks: for each type a value that `coalesce` takes without changing the column's type.

The obvious `CAST(0 AS DECIMAL(5,2))` would not do: Spark counts that cast as able to give null,
because an int may not fit, and the column would stay nullable.
"""

from typing import Final

from rocky.datatypes.types import DataType, DecimalType

_BY_KIND: Final = {
    "boolean": "false",
    "tinyint": "0Y",
    "smallint": "0S",
    "int": "0",
    "bigint": "0",
    "float": "0F",
    "double": "0D",
    "string": "''",
    "char": "''",
    "varchar": "''",
    "binary": "X''",
    "date": "DATE '1970-01-01'",
    "timestamp": "TIMESTAMP '1970-01-01 00:00:00'",
    "timestamp_ntz": "TIMESTAMP_NTZ '1970-01-01 00:00:00'",
    "array": "array()",
    "map": "map()",
}


def fallback_for(type: DataType) -> str:  # noqa: A002 - the noun of the types' package
    """A never-null SQL value of the type, or `...` where there is no short one."""
    if isinstance(type, DecimalType):
        return f"0.{'0' * type.scale}" if type.scale else "0BD"
    return _BY_KIND.get(type.kind, "...")


def quote_name(name: str) -> str:
    """A column's name as SQL."""
    plain = name.isascii() and name.replace("_", "a").isalnum() and not name[0].isdigit()
    return name if plain else "`" + name.replace("`", "``") + "`"
