"""Tables that the SQL of a plan reads, and the functions that stand for its code."""

from collections.abc import Iterable

from rocky.frames.layers import Layer, find_values
from rocky.language.declared_functions import DeclaredFunction
from rocky.language.tables import Table, Tables


class PlanTables:
    """The tables that the SQL of a plan reads: layers, and below them the project's.

    Functions are those that stand for code of the plan, and below them the project's.
    """

    def __init__(self, project: Tables) -> None:
        self._project = project
        self.layers: dict[str, Layer] = {}
        self.functions: dict[str, DeclaredFunction] = {}

    def find(self, parts: tuple[str, ...]) -> Table | None:
        layer = self.layers.get(parts[0]) if len(parts) == 1 else None
        if layer is not None:
            find_values(layer)
            return Table(layer.name, layer.fields, (layer.name,), layer.known)
        return self._project.find(parts)

    def undeclared(self, parts: tuple[str, ...]) -> Table | None:
        return self._project.undeclared(parts)

    def function(self, parts: tuple[str, ...]) -> DeclaredFunction | None:
        own = self.functions.get(parts[0]) if len(parts) == 1 else None
        return own or self._project.function(parts)

    def function_names(self) -> Iterable[str]:
        return self._project.function_names()

    @property
    def declares_functions(self) -> bool:
        return bool(self.functions) or self._project.declares_functions

    def names(self) -> Iterable[str]:
        return self._project.names()
