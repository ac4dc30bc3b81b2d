"""Watermarks: which incremental tables continue where they are, and which are loaded again.

The ledger says whether to continue, the table says from where: its own watermark moved in the
commit that brought the rows, while the ledger's may be behind after a crash. So a watermark that
was deleted from the ledger means that everything is loaded again, in place of what is there.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from rocky.errors import LedgerUnreadable, StoreUnreadable
from rocky.ledger.readers.history import RecordedExecution
from rocky.ledger.readers.lookup import LookupReader
from rocky.ledger.record import RunId
from rocky.plan.steps import RunPlan
from rocky.project.configuration.strategies import Incremental, Microbatch
from rocky.store.delta.snapshot import WATERMARK, Snapshot
from rocky.store.warehouse import Table, Warehouse

NO_WATERMARK: Final = "no watermark is recorded: all rows are loaded in place of those there are"


@dataclass(frozen=True, slots=True)
class WatermarkFindings:
    """Keys of models to be loaded again; and those whose watermark cannot be read, with why.

    `forgotten` says of tables that they are loaded again although nobody asked for it.
    """

    refreshed: frozenset[str] = frozenset()
    forgotten: tuple[str, ...] = ()
    unreadable: Mapping[str, str] = field(default_factory=dict)

    def check(self, key: str) -> None:
        """Raises LedgerUnreadable: taking a watermark for none would load everything again."""
        if key in self.unreadable:
            raise LedgerUnreadable(self.unreadable[key])


NO_WATERMARK_FINDINGS: Final = WatermarkFindings()


def check_watermarks(
    plan: RunPlan, lookups: LookupReader, warehouse: Warehouse
) -> WatermarkFindings:
    """What the ledger says of the watermarks of a plan's tables.

    A row that is missing because the run that would have written it died is not missed: the table
    was committed by that run, and knows how far it is. Whatever else is remembered of a table that
    is built must be as it was written, or its model is not built.
    """
    changed = _find_changed(plan, lookups)
    wanted = {
        step.key: plan.project.models[step.key].target.full_name
        for step in plan.steps
        if step.kind == "build"
        and isinstance(plan.project.models[step.key].strategy, Incremental | Microbatch)
    }
    if not wanted:
        return WatermarkFindings(unreadable=changed)
    known, unreadable = lookups.watermarked(wanted.values())
    unusable = {key: unreadable[name] for key, name in wanted.items() if name in unreadable}
    unusable = {**changed, **unusable}
    missing = [key for key, name in wanted.items() if name not in known and key not in unusable]
    unfinished = lookups.unfinished_runs() if missing else frozenset()
    models = plan.project.models
    tables = {key: warehouse.table(models[key].target) for key in missing}
    names = {key: models[key].name for key in missing}
    recorded = lookups.last_executions(names.values()) if names else {}
    refreshed = [
        key
        for key, table in tables.items()
        if not _is_left_by(unfinished, table, recorded.get(names[key]))
    ]
    return WatermarkFindings(
        frozenset(refreshed),
        tuple(
            _describe_forgotten(table.name, snapshot)
            for key in refreshed
            if names[key] not in recorded
            and (snapshot := _with_watermark(table := tables[key])) is not None
        ),
        unusable,
    )


def _find_changed(plan: RunPlan, lookups: LookupReader) -> dict[str, str]:
    """Models of which something that is remembered was taken out, put in or changed, with why."""
    found: dict[str, str] = {}
    for step in plan.steps:
        if step.kind == "build":
            model = plan.project.models[step.key]
            try:
                lookups.check_remembered(model.name, model.target.full_name)
            except LedgerUnreadable as error:
                found[step.key] = str(error)
    return found


def _with_watermark(table: Table) -> Snapshot | None:
    """A table that has a mark of its own; None for others, and where that cannot be told."""
    try:
        snapshot = table.snapshot()
    except StoreUnreadable:
        # Building the table says what is wrong with it.
        return None
    has_mark = snapshot is not None and snapshot.configuration.get(WATERMARK)
    return snapshot if has_mark else None


def _describe_forgotten(name: str, snapshot: Snapshot) -> str:
    return (
        f"the state knows nothing of `{name}`, which had been loaded up to"
        f" {watermark_value(snapshot.configuration[WATERMARK])}: all rows of its source are loaded"
        f" in place of those there are; version {snapshot.version} of the table keeps them"
    )


def _is_left_by(runs: frozenset[RunId], table: Table, recorded: RecordedExecution | None) -> bool:
    """Whether the newest commit of a table has a mark and was made by one of some runs.

    Not so when somebody has recorded it since: whoever did wrote the watermark too, and it was
    deleted after that.
    """
    snapshot = _with_watermark(table)
    if snapshot is None or not runs:
        return False
    if recorded is not None and recorded.execution.commit_version == snapshot.version:
        return False
    try:
        actions = table.log.read_commit(snapshot.version)
    except StoreUnreadable:
        return False
    infos = (each["commitInfo"] for each in actions if each.get("commitInfo"))
    return any(info.get("runId") in runs for info in infos)


def watermark_value(text: str) -> str:
    """The value of a table's own mark, as people read it."""
    return format_watermark(text, str(json.loads(text)["value"]))


def format_watermark(text: str | None, value: str) -> str:
    """A value as people read it: an instant as RFC 3339, anything else as Spark prints it."""
    kind = json.loads(text).get("type") if text else None
    if kind != "timestamp" or " " not in value:
        return value
    day, _, time = value.partition(" ")
    return f"{day}T{time}" if time[-1] == "Z" or "+" in time else f"{day}T{time}Z"
