"""One side of a comparison: a compilation, and what its models' texts can read."""

from collections.abc import Iterable

from rocky.binder.column_logic import Logic, column_logic
from rocky.binder.logic_digests import Renames
from rocky.catalog.tables import Table
from rocky.compiler.compilation import Compilation
from rocky.compiler.names import Names
from rocky.compiler.records import Record, fields_of
from rocky.ir.model import ModelIr
from rocky.project import ModelFile
from rocky.project.strategies import query_width


class Side:
    """A compilation with its names. Models go by lower-case name."""

    def __init__(self, compilation: Compilation) -> None:
        self.compilation = compilation
        self.project = compilation.project
        self._names = Names(compilation.project)
        self._tables: dict[str, Table] = {}

    def model(self, key: str) -> ModelFile:
        return self.project.models[key]

    def ir(self, key: str) -> ModelIr:
        return self.compilation.models[key]

    def record(self, key: str) -> Record:
        return self.compilation.models.record(key)

    def meaning(self, parts: tuple[str, ...], reader: str) -> tuple[bool, str] | None:
        """Which table some parts of a name mean to a model: whether it is one, and its key."""
        key = self._names.model(parts, reader)
        if key is not None:
            return True, key
        found = self._names.external(parts)
        return (False, found.name.lower()) if found is not None else None

    def logic(self, key: str, renames: Renames) -> Logic:
        """How the columns of a model's query are computed, if that can be told."""
        model = self.model(key)
        if model.is_python:
            return Logic(None, reason="code that is not SQL")
        found = column_logic(model.sql, _Readable(key, self), renames)
        width = query_width(model.strategy, self.record(key).columns)
        if found.columns is not None and len(found.columns) != width:
            return Logic(None, reason="a list of columns that could not be followed")
        return found

    def columns(self, parts: tuple[str, ...], reader: str, renames: Renames) -> list[str] | None:
        """The columns of the table that some parts of a name mean, as the other side calls them."""
        found = self.table(parts, reader)
        if found is None or not found.known:
            return None
        return [renames.column(found.name, field.name) for field in found.fields]

    def table(self, parts: tuple[str, ...], reader: str) -> Table | None:
        """The table that some parts of a name mean to a model."""
        key = self._names.model(parts, reader)
        if key is None:
            return self._names.external(parts)
        found = self._tables.get(key)
        if found is None:
            model = self.model(key)
            fields, known = fields_of(self.record(key))
            path = (model.target.catalog.lower(), model.target.schema.lower(), key)
            found = self._tables[key] = Table(model.name, fields, path, known)
        return found


class _Readable:
    """The tables one model may read, as the binder asks for them."""

    __slots__ = ("_reader", "_side")

    def __init__(self, reader: str, side: Side) -> None:
        self._reader = reader
        self._side = side

    def find(self, parts: tuple[str, ...]) -> Table | None:
        return self._side.table(parts, self._reader)

    def names(self) -> Iterable[str]:
        return ()
