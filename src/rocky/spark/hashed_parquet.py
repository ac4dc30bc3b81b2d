"""Parquet that is hashed as it is written: Spark's own format, by classes of ours in a small jar.

They give the hash of `rocky.spark.rows_hash` bit by bit, for a tenth of what its expressions cost:
the writer has each row at hand as bytes. The files are the same, byte by byte. A Spark that Rocky
starts has the jar. Where it is missing (a session of the caller's, a Connect server), and for
variants, the expressions are what hashes.
"""

from collections.abc import Sequence
from typing import Any, Final
from uuid import uuid4

from rocky.errors import InternalError
from rocky.language.datatypes.parts import holds_kind
from rocky.language.datatypes.types import StructField
from rocky.spark.connection import is_classic

FORMAT: Final = "rocky.spark.HashedParquet"
_NAME: Final = "rocky.rows.hash"
_NOT_HASHED: Final = ("variant", "void")


def hashes_while_writing(session: Any, fields: Sequence[StructField]) -> bool:
    """Whether the writer of a session can hash rows of these columns."""
    if not is_classic(session) or any(holds_kind(each.type, *_NOT_HASHED) for each in fields):
        return False
    # Asked of the class itself and not of a path: a session may have got it in other ways.
    utils = session.sparkContext._jvm.org.apache.spark.util.Utils  # noqa: SLF001 - nothing public tells
    return bool(utils.classIsLoadable(FORMAT))


def write_hashed(session: Any, writer: Any, folder_uri: str) -> tuple[int, str]:
    """Let a writer write its rows; how many they were, and their hash as 32 hex digits.

    Spark counts what a task has found once, when it has succeeded, however often it was tried.
    """
    name = uuid4().hex
    classes = session.sparkContext._jvm.rocky.spark.HashedParquet  # noqa: SLF001 - a class of ours
    try:
        writer.format(FORMAT).option(_NAME, name).save(folder_uri)
    finally:
        told = classes.take(name)
    if told is None:
        raise InternalError("Spark wrote a table by another writer than it was told to")
    rows, found = told.split()
    return int(rows), found
