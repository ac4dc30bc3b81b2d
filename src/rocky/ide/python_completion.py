"""Completion in Python models: columns where the code means one, of the frame that it means."""

import ast
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from rocky.ide.completion_items import CompletionItem, matching
from rocky.ide.python_arguments import use_of
from rocky.ide.python_frames import FrameColumn, FramesInText
from rocky.ide.python_tree import CursorTree, cursor_tree
from rocky.ide.repair import Word, word_at
from rocky.ide.view import OpenFile


class _Offer(NamedTuple):
    """Columns, by the words for the frame that has them."""

    columns: tuple[FrameColumn, ...]
    words: str


def complete_python(file: OpenFile, offset: int) -> tuple[CompletionItem, ...]:
    """The columns that can be named at an offset; nothing where no column is meant."""
    frames = file.view.frames(file.path)
    word = word_at(file.text, offset)
    found = cursor_tree(file.text, word.span) if frames is not None else None
    if frames is None or found is None:
        return ()
    known = FramesInText(frames, found.tree)
    return matching(_items(_offers(known, found), word, found), word.prefix)


def _items(offers: Iterable[_Offer], word: Word, found: CursorTree) -> Iterator[CompletionItem]:
    behind_dot = isinstance(found.node, ast.Attribute)
    for columns, words in offers:
        for rank, each in enumerate(columns):
            if behind_dot and not each.name.isidentifier():
                continue
            text = f"`{each.name}`" if "." in each.name else each.name
            detail = f"{each.type}{'' if each.nullable else ' NOT NULL'}"
            yield CompletionItem(each.name, "column", word.span, text, detail, words, 0, rank)


def _offers(known: FramesInText, found: CursorTree) -> Iterator[_Offer]:
    tree, node = found
    if isinstance(node, ast.Attribute):
        yield from _of(known, node.value)
        return
    use = use_of(tree, node)
    if use is None:
        return
    if isinstance(use.holder, ast.Subscript):
        yield from _of(known, use.holder.value)
        return
    for call in (use.holder, *tree.enclosing(use.holder)):
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
            continue
        sides = list(_of(known, call.func.value))
        if not sides:
            continue
        if call.func.attr == "join" and call.args:
            sides += _of(known, call.args[0])
        if use.meaning == "key" and len(sides) > 1:
            sides = [_shared(*sides[:2])]
        yield from sides
        return
    # A condition that is kept in a variable, say: any column may be meant.
    for at in known.frames.tables:
        yield _Offer(known.frames.visible(at), known.frames.frames[at].name)


def _of(known: FramesInText, node: ast.expr) -> Iterator[_Offer]:
    number = known.frame_of(node)
    if number is not None:
        words = node.id if isinstance(node, ast.Name) else known.frames.frames[number].name
        shown = words if isinstance(node, ast.Name) or not words.startswith("frame_") else ""
        yield _Offer(known.frames.visible(number), shown)


def _shared(one: _Offer, other: _Offer) -> _Offer:
    names = {each.name.lower() for each in other.columns}
    both = tuple(each for each in one.columns if each.name.lower() in names)
    return _Offer(both, f"{one.words}, {other.words}")
