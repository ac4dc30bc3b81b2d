"""Fingerprints: hashes of what a model means, known before it runs.

A *recipe* hashes everything that was compiled, the SQL text included. A *skip hash* hashes only
what can change a row or the table it lands in: comments, white space, keyword case and the names
of internal aliases leave it alone. Both are BLAKE3 over canonical JSON, the second over a part of
what the first is over, so that anyone with the JSON of the IR can check both.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple, NewType

from blake3 import blake3

from rocky.datatypes.text import type_to_json
from rocky.datatypes.types import DataType

Recipe = NewType("Recipe", str)
SkipHash = NewType("SkipHash", str)

_NORMALIZER: Final = 2
_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
_TYPES: dict[DataType, Any] = {}


class Meaning(NamedTuple):
    """What the hashes are made of, in plain values: every model of a project has it made.

    `edges` are (column, kind, source column, source table), `influences` (role, source column,
    source table), `columns` (name, type, nullable).
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


def ir_document(meaning: Meaning) -> dict[str, Any]:
    """The IR of a model as JSON values: what the ledger keeps and the recipe hashes."""
    # Keys stand in sorted order, here and below, so that encoding need not sort them.
    return {
        "determinism": list(meaning.determinism),
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
    return _encode(ir_document(meaning))


def hash_meaning(meaning: Meaning) -> tuple[Recipe, SkipHash]:
    """The hash of a model's IR document, and the one that stays when only cosmetics change."""
    ir = ir_document(meaning)
    return Recipe(_hash_document(ir)), SkipHash(_hash_document(skip_projection(ir)))


def _hash_document(document: Mapping[str, Any]) -> str:
    return blake3(_encode(document).encode("utf-8", "surrogatepass")).hexdigest()


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
