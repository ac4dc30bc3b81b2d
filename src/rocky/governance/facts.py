"""Facts: what a catalogue holds about tables, one by one, whoever said them and wherever.

A fact is known by its key. Two facts of one key with different values are a change of it. What a
fact is made with, such as the text of a mask's function, is not compared: catalogues do not give it
back as it was.
"""

from dataclasses import dataclass, field
from typing import Final, Literal, NamedTuple

Kind = Literal[
    "grant", "tag", "mask", "row_filter", "isolation", "workspace", "registration", "policy"
]
Level = Literal["catalog", "schema", "table", "column"]

FactKey = tuple[str, str, str, str, str]
CLEAR: Final = "MASK_NONE"
"""The value of a mask that hides nothing from its subject, as Ranger calls it."""
ALL_ROWS: Final = "1 = 1"
"""The value of a row filter that hides nothing from its subject."""


class Securable(NamedTuple):
    """Something that facts are about, by its full name: `shop`, `shop.marts`, `shop.marts.orders`.

    A column's is that of its table and its own.
    """

    level: Level
    name: str

    @property
    def key(self) -> tuple[str, str]:
        """As names are compared."""
        return self.level, self.name.lower()

    @property
    def parts(self) -> tuple[str, ...]:
        return tuple(self.name.split("."))


@dataclass(frozen=True, slots=True, order=True)
class Fact:
    """A grant of `name` to `subject`, a tag `name` with its `value`, a mask or a row filter.

    Masks and row filters are for a `subject`, or for everybody where it is empty, and have what the
    catalogue calls them as their `value`. A `policy` is what Rocky can show and not express.
    """

    kind: Kind
    level: Level
    on: str
    subject: str = ""
    name: str = ""
    value: str = ""
    definition: str = field(default="", compare=False)

    @property
    def key(self) -> FactKey:
        return self.kind, self.level, self.on.lower(), self.subject, self.name

    @property
    def securable(self) -> Securable:
        return Securable(self.level, self.on)

    @property
    def hides(self) -> bool:
        """Whether somebody sees less because of it: a mask or filter, but for exceptions."""
        return self.kind in ("mask", "row_filter") and self.value not in (CLEAR, ALL_ROWS)

    def __str__(self) -> str:
        """The fact in words, as people see it."""
        match self.kind:
            case "grant":
                return f"{self.name} on {self.level} {self.on} to {self.subject}"
            case "tag":
                return f"tag {self.name} = '{self.value}' on {self.level} {self.on}"
            case "mask":
                whom = f" for {self.subject}" if self.subject else ""
                return f"mask {self.value} of {self.on}{whom}"
            case "row_filter":
                whom = f" for {self.subject}" if self.subject else ""
                return f"row filter {self.value} of {self.on}{whom}"
            case "isolation":
                return f"isolation of {self.level} {self.on}"
            case "workspace":
                return f"workspace {self.name} bound to {self.level} {self.on} ({self.value})"
            case "registration":
                return f"registration of {self.on} at {self.value}"
            case "policy":
                return f"policy `{self.name}` about {self.on}"


@dataclass(frozen=True, slots=True)
class Held:
    """What a catalogue holds about what it was asked for, and what it has not got at all."""

    facts: tuple[Fact, ...]
    absent: tuple[Securable, ...] = ()
