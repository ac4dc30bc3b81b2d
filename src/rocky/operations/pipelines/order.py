"""The order of pipelines: each after those it depends on, and after those whose tables it reads.

What a pipeline reads is known from the graph. Two that read from each other cannot both come first:
then one reads what the last run of the other left, and runs also if that failed.
"""

from collections.abc import Iterator, Mapping

from rocky.analysis.compilation import Compilation
from rocky.errors import RunRefused
from rocky.project import Project
from rocky.project.configuration.pipelines import (
    Pipeline,
    QualityPipeline,
    SnapshotPipeline,
    TransformationPipeline,
)
from rocky.project.models import Target

Needs = Mapping[str | None, frozenset[str | None]]
"""By its name, the pipelines that one reads from; None are models that belong to no pipeline."""


def needs_of(compilation: Compilation) -> Needs:
    """Which pipelines read what others write."""
    project = compilation.project
    owners = _owners(project)
    found: dict[str | None, set[str | None]] = {}
    for model in project.models.values():
        for name in compilation.upstream.get(model.name, ()):
            writer = project.writers.get(name.lower())
            if writer is not None:
                found.setdefault(model.pipeline, set()).add(writer)
    for name, pipeline in project.config.pipeline.items():
        for key in _read_targets(pipeline):
            found.setdefault(name, set()).update(
                owner for each, owner in owners.items() if each == key or each.startswith(f"{key}.")
            )
    return {name: frozenset(others - {name}) for name, others in found.items()}


def needed_first(needs: Needs, name: str | None) -> frozenset[str | None]:
    """The pipelines whose failure keeps one from running: not those that read from it as well."""
    found = needs.get(name, frozenset())
    return frozenset(each for each in found if name not in reach_needs(needs, each))


def reach_needs(needs: Needs, start: str | None) -> set[str | None]:
    """All that a pipeline reads from, by way of others too."""
    reached: set[str | None] = set()
    waiting = [start]
    while waiting:
        for each in needs.get(waiting.pop(), ()):
            if each not in reached:
                reached.add(each)
                waiting.append(each)
    return reached


def find_mutual(needs: Needs) -> list[str | None]:
    """The pipelines that read from each other, by way of others too; those by name first."""
    found = [name for name in needs if name in reach_needs(needs, name)]
    return sorted(found, key=lambda name: (name is None, name or ""))


def _owners(project: Project) -> dict[str, str | None]:
    """Which pipeline writes which table, by the table's key."""
    models = project.models.values()
    return {**{each.target.key: each.pipeline for each in models}, **project.writers}


def _read_targets(pipeline: Pipeline) -> Iterator[str]:
    """The tables, or whole schemas, that settings name as read."""
    if isinstance(pipeline, SnapshotPipeline):
        source = pipeline.source
        yield Target(source.catalog, source.schema, source.table).key
    if isinstance(pipeline, QualityPipeline):
        for each in pipeline.tables:
            yield each.label.lower()


def in_order(
    pipelines: Mapping[str, Pipeline], needs: Needs, *, lone_models: bool = False
) -> tuple[str | None, ...]:
    """The pipelines as they are written, each after those it needs. Raises RunRefused.

    With `lone_models` there are models that belong to none: None stands for them.
    """
    placed: list[str | None] = []
    under_way: list[str | None] = []

    def place(name: str | None) -> None:
        if name in placed:
            return
        if name in under_way:
            circle = " -> ".join(
                f"`{each}`" for each in (*under_way[under_way.index(name) :], name)
            )
            raise RunRefused(f"pipelines form a cycle: {circle}")
        under_way.append(name)
        for each in () if name is None else pipelines[name].depends_on:
            if each in pipelines:
                place(each)
        for other in sorted(needs.get(name, ()), key=str):
            if other not in under_way and (other in pipelines or (other is None and lone_models)):
                place(other)
        under_way.pop()
        placed.append(name)

    for name in pipelines:
        place(name)
    if lone_models:
        place(None)
    return tuple(placed)


def has_lone_models(project: Project) -> bool:
    """Whether the project has models and no pipeline of type "transformation" that runs them."""
    pipelines = project.config.pipeline.values()
    return bool(project.models) and not any(
        isinstance(each, TransformationPipeline) for each in pipelines
    )
