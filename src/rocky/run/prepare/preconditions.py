"""Preconditions: what a kept plan relies on, looked at again before the run that carries it out.

It is looked at when the tables are claimed and before anything is written, so nobody who asks for a
claim can come between; what others than Rocky do is seen by the versions that are pinned. Two looks
are equal when their documents are.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from rocky.canonical import canonical_json, text_hash
from rocky.errors import PlanOutdated, SourceUnreadable, StoreUnreadable
from rocky.language.datatypes.text import field_to_json
from rocky.ledger.readers.lookup import LookupReader
from rocky.ledger.record import RunId
from rocky.ledger.run_records import RunStatus
from rocky.plan.comparison import UNREADABLE, Deviation, describe_deviations, describe_outdated
from rocky.plan.intervals import intervals_of
from rocky.plan.kept_plan import PlanDocument
from rocky.plan.request import Window
from rocky.plan.steps import RunPlan, step_id
from rocky.plan.watermarks import watermark_value
from rocky.project.configuration.strategies import Incremental, Microbatch
from rocky.project.pipeline_tables import PipelineTable
from rocky.project.secrets import is_secret
from rocky.project.sources import SourceTable
from rocky.project.toml.variables import written
from rocky.run.engine.sources import Sources
from rocky.run.materialize.seeds import seed_target
from rocky.run.prepare.claims import is_remote_unreadable
from rocky.run.prepare.pins import Pins, identify_source, identify_table, warm_up
from rocky.run.prepare.resources import RunClock, RunParameters, RunResources
from rocky.store.delta.snapshot import WATERMARK, Snapshot
from rocky.store.warehouse import Table, Warehouse


@dataclass(frozen=True, slots=True)
class PlanScope:
    """What is looked at: a plan, where its tables and sources are, and what is recorded of it.

    `lookups` is None where there is no ledger yet.
    """

    plan: RunPlan
    warehouse: Warehouse
    pins: Pins
    sources: Sources
    lookups: LookupReader | None
    windows: Mapping[str, Window]
    now: datetime


def observe_preconditions(scene: PlanScope) -> dict[str, Any]:
    """How things stand now. What cannot be read is said to be so, and equals nothing else."""
    plan = scene.plan
    written = _written(scene)
    warm_up(written.values())
    names = [step.name for step in plan.steps if step.kind != "inline"]
    return {
        "inputs": {
            (pinned := scene.pins.of(step_id("model", key))).table.name: _table(
                pinned.table, pinned.snapshot
            )
            for key in plan.pinned
        },
        "sources": {each.name: _source(each, scene.sources) for each in sources_of(plan)},
        "tables": {table.name: observe_table(table) for table in written.values()},
        "last_runs": {}
        if scene.lookups is None
        else {name: each.run_id for name, each in scene.lookups.last_executions(names).items()},
        "watermarks": _watermarks(scene),
        "intervals": intervals_of(plan, scene.windows, scene.now),
    }


def _written(scene: PlanScope) -> dict[str, Table]:
    project = scene.plan.project
    return {
        step.id: scene.warehouse.table(
            seed_target(project.seeds[step.key], project.config)
            if step.kind == "seed"
            else project.models[step.key].target
        )
        for step in scene.plan.steps
        if step.kind != "inline"
    }


def sources_of(plan: RunPlan) -> list[SourceTable]:
    """The sources that a plan's steps read."""
    keys = {read.key for step in plan.steps for read in step.reads if read.kind == "source"}
    sources = plan.project.sources
    return [sources[key] for key in sorted(keys) if key in sources]


def observe_table(table: Table) -> dict[str, Any]:
    """How a table stands; nothing when there is none."""
    try:
        snapshot = table.snapshot()
        return {} if snapshot is None else _table(table, snapshot)
    except StoreUnreadable as error:
        return {UNREADABLE: str(error)}


def _table(table: Table, snapshot: Snapshot) -> dict[str, Any]:
    identity = identify_table(table.name, snapshot)
    found: dict[str, Any] = {"version": snapshot.version, identity.kind: identity.value}
    mark = snapshot.configuration.get(WATERMARK)
    return {**found, "watermark": watermark_value(mark)} if mark else found


