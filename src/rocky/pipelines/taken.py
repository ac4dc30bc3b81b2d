"""Targets that others write: models, seeds and other pipelines of the project."""

from collections.abc import Iterator

from rocky.project import Project
from rocky.project.models import Target
from rocky.project.pipelines import LoadPipeline, SnapshotPipeline
from rocky.project.strategies import has_target
from rocky.run.seeds import seed_target


def find_taken(project: Project, pipeline: str) -> dict[str, str]:
    """Who writes which target, by the target's key. `pipeline` is the one that asks.

    What another replication pipeline writes is only known once its source is listed.
    """
    taken = {
        model.target.key: f"model `{model.name}`"
        for model in project.models.values()
        if has_target(model.strategy)
    }
    for seed in project.seeds.values():
        taken.setdefault(seed_target(seed, project.config).key, f"seed `{seed.name}`")
    for name, target in _pipeline_targets(project):
        if name != pipeline:
            taken.setdefault(target.key, f"pipeline `{name}`")
    return taken


def _pipeline_targets(project: Project) -> Iterator[tuple[str, Target]]:
    for name, pipeline in project.config.pipeline.items():
        if isinstance(pipeline, SnapshotPipeline | LoadPipeline):
            target = pipeline.target
            if target.table is not None:
                yield name, Target(target.catalog, target.schema, target.table)
