"""Rules for values in TOML, written beside a type: `Annotated[int, AtLeast(1)]`."""

import re
from collections.abc import Callable
from typing import Annotated, Any, NamedTuple

from rocky.project.documents import Problem
from rocky.project.variables import Keys

Problems = list[Problem]
Reader = Callable[[Any, Keys, Problems], Any]


class AtLeast(NamedTuple):
    """A rule: the number may not be smaller."""

    least: float


class Between(NamedTuple):
    """A rule: the number lies between the two, ends included."""

    least: float
    most: float


class Written(NamedTuple):
    """A rule: the text matches `pattern`; `form` says how it looks, for the message."""

    pattern: re.Pattern[str]
    form: str


class Parsed(NamedTuple):
    """A rule: the value goes through `parse`, whose ValueError is the message."""

    parse: Callable[[Any], Any]


class ReadBy(NamedTuple):
    """A rule: this reader reads the value."""

    reader: Reader


class Tagged(NamedTuple):
    """A rule: the table's `type` chooses the record whose `type` field has that default.

    A bare text stands for a table with nothing but its type.
    """

    records: tuple[type, ...]
    default: str | None = None
    noun: str = "type"


NonNegative = Annotated[int, AtLeast(0)]
Positive = Annotated[int, AtLeast(1)]
Amount = Annotated[float, AtLeast(0)]
Factor = Annotated[float, AtLeast(1)]
Percent = Annotated[float, Between(0, 100)]
