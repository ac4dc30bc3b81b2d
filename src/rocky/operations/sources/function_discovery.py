"""Functions that models call, nobody declares and Spark has: looked at, and declared.

Spark knows what a function in SQL takes and gives; of code it knows that there is some.
"""

import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from rocky.analysis.compilation import Compilation
from rocky.analysis.names import undeclared_functions
from rocky.errors import InternalError
from rocky.language.declared_functions import DeclaredFunction
from rocky.operations.sources.live_columns import LiveColumns
from rocky.project import Project
from rocky.project.files import write_atomically
from rocky.project.function_declarations import declare_functions
from rocky.project.toml.variables import unescaped

_FILE: Final = "functions/catalogue.toml"


@dataclass(frozen=True, slots=True)
class DiscoveredFunction:
    """A function that nobody declares. `untold` is one of which Spark says no signature.

    `file` will declare it.
    """

    name: str
    file: str
    status: Literal["undeclared", "untold"]
    signature: str | None = None


def find_functions(compilation: Compilation, live: LiveColumns) -> list[DeclaredFunction]:
    """What Spark has of the functions that nobody declares; it starts only if there are any."""
    called = undeclared_functions(compilation.models)
    found = (live.engine().describe_function(each) for each in called)
    return [each for each in found if each is not None]


def write_functions(project: Project, functions: Sequence[DeclaredFunction]) -> Iterator[str]:
    """Declare those whose signatures are known, in the file of those of the catalogue; its path."""
    known = [each for each in functions if each.usable]
    if not known:
        return
    place = project.root / _FILE
    before = place.read_text(encoding="utf-8") if place.exists() else ""
    after = declare_functions(before, known)
    names = {unescaped(str(each["name"])) for each in tomllib.loads(after)["function"]}
    if not names >= {each.name for each in known}:
        raise InternalError(f"the functions do not fit into `{_FILE}`")
    place.parent.mkdir(exist_ok=True)
    write_atomically(place, after)
    yield _FILE


def describe_found(found: DeclaredFunction) -> DiscoveredFunction:
    """A function as a report has it."""
    if not found.usable:
        return DiscoveredFunction(found.name, _FILE, "untold")
    return DiscoveredFunction(found.name, _FILE, "undeclared", found.text)
