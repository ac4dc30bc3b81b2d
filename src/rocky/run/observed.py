"""What a plan relies on, as it stands at one moment: tables, sources, records. Plain JSON values.

A kept plan holds what was seen when it was made, and the run that carries it out looks again when
its tables are claimed: what is compared there is what the run then reads. Two looks are equal when
their documents are.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, NamedTuple

from rocky.datatypes.text import field_to_json
from rocky.errors import SourceUnreadable, StoreUnreadable
from rocky.evidence.hashes import canonical_json, text_hash
from rocky.ledger.lookups import Lookups
from rocky.plan.steps import RunPlan, step_id
from rocky.project.sources import SourceTable
from rocky.project.strategies import Incremental, Microbatch
from rocky.project.variables import written
from rocky.run.applied import Document
from rocky.run.build import Window
from rocky.run.environment import is_secret
from rocky.run.identity import identify_source, identify_table
from rocky.run.marks import mark_value
from rocky.run.pinning import Pins, warm_up
from rocky.run.seeds import seed_target
from rocky.run.sources import Sources
from rocky.run.windows import intervals_of
from rocky.store.snapshot import WATERMARK, Snapshot
from rocky.store.warehouse import Table, Warehouse

UNREADABLE: Final = "unreadable"
"""The key under which stands why something could not be looked at."""


class Move(NamedTuple):
    """Something that is not as it was: `kind` says what sort of thing, `what` is a sentence."""

    kind: str
    what: str


@dataclass(frozen=True, slots=True)
class Scene:
    """What is looked at: a plan, where its tables and sources are, and what is recorded of it.

    `lookups` is None where there is no ledger yet.
    """

    plan: RunPlan
    warehouse: Warehouse
    pins: Pins
    sources: Sources
    lookups: Lookups | None
    windows: Mapping[str, Window]
    now: datetime


def observe(scene: Scene) -> dict[str, Any]:
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
        "tables": {table.name: look_at(table) for table in written.values()},
        "last_runs": {}
        if scene.lookups is None
        else {name: each.run_id for name, each in scene.lookups.last_executions(names).items()},
        "watermarks": _watermarks(scene),
        "intervals": intervals_of(plan, scene.windows, scene.now),
    }


def describe_moves(planned: Document, found: Document) -> list[Move]:
    """What is not as it was, in words; nothing when both looks are equal.

    What the plan did not look at is not compared.
    """
    moves: list[Move] = []
    for part, kind, describe in (
        ("inputs", "inputs", _describe_table),
        ("sources", "inputs", _describe_source),
        ("tables", "state", _describe_table),
        ("watermarks", "state", _describe_watermark),
        ("intervals", "state", _describe_intervals),
    ):
        if part not in planned:
            continue
        before, after = planned[part], found.get(part, {})
        moves += [
            Move(kind, describe(name, before.get(name), after.get(name)))
            for name in dict.fromkeys((*before, *after))
            if before.get(name) != after.get(name)
        ]
    if "last_runs" in planned:
        moves += _describe_last_runs(planned["last_runs"], found.get("last_runs", {}))
    return moves


def find_unreadable(document: Document) -> list[str]:
    """What could not be looked at, in words."""
    return [
        f"`{name}` could not be read: {each[UNREADABLE]}"
        for part in ("inputs", "sources", "tables")
        for name, each in document.get(part, {}).items()
        if UNREADABLE in each
    ]


def _written(scene: Scene) -> dict[str, Table]:
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


def look_at(table: Table) -> dict[str, Any]:
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
    return {**found, "watermark": mark_value(mark)} if mark else found


def _source(source: SourceTable, sources: Sources) -> dict[str, Any]:
    declared = {"declaration": _declaration(source)}
    try:
        pin = sources.look(source)
        files = () if pin is None else sources.files_of(source, pin)
    except (SourceUnreadable, StoreUnreadable) as error:
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

    What variables say is kept elsewhere in a plan, where nobody can guess it: `rocky.plans`.
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


def _watermarks(scene: Scene) -> dict[str, str]:
    """Of tables that go on from where they are: whether the ledger says that they may."""
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


def _describe_table(name: str, before: Any, after: Any) -> str:
    if before is None or after is None:
        return f"`{name}` {'is new here' if before is None else 'has nothing to do here any more'}"
    for each, when in ((before, "when the plan was made"), (after, "now")):
        if UNREADABLE in each:
            return f"`{name}` cannot be read {when}: {each[UNREADABLE]}"
    if not before:
        return f"`{name}` was built, at version {after['version']}"
    if not after:
        return f"`{name}` is gone"
    if before["version"] != after["version"]:
        return f"`{name}` moved from version {before['version']} to {after['version']}"
    return f"`{name}` has other files at version {after['version']}"


def _describe_source(name: str, before: Any, after: Any) -> str:
    if before is None or after is None:
        return f"`{name}` {'is read now' if before is None else 'is no longer read'}"
    if before.get("declaration") != after.get("declaration"):
        return f"`{name}` is declared otherwise"
    for each, when in ((before, "when the plan was made"), (after, "now")):
        if UNREADABLE in each:
            return f"`{name}` cannot be read {when}: {each[UNREADABLE]}"
    if before.get("version") and after.get("version"):
        shown = [each["version"].partition(" ")[0] for each in (before, after)]
        if shown[0] != shown[1]:
            return f"`{name}` moved from version {shown[0]} to {shown[1]}"
    return f"`{name}` has other files"


def _describe_last_runs(before: Document, after: Document) -> list[Move]:
    """The runs that were at work since, each with what it did."""
    since: dict[str | None, list[str]] = {}
    for name in dict.fromkeys((*before, *after)):
        if before.get(name) != after.get(name):
            since.setdefault(after.get(name), []).append(name)
    moves = []
    for run, names in since.items():
        more = f" and {len(names) - 1} more" if len(names) > 1 else ""
        if run is None:
            what = f"nothing is recorded of `{names[0]}`{more} any more"
        else:
            what = f"`{run}` has been at work on `{names[0]}`{more} since"
        moves.append(Move("state", what))
    return moves


def _describe_watermark(name: str, before: Any, after: Any) -> str:
    return f"the watermark of `{name}` was {before or 'not asked for'}, and is {after or 'not'}"


def _describe_intervals(name: str, before: Any, after: Any) -> str:
    return f"the time intervals of `{name}` would be {_span(after)}, not {_span(before)}"


def _span(keys: Sequence[str] | None) -> str:
    if not keys:
        return "none"
    return keys[0] if len(keys) == 1 else f"{keys[0]} to {keys[-1]} ({len(keys)})"
