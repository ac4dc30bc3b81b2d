"""SQL expressions over columns: names quoted, values compared as a table compares them.

Two rows are the same when all columns are null-safely equal. Spark cannot compare maps and
variants, so a map is compared by its sorted entries and a variant by its text.
"""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Final

from rocky.datatypes.types import ArrayType, DataType, MapType, StructField, StructType
from rocky.run.literals import quote_name, quote_text

__all__ = [
    "FILE_NAME",
    "column_list",
    "comparable",
    "moment",
    "quote_name",
    "quote_text",
    "same_key",
    "same_values",
]


FILE_NAME: Final = "substring_index(input_file_name(), '/', -1)"
"""The file a row is read from. `_metadata.file_name` says the same, but no view passes it on."""


def column_list(names: Iterable[str], relation: str | None = None) -> str:
    """`r.a, r.b`."""
    prefix = f"{relation}." if relation else ""
    return ", ".join(prefix + quote_name(name) for name in names)


def same_key(names: Sequence[str], left: str, right: str) -> str:
    """Whether two rows have one key; a null is equal to a null."""
    return " AND ".join(
        f"{left}.{quote_name(name)} <=> {right}.{quote_name(name)}" for name in names
    )


def same_values(columns: Iterable[StructField], left: str, right: str) -> str:
    """Whether two rows agree in all of some columns."""
    pairs = [
        f"{comparable(f'{left}.{quote_name(each.name)}', each.type)} <=> "
        f"{comparable(f'{right}.{quote_name(each.name)}', each.type)}"
        for each in columns
    ]
    return " AND ".join(pairs) if pairs else "TRUE"


def comparable(expression: str, kind: DataType, depth: int = 0) -> str:
    """The expression, or one that Spark can compare and that tells the same values apart."""
    if _is_comparable(kind):
        return expression
    inner = f"x{depth}"
    match kind:
        case MapType(key=key, value=value):
            made = (
                f"struct({comparable(f'{inner}.key', key, depth + 1)} AS k, "
                f"{comparable(f'{inner}.value', value, depth + 1)} AS v)"
            )
            return f"array_sort(transform(map_entries({expression}), {inner} -> {made}))"
        case ArrayType(element=element):
            return f"transform({expression}, {inner} -> {comparable(inner, element, depth + 1)})"
        case StructType(fields=fields):
            parts = (
                f"{comparable(f'({expression}).{quote_name(each.name)}', each.type, depth + 1)}"
                f" AS f{at}"
                for at, each in enumerate(fields)
            )
            return f"IF({expression} IS NULL, NULL, struct({', '.join(parts)}))"
        case _:
            return f"to_json({expression})"


def _is_comparable(kind: DataType) -> bool:
    match kind:
        case MapType():
            return False
        case ArrayType(element=element):
            return _is_comparable(element)
        case StructType(fields=fields):
            return all(_is_comparable(each.type) for each in fields)
        case _:
            return kind.kind != "variant"


def moment(at: datetime) -> str:
    """A literal of type TIMESTAMP that means one instant in every session."""
    text = at.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S.%f")
    # strftime leaves out leading zeros of years on some platforms.
    return f"TIMESTAMP '{text.zfill(26)}+00:00'"
