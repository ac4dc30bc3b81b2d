"""Binding one model of a project: the tables it may read, and what it looked up.

A model that reads one not yet bound stops with `NotReady`: the caller binds that one first and
tries again. This happens only where the cheap scan for references missed one.
"""

from collections.abc import Callable, Iterable, Mapping

from rocky.binder.query import bind_text
from rocky.catalog.tables import Table
from rocky.compiler.names import Names
from rocky.compiler.records import NO_SCHEMA, Record, fields_of, record_of
from rocky.project import ModelFile


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

    def hash_of(self, key: str) -> bytes | None:
        """The schema hash of a bound model; None when it is not bound yet."""
        if key in self.broken:
            return b"broken"
        record = self._records.get(key)
        return record.schema_hash if record is not None else None

    def table(self, key: str) -> Table:
        if key in self.broken:
            model = self._models.get(key)
            return Table(model.name if model is not None else key, (), (key,), known=False)
        record = self._records.get(key)
        if record is None:
            raise NotReady(key)
        found = self._tables.get(key)
        if found is None or found[0] != record.schema_hash:
            model = self._models[key]
            fields, known = fields_of(record)
            target = model.target
            qualifier = (target.catalog.lower(), target.schema.lower(), key)
            found = (record.schema_hash, Table(model.name, fields, qualifier, known))
            self._tables[key] = found
        return found[1]


class ModelTables:
    """The tables one model may read, noting each look-up."""

    __slots__ = ("_names", "_reader", "_schemas", "lookups")

    def __init__(self, reader: str, names: Names, schemas: Schemas) -> None:
        self._reader = reader
        self._names = names
        self._schemas = schemas
        self.lookups: dict[tuple[str, ...], bytes] = {}

    def find(self, parts: tuple[str, ...]) -> Table | None:
        key = self._names.model(parts, self._reader)
        if key is not None:
            table = self._schemas.table(key)
            self.lookups[parts] = self._schemas.hash_of(key) or NO_SCHEMA
            return table
        external = self._names.external(parts)
        self.lookups[parts] = self._names.external_hash(external) if external else NO_SCHEMA
        return external

    def names(self) -> Iterable[str]:
        return self._names.shown


def bind_model(model: ModelFile, key: bytes, names: Names, schemas: Schemas) -> Record:
    """The record of a model. Raises NotReady when it reads a model that is not bound yet."""
    tables = ModelTables(model.key, names, schemas)
    bound = bind_text(model.sql, tables)
    return record_of(key, bound, tuple(tables.lookups.items()))


def is_current(record: Record, key: bytes, reader: str, names: Names, schemas: Schemas) -> bool:
    """Whether a record still holds: same text and settings, and every look-up finds the same."""
    if record.key != key:
        return False
    for parts, expected in record.lookups:
        found = names.model(parts, reader)
        if found is not None:
            if schemas.hash_of(found) != expected:
                return False
        else:
            external = names.external(parts)
            if (names.external_hash(external) if external else NO_SCHEMA) != expected:
                return False
    return True


Progress = Callable[[int, int], None]
