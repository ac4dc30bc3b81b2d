"""The doctor's check of sources: what is declared with a path is there, as far as can be seen.

What lies in a warehouse of the project may be made by a run that comes first, so it may be absent.
"""

from rocky.diagnostics.diagnostic import format_place
from rocky.errors import SourceUnreadable
from rocky.operations.health.health_checks import Diagnosis, Health, Subject, critical, worst_of
from rocky.plan.adapters import main_adapter
from rocky.project import Project
from rocky.project.collisions import declared_sources
from rocky.project.project import lies_in_warehouse
from rocky.project.sources import SourceTable
from rocky.run.engine.sources import Sources
from rocky.run.prepare.missing_sources import describe_missing


def check_sources(subject: Subject) -> Diagnosis:
    """Every declared source that is a file or a folder is there."""
    project = subject.require_project()
    placed = [
        each
        for each in declared_sources(project.sources).values()
        if each.path is not None and not lies_in_warehouse(project, each.path)
    ]
    sources = Sources(project.root, main_adapter(project, None)[1].conf)
    found = [each for source in placed if (each := _check_source(project, source, sources))]
    are = "1 source with a path is" if len(placed) == 1 else f"{len(placed)} sources with paths are"
    well = f"{are} there" if placed else "no source has a path"
    return worst_of(found, well) if found else Diagnosis(Health.HEALTHY, well)


def _check_source(project: Project, source: SourceTable, sources: Sources) -> Diagnosis | None:
    try:
        sources.check(source)
    except SourceUnreadable as error:
        missing = describe_missing(source, error)
        path = missing.path or ""
        place = format_place(path, project.texts[path], missing.span)
        return critical(f"{missing.message} (`{place}`)", missing.help or "")
    return None
