"""The column graph of a compilation: made where it is walked, and kept as long as the compilation.

A question about one column so costs what lies on its way, and the next one only what is new on it:
a server, an editor and an assistant ask many of one compilation. It is made from the records as
they are packed, because nobody asks the graph for types.
"""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from rocky.analysis.compilation import Compilation, Record, unpack_body, unpack_schema
from rocky.analysis.lineage import Lineage
from rocky.language.ir import INFLUENCE_ROLES, LINEAGE_KINDS
from rocky.project.pipeline_tables import copies_of


def column_graph(compilation: Compilation) -> Lineage:
    """The graph of all columns of a project."""
    return compilation.kept("column graph", lambda: _graph_of(compilation))


def _graph_of(compilation: Compilation) -> Lineage:
    project = compilation.project
    tables = {
        each.name: [field.name for field in each.columns]
        for group in (project.sources, project.seeds)
        for each in group.values()
    }
    copies = copies_of(project.sources)
    return Lineage(_Records(compilation), tables, copies, compilation.downstream)


class _RecordEdge(NamedTuple):
    table: str
    column: str
    kind: str


class _RecordInfluence(NamedTuple):
    table: str
    column: str
    role: str


class _RecordColumn(NamedTuple):
    name: str
    edges: list[_RecordEdge]


class _RecordLineage(NamedTuple):
    """The lineage of a model from its record, without types: a tenth of the work of a `ModelIr`."""

    name: str
    columns: list[_RecordColumn]
    influences: list[_RecordInfluence]


def _unpack_lineage(name: str, record: Record) -> _RecordLineage:
    details, origins, influences, *_ = unpack_body(record)
    columns = zip(unpack_schema(record).columns, details, strict=True)
    return _RecordLineage(
        name,
        [
            _RecordColumn(
                column, [_RecordEdge(*origins[at >> 3], LINEAGE_KINDS[at & 7]) for at in sources]
            )
            for (column, *_), (*_, sources) in columns
        ],
        [_RecordInfluence(*origins[at], INFLUENCE_ROLES[role]) for at, role in influences],
    )


class _Records(Mapping[str, _RecordLineage]):
    """Models by key, each unpacked when it is looked at; the graph keeps what it makes of it."""

    def __init__(self, compilation: Compilation) -> None:
        self._models, self._declared = compilation.models, compilation.project.models

    def __getitem__(self, key: str) -> _RecordLineage:
        return _unpack_lineage(self._declared[key].name, self._models.record(key))

    def __contains__(self, key: object) -> bool:
        return key in self._models

    def __iter__(self) -> Iterator[str]:
        return iter(self._models)

    def __len__(self) -> int:
        return len(self._models)
