"""Findings as a terminal or a build shows them: paths as seen from where the user stands.

Diagnostics carry project-relative paths. A terminal makes a path clickable, and GitHub
places an annotation, only if it is relative to the working folder.
"""

import os
from collections.abc import Callable, Sequence
from dataclasses import replace

from rocky.diagnostics import Diagnostic
from rocky.diagnostics.diagnostic import SourceText, in_reading_order
from rocky.diagnostics.render import render_concise, render_full, render_github
from rocky.project import Project

FORMATS = ("full", "concise", "github")


def render_findings(
    diagnostics: Sequence[Diagnostic], project: Project, style: str, *, colour: bool
) -> str:
    """The findings in one of FORMATS, in the order they are read."""
    prefix = _path_prefix(project)
    ordered = in_reading_order(diagnostics)
    moved = [_moved(each, prefix) for each in ordered] if prefix else ordered
    find = _texts(project, prefix)
    if style == "github":
        return render_github(moved, find)
    if style == "concise":
        return render_concise(moved, find, colour=colour)
    return render_full(moved, find, colour=colour)


def _path_prefix(project: Project) -> str:
    """What leads from the working folder to the project: empty, or ending in `/`."""
    relative = os.path.relpath(project.root).replace(os.sep, "/")
    return "" if relative == "." else f"{relative}/"


def _moved(diagnostic: Diagnostic, prefix: str) -> Diagnostic:
    path = f"{prefix}{diagnostic.path}" if diagnostic.path is not None else None
    labels = tuple(
        replace(label, path=f"{prefix}{label.path}") if label.path is not None else label
        for label in diagnostic.labels
    )
    return replace(diagnostic, path=path, labels=labels)


def _texts(project: Project, prefix: str) -> Callable[[str], SourceText | None]:
    def find(path: str) -> SourceText | None:
        text = project.texts.get(path.removeprefix(prefix))
        return replace(text, path=path) if text is not None and prefix else text

    return find
