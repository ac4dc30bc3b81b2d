"""Recipes: how a table was made, read back from its record. The project's files are not asked.

What cannot be read back as it was written makes a model non-replayable, never another model.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from rocky.datatypes.text import type_from_json
from rocky.datatypes.types import StructField
from rocky.ledger.provenance import LayoutRecord, ProvenanceRecord
from rocky.project.models import Target
from rocky.project.strategies import RECORDED_STRATEGIES, Strategy, replaces_all
from rocky.replay.trust import NotReplayable, ir_of
from rocky.run.build import NO_WINDOW, Window
from rocky.spark.layout import Layout

_BY_NAME: Final = {each._field_defaults["type"]: each for each in RECORDED_STRATEGIES}


@dataclass(frozen=True, slots=True)
class Recipe:
    """One model as it was. `query` is None for a Python model, whose text is then `python`."""

    name: str
    target: Target
    strategy: Strategy
    columns: tuple[StructField, ...]
    layout: Layout
    window: Window
    query: str | None
    python: str | None = None

    @property
    def keeps_rows(self) -> bool:
        """Whether the table was made from its own earlier rows as well."""
        return not replaces_all(self.strategy)


@dataclass(frozen=True, slots=True)
class RecordedFile:
    """A recorded model as a strategy sees it; `text` is that of a Python model."""

    name: str
    path: str
    strategy: Strategy
    text: str = ""


def recipe_of(record: ProvenanceRecord) -> Recipe:
    """How a table was made. Raises NotReplayable when the record does not tell."""
    ir = ir_of(record)
    if record.layout is None:
        raise NotReplayable("the record does not say how its rows were cut into files")
    try:
        return Recipe(
            record.model_name,
            parse_target(record.target),
            _strategy(ir["materialization"]),
            tuple(_column(each) for each in ir["typed_columns"]),
            _layout(record.layout),
            _window(record.window),
            record.executed_sql or None,
            None if record.executed_sql else str(ir["sql"]),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise NotReplayable(f"its record cannot be read by this version of Rocky: {error}") from (
            error
        )


def parse_target(name: str) -> Target:
    """The table of a full name. Raises ValueError for a name that has not three parts."""
    catalog, schema, table = name.split(".", 2)
    return Target(catalog, schema, table)


def _strategy(materialization: Mapping[str, Any]) -> Strategy:
    kind = _BY_NAME[materialization["type"]]
    known = {name: value for name, value in materialization.items() if name != "layout"}
    found = {
        name: tuple(value) if isinstance(value, list) else value for name, value in known.items()
    }
    strategy: Strategy = kind(**found)
    return strategy


def _column(document: Mapping[str, Any]) -> StructField:
    return StructField(document["name"], type_from_json(document["type"]), document["nullable"])


def _layout(record: LayoutRecord) -> Layout:
    found = Layout(
        record.partition_columns,
        record.canonical,
        record.pieces,
        cluster_by=record.cluster_by,
    )
    if record.max_rows_per_file is None:
        return found
    return Layout(
        found.partition_columns,
        found.canonical,
        found.pieces,
        record.max_rows_per_file,
        found.cluster_by,
    )


def _window(text: str | None) -> Window:
    if text is None:
        return NO_WINDOW
    values = json.loads(text)
    return Window(**{**values, "recorded": frozenset(values.get("recorded", ()))})
