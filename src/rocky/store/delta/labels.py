"""Labels: what a table's log says of the table and its columns for programs: owner and tags.

Table properties and column metadata below `rocky.`, so that any reader of the format finds them.
All of them are the project's: what it no longer says goes with the next commit. The tags of a
column are in `rocky.classification`, those of a field of it in `rocky.classification.FIELD`, those
of the table in its property of that name; several are joined by commas.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple

OWNER: Final = "rocky.owner"
CLASSIFICATION: Final = "rocky.classification"
DECLASSIFIED: Final = "rocky.declassified"
"""Table property: the tags that were taken off in the open, as `column: tag (who approved it)`."""
TABLE_LABELS: Final = frozenset({OWNER, CLASSIFICATION, DECLASSIFIED})
_FIELDS: Final = f"{CLASSIFICATION}."
_BETWEEN: Final = "; "
_NOTHING: Final[Mapping[str, str]] = {}
_NO_COLUMNS: Final[Mapping[str, Mapping[str, str]]] = {}


class Labels(NamedTuple):
    """The labels of a table by key, and of its columns by lower-case name and key.

    The name `*` stands for every column that has none of its own.
    """

    table: Mapping[str, str] = _NOTHING
    columns: Mapping[str, Mapping[str, str]] = _NO_COLUMNS

    def of(self, column: str) -> Mapping[str, str]:
        """The labels of a column, by its lower-case name."""
        found = self.columns.get(column)
        return self.columns.get("*", _NOTHING) if found is None else found


NO_LABELS: Final = Labels()


def join_declassified(labels: Iterable[str]) -> str:
    """Several declassifications as the one text that a table has."""
    return _BETWEEN.join(labels)


def split_declassified(text: str | None) -> list[str]:
    """The declassifications in the text that a table has."""
    return text.split(_BETWEEN) if text else []


def field_label(field: str) -> str:
    """The key of the tags of a field in a column; that of the column itself for no field."""
    return f"{_FIELDS}{field}" if field else CLASSIFICATION


def table_labels(configuration: Mapping[str, str]) -> dict[str, str]:
    """The labels among the properties of a table."""
    return {key: configuration[key] for key in sorted(TABLE_LABELS & configuration.keys())}


def column_labels(metadata: Mapping[str, Any]) -> dict[str, str]:
    """The labels among the metadata of a column."""
    return {key: str(value) for key, value in metadata.items() if _is_label(key)}


def without_labels(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """The metadata of a column without its labels."""
    return {key: value for key, value in metadata.items() if not _is_label(key)}


def _is_label(key: str) -> bool:
    return key == CLASSIFICATION or key.startswith(_FIELDS)
