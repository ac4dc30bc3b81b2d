"""Folding: the parts of a file that can be shown as one line."""

from collections.abc import Iterator
from itertools import pairwise
from typing import Literal, NamedTuple

from rocky.diagnostics.diagnostic import Span
from rocky.ide.toml_keys import toml_part
from rocky.ide.view import OpenFile
from rocky.language.quotes import find_quotes, only_code
from rocky.project.toml.parser import locate_keys


class Fold(NamedTuple):
    """A part of several lines, from where it opens to where it ends."""

    span: Span
    kind: Literal["region", "comment", "settings"] = "region"


def folds(file: OpenFile) -> tuple[Fold, ...]:
    """Parentheses, comments, front matter and tables of several lines, in order."""
    found = [*_in_toml(file)]
    if file.kind not in ("toml", "seed", "other", "python"):
        found += _in_code(file)
    text = file.text
    many = (each for each in found if "\n" in text[each.span.start : each.span.end].rstrip())
    return tuple(sorted(dict.fromkeys(many)))


def _in_code(file: OpenFile) -> Iterator[Fold]:
    start = file.sql_start
    body = file.text[start:]
    opened: list[int] = []
    for at, mark in enumerate(only_code(body)):
        if mark in "({":
            opened.append(at)
        elif mark in ")}" and opened:
            yield Fold(Span(start + opened.pop() + 1, start + at))
    run: Span | None = None
    for kind, span in find_quotes(body):
        if kind != "comment":
            continue
        # Comments that follow each other line by line are one.
        if run is not None and not body[run.end : span.start].strip():
            run = Span(run.start, span.end)
        else:
            yield from _comment(run, start)
            run = span
    yield from _comment(run, start)


def _comment(span: Span | None, start: int) -> Iterator[Fold]:
    if span is not None:
        yield Fold(Span(start + span.start, start + span.end), "comment")


def _in_toml(file: OpenFile) -> Iterator[Fold]:
    part = toml_part(file)
    if part is None:
        return
    if part.start:
        yield Fold(Span(part.start, part.start + len(part.text)), "settings")
    starts = {
        place.value.start
        for place in locate_keys(part.text).values()
        if part.text[place.value.start : place.value.start + 1] == "["
        and place.key.start > place.value.start
        and not part.text[
            part.text.rfind("\n", 0, place.value.start) + 1 : place.value.start
        ].strip()
    }
    for at, following in pairwise([*sorted(starts), len(part.text)]):
        end = at + len(part.text[at:following].rstrip())
        yield Fold(Span(part.start + at, part.start + end))
