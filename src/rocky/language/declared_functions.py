"""Declared functions: what a project says of functions that Spark does not ship.

A declaration is believed as a source's columns are: types and nullability of what code gives cannot
be worked out. Of a SQL function they are, from its body, at each call. Names are compared without
case; only a function of a catalogue has a name of several parts.
"""

from dataclasses import dataclass, field
from typing import Any, Final, Literal

from rocky.diagnostics.diagnostic import Label, Span
from rocky.language.datatypes.types import DataType, StructField

FunctionKind = Literal["sql", "python", "pandas", "arrow", "java", "catalog"]
CODE_KINDS: Final = frozenset({"python", "pandas", "arrow"})
"""Kinds whose code is a Python module of the project."""


@dataclass(frozen=True, slots=True)
class FunctionParameter:
    """A parameter. `default` is SQL; `optional` when a call may leave it to code."""

    name: str
    type: DataType
    default: str | None = None
    optional: bool = False

    @property
    def may_be_left_out(self) -> bool:
        return self.optional or self.default is not None


@dataclass(frozen=True, slots=True)
class DeclaredFunction:
    """One function as the binder sees it.

    `columns` are those of a function that gives rows, empty where its body decides them; None for
    one that gives a value. `returns` is None for a SQL function whose body decides. `deterministic`
    is None where nobody says. `digest` changes with whatever can change a result, functions that
    the body calls included; `doubt` is why it may not. One that is not `usable` was reported, and
    its callers are not told again. `bodies` remembers what binding the body gave.
    """

    name: str
    kind: FunctionKind
    parameters: tuple[FunctionParameter, ...] = ()
    returns: DataType | None = None
    columns: tuple[StructField, ...] | None = None
    nullable: bool = True
    deterministic: bool | None = None
    aggregate: bool = False
    body: str | None = None
    digest: bytes = b""
    doubt: str | None = None
    usable: bool = True
    path: str = ""
    place: Span | None = None
    bodies: dict[Any, Any] = field(default_factory=dict, repr=False, compare=False)

    @property
    def gives_rows(self) -> bool:
        return self.columns is not None

    @property
    def call_kind(self) -> str:
        """The part it plays in a query, in the words of the function catalogue."""
        return "aggregate" if self.aggregate else "scalar"

    @property
    def text(self) -> str:
        """What a call looks like and gives, for people: `net(amount decimal(12,2)) -> string`."""
        parameters = ", ".join(
            f"{each.name} {each.type}{' = ...' if each.may_be_left_out else ''}"
            for each in self.parameters
        )
        if self.columns is not None:
            columns = ", ".join(f"{each.name} {each.type}" for each in self.columns)
            return f"{self.name}({parameters}) -> table({columns})"
        gives = f" -> {self.returns}" if self.returns is not None else ""
        return f"{self.name}({parameters}){gives}"

    def declared_here(self, message: str) -> tuple[Label, ...]:
        """A label on its declaration."""
        return (Label(self.place, message, self.path),) if self.path else ()


UNDECLARED: Final = DeclaredFunction("", "catalog")
"""Stands for any function that nobody declares, where that is no error."""
