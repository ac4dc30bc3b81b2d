"""Inlay hints: the types of columns that a query computes, and which of them are never null."""

from typing import NamedTuple

from rocky.diagnostics.diagnostic import Span
from rocky.ide.view import OpenFile
from rocky.language.datatypes.types import UNKNOWN
from rocky.language.ir import LINEAGE_KINDS


class InlayHint(NamedTuple):
    """A text that is shown behind an offset and is no part of the file."""

    offset: int
    text: str


def inlay_hints(file: OpenFile, within: Span | None = None) -> tuple[InlayHint, ...]:
    """The types behind the aliases of computed columns.

    A column that only gets another name has the type it had: nothing is said of it.
    """
    found = []
    for name in file.names:
        use = name.use
        if use.role != "output" or use.type is None or use.type is UNKNOWN:
            continue
        copied = len(use.origins) == 1 and use.origins[0][2] == LINEAGE_KINDS[0]
        inside = within is None or within.start <= name.span.end <= within.end
        if inside and not copied:
            shown = f": {use.type}{'' if use.nullable else ' NOT NULL'}"
            found.append(InlayHint(name.span.end, shown))
    return tuple(found)
