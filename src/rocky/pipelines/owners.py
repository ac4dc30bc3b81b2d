"""Owners: who writes a table, so that no pipeline writes into what is another's.

What models, seeds and settings name is known from the project. What a pipeline wrote without its
settings naming it, the ledger knows: the table is that of the pipeline whose run left something in
it last, as long as there is such a pipeline and such a table.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from rocky.errors import StoreUnreadable
from rocky.ledger.lookups import Lookups, open_lookups
from rocky.ledger.pipeline_questions import RecordedCopy
from rocky.pipelines.taken import find_taken
from rocky.project import Project
from rocky.project.models import Target
from rocky.store.warehouse import Warehouse


@dataclass(frozen=True, slots=True)
class Owners:
    """Those who write some tables, the one who asks left out, by the targets' keys."""

    others: Mapping[str, str] = field(default_factory=dict)

    def of(self, target: Target) -> str | None:
        """Who else writes a table: "pipeline `files`"."""
        return self.others.get(target.key)


NOBODY: Final = Owners()


def find_owners(
    project: Project,
    pipeline: str,
    warehouse: Warehouse,
    writers: Mapping[str, str],
    targets: Iterable[Target],
) -> Owners:
    """Who else writes some tables. `writers` are the pipelines that wrote last, by key."""
    others = find_taken(project, pipeline)
    for target in targets:
        writer = writers.get(target.key)
        if writer in (None, pipeline) or writer not in project.config.pipeline:
            continue
        if target.key not in others and _exists(warehouse, target):
            others[target.key] = f"pipeline `{writer}`"
    return Owners(others)


def ask_owners(
    project: Project,
    pipeline: str,
    warehouse: Warehouse,
    ledger: Lookups | Path | None,
    targets: Iterable[Target],
) -> Owners:
    """Who else writes some tables, by a ledger or the file of one. Raises LedgerUnreadable."""
    wanted = tuple(targets)
    if isinstance(ledger, Path):
        opened = open_lookups(ledger)
        if opened is not None:
            with opened:
                return ask_owners(project, pipeline, warehouse, opened, wanted)
        ledger = None
    writers = {} if ledger is None else _writers(ledger, wanted)
    return find_owners(project, pipeline, warehouse, writers, wanted)


def writers_of(lookups: Lookups, committed: Mapping[str, RecordedCopy]) -> dict[str, str]:
    """The pipelines that left what is in some tables, by key."""
    pipelines = lookups.pipelines_of({each.run_id for each in committed.values()})
    return {
        key: pipelines[each.run_id] for key, each in committed.items() if each.run_id in pipelines
    }


def _writers(lookups: Lookups, targets: Iterable[Target]) -> dict[str, str]:
    names = [target.full_name for target in targets]
    found = lookups.committed_copies(names)
    return writers_of(lookups, {name.lower(): each for name, each in found.items()})


def _exists(warehouse: Warehouse, target: Target) -> bool:
    """Whether there is anything to lose; what cannot be read is there."""
    try:
        return warehouse.table(target).snapshot() is not None
    except StoreUnreadable:
        return True
