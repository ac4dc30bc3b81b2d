"""Lint levels: which adjustable findings a project allows, warns of or fails on.

A lint is named by its code or by its name. A finding on which Spark itself would fail is
not adjustable, and saying otherwise is reported.
"""

from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal

from rocky.diagnostics import BY_CODE, REGISTRY, Code
from rocky.diagnostics.suggest import suggestion
from rocky.project.documents import Problem
from rocky.project.rules import Problems, ReadBy
from rocky.project.shapes import INVALID, reader_for, wrong_type
from rocky.project.variables import Keys

Level = Literal["allow", "warn", "error"]

_BY_NAME: Final[dict[str, Code]] = {row.name: row.code for row in REGISTRY} | {
    row.code.value.lower(): row.code for row in REGISTRY
}

_ADJUSTABLE: Final = [
    name for row in REGISTRY if row.suppressible for name in (row.code.value, row.name)
]


def _read_levels(value: Any, at: Keys, problems: Problems) -> Any:
    if not isinstance(value, dict):
        return wrong_type('a table such as `P002 = "allow"`', value, at, problems)
    levels: dict[Code, Level] = {}
    read_level = reader_for(Level)
    for key, wanted in value.items():
        here = (*at, key)
        code = _BY_NAME.get(key.lower())
        if code is None:
            near = suggestion(key, _ADJUSTABLE)
            problems.append(Problem(here, f"`{key}` is not a lint", near, True))
            continue
        level = read_level(wanted, here, problems)
        if level is INVALID:
            continue
        if level != "error" and not BY_CODE[code].suppressible:
            problems.append(_not_adjustable(code, here))
        else:
            levels[code] = level
    return levels


def _not_adjustable(code: Code, at: Keys) -> Problem:
    return Problem(
        at,
        f"`{code}` ({BY_CODE[code].name}) is always an error",
        "only findings on which Spark would not fail have a level",
        True,
    )


NO_LEVELS: Final[Mapping[Code, Level]] = {}
LintLevels = Annotated[Mapping[Code, Level], ReadBy(_read_levels)]
