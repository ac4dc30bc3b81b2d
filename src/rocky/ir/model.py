"""The typed IR of a model: facts about its output, not a tree of its query.

Everything later stages ask of a model is here: its columns with types and nullability, where each
comes from, what it reads, why it may not repeat, and the hashes of its meaning. Values only, so a
model's IR can be cached, sent between processes and written to the ledger.
"""

from dataclasses import dataclass

from rocky.datatypes.types import DataType
from rocky.source import Span

LINEAGE_KINDS = ("direct", "cast", "expression", "conditional", "aggregate", "window", "opaque")
"""How a source column reaches a value, weakest first; the binder packs the index.

`opaque` is the way through code that Rocky does not read: any input may be in any output."""

INFLUENCE_ROLES = ("filter", "join", "group", "order")
"""How a column decides which rows exist, or in which order, without being part of a value."""


@dataclass(frozen=True, slots=True)
class Edge:
    """A column of a table that an output column is made from."""

    table: str
    column: str
    kind: str


@dataclass(frozen=True, slots=True)
class Influence:
    """A column of a table that shapes the rows of the whole model."""

    table: str
    column: str
    role: str


@dataclass(frozen=True, slots=True)
class OutputColumn:
    """One column of a model's output.

    `named` is False when the author gave no name and Spark makes one up. `span` is the select
    item's place in the model's SQL, None for columns that come from `*`.
    """

    name: str
    type: DataType
    nullable: bool
    edges: tuple[Edge, ...] = ()
    named: bool = True
    span: Span | None = None


@dataclass(frozen=True, slots=True)
class ModelIr:
    """What the compiler knows of one model.

    `known` is False when the list of columns is incomplete (an unreadable upstream, syntax Rocky
    does not type): then a missing column is no evidence. `determinism` lists why two runs over
    the same inputs may differ, each as `volatile: ...`, `order: ...` or `float: ...`; empty means
    deterministic. `unknowns` counts the reasons for unknown types. `stars` are stars through which
    the output follows an input's columns. `normal_sql_hash` is of the query without cosmetics; the
    recipe and skip hashes are made from it in `rocky.ir.fingerprint`.
    """

    name: str
    columns: tuple[OutputColumn, ...]
    known: bool
    reads: tuple[str, ...]
    influences: tuple[Influence, ...] = ()
    determinism: tuple[str, ...] = ()
    unknowns: tuple[tuple[str, int], ...] = ()
    stars: tuple[Span, ...] = ()
    schema_hash: str = ""
    normal_sql_hash: str = ""

    @property
    def deterministic(self) -> bool:
        """Whether the same inputs always give the same rows; floating sums are only marked."""
        return is_deterministic(self.determinism)

    def column(self, name: str) -> OutputColumn | None:
        """The output column of a name, compared without case."""
        key = name.lower()
        return next((column for column in self.columns if column.name.lower() == key), None)


def is_deterministic(reasons: tuple[str, ...]) -> bool:
    """Whether none of the reasons against it is more than a mark."""
    return all(reason.startswith("float:") for reason in reasons)
