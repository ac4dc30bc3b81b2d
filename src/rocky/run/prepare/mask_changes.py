"""Tables whose rows were masked otherwise than they are to be now, or not at all.

Every version that is written masked says by which masks. A table that keeps its rows is loaded
whole when these change, or old rows would stay as they were; one that is only read must have been
written with the masks it has now, because its readers take its values for masked.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Final, Protocol

from rocky.errors import InputNotBuilt, RunRefused, StoreUnreadable
from rocky.plan.steps import RunPlan, Step, step_id
from rocky.project.configuration.strategies import Append, Snapshot, replaces_all
from rocky.run.materialize.mask_sql import mask_sql_of
from rocky.run.materialize.seeds import seed_target
from rocky.run.prepare.pins import PinnedTable
from rocky.store.delta.snapshot import MASKS
from rocky.store.warehouse import Warehouse

OTHER_MASKS: Final = "its masks changed"


def find_remasked(plan: RunPlan, warehouse: Warehouse, *, asked: bool) -> dict[str, str]:
    """The models that keep rows which were masked otherwise, with why they are loaded whole.

    `asked` when everything is loaded whole anyway. Raises RunRefused for a history that would be
    lost by that: nobody can mask its rows again. Raises StoreUnreadable for a table that is masked
    now and cannot be read.
    """
    found: dict[str, str] = {}
    for step in plan.steps:
        if step.kind != "build" or asked:
            continue
        model = plan.project.models[step.key]
        if replaces_all(model.strategy):
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
        if _masks_in(live.configuration) == masks.digest:
            continue
        if isinstance(model.strategy, Snapshot | Append):
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
    if twin is None or not isinstance(model.strategy, Snapshot | Append):
        return
    place = plan.project.models[twin].target
    if warehouse.table(place).snapshot() is not None:
        raise RunRefused(
            f"`{place.full_name}` has rows of `{model.name}` that cannot be made again, and its"
            f" masked twin would take their place: `{model.target.full_name}`, where clear rows"
            " are kept now, is not there yet; run it with `--full-refresh` if it may begin anew"
        )


def refuse_otherwise_masked(plan: RunPlan, pinned: Mapping[str, PinnedTable]) -> None:
    """Raises InputNotBuilt for a table that is read as masked and was written otherwise."""
    for key, each in pinned.items():
        masks = mask_sql_of(plan.compilation, key)
        if key in plan.project.models and _masks_in(each.snapshot.configuration) != masks.digest:
            name = plan.project.models[key].name
            raise InputNotBuilt(
                f"`{name}` was written with other masks than it has now, and what reads it would"
                f" show that: build it too (`rocky run {name}+`)"
            )


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
        masks = mask_sql_of(plan.compilation, step.key)
        if live is None or _masks_in(live.configuration) == masks.digest:
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
