"""Surroundings: the settings a run was made with, set again, and what of them is different now.

What can change a row is taken from the record and nothing else is; how fast tasks run and how
stores are reached is today's. A difference is no reason to refuse: it is named where rows differ.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rocky.ledger.provenance import ProvenanceRecord
from rocky.project.adapter import Adapter
from rocky.run.engine import EngineFacts
from rocky.run.environment import HIDDEN, hide, result_settings


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
            if value is None or hide(value) != then:
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
        document.get("session") or session or {},
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
        if not value.startswith(HIDDEN):
            conf[name] = value
        elif present.get(name) != value:
            lost.append(f"`{name}` is not what it was, and its value was not recorded")
        elif name in adapter.conf:
            conf[name] = adapter.conf[name]
    # A variable or a file; a setting of the adapter is left out.
    added = sorted(present.keys() - recorded.keys() - adapter.conf.keys())
    lost += [f"there is `{name}` now and was none then" for name in added]
    return adapter._replace(conf=conf), tuple(lost)
