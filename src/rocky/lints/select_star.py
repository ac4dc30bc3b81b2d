"""P002: a model whose output follows its inputs through a star, and that others read."""

from collections.abc import Iterator, Sequence
from typing import Final

from rocky.diagnostics import Code, Diagnostic
from rocky.diagnostics.codes import severity_of
from rocky.ir.model import ModelIr
from rocky.project.models import ModelFile

_SHOWN_READERS: Final = 3
_SHOWN_COLUMNS: Final = 12


def select_star(model: ModelFile, ir: ModelIr, readers: Sequence[str]) -> Iterator[Diagnostic]:
    """One finding a model: its last open star, with who would feel a change."""
    if not ir.stars or not readers:
        return
    shown = ", ".join(f"`{reader}`" for reader in readers[:_SHOWN_READERS])
    more = len(readers) - _SHOWN_READERS
    others = f" and {more} more" if more > 0 else ""
    yield Diagnostic(
        Code.SELECT_STAR,
        f"the columns of model `{model.name}` change whenever its inputs do,"
        f" and {shown}{others} {'read' if len(readers) > 1 else 'reads'} it",
        model.place_in_file(ir.stars[-1]),
        model.path,
        severity_of(Code.SELECT_STAR),
        help=_advice(ir),
        model=model.name,
    )


def _advice(ir: ModelIr) -> str:
    if ir.known and 0 < len(ir.columns) <= _SHOWN_COLUMNS:
        return f"list the columns: `{', '.join(column.name for column in ir.columns)}`"
    return "list the columns that readers need"
