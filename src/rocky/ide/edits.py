"""Edits: changes of several files that belong together, and the texts that they lead to."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from rocky.analysis.compilation import Compilation
from rocky.diagnostics.diagnostic import Span
from rocky.ide.view import View


class TextEdit(NamedTuple):
    """Replace a span of a file by a text."""

    path: str
    span: Span
    text: str


class Move(NamedTuple):
    """Give a file another path."""

    old: str
    new: str


@dataclass(frozen=True, slots=True)
class EditSet:
    """One change of a project: edits of its texts as they are, then moves; files that are new."""

    edits: tuple[TextEdit, ...] = ()
    moves: tuple[Move, ...] = ()
    created: tuple[tuple[str, str], ...] = ()


class Refused(NamedTuple):
    """Why something cannot be done, for people."""

    reason: str


Check = Callable[[Mapping[str, str | None]], Compilation]
"""Compiles the project with other texts by path, None for a file that is gone; writes nothing."""


def edited_texts(view: View, change: EditSet) -> dict[str, str | None]:
    """The files that a change touches, with their new texts; None for one that is no more."""
    texts: dict[str, str | None] = {}
    for path, edits in _by_path(change.edits).items():
        texts[path] = apply_edits(view.text_of(path), edits)
    for old, new in change.moves:
        texts[new] = texts.get(old) or view.text_of(old)
        texts[old] = None
    texts |= dict(change.created)
    return texts


def apply_edits(text: str, edits: Iterable[TextEdit]) -> str:
    """A text with edits that do not overlap."""
    parts: list[str] = []
    at = 0
    for edit in sorted(set(edits), key=lambda each: each.span):
        parts += (text[at : edit.span.start], edit.text)
        at = edit.span.end
    return "".join([*parts, text[at:]])


def _by_path(edits: Iterable[TextEdit]) -> dict[str, list[TextEdit]]:
    found: dict[str, list[TextEdit]] = {}
    for each in edits:
        found.setdefault(each.path, []).append(each)
    return found