def _source(source: SourceTable, sources: Sources) -> dict[str, Any]:
    declared = {"declaration": _declaration(source)}
    try:
        pin = sources.look(source)
        files = () if pin is None else sources.files_of(source, pin)
    except (SourceUnreadable, StoreUnreadable) as error:
        if isinstance(source, PipelineTable) and isinstance(error, SourceUnreadable):
            # A log that cannot be read is told otherwise: there is none.
            return {"kind": "absent", **declared}
        return {UNREADABLE: str(error), **declared}
    identity = None if pin is None else identify_source(source.name, pin, files, "")
    if identity is None:
        # Only Spark can look at it, or nobody can tell it from its earlier self.
        return {"kind": "unknown", **declared}
    known = ("kind", "version", "blake3_hash")
    found = {key: value for key, value in identity.document().items() if key in known}
    return {**found, **declared}


def _declaration(source: SourceTable) -> str:
    """A hash of how a source is read. No value that may be a secret is in it, not even hashed.

    The plan hashes the values of variables apart from this, so that nobody can guess them.
    """
    options = {
        name: written(value) if not is_secret(name, value) else ""
        for name, value in source.options.items()
    }
    declared = {
        "columns": [field_to_json(each) for each in source.columns],
        "format": source.format,
        "options": options,
        "path": written(source.path) if source.path is not None else "",
    }
    return text_hash(canonical_json(declared))


def _watermarks(scene: PlanScope) -> dict[str, str]:
    """Of tables that continue from where they are: whether the ledger says that they may."""
    models = scene.plan.project.models
    wanted = [
        models[step.key].target.full_name
        for step in scene.plan.steps
        if step.kind == "build" and isinstance(models[step.key].strategy, Incremental | Microbatch)
    ]
    if not wanted or scene.lookups is None:
        return dict.fromkeys(wanted, "absent")
    known, unreadable = scene.lookups.watermarked(wanted)
    return {
        name: UNREADABLE if name in unreadable else "recorded" if name in known else "absent"
        for name in wanted
    }


def check_preconditions(
    plan: RunPlan,
    resources: RunResources,
    options: RunParameters,
    pins: Pins,
    run_id: RunId,
    times: RunClock,
) -> None:
    """Raises PlanOutdated when the run carries out a kept plan that no longer holds.

    The record of the run, which has begun, is closed then.
    """
    applied = resources.applied
    if applied is None or applied.expects is None:
        return
    ledger = resources.ledger
    try:
        moves = _find_deviations(plan, resources, options, pins, times)
    except BaseException as error:
        said = str(error) or type(error).__name__
        ledger.finish_run(run_id, RunStatus.FAILURE, times.now(), reason=said)
        raise
    if moves:
        said = describe_outdated(applied.plan_id, moves)
        ledger.finish_run(run_id, RunStatus.FAILURE, times.now(), reason=said)
        raise PlanOutdated(said)


def _find_deviations(
    plan: RunPlan,
    resources: RunResources,
    options: RunParameters,
    pins: Pins,
    times: RunClock,
) -> list[Deviation]:
    applied = resources.applied
    assert applied is not None
    assert applied.expects is not None
    if is_remote_unreadable(resources):
        return [
            Deviation("state", "the remote state cannot be read: whether it moved is not known")
        ]
    with resources.ledger.lookups() as lookups:
        found = observe_preconditions(
            PlanScope(
                plan,
                resources.warehouse,
                pins,
                resources.sources,
                lookups,
                {} if options.full_refresh else options.windows or {},
                times.started_at,
            )
        )
    own = applied.written | _sources_among(plan, applied.written)
    return describe_deviations(_leave_out(applied.expects, own), _leave_out(found, own))


def _sources_among(plan: RunPlan, tables: frozenset[str]) -> frozenset[str]:
    """The names of sources whose files are those of some tables of the warehouse."""
    folders = tuple(f"/{name.replace('.', '/')}" for name in tables)
    return frozenset(
        source.name
        for source in plan.project.sources.values()
        if folders and source.path is not None and source.path.rstrip("/").endswith(folders)
    )


def _leave_out(document: PlanDocument, names: frozenset[str]) -> dict[str, Any]:
    """What is relied on, without what the plan's own runs have changed since."""
    return {
        part: {name: value for name, value in found.items() if name not in names}
        for part, found in document.items()
    }
