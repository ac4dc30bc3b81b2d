"""Cycles among models, reported once each with their path."""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from rocky.diagnostics import Code, Diagnostic, Label
from rocky.project import ModelFile, Project
from rocky.source import Span


def report_cycles(project: Project, cycles: Sequence[Sequence[str]]) -> Iterator[Diagnostic]:
    """One diagnostic a cycle, at the first model's reference, with a label at each other's."""
    for cycle in cycles:
        path = [project.models[key] for key in cycle]
        names = " -> ".join(f"`{model.name}`" for model in path)
        first, second = path[0], path[1]
        labels = tuple(
            Label(_reference(reader, read), f"`{reader.name}` reads `{read.name}`", reader.path)
            for reader, read in pairwise(path[1:])
        )
        yield Diagnostic(
            Code.DEPENDENCY_CYCLE,
            f"models read each other in a circle: {names}"
            if len(path) > 2
            else f"model `{first.name}` reads itself",
            _reference(first, second),
            first.path,
            labels=labels,
            help="break the circle: move the shared part into a model both can read",
            model=first.name,
        )


def _reference(reader: ModelFile, read: ModelFile) -> Span:
    """Where a model's SQL names another."""
    for name in (read.name, read.target.table):
        match = re.search(rf"(?i)(?<![\w.]){re.escape(name)}(?!\w)", reader.sql)
        if match is not None:
            return reader.place_in_file(Span(match.start(), match.end()))
    return reader.place_in_file(Span(0, min(1, len(reader.sql))))
