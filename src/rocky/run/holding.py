"""Holding to a plan: a run that carries one out begins only if all is as the plan relies on.

It is looked at when the tables are claimed and before anything is written, so nobody who asks for
a claim can come between; what others than Rocky do is seen by the versions that are pinned.
"""

from collections.abc import Iterator, Sequence
from typing import Any, Final

from rocky.errors import PlanOutdated
from rocky.ledger.record import RunId
from rocky.ledger.records import RunStatus
from rocky.plan.steps import RunPlan
from rocky.run.applied import Document
from rocky.run.beginning import is_unvouched
from rocky.run.observed import Move, Scene, describe_moves, observe
from rocky.run.pinning import Pins
from rocky.run.reporting import RunTimes
from rocky.run.surroundings import RunOptions, Surroundings

SHORT: Final = 12
"""So many digits of a plan's id are shown."""
_LISTED_AT_MOST: Final = 8


def hold_to_plan(
    plan: RunPlan,
    surroundings: Surroundings,
    options: RunOptions,
    pins: Pins,
    run_id: RunId,
    times: RunTimes,
) -> None:
    """Raises PlanOutdated when the run carries out a kept plan that no longer holds.

    The record of the run, which has begun, is closed then.
    """
    applied = surroundings.applied
    if applied is None or applied.expects is None:
        return
    ledger = surroundings.ledger
    try:
        moves = _find_moves(plan, surroundings, options, pins, times)
    except BaseException as error:
        said = str(error) or type(error).__name__
        ledger.finish_run(run_id, RunStatus.FAILURE, times.now(), reason=said)
        raise
    if moves:
        said = describe_outdated(applied.plan_id, moves)
        ledger.finish_run(run_id, RunStatus.FAILURE, times.now(), reason=said)
        raise PlanOutdated(said)


def describe_outdated(plan_id: str, moves: Sequence[Move]) -> str:
    """What to say of a plan that no longer holds: of each kind of move the first few."""
    listed = "".join(f"\n  {line}" for line in _lines(moves))
    return (
        f"plan `{plan_id[:SHORT]}` no longer holds, so nothing was run:{listed}\n"
        "make a new one with `rocky plan`"
    )


def _lines(moves: Sequence[Move]) -> Iterator[str]:
    for kind in dict.fromkeys(each.kind for each in moves):
        found = [each.what for each in moves if each.kind == kind]
        yield from (f"{kind}: {what}" for what in found[:_LISTED_AT_MOST])
        if len(found) > _LISTED_AT_MOST:
            yield f"{kind}: {len(found) - _LISTED_AT_MOST} more"


def _find_moves(
    plan: RunPlan,
    surroundings: Surroundings,
    options: RunOptions,
    pins: Pins,
    times: RunTimes,
) -> list[Move]:
    applied = surroundings.applied
    assert applied is not None
    assert applied.expects is not None
    if is_unvouched(surroundings):
        return [Move("state", "the remote state cannot be read: whether it moved is not known")]
    with surroundings.ledger.lookups() as lookups:
        found = observe(
            Scene(
                plan,
                surroundings.warehouse,
                pins,
                surroundings.sources,
                lookups,
                {} if options.full_refresh else options.windows or {},
                times.started_at,
            )
        )
    own = applied.written | _sources_among(plan, applied.written)
    return describe_moves(_leave_out(applied.expects, own), _leave_out(found, own))


def _sources_among(plan: RunPlan, tables: frozenset[str]) -> frozenset[str]:
    """The names of sources whose files are those of some tables of the warehouse."""
    folders = tuple(f"/{name.replace('.', '/')}" for name in tables)
    return frozenset(
        source.name
        for source in plan.project.sources.values()
        if folders and source.path is not None and source.path.rstrip("/").endswith(folders)
    )


def _leave_out(document: Document, names: frozenset[str]) -> dict[str, Any]:
    """What is relied on, without what the plan's own runs have changed since."""
    return {
        part: {name: value for name, value in found.items() if name not in names}
        for part, found in document.items()
    }
