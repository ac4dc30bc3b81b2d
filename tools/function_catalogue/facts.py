"""Facts: what Spark said about each function, before any rule is fitted to it."""

import re
from dataclasses import dataclass, field
from typing import Any

from rocky.language.datatypes.text import fields_from_json
from rocky.language.datatypes.types import DataType
from rocky.language.functions.templates import class_of
from tools.function_catalogue.analyser import Complaint
from tools.function_catalogue.probes import Probe

Cell = tuple[int, ...]
"""The classes of a call's arguments."""


@dataclass(frozen=True, slots=True)
class Observation:
    """A call Spark took, and what it gives."""

    arguments: tuple[Probe, ...]
    type: DataType
    nullable: bool


@dataclass(slots=True)
class ArityFacts:
    """What is known about calls with one number of arguments.

    `refused` holds every cell Spark did not take; `complaints` says why for some of them.
    Cells in neither were not asked about.
    """

    base: tuple[Probe, ...] = ()
    foldable: dict[int, Complaint] = field(default_factory=dict)
    observations: list[Observation] = field(default_factory=list)
    unseen: list[Observation] = field(default_factory=list)
    refused: set[Cell] = field(default_factory=set)
    complaints: dict[Cell, Complaint] = field(default_factory=dict)


@dataclass(slots=True)
class FunctionFacts:
    """What is known about one function. `expected` is Spark's text for the argument counts."""

    name: str
    kind: str
    deterministic: bool = True
    counts: frozenset[int] = frozenset()
    unbounded_from: int | None = None
    arities: dict[int, ArityFacts] = field(default_factory=dict)


def cell_of(arguments: tuple[Probe, ...]) -> Cell | None:
    """The cell of a call, or None when an argument is of no class."""
    classes = [class_of(probe.type) for probe in arguments]
    return tuple(at for at in classes if at is not None) if None not in classes else None


def observed(arguments: tuple[Probe, ...], answer: dict[str, Any]) -> Observation:
    found = fields_from_json({"fields": [answer]})[0]
    return Observation(arguments, found.type, found.nullable)


def read_counts(expected: str) -> tuple[frozenset[int], int | None]:
    """Spark's text for argument counts (`[1, 2]`, `> 0`, `2n (n > 0)`) as numbers."""
    numbers = [int(number) for number in re.findall(r"\d+", expected)]
    if expected.strip().startswith("2n"):
        return frozenset(), 2
    if expected.strip().startswith(">="):
        return frozenset(), numbers[0]
    if expected.strip().startswith(">"):
        return frozenset(), numbers[0] + 1
    return frozenset(numbers), None
