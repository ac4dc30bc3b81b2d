"""Owners: who writes a table, so that no pipeline writes into what is another's.

What models, seeds and settings name is known from the project. What a pipeline wrote without its
settings naming it, the ledger knows: the table is that of the pipeline whose run left something in
it last, as long as there is such a pipeline and such a table.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from rocky.errors import StoreUnreadable
from rocky.ledger.readers.commits import open_lookup_reader
from rocky.ledger.readers.lookup import LookupReader, RecordedCopy
from rocky.project import Project
from rocky.project.configuration.pipelines import LoadPipeline, SnapshotPipeline
from rocky.project.configuration.strategies import has_target
from rocky.project.models import Target
from rocky.run.materialize.seeds import seed_target
from rocky.store.warehouse import Warehouse


def find_declared_owners(project: Project, pipeline: str) -> dict[str, str]:
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


@dataclass(frozen=True, slots=True)
class Owners:
    """Those who write some tables, the one who asks left out, by the targets' keys."""

    others: Mapping[str, str] = field(default_factory=dict)

    def of(self, target: Target) -> str | None:
        """Who else writes a table: "pipeline `files`"."""
        return self.others.get(target.key)


NO_OWNERS: Final = Owners()


def find_owners(
    project: Project,
    pipeline: str,
    warehouse: Warehouse,
    writers: Mapping[str, str],
    targets: Iterable[Target],
) -> Owners:
    """Who else writes some tables. `writers` are the pipelines that wrote last, by key."""
    others = find_declared_owners(project, pipeline)
    for target in targets:
        writer = writers.get(target.key)
        if writer in (None, pipeline) or writer not in project.config.pipeline:
            continue
        if target.key not in others and _exists(warehouse, target):
            others[target.key] = f"pipeline `{writer}`"
    return Owners(others)


def load_owners(
    project: Project,
    pipeline: str,
    warehouse: Warehouse,
    ledger: LookupReader | Path | None,
    targets: Iterable[Target],
) -> Owners:
    """Who else writes some tables, by a ledger or the file of one. Raises LedgerUnreadable."""
    wanted = tuple(targets)
    if isinstance(ledger, Path):
        opened = open_lookup_reader(ledger)
        if opened is not None:
            with opened:
                return load_owners(project, pipeline, warehouse, opened, wanted)
        ledger = None
    writers = {} if ledger is None else _writers(ledger, wanted)
    return find_owners(project, pipeline, warehouse, writers, wanted)


def writers_of(lookups: LookupReader, committed: Mapping[str, RecordedCopy]) -> dict[str, str]:
    """The pipelines that left what is in some tables, by key."""
    pipelines = lookups.pipelines_of({each.run_id for each in committed.values()})
    return {
        key: pipelines[each.run_id] for key, each in committed.items() if each.run_id in pipelines
    }


def _writers(lookups: LookupReader, targets: Iterable[Target]) -> dict[str, str]:
    names = [target.full_name for target in targets]
    found = lookups.committed_copies(names)
    return writers_of(lookups, {name.lower(): each for name, each in found.items()})


def _exists(warehouse: Warehouse, target: Target) -> bool:
    """Whether there is anything to lose; what cannot be read is there."""
    try:
        return warehouse.table(target).snapshot() is not None
    except StoreUnreadable:
        return True
