"""Binding one model of a project: the tables it may read, and what it looked up.

A model that reads one not yet bound stops with `NotReady`: the caller binds that one first and
tries again. This happens only where the cheap scan for references missed one.
"""

from collections.abc import Iterable

from rocky.binder.query import bind_text
from rocky.catalog.tables import Table
from rocky.compiler.history import with_history
from rocky.compiler.names import EVERY_NAME, Names
from rocky.compiler.packing import record_of
from rocky.compiler.python_models import bind_python
from rocky.compiler.records import Record
from rocky.compiler.schemas import Schemas
from rocky.project import ModelFile


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
            table, self.lookups[parts] = self._schemas.table(key)
            return table
        self.lookups[parts] = self._names.external_face(parts)
        return self._names.external(parts)

    def names(self) -> Iterable[str]:
        # A did-you-mean depends on every name there is.
        self.lookups[EVERY_NAME] = self._names.external_face(EVERY_NAME)
        return self._names.shown


def bind_model(model: ModelFile, key: bytes, names: Names, schemas: Schemas) -> Record:
    """The record of a model. Raises NotReady when it reads a model that is not bound yet."""
    tables = ModelTables(model.key, names, schemas)
    if model.is_python:
        return bind_python(model, key, tables)
    bound = with_history(bind_text(model.sql, tables), model.strategy)
    return record_of(key, model, bound, tuple(tables.lookups.items()))
