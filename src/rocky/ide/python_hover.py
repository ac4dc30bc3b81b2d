"""What stands at an offset of a Python model: a column that is named, or a frame."""

import ast
from collections.abc import Iterator
from typing import NamedTuple

from rocky.diagnostics.diagnostic import Span
from rocky.ide.python_frames import FrameColumn, FramesInText
from rocky.ide.python_tree import PythonTree
from rocky.ide.python_uses import column_uses
from rocky.ide.view import OpenFile, PlacedName
from rocky.language.binder.name_uses import NameUse


class FrameAt(NamedTuple):
    """A frame, where it is named in a text, and the columns that it has there."""

    span: Span
    words: str
    columns: tuple[FrameColumn, ...]


def python_name(file: OpenFile, offset: int) -> PlacedName | None:
    """The name of a column at an offset, as names of queries are."""
    frames = file.view.frames(file.path)
    if frames is None:
        return None
    known = FramesInText(frames, PythonTree(file.text))
    for use in column_uses(file.view, frames):
        span = known.shifted(use.span)
        if span is not None and span.start <= offset <= span.end:
            said = NameUse(span, "column", use.name, use.type, use.nullable, origins=use.origins)
            return PlacedName(span, said, None)
    return None


def frame_at(file: OpenFile, offset: int) -> FrameAt | None:
    """The frame that a variable or the call of a method at an offset is."""
    frames = file.view.frames(file.path)
    tree = PythonTree(file.text)
    if frames is None or tree.module is None:
        return None
    known = FramesInText(frames, tree)
    for span, node in _names(tree):
        if span.start <= offset <= span.end:
            number = known.frame_of(node)
            if number is not None:
                words = file.text[span.start : span.end]
                return FrameAt(span, words, frames.visible(number))
    return None


def _names(tree: PythonTree) -> Iterator[tuple[Span, ast.expr]]:
    """Variables, and calls of methods at the names of these."""
    for node in tree.parents:
        if isinstance(node, ast.Name):
            yield tree.span(node), node
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            yield tree.attribute(node.func), node
