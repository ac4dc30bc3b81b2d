"""Which model of the head is which of the base: by name, and then by what they are.

A model that is gone and one that is new are the same under another name when their queries,
columns and strategies are equal and no other model is equal to either.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from rocky.compiler.records import unpack_body
from rocky.diff.sides import Side


@dataclass(frozen=True, slots=True)
class Matching:
    """Models by key. `renamed` leads from keys of the base to those of the head."""

    common: tuple[str, ...]
    renamed: dict[str, str]
    removed: tuple[str, ...]
    added: tuple[str, ...]


def match_models(base: Side, head: Side) -> Matching:
    """Every model of both sides, once."""
    old, new = base.project.models, head.project.models
    gone = [key for key in old if key not in new]
    come = [key for key in new if key not in old]
    renamed = _renamed(base, gone, head, come) if gone and come else {}
    arrived = set(renamed.values())
    return Matching(
        tuple(key for key in new if key in old),
        renamed,
        tuple(key for key in gone if key not in renamed),
        tuple(key for key in come if key not in arrived),
    )


def _renamed(base: Side, gone: Iterable[str], head: Side, come: Iterable[str]) -> dict[str, str]:
    before, after = _by_identity(base, gone), _by_identity(head, come)
    return {
        keys[0]: after[identity][0]
        for identity, keys in before.items()
        if len(keys) == 1 and len(after.get(identity, ())) == 1
    }


def _by_identity(side: Side, keys: Iterable[str]) -> dict[Any, list[str]]:
    found: dict[Any, list[str]] = {}
    for key in keys:
        if key in side.compilation.models:
            record, model = side.record(key), side.model(key)
            identity = (unpack_body(record).normal, record.schema, model.strategy, model.is_python)
            found.setdefault(identity, []).append(key)
    return found
