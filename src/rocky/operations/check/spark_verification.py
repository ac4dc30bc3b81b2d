"""Spark's verification: what its own analyser says of the models that were compiled."""

from collections.abc import Sequence
from dataclasses import dataclass

from rocky.analysis.compilation import Compilation
from rocky.operations.workspace import Workspace
from rocky.project import ModelFile


@dataclass(frozen=True, slots=True)
class SkippedModel:
    """A model that Spark was not asked about."""

    model: str
    reason: str


@dataclass(frozen=True, slots=True)
class SparkDifference:
    """One thing on which Rocky and Spark do not agree; without a column it is the whole model."""

    model: str
    column: str | None
    what: str
    rocky: str
    spark: str


@dataclass(frozen=True, slots=True)
class SparkVerification:
    """What Spark's own analyser says of the same models.

    `models` were compared, `differing` of them differ, `skipped` could not be compared. It `agrees`
    when nothing differs and every model that is SQL was compared.
    """

    engine: str
    agrees: bool
    models: int
    differing: int
    columns: int
    skipped: tuple[SkippedModel, ...]
    differences: tuple[SparkDifference, ...]


def ask_spark(
    workspace: Workspace, compilation: Compilation, models: Sequence[ModelFile]
) -> SparkVerification:
    """The columns of models as Spark's analyser has them, held against ours."""
    # Nothing that starts Spark is near a compile that does not ask for it.
    from rocky.spark.analyser import analyse_project  # noqa: PLC0415

    names = [model.name for model in models]
    found = analyse_project(compilation, models=names, session=workspace.spark)
    return SparkVerification(
        found.engine,
        found.agrees,
        found.models,
        len({each.model for each in found.differences}),
        found.columns,
        tuple(SkippedModel(model, reason) for model, reason in found.skipped),
        tuple(
            SparkDifference(each.model, each.column, each.what, each.ours, each.spark)
            for each in found.differences
        ),
    )
