"""Missing sources: declared places that hold no data, found without Spark and before it starts.

Only what lies in folders here, and Delta tables wherever a log can be read, can be looked at so;
the rest is Spark's to find. A finding stands at the path in the source's declaration.
"""

from collections.abc import Iterable

from rocky.diagnostics import Code, Diagnostic
from rocky.errors import SourceUnreadable
from rocky.plan.steps import Step
from rocky.project import Project
from rocky.project.pipeline_tables import PipelineTable
from rocky.project.project import lies_in_warehouse
from rocky.project.sources import SourceTable
from rocky.run.engine.sources import Sources


def find_missing_sources(
    project: Project, steps: Iterable[Step], sources: Sources
) -> dict[str, Diagnostic]:
    """The sources that steps read and that are not there, by key."""
    wanted = {read.key for step in steps for read in step.reads if read.kind == "source"}
    found: dict[str, Diagnostic] = {}
    for key in sorted(wanted & project.sources.keys()):
        source = project.sources[key]
        try:
            sources.check(source)
        except SourceUnreadable as error:
            found[key] = describe_missing(source, error)
    return found


def beyond_reach(found: dict[str, Diagnostic], project: Project) -> tuple[Diagnostic, ...]:
    """Those that no run of the project could still make: what lies in none of its warehouses."""
    return tuple(
        each
        for key, each in found.items()
        if not lies_in_warehouse(project, project.sources[key].path or "")
    )


def describe_missing(source: SourceTable, error: SourceUnreadable) -> Diagnostic:
    """A source that is not there, as a finding at its path."""
    if isinstance(source, PipelineTable):
        return Diagnostic(
            Code.LIVE_SOURCE_UNREADABLE,
            f"`{source.name}` is not there yet: pipeline `{source.pipeline}` writes it",
            None,
            source.file,
            help=f"`rocky run --pipeline {source.pipeline}` does",
        )
    return Diagnostic(
        Code.LIVE_SOURCE_UNREADABLE,
        str(error).replace(f" (declared in `{source.file}`)", "", 1),
        source.document.span_of(("source", source.index, "path")),
        source.file,
        help="put the data there, or correct the path: it begins at the project's folder",
    )
