"""Partition folders: the values of a staged file's partition columns, read from its path.

Spark writes null and the empty string as the same folder. Delta cannot tell them apart either: the
file is asked, which holds the partition columns too.
"""

import re
from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath
from typing import Final

from rocky.errors import RowsRefused
from rocky.store.footers import Footer, Leaf
from rocky.store.staging import PARTITION_FOLDER

_NULL: Final = "__HIVE_DEFAULT_PARTITION__"
_ESCAPED: Final = re.compile("%([0-9A-Fa-f]{2})")


def parse_partition_values(
    name: str, path: str, columns: Sequence[str], footer: Footer
) -> Mapping[str, str | None]:
    """The value of each partition column of the table `name` as Delta's log writes it."""
    by_number: dict[int, str | None] = {}
    for part in PurePosixPath(path).parts[:-1]:
        number, equals, value = part.removeprefix(PARTITION_FOLDER).partition("=")
        if part.startswith(PARTITION_FOLDER) and equals:
            by_number[int(number)] = None if value == _NULL else _unescape(value)
    values = {column: by_number[number] for number, column in enumerate(columns)}
    for column, found in values.items():
        if found is None and not _all_null(footer, column):
            raise RowsRefused(
                f"partition column `{column}` of `{name}` holds an empty string, which Delta cannot"
                " tell from null; write null, or another value, in its place"
            )
    return values


def _unescape(value: str) -> str:
    return _ESCAPED.sub(lambda found: chr(int(found[1], 16)), value)


def _all_null(footer: Footer, column: str) -> bool:
    leaf = footer.columns.fields.get(column)
    return isinstance(leaf, Leaf) and leaf.nulls == footer.rows
