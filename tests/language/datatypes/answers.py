"""Spark's own answers, recorded: every operator over every pair of fifty types.

Each answer is an error condition, or a result type with its nullability for the operands
(not null, not null), (not null, nullable), (nullable, not null) and (nullable, nullable).
The lists are run-length coded and row-major: the left type changes slowest.
"""

import gzip
import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from rocky.language.datatypes.operators import OperandMismatch
from rocky.language.datatypes.text import type_from_json
from rocky.language.datatypes.types import NULL, DataType

BINARY = {
    **{op: f"{{l}} {op} {{r}}" for op in ("+", "-", "*", "/", "%", "&", "|", "^")},
    **{op: f"{{l}} {op} {{r}}" for op in ("<<", ">>", ">>>", "=", "<", "<=>", "||")},
    "div": "{l} DIV {r}",
    "like": "{l} LIKE {r}",
    "rlike": "{l} RLIKE {r}",
    "and": "{l} AND {r}",
    "in": "{l} IN ({r})",
    "between": "{l} BETWEEN {r} AND {r}",
    "case": "CASE WHEN b THEN {l} ELSE {r} END",
    "coalesce": "coalesce({l}, {r})",
}
"""The SQL of each recorded operator, over two columns."""

SET_OPERATIONS = {"unionall": "UNION ALL", "intersect": "INTERSECT", "except": "EXCEPT ALL"}

UNTOLD = frozenset({"INTERNAL_ERROR", "INDETERMINATE_COLLATION_IN_EXPRESSION"})
"""Answers our rules do not give: Spark's own bugs, and clashes of two columns' collations."""

NULLABILITIES = ((False, False), (False, True), (True, False), (True, True))

Answer = str | tuple[DataType, str]


@dataclass(frozen=True, slots=True)
class Column:
    """An operand; `value` is a literal's."""

    type: DataType
    nullable: bool
    value: Any = ()

    def __post_init__(self) -> None:
        if self.type is NULL:
            object.__setattr__(self, "nullable", True)


@dataclass(frozen=True, slots=True)
class Answers:
    """The recorded table; `types` are the types asked about."""

    types: list[DataType]
    table: dict[str, Any]
    known: list[DataType]
    given: list[Answer]

    def about(self, *path: str) -> list[Answer]:
        """The answers stored under a path, one for each question in order."""
        return [self.given[index] for index in self._unpacked(path)]

    def types_about(self, *path: str) -> list[DataType | None]:
        """The same for questions whose answer is a type or nothing."""
        return [self.known[index] if index >= 0 else None for index in self._unpacked(path)]

    def flags_about(self, *path: str) -> list[bool]:
        """The same for questions whose answer is yes or no."""
        return [bool(flag) for flag in self._unpacked(path)]

    def pairs(self) -> list[tuple[DataType, DataType]]:
        """Left and right types in the order of the recorded answers."""
        return [(left, right) for left in self.types for right in self.types]

    def _unpacked(self, path: tuple[str, ...]) -> list[int]:
        found: Any = self.table
        for step in path:
            found = found[step]
        return [
            value
            for value, count in zip(found[::2], found[1::2], strict=True)
            for _ in range(count)
        ]


@cache
def recorded_answers() -> Answers:
    path = Path(__file__).parent / "data" / "coercion.json.gz"
    table = json.loads(gzip.decompress(path.read_bytes()))
    known = [type_from_json(each) for each in table["types"]]
    given: list[Answer] = [
        each if isinstance(each, str) else (type_from_json(each[0]), each[1])
        for each in table["answers"]
    ]
    return Answers(known[: table["count"]], table, known, given)


def answer_of(rule: Any, left: DataType, right: DataType) -> Answer:
    """What a rule over two operands says, in the form of the recorded answers."""
    outcomes = [rule(Column(left, a), Column(right, b)) for a, b in NULLABILITIES]
    return as_answer(outcomes)


def as_answer(outcomes: list[Any]) -> Answer:
    first = outcomes[0]
    if isinstance(first, OperandMismatch):
        return first.condition
    return first[0], "".join("01"[nullable] for _, nullable in outcomes)


def disagreements(rule: Any, *path: str) -> list[tuple[str, str, Answer, Answer]]:
    """Every pair of types on which a rule and Spark differ."""
    answers = recorded_answers()
    found = []
    for (left, right), spark in zip(answers.pairs(), answers.about(*path), strict=True):
        ours = answer_of(rule, left, right)
        if ours != spark and spark not in UNTOLD:
            found.append((str(left), str(right), spark, ours))
    return found
