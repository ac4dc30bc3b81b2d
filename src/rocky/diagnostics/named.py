"""Codes by the names people type: `E014`, `e014` or `duplicate-output-column`."""

from rocky.diagnostics.codes import BY_CODE, REGISTRY, CodeInfo
from rocky.diagnostics.suggest import closest

_BY_NAME = {row.name: row for row in REGISTRY}


def code_named(text: str) -> CodeInfo | None:
    """The code a text names, by code or by name, in any case."""
    return BY_CODE.get(text.upper()) or _BY_NAME.get(text.lower())


def closest_code(text: str) -> str | None:
    """The code or name nearest to a text that is neither, or None when none is near."""
    return closest(text, [*_BY_NAME, *BY_CODE])
