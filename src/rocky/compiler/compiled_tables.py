"""The tables of a compiled project as one model sees them, for binding it once more."""

from collections.abc import Callable, Iterable

from rocky.catalog.tables import Table
from rocky.compiler.compiled_models import CompiledModels
from rocky.compiler.names import Names
from rocky.compiler.records import fields_of
from rocky.project import Project

Change = Callable[[Table], Table | None]
"""What becomes of a table; None is one that is not there."""


class CompiledTables:
    """Tables that were all bound before; `change` may make others of them."""

    def __init__(
        self, project: Project, models: CompiledModels, names: Names, reader: str, change: Change
    ) -> None:
        self._project = project
        self._models = models
        self._names = names
        self._reader = reader
        self._change = change

    def find(self, parts: tuple[str, ...]) -> Table | None:
        key = self._names.model(parts, self._reader)
        table = self._names.external(parts) if key is None else self._model(key)
        return self._change(table) if table is not None else None

    def names(self) -> Iterable[str]:
        return self._names.shown

    def _model(self, key: str) -> Table | None:
        if key not in self._models:
            return None
        model = self._project.models[key]
        fields, known = fields_of(self._models.record(key))
        target = model.target
        qualifier = (target.catalog.lower(), target.schema.lower(), key)
        return Table(model.name, fields, qualifier, known)
