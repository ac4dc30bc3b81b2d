"""Tables whose rows were masked otherwise than they are to be now, or not at all.

Every version that is written masked says by which masks. A table that keeps its rows is loaded
whole when these change, or old rows would stay as they were; one that is only read must have been
written with the masks it has now, because its readers take its values for masked.
"""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final, Protocol

from rocky.analysis.classification.patterns import writer_of
from rocky.analysis.column_masks import ColumnMask, TableMasks, digest_of
from rocky.analysis.compilation import Compilation
from rocky.analysis.masks.copies import CopiedTables
from rocky.analysis.masks.expressions import Unmaskable, mask_fields
from rocky.errors import InputNotBuilt, RunRefused, StoreUnreadable
from rocky.language.datatypes.types import StructField
from rocky.language.names import split_name
from rocky.plan.steps import RunPlan, Step, step_id
from rocky.project.configuration import strategies
from rocky.project.models import Target
from rocky.project.pipeline_tables import full_parts
from rocky.project.sources import SourceTable
from rocky.run.materialize.mask_sql import mask_sql_of
from rocky.run.materialize.seeds import seed_target
from rocky.run.prepare.pins import PinnedTable
from rocky.run.prepare.resources import RunParameters
from rocky.store.delta.snapshot import MASKS, MASKS_ABOVE, Snapshot
from rocky.store.location import locate
from rocky.store.warehouse import Warehouse

OTHER_MASKS: Final = "its masks changed"


def find_remasked(plan: RunPlan, warehouse: Warehouse, options: RunParameters) -> dict[str, str]:
    """The models that keep rows which were masked otherwise, with why they are loaded whole.

    Those that are loaded whole anyway are not among them. Raises RunRefused for a history that
    would be lost by that: nobody can mask its rows again. Raises StoreUnreadable for a table that
    is masked now and cannot be read.
    """
    found: dict[str, str] = {}
    whole = {key for key, each in options.notes.steps.items() if each.full_refresh}
    for step in plan.steps:
        if step.kind != "build" or options.full_refresh or step.key in whole:
            continue
        model = plan.project.models[step.key]
        if strategies.replaces_all(model.strategy):
            continue
        masks = mask_sql_of(plan.compilation, step.key)
        try:
            live = warehouse.table(model.target).snapshot()
        except StoreUnreadable:
            if masks.digest:
                raise
            # Nothing is to be masked, and the model fails by itself when it is built.
            continue
        if live is None:
            _refuse_replaced_history(plan, step.key, warehouse)
            continue
        history = isinstance(model.strategy, strategies.Snapshot | strategies.Append)
        held = _holds(plan.compilation.masks.of(step.key), live)
        if held and _holds_above(plan.compilation, step.key, live, strictly=not history):
            continue
        if history:
            raise RunRefused(
                f"the masks of `{model.name}` changed, and its rows cannot be made again: loaded"
                " whole it would lose what only it still has; run it with `--full-refresh` if that"
                " may be"
            )
        found[step.key] = OTHER_MASKS
    return found


def _refuse_replaced_history(plan: RunPlan, key: str, warehouse: Warehouse) -> None:
    """Raises RunRefused for a history whose table a masked twin would take the place of."""
    model = plan.project.models[key]
    twin = next((each for each, of in plan.project.twins.items() if of == key), None)
    if twin is None or not isinstance(model.strategy, strategies.Snapshot | strategies.Append):
        return
    place = plan.project.models[twin].target
    if warehouse.table(place).snapshot() is not None:
        raise RunRefused(
            f"`{place.full_name}` has rows of `{model.name}` that cannot be made again, and its"
            f" masked twin would take their place: `{model.target.full_name}`, where clear rows"
            " are kept now, is not there yet; run it with `--full-refresh` if it may begin anew"
        )


def refuse_otherwise_masked(
    plan: RunPlan, pinned: Mapping[str, PinnedTable], warehouse: Warehouse
) -> None:
    """Raises InputNotBuilt for a table that is read as masked and was written otherwise."""
    _refuse_copies(plan, pinned, warehouse)
    for key, each in pinned.items():
        if key in plan.project.models and not _is_masked_as_now(
            plan.compilation, key, each.snapshot
        ):
            name = plan.project.models[key].name
            raise InputNotBuilt(
                f"`{name}` was written with other masks than it has now, and what reads it would"
                f" show that: build it too (`rocky run {name}+`)"
            )


def _refuse_copies(plan: RunPlan, pinned: Mapping[str, PinnedTable], warehouse: Warehouse) -> None:
    """The same for tables that pipelines of the project write."""
    project = plan.project
    read = {each.key for step in plan.steps for each in step.reads if each.kind == "source"}
    written = sorted(key for key in read if writer_of(project, key) is not None)
    known = CopiedTables(plan.compilation)
    for key in written:
        source, pin = project.sources[key], pinned.get(step_id("source", key))
        if pin is not None:
            target, snapshot = Target(*source.name.split(".")), pin.snapshot
        else:
            found = _declared_copy(source, warehouse, project.root)
            if found is None:
                continue
            target, snapshot = found
        if is_masked_otherwise(known, target, snapshot):
            writer = project.writers[key]
            raise InputNotBuilt(
                f"`{source.name}` was written with other masks than it has now, and what reads it"
                f" would show that: run its pipeline first (`rocky run --pipeline {writer}`)"
            )


