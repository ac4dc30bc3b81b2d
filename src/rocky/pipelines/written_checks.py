"""Checks of tables that a pipeline writes and that are no copies: what a run has left of them.

Tables that had nothing new are looked at too: that nothing comes any more is what some checks are
there to find. Those that failed in this run are not.
"""

from collections.abc import Mapping
from functools import partial

from rocky.errors import StoreUnreadable
from rocky.ledger.check_history import load_counts
from rocky.pipelines.checks.concluding import PipelineChecks
from rocky.pipelines.checks.tables import CheckedTable, UnreadableTable
from rocky.project.checks import Checks
from rocky.project.models import Target
from rocky.run.notes import RunSoFar
from rocky.run.surroundings import Surroundings


def checks_of_written(
    around: Surroundings,
    checks: Checks,
    targets: Mapping[str, Target],
    kind: str,
    timestamp_column: str | None = None,
) -> PipelineChecks:
    """The checks of a pipeline of a kind, whose tables are `targets`, by key."""
    freshness = checks.freshness
    time = timestamp_column or (freshness.timestamp_column if freshness is not None else None)
    return PipelineChecks(
        checks,
        partial(_find, around, targets, kind, time),
        around.warehouse,
        [each.full_name for each in targets.values()],
    )


def _find(
    around: Surroundings,
    targets: Mapping[str, Target],
    kind: str,
    time: str | None,
    so_far: RunSoFar,
) -> list[CheckedTable | UnreadableTable]:
    ended = {each.step.key: each.succeeded for each in so_far.outcomes}
    wanted = [each for key, each in targets.items() if ended.get(key, True)]
    history = load_counts(around.ledger.path, [each.full_name for each in wanted])
    found: list[CheckedTable | UnreadableTable] = []
    for target in wanted:
        name, table = target.full_name, around.warehouse.table(target)
        try:
            snapshot = table.snapshot()
        except StoreUnreadable as error:
            found.append(UnreadableTable(name, str(error)))
            continue
        if snapshot is not None:
            found.append(
                CheckedTable(
                    target,
                    table,
                    snapshot,
                    source_type=kind,
                    timestamp_column=time,
                    history=history[name],
                )
            )
    return found
