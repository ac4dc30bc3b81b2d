"""Functions as editors show them: Spark's own, those that the project declares, and its macros.

What a built-in function takes and gives is asked of the binder, with values of common types: the
same rules that judge a query, so nothing is said here that a compile would refuse.
"""

import re
from collections.abc import Iterator
from functools import cache
from importlib.util import find_spec
from itertools import product
from pathlib import Path
from typing import Final, NamedTuple

from rocky.diagnostics import Severity
from rocky.ide.view import View
from rocky.language.binder.query import bind_text
from rocky.language.declared_functions import DeclaredFunction
from rocky.language.functions.catalogue import FunctionInfo, all_names, find_function
from rocky.language.functions.generators import GENERATORS
from rocky.language.functions.special import SPECIAL_KINDS
from rocky.language.macros.declaration import Declaration
from rocky.language.tables import tables_by_name

_SAMPLES: Final = (
    "int", "decimal(10,2)", "double", "string", "date", "timestamp", "boolean",
    "array<int>", "map<string,int>", "binary",
)  # fmt: skip
_FEW: Final = ("int", "double", "string", "date", "array<int>")
"""What is tried where there are several arguments: the number of calls grows with each."""
_MOST_ARGUMENTS: Final = 3
_MOST_SHOWN: Final = 5
_NO_TABLES: Final = tables_by_name({})


class Parameter(NamedTuple):
    """A parameter as it is shown, with what else is said of it."""

    text: str
    optional: bool = False


class FunctionSignature(NamedTuple):
    """One way to call a function."""

    name: str
    parameters: tuple[Parameter, ...]
    returns: str | None = None

    @property
    def text(self) -> str:
        listed = ", ".join(each.text for each in self.parameters)
        gives = f" -> {self.returns}" if self.returns is not None else ""
        return f"{self.name}({listed}){gives}"


class FunctionCard(NamedTuple):
    """What there is to say of a function. `kind` is the part it plays, as `aggregate`."""

    name: str
    kind: str
    signatures: tuple[FunctionSignature, ...]
    description: str | None = None
    owner: str | None = None


def find_card(view: View, name: str) -> FunctionCard | None:
    """The function of a name, in any case: a declared one before Spark's own."""
    key = name.lower()
    declared = view.project.functions.get(key)
    if declared is not None:
        kind = f"{declared.signature.kind} function"
        shown = (_declared(declared.signature),)
        return FunctionCard(declared.name, kind, shown, declared.description, declared.owner)
    kind = kind_of(key)
    return FunctionCard(key, kind, built_in(key), spark_meaning(key)) if kind else None


def macro_card(view: View, name: str) -> FunctionCard | None:
    """The macro of a name."""
    macro = view.project.macros.get(name.lower())
    if macro is None:
        return None
    said = macro.declaration
    return FunctionCard(said.name, "macro", (_macro(said),), said.comment)


def kind_of(key: str) -> str:
    """What a built-in function is, in a word; empty for none."""
    if key in GENERATORS:
        return "generator"
    info = find_function(key)
    return SPECIAL_KINDS.get(key) or (info.kind if info is not None else "")


@cache
def function_names() -> tuple[str, ...]:
    """The names of all functions that Spark has, without operators."""
    names = {*all_names(), *SPECIAL_KINDS, *GENERATORS}
    return tuple(sorted(name for name in names if name.replace("_", "a").isalnum()))


_DOCUMENTED: Final = r'^def {}\((?:(?!^def |""").)*?:\n    r?"""\s*(.*?)\s*(?:\n\s*\n|""")'

_MARKUP: Final = re.compile(r"(?::\w+:)?`+~?(?:[\w.]*\.)?([^`]*)`+")


@cache
def spark_meaning(key: str) -> str | None:
    """What the installed Spark says of a function of its own, in a sentence; None if nothing.

    The file is searched and not imported: PySpark takes half a second to load.
    """
    found = re.search(
        _DOCUMENTED.format(re.escape(key)), _spark_functions(), re.DOTALL | re.MULTILINE
    )
    return " ".join(_MARKUP.sub(r"`\1`", found[1]).split()) if found else None


@cache
def _spark_functions() -> str:
    spark = find_spec("pyspark")
    if spark is None or not spark.submodule_search_locations:
        return ""
    file = Path(spark.submodule_search_locations[0], "sql", "functions", "builtin.py")
    try:
        return file.read_text(encoding="utf-8")
    except OSError:
        # A Spark that is laid out in another way tells nothing here; a query is none the worse.
        return ""


def _declared(function: DeclaredFunction) -> FunctionSignature:
    parameters = tuple(
        Parameter(f"{each.name} {each.type}", each.may_be_left_out) for each in function.parameters
    )
    if function.columns is not None:
        returns = f"table({', '.join(f'{each.name} {each.type}' for each in function.columns)})"
        return FunctionSignature(function.name, parameters, returns)
    returned = str(function.returns) if function.returns is not None else None
    return FunctionSignature(function.name, parameters, returned)


def _macro(said: Declaration) -> FunctionSignature:
    parameters = tuple(
        Parameter(f"{each.name} {each.kind.upper()}", each.default is not None)
        for each in said.parameters
    )
    return FunctionSignature(f"@{said.name}", parameters)


@cache
def built_in(key: str) -> tuple[FunctionSignature, ...]:
    """The ways to call a built-in function, each with values of common types."""
    found: list[FunctionSignature] = []
    for count in _counts(find_function(key)):
        found += _accepted(key, count)
    return tuple(found)


def _counts(info: FunctionInfo | None) -> Iterator[int]:
    arities = info.arities if info is not None else frozenset(range(_MOST_ARGUMENTS + 1))
    if isinstance(arities, tuple):
        yield from (arities[0], arities[0] + 1)
    else:
        yield from sorted(arities)[:4]


def _accepted(key: str, count: int) -> Iterator[FunctionSignature]:
    """One call for each type that a function gives, with the arguments that read best."""
    if count > _MOST_ARGUMENTS:
        yield FunctionSignature(key, (Parameter("..."),) * count)
        return
    tried = _SAMPLES if count == 1 else _FEW if count < _MOST_ARGUMENTS else _FEW[:3]
    best: dict[str, tuple[str, ...]] = {}
    # Arguments of one type first; of these, such as the call gives: Spark casts nearly anything.
    for types in sorted(product(tried, repeat=count), key=lambda types: len(set(types))):
        given = _type_of(key, types)
        if given is not None and types.count(given) > best.get(given, ()).count(given):
            best[given] = types
        elif given is not None:
            best.setdefault(given, types)
    for given, types in list(best.items())[:_MOST_SHOWN]:
        yield FunctionSignature(key, tuple(Parameter(each) for each in types), given)


def _type_of(key: str, types: tuple[str, ...]) -> str | None:
    """What a call gives; None for one that is refused."""
    arguments = ", ".join(f"CAST(NULL AS {each})" for each in types)
    over = " OVER (ORDER BY 1)" if kind_of(key) == "window" else ""
    bound = bind_text(f"SELECT {key}({arguments}){over}", _NO_TABLES)
    refused = any(each.severity is Severity.ERROR for each in bound.diagnostics)
    if refused or len(bound.columns) == 0:
        return None
    if len(bound.columns) > 1:
        return f"table({', '.join(f'{each.name} {each.type}' for each in bound.columns)})"
    return str(bound.columns[0].type)
