"""Schemas of models already compiled, and whether a record still holds against them.

A reader sees of a model its columns and the names it answers to, and nothing else: the record's
*face* is the hash of exactly that. A record whose look-ups all find the same faces again is as good
as a fresh one.
"""

from collections.abc import Mapping

from rocky.catalog.tables import Table
from rocky.compiler.names import Names
from rocky.compiler.records import Record, fields_of
from rocky.project import ModelFile

_BROKEN = b"broken"


class NotReady(Exception):
    """A model was looked up before it was bound."""

    def __init__(self, key: str) -> None:
        super().__init__(key)
        self.key = key


class Schemas:
    """The schemas of bound models, unpacked when first read."""

    __slots__ = ("_models", "_records", "_tables", "broken")

    def __init__(self, models: Mapping[str, ModelFile], records: Mapping[str, Record]) -> None:
        self._models = models
        self._records = records
        self._tables: dict[str, tuple[bytes, Table]] = {}
        # Models that cannot be bound (in a cycle, or with unusable files): readable, unknown.
        self.broken: set[str] = set()

    def face_of(self, key: str) -> bytes | None:
        """The hash of all that a reader sees of a model; None when it is not bound yet."""
        if key in self.broken:
            return _BROKEN
        record = self._records.get(key)
        return record.face if record is not None else None

    def table(self, key: str) -> tuple[Table, bytes]:
        """A model as a table, and its face. Raises NotReady when it is not bound yet."""
        if key in self.broken:
            model = self._models.get(key)
            name = model.name if model is not None else key
            return Table(name, (), (key,), known=False), _BROKEN
        record = self._records.get(key)
        if record is None:
            raise NotReady(key)
        found = self._tables.get(key)
        if found is None or found[0] != record.face:
            model = self._models[key]
            fields, known = fields_of(record)
            target = model.target
            qualifier = (target.catalog.lower(), target.schema.lower(), key)
            found = (record.face, Table(model.name, fields, qualifier, known))
            self._tables[key] = found
        return found[1], found[0]


def is_current(record: Record, key: bytes, reader: str, names: Names, schemas: Schemas) -> bool:
    """Whether a record still holds: same text and settings, and every look-up finds the same."""
    if record.key != key:
        return False
    for parts, expected in record.lookups:
        found = names.model(parts, reader)
        face = schemas.face_of(found) if found is not None else names.external_face(parts)
        if face != expected:
            return False
    return True
