"""The typed IR of a model, and the fingerprints that are hashes of it.

The IR is facts about a model's output, not a tree of its query: columns with types and
nullability, where each comes from, what is read, why it may not repeat. Values only, so it can be
cached, sent between processes and written to the ledger. A *recipe* hashes everything that was
compiled, the SQL text included; a *skip hash* only what can change a row or the table it lands in,
so comments, white space, keyword case and internal aliases leave it alone. Both are BLAKE3 over
canonical JSON: anyone with the JSON of the IR can check them.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, NewType

from rocky.canonical import ordered_json, text_hash
from rocky.diagnostics.diagnostic import Span
from rocky.language.datatypes.text import type_to_json
from rocky.language.datatypes.types import DataType

LINEAGE_KINDS = ("direct", "cast", "expression", "conditional", "aggregate", "window", "opaque")
"""How a source column reaches a value, weakest first; the binder packs the index.

`opaque` is the way through code that Rocky does not read: any input may be in any output."""

INFLUENCE_ROLES = ("filter", "join", "group", "order")
"""How a column decides which rows exist, or in which order, without being part of a value."""


CONSTRUCT: Final = -1
"""What stands for the number of arguments of a use that is no call."""


class Use(NamedTuple):
    """A function that a query calls, or a form that it has, and its place in the query's text.

    `arguments` is how many a call has, CONSTRUCT for a form.
    """

    name: str
    arguments: int
    start: int
    end: int


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
    recipe and skip hashes are made from it in `rocky.language.ir`. `functions` are the declared
    ones that it calls.
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
    functions: tuple[str, ...] = ()

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


Recipe = NewType("Recipe", str)
SkipHash = NewType("SkipHash", str)

_NORMALIZER: Final = 2
_TYPES: dict[DataType, Any] = {}


class Meaning(NamedTuple):
    """What the hashes are made of, in plain values: every model of a project has it made.

    `edges` are (column, kind, source column, source table), `influences` (role, source column,
    source table), `columns` (name, type, nullable), `functions` the declared ones that are called
    (name, digest).
    """

    name: str
    sql: str
    normal_sql_hash: str
    target: str
    materialization: Mapping[str, Any]
    columns: Sequence[tuple[str, DataType, bool]]
    edges: Iterable[tuple[str, str, str, str]]
    influences: Iterable[tuple[str, str, str]]
    reads: Sequence[str]
    determinism: Sequence[str]
    functions: Sequence[tuple[str, str]] = ()


def ir_document(meaning: Meaning) -> dict[str, Any]:
    """The IR of a model as JSON values: what the ledger keeps and the recipe hashes."""
    functions = [{"digest": digest, "name": name} for name, digest in meaning.functions]
    # Keys stand in sorted order, here and below, so that encoding need not sort them.
    return {
        "determinism": list(meaning.determinism),
        **({"functions": functions} if functions else {}),
        "influences": [
            {"role": role, "source_column": column, "source_table": table}
            for role, column, table in meaning.influences
        ],
        "lineage_edges": [
            {"column": name, "kind": kind, "source_column": column, "source_table": table}
            for name, kind, column, table in meaning.edges
        ],
        "materialization": _present(meaning.materialization),
        "name": meaning.name,
        "normalized_sql": meaning.normal_sql_hash,
        "normalizer_version": _NORMALIZER,
        "reads": list(meaning.reads),
        "sql": meaning.sql,
        "target": meaning.target,
        "typed_columns": _typed_columns(meaning),
    }


def skip_projection(ir: Mapping[str, Any]) -> dict[str, Any]:
    """The part of an IR document that can change a row, or the table it lands in."""
    return {
        "materialization": ir["materialization"],
        "normalized_sql": ir["normalized_sql"],
        "normalizer_version": ir["normalizer_version"],
        "reads": sorted(ir["reads"]),
        "target": ir["target"],
        "typed_columns": ir["typed_columns"],
    }


def ir_text(meaning: Meaning) -> str:
    """A model's IR document as canonical JSON."""
    return ordered_json(ir_document(meaning))


def hash_meaning(meaning: Meaning) -> tuple[Recipe, SkipHash]:
    """The hash of a model's IR document, and the one that stays when only cosmetics change."""
    ir = ir_document(meaning)
    skip_hash = text_hash(ordered_json(skip_projection(ir)))
    return Recipe(text_hash(ordered_json(ir))), SkipHash(skip_hash)


def _typed_columns(meaning: Meaning) -> list[dict[str, Any]]:
    return [
        {"name": name, "nullable": nullable, "type": _type_json(kind)}
        for name, kind, nullable in meaning.columns
    ]


def _type_json(kind: DataType) -> Any:
    found = _TYPES.get(kind)
    if found is None:
        found = _TYPES[kind] = _present(type_to_json(kind))
    return found


def _present(value: Any) -> Any:
    """A value with its keys sorted and nothing where a value is absent."""
    if isinstance(value, Mapping):
        return {key: _present(each) for key, each in sorted(value.items()) if each is not None}
    if isinstance(value, list | tuple):
        return [_present(each) for each in value]
    return value
