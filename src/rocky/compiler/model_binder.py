"""Binding one model of a project: its text and the tables it may read -> the record kept of it.

A model that reads one not yet bound stops with `NotReady`: the caller binds that one first and
tries again. Python models are in `rocky.compiler.python_binder`.
"""

from collections.abc import Iterable

from rocky.analysis.compilation import Record
from rocky.analysis.names import EVERY_FUNCTION, EVERY_NAME, Names, function_lookup
from rocky.analysis.python_plans import NO_PLANS, Plans
from rocky.compiler.model_records import record_of, with_history
from rocky.compiler.validity import Schemas
from rocky.language.binder.query import Parse, bind_text
from rocky.language.declared_functions import DeclaredFunction
from rocky.language.syntax.parser import parse_query
from rocky.language.tables import Table
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

    def undeclared(self, parts: tuple[str, ...]) -> Table | None:
        # `find` has noted the look-up, whose face is another where this is an error.
        return self._names.undeclared(parts)

    def function(self, parts: tuple[str, ...]) -> DeclaredFunction | None:
        asked = function_lookup(parts)
        self.lookups[asked] = self._names.external_face(asked)
        return self._names.function(parts)

    def function_names(self) -> Iterable[str]:
        self.lookups[EVERY_FUNCTION] = self._names.external_face(EVERY_FUNCTION)
        return self._names.function_names

    @property
    def declares_functions(self) -> bool:
        # Whoever calls one that comes or goes has looked it up.
        return self._names.declares_functions

    def names(self) -> Iterable[str]:
        # A did-you-mean depends on every name there is.
        self.lookups[EVERY_NAME] = self._names.external_face(EVERY_NAME)
        return self._names.shown


def bind_model(
    model: ModelFile,
    key: bytes,
    names: Names,
    schemas: Schemas,
    parse: Parse = parse_query,
    plans: Plans = NO_PLANS,
) -> Record:
    """The record of a model. Raises NotReady when it reads a model that is not bound yet."""
    tables = ModelTables(model.key, names, schemas)
    if model.is_python:
        # A project without Python models shall not wait for it.
        from rocky.compiler.python_binder import bind_python  # noqa: PLC0415

        return bind_python(model, key, tables, plans)
    bound = with_history(bind_text(model.sql, tables, model.bans, parse=parse), model.strategy)
    return record_of(key, model, bound, tables)
