"""Calls of special functions with Spark's own answers, read from `special_cases.json`.

Operands are written as SQL: column names are columns of an empty table whose types stand in
the file, everything else is a literal. `!` after a part of a type means it is never null.
"""

import json
from collections.abc import Callable
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any

from rocky.language.datatypes import types as t
from rocky.language.datatypes.text import type_from_json
from rocky.language.functions.operand import NO_VALUE, Operand, Refusal


@cache
def load_cases() -> dict[str, Any]:
    return json.loads(Path(__file__).with_name("special_cases.json").read_text())


@cache
def operand(text: str) -> Operand:
    stored = load_cases()["operands"][text]
    value = stored.get("value", NO_VALUE)
    if isinstance(value, dict):
        value = Decimal(value["decimal"])
    return Operand(
        type_from_json(stored["type"]),
        stored["nullable"],
        value,
        stored.get("constant", False),
        stored.get("name"),
    )


def spell(found: t.DataType) -> str:
    """A type with the nullability of its parts."""
    if isinstance(found, t.ArrayType):
        return f"array<{spell(found.element)}{_mark(found.contains_null)}>"
    if isinstance(found, t.MapType):
        return f"map<{spell(found.key)},{spell(found.value)}{_mark(found.contains_null)}>"
    if isinstance(found, t.StructType):
        fields = (f"{f.name}:{spell(f.type)}{_mark(f.nullable)}" for f in found.fields)
        return f"struct<{','.join(fields)}>"
    return found.text


def _mark(nullable: bool) -> str:
    return "" if nullable else " !"


def ask(rule: Callable[..., Any], *args: Any) -> Any:
    """What a rule answers, or the refusal it raises."""
    try:
        return rule(*args)
    except Refusal as refusal:
        return refusal


def answer(outcome: tuple[t.DataType, bool] | Refusal) -> str:
    if isinstance(outcome, Refusal):
        return f"refused {outcome.condition}"
    return spell(outcome[0]) + ("" if outcome[1] else " not null")
