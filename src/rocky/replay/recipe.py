"""Recipes: how a table was made and with which settings, read back from its record.

The project's files are not asked. What cannot be read back as it was written makes a model
non-replayable, never another model. Settings that can change a row are taken from the record and no
others are; one that is different now is no reason to refuse: it is named where rows differ.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from rocky.canonical import ascii_json, text_hash
from rocky.language.datatypes.text import type_from_json
from rocky.language.datatypes.types import StructField
from rocky.ledger.provenance import LayoutRecord, ProvenanceRecord
from rocky.plan.request import NO_WINDOW, Window
from rocky.project.configuration.blocks import Adapter
from rocky.project.configuration.strategies import RECORDED_STRATEGIES, Strategy, replaces_all
from rocky.project.models import NO_IMPORTS, Imports, Target
from rocky.project.secrets import HASHED, hide
from rocky.replay.record import NotReplayable, ir_of
from rocky.run.engine.protocol import EngineFacts
from rocky.run.materialize.mask_sql import NO_MASK_SQL, MaskSql
from rocky.run.prepare.environment import result_settings
from rocky.spark.interface import Layout

_BY_NAME: Final = {each._field_defaults["type"]: each for each in RECORDED_STRATEGIES}


@dataclass(frozen=True, slots=True)
class Recipe:
    """One model as it was. `query` is None for a Python model, whose text is then `python`.

    `hash_keys` are the fingerprints of the keys that its masks hashed with.
    """

    name: str
    target: Target
    strategy: Strategy
    columns: tuple[StructField, ...]
    layout: Layout
    window: Window
    query: str | None
    python: str | None = None
    masks: MaskSql = NO_MASK_SQL
    hash_keys: frozenset[str] = frozenset()

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
    imports: Imports = NO_IMPORTS


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
            _masks(ir["materialization"]),
            _hash_keys(ir["materialization"].get("masks", {})),
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
    beside = ("layout", "masks", "input_masks")
    known = {name: value for name, value in materialization.items() if name not in beside}
    found = {
        name: tuple(value) if isinstance(value, list) else value for name, value in known.items()
    }
    strategy: Strategy = kind(**found)
    return strategy


def _masks(materialization: Mapping[str, Any]) -> MaskSql:
    documents = materialization.get("masks", {})
    above = materialization.get("input_masks", {})
    columns = {name.lower(): str(each["sql"]) for name, each in documents.items()}
    return MaskSql(columns, text_hash(ascii_json(documents)) if documents else "", above)


def _hash_keys(documents: Mapping[str, Mapping[str, str]]) -> frozenset[str]:
    return frozenset(str(each["key"]) for each in documents.values() if "key" in each)


def _column(document: Mapping[str, Any]) -> StructField:
    return StructField(document["name"], type_from_json(document["type"]), document["nullable"])


def _layout(record: LayoutRecord) -> Layout:
    found = Layout(
        record.partition_columns,
        record.canonical,
        record.pieces,
        cluster_by=record.cluster_by,
        by_files=bool(record.by_files),
        by_key=bool(record.by_key),
    )
    most = record.max_rows_per_file
    return found if most is None else replace(found, max_rows_per_file=most)


def _window(text: str | None) -> Window:
    if text is None:
        return NO_WINDOW
    values = json.loads(text)
    return Window(**{**values, "recorded": frozenset(values.get("recorded", ()))})


@dataclass(frozen=True, slots=True)
class RecordedEnvironment:
    """What a result was made with. `session` is what Spark said of itself, where it was asked."""

    spark_version: str | None = None
    writer: str | None = None
    settings: Mapping[str, str] = field(default_factory=dict)
    session: Mapping[str, str] = field(default_factory=dict)
    explicit: Mapping[str, str] = field(default_factory=dict)

    def differences(self, facts: EngineFacts) -> tuple[str, ...]:
        """How a Spark that runs now differs from it."""
        found = []
        if self.spark_version not in (None, facts.spark_version):
            found.append(f"Spark {self.spark_version} then, {facts.spark_version} now")
        if self.writer not in (None, facts.writer):
            found.append(f"files written by `{self.writer}` then, by `{facts.writer}` now")
        for name, then in sorted(self.session.items()):
            now = facts.settings.get(name)
            if now != then:
                found.append(f"`{name}` was `{then}` then and is `{now}` now")
        for name, then in sorted(self.explicit.items()):
            value = facts.explicit.get(name)
            if value is None or then not in (value, hide(value)):
                found.append(f"`{name}` is not what it was")
        return tuple(found)


def environment_of(
    record: ProvenanceRecord, session: Mapping[str, str] | None = None
) -> RecordedEnvironment:
    """The environment of a record; `session` is what the run recorded of its Spark."""
    text = record.env_canonical_json
    document: dict[str, Any] = json.loads(text) if text is not None else {}
    return RecordedEnvironment(
        document.get("spark_version"),
        document.get("writer"),
        document.get("settings", {}),
        # Of a session of the caller's only what is otherwise than in a Spark of ours is hashed.
        {**(session or {}), **document.get("session", {})},
        document.get("explicit", {}),
    )


def restore_settings(
    adapter: Adapter, env: Mapping[str, str], recorded: Mapping[str, str], root: Path = Path()
) -> tuple[Adapter, tuple[str, ...]]:
    """The adapter with the recorded settings, and those that could not be set again."""
    present = result_settings(adapter, env, root)
    conf = {name: value for name, value in adapter.conf.items() if name not in present}
    lost = []
    for name, value in sorted(recorded.items()):
        if not value.startswith(HASHED):
            conf[name] = value
        elif present.get(name) != value:
            lost.append(f"`{name}` is not what it was, and its value was not recorded")
        elif name in adapter.conf:
            conf[name] = adapter.conf[name]
    # A variable or a file; a setting of the adapter is left out.
    added = sorted(present.keys() - recorded.keys() - adapter.conf.keys())
    lost += [f"there is `{name}` now and was none then" for name in added]
    return adapter._replace(conf=conf), tuple(lost)
