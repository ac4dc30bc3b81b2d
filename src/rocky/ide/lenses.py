"""Lenses: facts about what a file defines, to be shown above it.

Only what a compilation knows: what ran, and what it cost, is for whoever has the ledger.
"""

from typing import NamedTuple

from rocky.diagnostics.diagnostic import Span
from rocky.ide.symbols import first_word
from rocky.ide.view import OpenFile


class Lens(NamedTuple):
    """Facts at a place: the model, how many read it, its tests, whether it has a contract."""

    span: Span
    model: str
    columns: int
    reads: int
    readers: int
    tests: int
    unit_tests: int
    has_contract: bool


def lenses(file: OpenFile) -> tuple[Lens, ...]:
    """The facts about the model that a file is; nothing for other files."""
    model, view = file.model, file.view
    if model is None or model.path != file.path:
        return ()
    word = first_word(file) if not model.is_python else None
    ir = view.compilation.models.get(model.key)
    return (
        Lens(
            word or Span(0, 0),
            model.name,
            len(ir.columns) if ir is not None else 0,
            len(view.upstream(model.name)),
            len(view.downstream(model.name)),
            len(model.tests),
            len(model.settings.test),
            model.key in view.project.contracts,
        ),
    )
