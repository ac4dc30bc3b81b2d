"""A change: one difference between two states of a table, with what it does to readers.

The words are part of the output formats: a rule's name never changes its meaning.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal


class Impact(StrEnum):
    """What a change does to those who read the table. As it is shown, worst first."""

    BREAKING = "breaking"
    WARNING = "warning"
    INFO = "info"


@dataclass(frozen=True, slots=True)
class Reached:
    """A column that a change reaches. `kind` is that of lineage, or `rows`.

    `rows` means that the column's values are as before and the rows they stand in may not be.
    """

    model: str
    column: str
    kind: str
    side: Literal["base", "head"] = "head"


@dataclass(frozen=True, slots=True)
class Change:
    """One difference. `rule` is a key of the written rules, `column` absent for whole tables.

    `before` and `after` are what is shown of each side: a type, a name, a setting.
    """

    rule: str
    impact: Impact
    column: str | None = None
    before: str | None = None
    after: str | None = None
    detail: str = ""
    reaches: tuple[Reached, ...] = ()
