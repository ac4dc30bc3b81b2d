"""Columns that people declare, in sources, seeds and contracts.

A type that cannot be read leaves the column with type UNKNOWN: it is reported once, here,
and no rule complains about it again.
"""

import re
from collections.abc import Mapping
from typing import Annotated, Any, Final, NamedTuple

from rocky.diagnostics.diagnostic import Span
from rocky.diagnostics.suggestion import suggestion
from rocky.language.datatypes.text import TypeSyntaxError, parse_type
from rocky.language.datatypes.types import UNKNOWN, DataType, StructField
from rocky.project.configuration.classifications import NO_COLUMN_TAGS, TagNames, merge_tags
from rocky.project.toml.documents import Document, Parsed, Problem, Problems, Refusal, refuses
from rocky.project.toml.records import INVALID, reader_for
from rocky.project.toml.variables import Keys, written


class UnreadableType(ValueError):
    """A type's text that Spark would not read; `offset` is where in it."""

    def __init__(self, message: str, offset: int | None, help: str | None) -> None:  # noqa: A002 - the diagnostic's own word
        super().__init__(message, offset, help)
        self.message = message
        self.offset = offset
        self.help = help

    def __str__(self) -> str:
        return self.message


# Names other systems use, and what Spark calls them.
_FOREIGN: Final = {
    "int8": "tinyint",
    "int16": "smallint",
    "int32": "int",
    "int64": "bigint",
    "float32": "float",
    "float64": "double",
    "bool": "boolean",
    "text": "string",
    "bytes": "binary",
    "bytea": "binary",
    "datetime": "timestamp",
    "timestamptz": "timestamp",
    "timestampntz": "timestamp_ntz",
    "number": "decimal(38,0)",
    "varchar": "string",
    "char": "string",
    "json": "variant",
}
_TYPE_NAMES: Final = (
    *("array", "bigint", "binary", "boolean", "byte", "char", "character", "date", "dec"),
    *("decimal", "double", "float", "int", "integer", "interval", "long", "map", "numeric"),
    *("real", "short", "smallint", "string", "struct", "time", "timestamp", "timestamp_ltz"),
    *("timestamp_ntz", "tinyint", "varchar", "variant", "void"),
)
_WORD: Final = re.compile(r"\w+")


def read_type(value: Any) -> DataType:
    """The type a TOML value names. Raises UnreadableType."""
    if not isinstance(value, str):
        raise UnreadableType(
            "`type` must be a text such as `bigint`", None, "write the type in quotes"
        )
    try:
        return parse_type(value)
    except TypeSyntaxError as failure:
        hint = _hint(value, failure.offset)
        raise UnreadableType(failure.message, failure.offset, hint) from failure


def _hint(text: str, offset: int) -> str | None:
    """What Spark calls the type, or the name that was probably meant where reading stopped."""
    found = _WORD.match(text, offset)
    word = found[0].lower() if found else text.strip().lower()
    spark = _FOREIGN.get(word)
    if spark is not None:
        return f"Spark calls it `{spark}`"
    return suggestion(word, _TYPE_NAMES) if found and word not in _TYPE_NAMES else None


TypeText = Annotated[DataType, Parsed(read_type)]


class ColumnRecord(NamedTuple):
    """A column of a source or a seed; `type` is written as Spark writes it."""

    name: str
    type: TypeText
    nullable: bool = True
    classification: TagNames | None = None
    description: str | None = None


@refuses(
    description=Refusal(
        "the columns of a model have a table of their own", "use `description` in `[columns.NAME]`"
    ),
    classification=Refusal("a model has one table of classifications", "use `[classification]`"),
)
class OutputColumn(NamedTuple):
    """A column that a Python model gives; `type` is written as Spark writes it."""

    name: str
    type: TypeText
    nullable: bool = True


def read_classifications(
    records: tuple[Any, ...], table: Mapping[str, tuple[str, ...]] = NO_COLUMN_TAGS
) -> Mapping[str, tuple[str, ...]]:
    """The tags of columns in a list of tables, with those that their `table` names besides."""
    found = {}
    for record in records:
        if isinstance(record, dict) and isinstance(record.get("name"), str):
            # What is wrong with it is reported where the column is read.
            tags = reader_for(TagNames)(record.get("classification") or [], (), [])
            if tags is not INVALID:
                found[record["name"]] = tags
    return merge_tags(found, table)


def read_descriptions(records: tuple[Any, ...]) -> Mapping[str, str]:
    """What is said of columns in a list of tables, by name."""
    return {
        record["name"]: record["description"]
        for record in records
        if isinstance(record, dict)
        and isinstance(record.get("name"), str)
        and isinstance(record.get("description"), str)
    }


def read_columns(
    records: tuple[Any, ...],
    at: Keys,
    problems: Problems,
    kind: type[ColumnRecord] | type[OutputColumn] = ColumnRecord,
) -> tuple[StructField, ...]:
    """The columns in a list of tables. One without a usable name is left out."""
    fields: dict[str, StructField] = {}
    for index, record in enumerate(records):
        here = (*at, index)
        column = reader_for(kind)(record, here, problems)
        if column is INVALID:
            column = _column_without_type(record)
            if column is None:
                continue
        key = column.name.lower()
        if key in fields:
            message = f"column `{written(column.name)}` is declared twice"
            problems.append(Problem((*here, "name"), message))
            continue
        fields[key] = StructField(column.name, column.type, column.nullable)
    return tuple(fields.values())


def column_places(
    columns: tuple[StructField, ...], document: Document, at: Keys
) -> tuple[Span | None, ...]:
    """Where the names of columns stand that were read from the list at `at`."""
    if not columns:
        return ()
    records: Any = document.data
    for key in at:
        records = records[key]
    indexes: dict[str, int] = {}
    for index, record in enumerate(records):
        if isinstance(record, dict) and isinstance(record.get("name"), str):
            indexes.setdefault(record["name"].lower(), index)
    return tuple(
        document.span_of((*at, indexes[column.name.lower()], "name")) for column in columns
    )


def _column_without_type(record: Any) -> ColumnRecord | None:
    """The column of a record whose type is unreadable, so that its name is still known."""
    if not isinstance(record, dict) or not isinstance(record.get("name"), str):
        return None
    return ColumnRecord(record["name"], UNKNOWN)
