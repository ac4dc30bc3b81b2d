"""A look at a replication without running it: what would be copied, and how its source has changed.

Nothing is written, not even a ledger. Spark is asked for the columns of live tables.
"""

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime

from rocky.compiler.compilation import Compilation
from rocky.errors import NothingSelected
from rocky.ledger import open_reader
from rocky.ledger.lookups import open_lookups
from rocky.ledger.pipeline_records import DriftRecord
from rocky.pipelines.replication.copies import Copy
from rocky.pipelines.replication.history import CopyHistory
from rocky.pipelines.replication.planning import Replication, ReplicationPlan, plan_replication
from rocky.pipelines.replication.running import find_done
from rocky.project.adapter import Adapter
from rocky.project.pipelines import ReplicationPipeline
from rocky.project.strategies import Incremental
from rocky.run.means import Means
from rocky.run.opened import engine_opener
from rocky.run.places import open_project_warehouse
from rocky.run.request import RunRequest


@dataclass(frozen=True, slots=True)
class Prospect:
    """What would become of one table: `decision` in a word, `reason` in a sentence."""

    table: str
    source: str
    decision: str
    reason: str
    drift: tuple[DriftRecord, ...] = ()


def look_at_replication(
    compilation: Compilation,
    name: str,
    pipeline: ReplicationPipeline,
    adapter: Adapter,
    request: RunRequest,
    means: Means,
    *,
    prune: bool = True,
) -> tuple[ReplicationPlan, tuple[Prospect, ...]]:
    """What a run would do now. Without `prune` unchanged tables are looked at too."""
    root = compilation.project.root
    with ExitStack() as opened:
        lookups = open_lookups(means.state)
        if lookups is not None:
            opened.enter_context(lookups)
        replication = Replication(
            name,
            pipeline,
            compilation,
            open_project_warehouse(adapter, root, means.environment),
            engine_opener(opened, adapter, root, means.spark),
            {**means.environment, **adapter.conf},
        )
        done = find_resumed(name, request, means)
        plan = plan_replication(
            replication, request, lookups, datetime.now(UTC), done=done, prune=prune
        )
        exists = {
            each.routed.key: replication.warehouse.table(each.routed.target).snapshot() is not None
            for each in plan.copies
            if each.refusal is None
        }
    prospects = [
        _prospect(each, plan.history, exists=exists.get(each.routed.key, False))
        for each in plan.copies
    ]
    return plan, (*prospects, *_left_alone(plan))


def find_resumed(name: str, request: RunRequest, means: Means) -> dict[str, str]:
    """The tables that a run which is to be resumed has copied. Raises NothingSelected."""
    if request.resume is None:
        return {}
    reader = open_reader(means.state)
    if reader is None:
        raise NothingSelected(f"no run of pipeline `{name}` to resume")
    with reader:
        return find_done(reader, name, request.resume)[1]


def _prospect(copy: Copy, history: CopyHistory, *, exists: bool) -> Prospect:
    routed, notes = copy.routed, copy.notes
    table, source = routed.target.full_name, routed.found.name
    if notes.refusal is not None:
        return Prospect(table, source, "fail", notes.refusal)
    if not exists:
        return Prospect(table, source, "load", "never copied", notes.drift)
    if notes.full_refresh is not None:
        return Prospect(table, source, "replace", notes.full_refresh, notes.drift)
    if isinstance(copy.model.strategy, Incremental):
        if routed.key not in history.watermarked:
            why = "no watermark is recorded: all rows are loaded in place of those there are"
            return Prospect(table, source, "load", why, notes.drift)
        last = history.last.get(routed.key)
        above = f" above {last.watermark}" if last is not None and last.watermark else ""
        return Prospect(table, source, "append", f"what is new{above}", notes.drift)
    if routed.strategy == "merge":
        keys = ", ".join(f"`{key}`" for key in routed.merge_keys)
        return Prospect(table, source, "merge", f"by {keys}", notes.drift)
    return Prospect(table, source, "load", "a full refresh", notes.drift)


def _left_alone(plan: ReplicationPlan) -> Sequence[Prospect]:
    return [
        Prospect(each.target or each.name, each.name, "leave", each.reason)
        for each in plan.excluded
    ]
