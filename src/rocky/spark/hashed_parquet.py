"""Parquet that is hashed as it is written: Spark's own format, by classes of ours in a small jar.

They give the hash of `rocky.spark.rows_hash` bit by bit, for a tenth of what its expressions cost:
the writer has each row at hand as bytes. The files are the same, byte by byte. A Spark that Rocky
starts has the jar. Where it is missing (a session of the caller's, a Connect server), and for
variants, the expressions are what hashes.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final
from uuid import uuid4
from weakref import WeakKeyDictionary

from rocky.errors import InternalError
from rocky.language.datatypes.parts import holds_kind
from rocky.language.datatypes.types import ArrayType, MapType, StructField, StructType
from rocky.spark.canonical_order import Expression
from rocky.spark.connection import is_classic
from rocky.spark.failures import SPARK_ERRORS
from rocky.spark.interface import Layout, Staged

PACKAGE: Final = "rocky.spark"
FORMAT: Final = f"{PACKAGE}.HashedParquet"
_NAME: Final = "rocky.rows.hash"
_ORDER: Final = "rocky.rows.order"
_MOST: Final = "rocky.rows.most"
_TOO_MANY: Final = "more rows than one file takes"
_FLOATS: Final = ("float", "double")
_HARDLY_CUT: Final = 1_000_000
"""Files of so many rows or more are those of a piece; fewer are what a piece is cut into."""
MOST_ROWS: Final = "maxRecordsPerFile"
_NOT_HASHED: Final = ("variant", "void")
_NESTED: Final = (ArrayType, MapType, StructType)


@dataclass(frozen=True, slots=True)
class Told:
    """All that is said of a write: its layout, and the expressions that this comes to.

    `parts` are columns that are added to partition by; `spread` decides on a row's piece, if there
    are several.
    """

    layout: Layout
    parts: Mapping[str, Expression]
    order: Sequence[Expression]
    options: Mapping[str, str]
    spread: Expression | None

    @property
    def is_text(self) -> bool:
        """Whether Spark's process can be told in one text."""
        expressions = [*self.parts.values(), *self.order]
        expressions += [] if self.spread is None else [self.spread]
        # Partitions of rows as they come are rebalanced, for which there is no expression.
        ordered = self.layout.canonical or not self.parts
        return ordered and all(isinstance(each, str) for each in expressions)

    def text(self, folder_uri: str, name: str, *, again: bool = False) -> str:
        """The write as `StagedWrite` takes it; `again` if one has failed in that folder."""
        layout = self.layout
        return json.dumps(
            {
                "parts": self.parts,
                "pieces": layout.pieces if layout.canonical and not layout.arrives else 0,
                "in_one_task": layout.canonical and layout.in_one_task and layout.pieces == 1,
                "spread": self.spread,
                "order": self.order,
                "options": self.options,
                "name": name,
                "folder": folder_uri,
                "again": again,
            }
        )

    def sorted_by_writer(self, fields: Sequence[StructField]) -> "Told | None":
        """The same, but that the writer sorts; None where it does not do that.

        It has rows of plain columns and files that are not cut, in no partitions. Beside tables of
        one file these are all with floats: Spark would compare the hash of all columns where zeros
        tie, and takes a second to plan that for sixty of them.
        """
        layout = self.layout
        if self.parts or not layout.canonical:
            return None
        if any(isinstance(each.type, _NESTED) for each in fields):
            return None
        floats = any(each.type.kind in _FLOATS for each in fields)
        alone = layout.in_one_file and layout.pieces == 1
        if not alone and not (floats and layout.max_rows_per_file >= _HARDLY_CUT):
            return None
        places = {field.name.lower(): place for place, field in enumerate(fields)}
        order = [*(places[name.lower()] for name in layout.cluster_by), *range(len(fields))]
        options = {name: value for name, value in self.options.items() if name != MOST_ROWS}
        options[_ORDER] = ",".join(map(str, dict.fromkeys(order)))
        options[_MOST] = str(layout.max_rows_per_file)
        return replace(self, order=(), options=options)


@dataclass(frozen=True, slots=True)
class NativeWriter:
    """The classes of the jar, in Spark's process."""

    format: Any
    write_class: Any

    def write(
        self, frame: Any, told: Told, folder_uri: str, fields: Sequence[StructField]
    ) -> Staged:
        """Write a frame's rows as told; how many they were, and their hash, of each file too."""
        by_writer = told.sorted_by_writer(fields)
        again = by_writer is not None
        if by_writer is not None:
            try:
                return self._tell(frame, folder_uri, by_writer.text(folder_uri, uuid4().hex))
            except SPARK_ERRORS as error:
                if _TOO_MANY not in str(error):
                    raise
        return self._tell(frame, folder_uri, told.text(folder_uri, uuid4().hex, again=again))

    def _tell(self, frame: Any, folder_uri: str, text: str) -> Staged:
        said = self.write_class.write(frame._jdf, text)  # noqa: SLF001 - handed to a class of ours
        return _staged(folder_uri, said)

    def save(self, writer: Any, folder_uri: str) -> Staged:
        """The same, by a writer of Spark's that has its rows already."""
        name = uuid4().hex
        try:
            writer.format(FORMAT).option(_NAME, name).save(folder_uri)
        finally:
            said = self.format.take(name)
        return _staged(folder_uri, said)


def _staged(folder_uri: str, said: str | None) -> Staged:
    """What the writer found. Spark counts it once for a task, however often that was tried."""
    if said is None:
        raise InternalError("Spark wrote a table by another writer than it was told to")
    (rows, found), *files = (line.split(" ", 1) for line in said.split("\n"))
    return Staged(folder_uri, int(rows), found, {path: each for each, path in files})


# Every dot is a question to Spark's process. What is missing is asked for again: it may be added.
_CLASSES: Final[WeakKeyDictionary[Any, Any]] = WeakKeyDictionary()


def class_of(session: Any, name: str) -> Any | None:
    """A class of the jar in the process of a session, if that has the jar."""
    if not is_classic(session):
        return None
    context = session.sparkContext
    known = _CLASSES.setdefault(context, {})
    if name not in known:
        jvm = context._jvm  # noqa: SLF001 - nothing public tells
        # Asked of the class itself and not of a path: a session may have got it in other ways.
        if not jvm.org.apache.spark.util.Utils.classIsLoadable(f"{PACKAGE}.{name}"):
            return None
        known[name] = getattr(jvm.rocky.spark, name)
    return known[name]


def native_writer(session: Any, fields: Sequence[StructField]) -> NativeWriter | None:
    """What writes and hashes rows of these columns in a session, if it can."""
    if any(holds_kind(each.type, *_NOT_HASHED) for each in fields):
        return None
    format_class = class_of(session, "HashedParquet")
    write_class = class_of(session, "StagedWrite")
    if format_class is None or write_class is None:
        return None
    return NativeWriter(format_class, write_class)
