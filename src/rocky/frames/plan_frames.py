"""The frames of a plan, as an editor asks for them: which call gives which columns.

The SQL of a plan does not tell: layers that one query can say are one there. A column that a frame
only passes on is written as a place in the frame below, so that wide tables stay small.
"""

from collections.abc import Iterator
from typing import Any

from rocky.analysis.python_plans import PlanColumn, PlanFrame
from rocky.frames.frame_check import LoweredPlan
from rocky.frames.layers import Layer, LayerColumn, every_layer
from rocky.frames.sites import Site, site_of
from rocky.language.datatypes.text import encode_type


def plan_frames(lowered: LoweredPlan, relation: Any, numbers: dict[Site, int]) -> list[PlanFrame]:
    """The frames that a plan is made of, inputs first; `numbers` has the places of all calls."""
    calls: dict[int, dict[int, None]] = {}
    for each in _relations(relation):
        layer = lowered.lowering.by_plan.get(each.common.plan_id)
        site = site_of(each)
        if layer is not None and site is not None:
            number = numbers.setdefault(site, len(numbers))
            calls.setdefault(id(layer), {})[number] = None
    layers = list(every_layer(lowered.top))
    at = {id(layer): index for index, layer in enumerate(layers)}
    return [_frame(each, list(calls.get(id(each), ())), at) for each in layers]


def _relations(message: Any) -> Iterator[Any]:
    """All relations inside a message, itself included."""
    stack = [message]
    while stack:
        each = stack.pop()
        if each.DESCRIPTOR.name == "Relation":
            yield each
        for field, value in each.ListFields():
            if field.message_type is None or field.message_type.GetOptions().map_entry:
                continue
            stack.extend([value] if hasattr(value, "DESCRIPTOR") else value)


def _frame(layer: Layer, calls: list[int], at: dict[int, int]) -> PlanFrame:
    inputs = [at[id(each)] for each in layer.inputs]
    kept = 0
    for each, below in zip(layer.columns, layer.inputs[0].columns if inputs else (), strict=False):
        if each.origin != (0, kept) or _facts(each) != _facts(below):
            break
        kept += 1
    return PlanFrame(
        layer.name, calls, inputs, [_column(each, layer) for each in layer.columns[kept:]], kept
    )


def _facts(column: LayerColumn) -> tuple[object, ...]:
    return column.name, column.type, column.nullable, column.hidden


def _column(column: LayerColumn, layer: Layer) -> PlanColumn:
    if column.origin is None:
        kind = encode_type(column.type)
        return PlanColumn(column.name, kind, column.nullable, hidden=column.hidden)
    below, at = column.origin
    source = layer.inputs[below].columns[at]
    return PlanColumn(
        "" if column.name == source.name else column.name,
        "" if column.type == source.type else encode_type(column.type),
        column.nullable,
        below,
        at,
        column.hidden,
    )
