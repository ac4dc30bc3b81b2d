"""Masks and row filters bound by the compiler: of the right type, the same each time, no tables.

What is handed to Spark is what is bound here, so a mask that Spark would refuse is refused before.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from typing import Final

from rocky.analysis.classification import TagFact
from rocky.analysis.masks.expressions import HASH_ARRAYS, HASH_FUNCTIONS
from rocky.language.binder.query import bind_text
from rocky.language.datatypes.types import (
    BIGINT,
    BINARY,
    STRING,
    DataType,
    StringType,
    StructField,
    array,
)
from rocky.language.declared_functions import DeclaredFunction, FunctionParameter
from rocky.language.macros.arguments import expression_of, parse_expression
from rocky.language.syntax.parser import SyntaxProblem
from rocky.language.tables import Table
from rocky.project.configuration.clear_values import EVERYBODY
from rocky.project.configuration.config import Config
from rocky.project.configuration.masks import MaskStrategy

_SUBJECT: Final = "rocky_masked"
_HASHED: Final = {"string": STRING, "binary": BINARY, "bigint": BIGINT}


def _hash_functions() -> dict[str, DeclaredFunction]:
    found = {}
    for names, wrap in ((HASH_FUNCTIONS, False), (HASH_ARRAYS, True)):
        for kind, name in names.items():
            type_ = array(_HASHED[kind]) if wrap else _HASHED[kind]
            parameter = FunctionParameter("value", type_)
            found[name] = DeclaredFunction(name, "arrow", (parameter,), type_, deterministic=True)
    return found


class _MaskTables:
    """The one table that a mask is over. A mask reads no other and calls nobody's functions."""

    def __init__(self, *columns: StructField) -> None:
        self._table = Table(_SUBJECT, columns, (_SUBJECT,))
        self._functions = _hash_functions()

    def find(self, parts: tuple[str, ...]) -> Table | None:
        return self._table if parts == (_SUBJECT,) else None

    def undeclared(self, parts: tuple[str, ...]) -> Table | None:  # noqa: ARG002 - of the protocol
        return None

    def function(self, parts: tuple[str, ...]) -> DeclaredFunction | None:
        return self._functions.get(parts[-1]) if len(parts) == 1 else None

    def function_names(self) -> Iterable[str]:
        return self._functions

    @property
    def declares_functions(self) -> bool:
        return True

    def names(self) -> Iterable[str]:
        return ()


def check_own(strategy: MaskStrategy) -> str | None:
    """Why the text of `sql(...)` is not one expression; None when it is, and for other strategies.

    Asked before it is put among other SQL, which it must not be able to leave.
    """
    return _check_one(strategy.argument) if strategy.name == "sql" else None


def _check_one(text: str) -> str | None:
    parsed = parse_expression(text)
    if isinstance(parsed, SyntaxProblem):
        return parsed.message
    return "this is not one expression" if expression_of(parsed) is None else None


def _is_same(given: DataType, wanted: DataType) -> bool:
    """Whether a mask gives the type of its column.

    Spark computes with a CHAR or VARCHAR as a string, and a strategy knows how long its values are.
    """
    if isinstance(given, StringType) and isinstance(wanted, StringType):
        return given.collation == wanted.collation
    return given.text.lower() == wanted.text.lower()


def check_condition(text: str, columns: Sequence[StructField]) -> str | None:
    """Why a text is no condition over rows with these columns; None when it is one."""
    wrong = _check_one(text)
    if wrong is not None:
        return wrong
    bound = bind_text(f"SELECT 1 AS one FROM {_SUBJECT} WHERE (\n{text}\n)", _MaskTables(*columns))  # noqa: S608 - ours
    if bound.diagnostics:
        return bound.diagnostics[0].message
    if bound.binding is not None and bound.binding.chances:
        return "it gives another value each time"
    return None


def refuse_by_catalogue(
    config: Config, hides: Iterable[str], *, keyed: bool
) -> tuple[str, str] | None:
    """Why no catalogue can hold a mask of a column with these tags, and what would help."""
    if keyed:
        return (
            "a catalogue would have to be told the key of hashes",
            'use `sha2` or `redact`, or `enforce = "write"` in `[governance]`',
        )
    tags = config.classifications.tags
    shown = next((tag for tag in hides if tag in tags and EVERYBODY in tags[tag].clear_for), None)
    if shown is None:
        return None
    return (
        f"`clear_for` of `{shown}` has everybody in it, so a catalogue would hide nothing",
        "name roles in `clear_for`, or use `none`",
    )


def check_expression(sql: str, column: StructField) -> tuple[str, ...]:
    """What is wrong with the SQL that masks a column, in a sentence each."""
    bound = bind_text(f"SELECT {sql} AS masked FROM {_SUBJECT}", _MaskTables(column))  # noqa: S608 - ours
    if bound.diagnostics:
        return tuple(each.message for each in bound.diagnostics)
    if bound.binding is not None and (bound.binding.chances or bound.binding.volatile):
        return ("the mask gives another value each time, so equal values would not stay equal",)
    given = bound.columns[0].type
    if given.kind != "unknown" and not _is_same(given, column.type):
        return (f"the mask gives a `{given}`, and the column is a `{column.type}`",)
    return ()


def find_undecided(
    config: Config, strategies: Mapping[str, MaskStrategy], facts: Iterable[TagFact]
) -> tuple[str, MaskStrategy | None, str] | None:
    """Why it is not said which of several masks decides, by which mask, and what would help."""
    masked = [fact for fact in facts if fact.tag in strategies]
    order = config.classifications.order
    for one, other in combinations(masked, 2):
        first, second = strategies[one.tag], strategies[other.tag]
        if first == second:
            continue
        if one.field == other.field and not {one.tag, other.tag} <= {*order}:
            message = f"it has the tag `{other.tag}` too, whose mask is `{second}`"
            return message, first, "say in `order` of `[classifications]` which is higher"
        whole, part = (second, one) if not other.field else (first, other)
        if bool(one.field) != bool(other.field) and whole.name == "sql":
            message = f"its field `{part.field}` has a mask of its own, for `{part.tag}`"
            return message, whole, "use `redact`, `null` or `hash` for the whole"
    return None


def hidden_tags(
    strategies: Mapping[str, MaskStrategy], facts: Iterable[TagFact]
) -> tuple[str, ...]:
    """The tags of a column that have a mask, whichever of them decides."""
    tags = dict.fromkeys(fact.tag for fact in facts)
    return tuple(tag for tag in tags if tag in strategies and strategies[tag].name != "none")
