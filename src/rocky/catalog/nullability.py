"""Null rules: when the result of a call may be null.

A rule is JSON: true and false are constants; a list of atoms holds when any of them does
(`["n0", "c1"]`: argument 0 is nullable, or argument 1 contains nulls); `{"all": [...]}` needs
every one. A cast Spark adds by itself can make a result nullable: the rule of such argument
types is then simply true.
"""

from collections.abc import Callable
from typing import Any

from rocky.catalog.templates import Flags, Types, build_bit

NullRule = Callable[[Types, Flags], bool]


def build_null_rule(rule: Any) -> NullRule:
    """The function that tells whether a rule holds for a call."""
    if isinstance(rule, dict):
        positions = [int(atom[1:]) for atom in rule["all"]]
        return lambda _types, flags: all(flags[at] for at in positions)
    return build_bit(rule)
