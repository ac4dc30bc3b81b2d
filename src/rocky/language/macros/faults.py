"""Faults: what is wrong with a macro or with a call of one, and where."""

from typing import NamedTuple

from rocky.diagnostics.codes import Code
from rocky.diagnostics.diagnostic import Label
from rocky.language.macros.pieces import Place


class MacroFault(NamedTuple):
    """A mistake; the first of its places is where people look first, the others are in macros."""

    code: Code
    message: str
    places: tuple[Place, ...]
    help: str | None = None
    labels: tuple[Label, ...] = ()
