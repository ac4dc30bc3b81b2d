"""Fingerprints: hashes of what a model means, known before it runs.

A *recipe* hashes everything that was compiled, the SQL text included. A *skip hash* hashes only
what can change a row or the table it lands in: comments, white space, keyword case and the names
of internal aliases leave it alone. Both are BLAKE3 over canonical JSON, so that anyone with the
JSON can check them.
"""

import json
from collections.abc import Mapping
from typing import Any, NewType

from blake3 import blake3

from rocky.datatypes.text import type_to_json
from rocky.ir.model import ModelIr, OutputColumn

Recipe = NewType("Recipe", str)
SkipHash = NewType("SkipHash", str)


def canonical_json(value: Any) -> str:
    """JSON with sorted keys, no white space, and nothing where a value is absent."""
    return json.dumps(
        _without_absent(value), sort_keys=True, separators=(",", ":"), ensure_ascii=False
    )


def _without_absent(value: Any) -> Any:
    kind = type(value)
    if kind is dict:
        return {key: _without_absent(each) for key, each in value.items() if each is not None}
    if kind is list or kind is tuple:
        return [_without_absent(each) for each in value]
    return value


def blake3_hex(text: str) -> str:
    return blake3(text.encode("utf-8")).hexdigest()


def ir_document(
    ir: ModelIr, sql: str, target: str, materialization: Mapping[str, Any]
) -> dict[str, Any]:
    """The IR of a model as JSON values: what the ledger keeps and the recipe hashes."""
    return {
        "name": ir.name,
        "sql": sql,
        "target": target,
        "materialization": dict(materialization),
        "typed_columns": [_typed(column) for column in ir.columns],
        "lineage_edges": [
            {
                "column": column.name,
                "kind": edge.kind,
                "source_column": edge.column,
                "source_table": edge.table,
            }
            for column in ir.columns
            for edge in column.edges
        ],
        "influences": [
            {"role": each.role, "source_column": each.column, "source_table": each.table}
            for each in ir.influences
        ],
        "reads": list(ir.reads),
        "determinism": list(ir.determinism),
    }


def _typed(column: OutputColumn) -> dict[str, Any]:
    return {"name": column.name, "type": type_to_json(column.type), "nullable": column.nullable}


def recipe_hash(document: Mapping[str, Any]) -> Recipe:
    """The hash of a model's IR document."""
    return Recipe(blake3_hex(canonical_json(document)))


def skip_hash(ir: ModelIr, target: str, materialization: Mapping[str, Any]) -> SkipHash:
    """The hash that stays when only cosmetics change."""
    return SkipHash(
        blake3_hex(
            canonical_json(
                {
                    "normalizer_version": 1,
                    "normalized_sql": ir.normal_sql_hash,
                    "typed_columns": [_typed(column) for column in ir.columns],
                    "materialization": dict(materialization),
                    "target": target,
                    "reads": sorted(ir.reads),
                }
            )
        )
    )
