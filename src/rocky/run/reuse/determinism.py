"""Determinism: whether a model makes an equal table from equal inputs, each time it is built.

A query that stands for a table is part of the SQL of whoever reads it, so what is uncertain about
it is uncertain about them. A table that was made by chance is not: its rows are what they are.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

from rocky.language.ir import is_deterministic
from rocky.plan.steps import RunPlan, reads_of
from rocky.project import ModelFile
from rocky.project.configuration.strategies import Append, Microbatch, TimeInterval, is_inline


def is_repeatable(plan: RunPlan, key: str) -> bool:
    """Whether equal inputs make an equal table: not where the clock or chance has a say."""
    return find_nondeterminism(plan, key) is None


def find_nondeterminism(plan: RunPlan, key: str) -> str | None:
    """Why a model may come out differently each time; None when it does not."""
    model = plan.project.models[key]
    if isinstance(model.strategy, TimeInterval | Microbatch):
        return "its intervals depend on the time"
    if isinstance(model.strategy, Append):
        return "it adds files that were not loaded before"
    skip = model.settings.skip
    if skip is not None and skip.eligible is False:
        return "its settings say that it is not to be skipped"
    for each, reasons in _determinism(plan, key):
        through = "" if each == key else f", through `{plan.project.models[each].name}`"
        said = plan.project.models[each].settings.skip
        if said is not None and said.deterministic is False:
            return f"not deterministic (its settings say so{through})"
        if not is_deterministic(reasons):
            first = next(reason for reason in reasons if not reason.startswith("float:"))
            return f"not deterministic ({first}{through})"
    module = _unseen_module(model, plan.project.root)
    return f"changes of the module `{module}`, which it imports, are not seen" if module else None


def _unseen_module(model: ModelFile, root: Path) -> str | None:
    """A module of the project that a Python model imports: its text is in no fingerprint."""
    if not model.is_python:
        return None
    folders = {root, *(root / model.path).parents} - {*root.parents}
    for node in ast.walk(ast.parse(model.text)):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [each.name for each in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [node.module or "."]
        for name in names:
            first = name.partition(".")[0]
            if not first or any(
                (folder / f"{first}.py").exists() or (folder / first).is_dir() for folder in folders
            ):
                return name
    return None


def _determinism(plan: RunPlan, key: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """A model and the queries it reads, each with the reasons against it."""
    models = plan.project.models
    waiting, seen = [key], {key}
    while waiting:
        each = waiting.pop()
        yield each, plan.compilation.models.record(each).determinism
        for read in reads_of(plan.compilation, models[each]):
            if read.kind == "model" and read.key not in seen:
                seen.add(read.key)
                if is_inline(models[read.key].strategy):
                    waiting.append(read.key)
