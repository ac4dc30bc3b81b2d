"""Declared sources held against what Spark finds there now: the part of a compile that looks."""

from rocky.diagnostics import Diagnostic
from rocky.drift.declared import compare_declared
from rocky.project import Project
from rocky.project.adapter import Adapter
from rocky.run.opening import open_project_engine


def compare_live(project: Project, adapter: Adapter) -> list[Diagnostic]:
    """What is different in the live sources. Without sources Spark does not start."""
    if not project.sources:
        return []
    with open_project_engine(adapter, project.root) as engine:
        return compare_declared(project, engine.describe)
