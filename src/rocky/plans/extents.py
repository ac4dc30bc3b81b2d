"""Extents: how much of a table a build is for, so that only builds of as much are compared.

A build that adds what is new says nothing of one that makes the whole table anew, and ten time
intervals take ten times as long as one. A table that is always made anew has no extent.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final, NamedTuple

from rocky.errors import RockyError
from rocky.ledger.records import ModelExecution
from rocky.plan.steps import RunPlan, Step
from rocky.project.strategies import (
    Append,
    DeleteInsert,
    Incremental,
    Merge,
    Microbatch,
    Snapshot,
    TimeInterval,
)
from rocky.run.applied import Document
from rocky.run.changes import FULL_REFRESH, NEVER_BUILT
from rocky.run.marks import NO_WATERMARK
from rocky.run.materialize.intervals import all_keys

_ADDING: Final = (Incremental, Microbatch, Merge, DeleteInsert, Snapshot, Append)
_WHOLE_ACTIONS: Final = frozenset({"replaced", "created", "same content"})
_WHOLE_REASONS: Final = frozenset({NEVER_BUILT, NO_WATERMARK, FULL_REFRESH})


class Extent(NamedTuple):
    """How much is built: `whole` or not, or so many time `intervals`; neither: always the same.

    `counted` where it is intervals; how many they are may not be known.
    """

    whole: bool | None = None
    counted: bool = False
    intervals: int | None = None

    @property
    def lacking(self) -> str:
        """Why there is no estimate, when no build of this extent is known."""
        if self.counted:
            return "no build of its time intervals is recorded"
        if self.whole is None:
            return "no build of it is recorded"
        part = "all" if self.whole else "only a part"
        return f"no build of {part} of it is recorded"

    def covers(self, execution: ModelExecution) -> bool:
        """Whether a build was of this extent. Intervals are not looked at."""
        return self.whole is None or self.whole == _was_whole(execution)


ALWAYS: Final = Extent()


def extent_of(
    plan: RunPlan, step: Step, relies_on: Document, now: datetime, *, full_refresh: bool
) -> Extent:
    """How much of a step's table would be built. `relies_on` is how things stand."""
    if step.kind != "build":
        return ALWAYS
    model = plan.project.models[step.key]
    strategy = model.strategy
    if isinstance(strategy, TimeInterval):
        if not full_refresh:
            found = relies_on.get("intervals", {}).get(model.name)
            return Extent(None, counted=True, intervals=None if found is None else len(found))
        try:
            return Extent(None, counted=True, intervals=len(all_keys(strategy, now)))
        except RockyError:
            # The run will say what is wrong with it.
            return Extent(None, counted=True)
    if not isinstance(strategy, _ADDING):
        return ALWAYS
    name = model.target.full_name
    table: Any = relies_on.get("tables", {}).get(name) or {}
    whole = full_refresh or "version" not in table
    if isinstance(strategy, Incremental | Microbatch):
        recorded = relies_on.get("watermarks", {}).get(name) == "recorded"
        whole = whole or not recorded or "watermark" not in table
    return Extent(whole)


def extents_of(
    plan: RunPlan, builds: Sequence[Step], relies_on: Document, now: datetime, *, full_refresh: bool
) -> dict[str, Extent]:
    """The extents of some steps, by their ids."""
    return {
        step.id: extent_of(plan, step, relies_on, now, full_refresh=full_refresh) for step in builds
    }


def _was_whole(execution: ModelExecution) -> bool:
    action = (execution.action or "").partition(";")[0]
    return action in _WHOLE_ACTIONS or execution.reason in _WHOLE_REASONS
