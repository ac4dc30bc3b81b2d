"""A preview of a replication: what would be copied, and how its source has changed.

Nothing is written, not even a ledger. Spark is asked for the columns of live tables.
"""

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime

from rocky.analysis.compilation import Compilation
from rocky.errors import NothingSelected
from rocky.ledger import open_history_reader
from rocky.ledger.pipeline_records import DriftRecord
from rocky.ledger.readers.lookup import open_lookup_reader
from rocky.pipelines.replication.copies import Copy
from rocky.pipelines.replication.copy_history import CopyHistory
from rocky.pipelines.replication.plan import Replication, ReplicationPlan, plan_replication
from rocky.pipelines.replication.replication_run import find_completed
from rocky.plan.request import RunRequest
from rocky.project.configuration.blocks import Adapter
from rocky.project.configuration.pipelines import ReplicationPipeline
from rocky.project.configuration.strategies import Incremental
from rocky.run.prepare.caller import Caller
from rocky.run.prepare.pins import open_project_warehouse
from rocky.run.prepare.session import engine_opener


@dataclass(frozen=True, slots=True)
class CopyPreview:
    """What would happen to one table: `decision` in a word, `reason` in a sentence."""

    table: str
    source: str
    decision: str
    reason: str
    drift: tuple[DriftRecord, ...]


def preview_replication(
    compilation: Compilation,
    name: str,
    pipeline: ReplicationPipeline,
    adapter: Adapter,
    request: RunRequest,
    caller: Caller,
    *,
    prune: bool = True,
) -> tuple[ReplicationPlan, tuple[CopyPreview, ...]]:
    """What a run would do now. Without `prune` unchanged tables are looked at too."""
    root = compilation.project.root
    with ExitStack() as opened:
        lookups = open_lookup_reader(caller.state)
        if lookups is not None:
            opened.enter_context(lookups)
        replication = Replication(
            name,
            pipeline,
            compilation,
            open_project_warehouse(adapter, root, caller.environment),
            engine_opener(opened, adapter, root, caller.spark),
            {**caller.environment, **adapter.conf},
        )
        done = find_resumed_tables(name, request, caller)
        plan = plan_replication(
            replication, request, lookups, datetime.now(UTC), done=done, prune=prune
        )
        exists = {
            each.routed.key: replication.warehouse.table(each.routed.target).snapshot() is not None
            for each in plan.copies
            if each.refusal is None
        }
    prospects = [
        _preview_copy(each, plan.history, exists=exists.get(each.routed.key, False))
        for each in plan.copies
    ]
    return plan, (*prospects, *_left_alone(plan))


def find_resumed_tables(name: str, request: RunRequest, caller: Caller) -> dict[str, str]:
    """The tables that a run which is to be resumed has copied. Raises NothingSelected."""
    if request.resume is None:
        return {}
    reader = open_history_reader(caller.state)
    if reader is None:
        raise NothingSelected(f"no run of pipeline `{name}` to resume")
    with reader:
        return find_completed(reader, name, request.resume)[1]


def _preview_copy(copy: Copy, history: CopyHistory, *, exists: bool) -> CopyPreview:
    routed, notes = copy.routed, copy.notes
    table, source = routed.target.full_name, routed.found.name
    if notes.refusal is not None:
        return CopyPreview(table, source, "fail", notes.refusal, ())
    if not exists:
        return CopyPreview(table, source, "load", "never copied", notes.drift)
    if notes.full_refresh is not None:
        return CopyPreview(table, source, "replace", notes.full_refresh, notes.drift)
    if isinstance(copy.model.strategy, Incremental):
        if routed.key not in history.watermarked:
            why = "no watermark is recorded: all rows are loaded in place of those there are"
            return CopyPreview(table, source, "load", why, notes.drift)
        last = history.last.get(routed.key)
        above = f" above {last.watermark}" if last is not None and last.watermark else ""
        return CopyPreview(table, source, "append", f"what is new{above}", notes.drift)
    if routed.strategy == "merge":
        keys = ", ".join(f"`{key}`" for key in routed.merge_keys)
        return CopyPreview(table, source, "merge", f"by {keys}", notes.drift)
    return CopyPreview(table, source, "load", "a full refresh", notes.drift)


def _left_alone(plan: ReplicationPlan) -> Sequence[CopyPreview]:
    return [
        CopyPreview(each.target or each.name, each.name, "leave", each.reason, ())
        for each in plan.excluded
    ]
