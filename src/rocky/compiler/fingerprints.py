"""The fingerprints of compiled models: the IR joined with the settings that shape its table."""

from typing import Any

from rocky.compiler.compilation import Compilation
from rocky.ir.fingerprint import Recipe, SkipHash, ir_document, recipe_hash, skip_hash
from rocky.project import ModelFile


def materialization_of(model: ModelFile) -> dict[str, Any]:
    """How a model's table is brought up to date, as JSON values."""
    strategy = model.strategy
    return {
        key: list(value) if isinstance(value, tuple) else value
        for key, value in strategy._asdict().items()
    }


def document_of(compilation: Compilation, key: str) -> dict[str, Any]:
    """The IR document of a model, as the ledger will keep it."""
    model = compilation.project.models[key]
    return ir_document(
        compilation.models[key], model.sql, model.target.full_name, materialization_of(model)
    )


def recipe_of(compilation: Compilation, key: str) -> Recipe:
    return recipe_hash(document_of(compilation, key))


def skip_hash_of(compilation: Compilation, key: str) -> SkipHash:
    model = compilation.project.models[key]
    return skip_hash(compilation.models[key], model.target.full_name, materialization_of(model))
