"""Findings as a terminal or a build shows them: paths as seen from where the user stands.

Diagnostics carry project-relative paths. A terminal makes a path clickable, and GitHub
places an annotation, only if it is relative to the working folder.
"""

import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Protocol

from rocky.diagnostics import Code, Diagnostic, Severity
from rocky.diagnostics.diagnostic import SourceText, Texts, in_reading_order, lookup
from rocky.diagnostics.render import render_concise, render_full, render_github

FORMATS = ("full", "concise", "github")
_MOST_STARS = 3


class Rooted(Protocol):
    """Files whose paths begin in one folder: a project, or others."""

    @property
    def root(self) -> Path: ...

    @property
    def texts(self) -> Texts: ...


def render_findings(
    diagnostics: Sequence[Diagnostic], project: Rooted, style: str, *, colour: bool
) -> str:
    """The findings in one of FORMATS, in the order they are read."""
    if style == "github":
        return render_annotations(diagnostics, project.root, project.texts)
    if style == "concise":
        moved, find = _seen_from_here(diagnostics, project.root, project.texts)
        return render_concise(moved, find, colour=colour)
    moved, find = _seen_from_here(_with_stars_counted(diagnostics), project.root, project.texts)
    return render_full(moved, find, colour=colour)


def _with_stars_counted(diagnostics: Sequence[Diagnostic]) -> Sequence[Diagnostic]:
    """The findings with many warnings of stars as a single one.

    A project that moves in has one for nearly every model, and what matters would drown in them.
    """
    stars = [
        each
        for each in diagnostics
        if each.code is Code.SELECT_STAR and each.severity is Severity.WARNING
    ]
    if len(stars) <= _MOST_STARS:
        return diagnostics
    names = ", ".join(f"`{each.model}`" for each in stars[:_MOST_STARS])
    counted = Diagnostic(
        Code.SELECT_STAR,
        f"{len(stars)} models end in `SELECT *` and have readers, so their columns change whenever"
        f" their inputs do: {names} and {len(stars) - _MOST_STARS} more",
        None,
        severity=Severity.WARNING,
        help="`rocky compile --format concise` lists them all, `rocky compile --model NAME` one"
        ' with the columns to write; `P002 = "allow"` in `[lints]` of `rocky.toml` asks for none',
    )
    return [*(each for each in diagnostics if each not in stars), counted]


def render_annotations(diagnostics: Sequence[Diagnostic], root: Path, texts: Texts) -> str:
    """A workflow command for each finding in the files of a project, a line each."""
    return render_github(*_seen_from_here(diagnostics, root, texts))


def _seen_from_here(
    diagnostics: Sequence[Diagnostic], root: Path, texts: Texts
) -> tuple[Sequence[Diagnostic], Texts]:
    prefix = _path_prefix(root)
    ordered = in_reading_order(diagnostics)
    if not prefix:
        return ordered, texts
    return [_moved(each, prefix) for each in ordered], _moved_texts(lookup(texts), prefix)


def _path_prefix(root: Path) -> str:
    """What leads from the working folder to the project: empty, or ending in `/`."""
    relative = os.path.relpath(root).replace(os.sep, "/")
    return "" if relative == "." else f"{relative}/"


def _moved(diagnostic: Diagnostic, prefix: str) -> Diagnostic:
    path = f"{prefix}{diagnostic.path}" if diagnostic.path is not None else None
    labels = tuple(
        replace(label, path=f"{prefix}{label.path}") if label.path is not None else label
        for label in diagnostic.labels
    )
    return replace(diagnostic, path=path, labels=labels)


def _moved_texts(
    texts: Callable[[str], SourceText | None], prefix: str
) -> Callable[[str], SourceText | None]:
    def find(path: str) -> SourceText | None:
        text = texts(path.removeprefix(prefix))
        return replace(text, path=path) if text is not None else None

    return find
