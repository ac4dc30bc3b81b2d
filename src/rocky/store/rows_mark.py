"""The rows mark of a file: the hash of its rows, and the columns that these were hashed with.

It stands among the tags of the file in the log, so that the rows of a file that goes need not be
read again to know what the table's hash is without them. A column that was added since is a null
in every row, which is hashed too: the mark of other columns tells nothing, and neither does that
of a file which another program has written.
"""

from collections.abc import Iterable, Sequence
from typing import Final

from blake3 import blake3

from rocky.language.datatypes.types import StructField
from rocky.store.data_file import DataFile

ROWS_TAG: Final = "rocky.rowsHash"
"""The tag of an added file that holds its mark."""

_HASH_DIGITS: Final = 32
_COLUMNS_DIGITS: Final = 16


def rows_mark(rows_hash: str, columns: Sequence[StructField]) -> str:
    """The mark of a file whose rows have this hash."""
    return f"{rows_hash}{_digest(columns)}"


def marked_hashes(files: Iterable[DataFile], columns: Sequence[StructField]) -> list[str] | None:
    """The hash of the rows of each file, read with these columns; None if one is not known."""
    digest = _digest(columns)
    marks = [file.rows_mark for file in files]
    if not all(len(each) == _HASH_DIGITS + len(digest) and each.endswith(digest) for each in marks):
        return None
    return [each[:_HASH_DIGITS] for each in marks]


def _digest(columns: Sequence[StructField]) -> str:
    said = "".join(f"{column.name}\0{column.type.text}\0" for column in columns)
    return blake3(said.encode()).hexdigest()[:_COLUMNS_DIGITS]
