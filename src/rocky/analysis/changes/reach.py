"""What a change reaches: every column below a table, by its values or by the rows it decides."""

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Final, Literal

from rocky.analysis.changes.change import Reached
from rocky.analysis.compilation import Compilation
from rocky.analysis.lineage import ColumnRef, Lineage, reach_models
from rocky.project.pipeline_tables import copies_of

ROWS: Final = "rows"


def models_below(side: Compilation, keys: Iterable[str]) -> set[str]:
    """The keys of some models and of all below them."""
    names = [side.project.models[key].name for key in keys]
    below = {name.lower() for name in reach_models(side.downstream, names)}
    return below & side.project.models.keys()


class Reach:
    """What can be reached from some tables. Only models below them are unpacked."""

    def __init__(
        self, compilation: Compilation, side: Literal["base", "head"], tables: Iterable[str]
    ) -> None:
        self._compilation = compilation
        self._side = side
        self._starts = tuple(tables)
        self._closures: dict[str, frozenset[str]] = {}
        self._in_rows: dict[str, tuple[Reached, ...]] = {}

    @cached_property
    def _order(self) -> list[str]:
        """The models that can be reached, upstream first. A side nobody asks is not unpacked."""
        below = reach_models(self._compilation.downstream, self._starts)
        models = self._compilation.models
        return [
            name for name in self._compilation.order if name in below and name.lower() in models
        ]

    @cached_property
    def _places(self) -> dict[str, int]:
        return {name: place for place, name in enumerate(self._order)}

    @cached_property
    def _columns(self) -> dict[str, list[str]]:
        models = self._compilation.models
        return {
            name: [column.name for column in models[name.lower()].columns] for name in self._order
        }

    @cached_property
    def _declared(self) -> dict[str, list[str]]:
        """The columns of sources and seeds."""
        project = self._compilation.project
        sources = ((each.name, each.columns) for each in project.sources.values())
        seeds = ((each.name, each.columns) for each in project.seeds.values())
        return {name: [field.name for field in columns] for name, columns in (*sources, *seeds)}

    @cached_property
    def _lineage(self) -> Lineage:
        models = self._compilation.models
        below = {name.lower(): models[name.lower()] for name in self._order}
        copies = copies_of(self._compilation.project.sources)
        return Lineage(below, self._declared, copies)

    def of_column(self, table: str, column: str) -> tuple[Reached, ...]:
        """All that one column reaches, by its values and by the rows it decides."""
        trace = self._lineage.trace(ColumnRef(table, column), "downstream")
        rows = self._below(dict.fromkeys(row.model for row in trace.influences))
        return self._listed(trace.reached, rows, table)

    def of_values(self, table: str, column: str) -> tuple[Reached, ...]:
        """All that the values of one column reach."""
        trace = self._lineage.trace(ColumnRef(table, column), "downstream")
        return self._listed(trace.reached, frozenset(), table)

    def of_rows(self, table: str) -> tuple[Reached, ...]:
        """All that stands in rows made from those of a table."""
        readers = self._compilation.downstream.get(table, ())
        return self._listed({}, self._below(readers), table)

    def of_table(self, table: str) -> tuple[Reached, ...]:
        """All that a table reaches, by any of its columns or by its rows."""
        columns = self._columns.get(table) or self._declared.get(table, [])
        kinds: dict[ColumnRef, str] = {}
        for column in columns:
            trace = self._lineage.trace(ColumnRef(table, column), "downstream")
            kinds |= trace.reached
        readers = self._compilation.downstream.get(table, ())
        return self._listed(kinds, self._below(readers), table)

    def _below(self, models: Iterable[str]) -> frozenset[str]:
        """Models and all that read them."""
        found: frozenset[str] = frozenset()
        for name in models:
            closure = self._closures.get(name)
            if closure is None:
                closure = frozenset(reach_models(self._compilation.downstream, (name,)))
                self._closures[name] = closure
            found |= closure
        return found

    def _listed(
        self, kinds: Mapping[ColumnRef, str], rows: frozenset[str], start: str
    ) -> tuple[Reached, ...]:
        """Each column once, a value's way before that of rows, in the order of the graph."""
        valued = {ref.table for ref in kinds}
        found: list[Reached] = []
        # What pipelines write on the way is a table of its own in the difference.
        models = ((valued | rows) - {start}) & self._places.keys()
        for model in sorted(models, key=self._places.__getitem__):
            if model not in valued:
                found.extend(self._rows_of(model))
                continue
            for column in self._columns[model]:
                kind = kinds.get(ColumnRef(model, column), ROWS if model in rows else None)
                if kind is not None:
                    found.append(Reached(model, column, kind, self._side))
        return tuple(found)

    def _rows_of(self, model: str) -> tuple[Reached, ...]:
        """The columns of a model that is reached by its rows alone: the same for every start."""
        found = self._in_rows.get(model)
        if found is None:
            found = tuple(
                Reached(model, column, ROWS, self._side) for column in self._columns[model]
            )
            self._in_rows[model] = found
        return found