def _declared_copy(
    source: SourceTable, warehouse: Warehouse, root: Path
) -> tuple[Target, Snapshot] | None:
    """The table of the warehouse that a source declares; None for one that lies elsewhere."""
    parts: Sequence[str] | None = full_parts(split_name(source.name))
    if source.path is not None and source.format != "table":
        place = locate(source.path, root, {}).uri
        inside = place.removeprefix(f"{warehouse.uri.rstrip('/')}/")
        parts = inside.strip("/").split("/") if inside != place else None
    if parts is None or len(parts) != len(Target._fields):
        return None
    target = Target(*parts)
    snapshot = warehouse.table(target).snapshot()
    return None if snapshot is None else (target, snapshot)


def is_masked_otherwise(known: CopiedTables, target: Target, snapshot: Snapshot) -> bool:
    """Whether a version of a table was written with other masks than the table has now.

    Nobody knows that of a table that the project does not write.
    """
    key = known.find(target)
    if key is None:
        return False
    if key in known.project.models or key in known.project.seeds:
        return not _is_masked_as_now(known.compilation, key, snapshot)
    writer = writer_of(known.project, key)
    if writer is None:
        return False
    wanted = known.digest(writer, target, snapshot.schema)
    return _masks_in(snapshot.configuration) != wanted


def _holds(masks: TableMasks, live: Snapshot) -> bool:
    """Whether the rows of a table were masked as they are to be.

    A column that the table has not got yet has no rows, and one whose type grows had a mask of the
    type that it has.
    """
    stored = _masks_in(live.configuration)
    if stored == digest_of(masks):
        return True
    fields = {each.name.lower(): each for each in live.schema}
    before: dict[str, ColumnMask] = {}
    for name, mask in masks.items():
        if name not in fields:
            continue
        column = StructField(mask.column, fields[name].type, nullable=True)
        try:
            sql = mask_fields(dict(mask.strategies), column)
        except Unmaskable:
            return False
        before[name] = replace(mask, sql=sql, form=sql)
    return stored == digest_of(before)


def _holds_above(
    compilation: Compilation, key: str, live: Snapshot, *, strictly: bool = False
) -> bool:
    """Whether the rows of a table came with the masks that the tables it reads have now.

    They are not masked again here, so a table that keeps rows would keep those from before a mask.
    `strictly`: nor with masks that those no longer have, which would show less than now.
    """
    stored, now = _masks_above(live), compilation.masks.above.get(key, {})
    kept = {each.name.lower() for each in live.schema}
    # A column that its model no longer has stays as it is; a new one has no rows yet.
    kept &= {each.name.lower() for each in compilation.models[key].columns}
    kept &= {*now, *stored} if strictly else {*now}
    return all(stored.get(name) == now.get(name) for name in kept)


def _is_masked_as_now(compilation: Compilation, key: str, snapshot: Snapshot) -> bool:
    """Whether readers of a version see the masks that its table, and what it reads, have now."""
    if _masks_in(snapshot.configuration) != digest_of(compilation.masks.of(key)):
        return False
    return key not in compilation.project.models or _holds_above(compilation, key, snapshot)


def _masks_above(snapshot: Snapshot) -> Mapping[str, str]:
    said = snapshot.configuration.get(MASKS_ABOVE)
    found: Mapping[str, str] = json.loads(said) if said else {}
    return found


class _Foreseen(Protocol):
    """What will become of a step: whether its table is held, and whether nothing is to be built."""

    @property
    def step(self) -> Step: ...
    @property
    def held(self) -> bool: ...
    @property
    def settled(self) -> bool: ...


def refuse_held_otherwise(
    plan: RunPlan, foreseen: Sequence[_Foreseen], warehouse: Warehouse
) -> None:
    """Raises RunRefused for a table that a revert holds as it was masked before, or clear.

    What is built from such a table would take its values for masked. Nothing is wrong where nothing
    is built from it.
    """
    project = plan.project
    settled = {each.step.id for each in foreseen if each.settled}
    for step in [each.step for each in foreseen if each.held]:
        if step.kind == "seed":
            target = seed_target(project.seeds[step.key], project.config)
        else:
            target = project.models[step.key].target
        live = warehouse.table(target).snapshot()
        if live is None or _is_masked_as_now(plan.compilation, step.key, live):
            continue
        reader = _first_reader(plan, step.id, settled)
        if reader is not None:
            raise RunRefused(
                f"`{step.name}` is held as a revert left it, with other masks than it has now, and"
                f" `{reader}`, which reads it, would show that: build it with `rocky run --force`,"
                " or take the masks back"
            )


def _first_reader(plan: RunPlan, table: str, settled: Collection[str]) -> str | None:
    """The name of a step that is to be built from a table, itself or through queries."""
    shown = {table}
    for step in plan.steps:
        if shown.isdisjoint(step_id(each.kind, each.key) for each in step.reads):
            continue
        if step.kind == "inline":
            shown.add(step.id)
        elif step.id not in settled:
            return step.name
    return None


def _masks_in(configuration: Mapping[str, str]) -> str:
    return configuration.get(MASKS, "")
