"""The page of a project: its index and the details of tables, from files or over a server.

Details are made when somebody looks at them: there may be ten thousand tables.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from rocky.analysis.compilation import Compilation
from rocky.operations.graph.list import list_pipelines
from rocky.operations.page.records import FORMAT, PageIndex, PagePart, TableDetails
from rocky.operations.page.runs import PastRuns, load_past
from rocky.operations.page.tables import describe_tables
from rocky.operations.workspace import Workspace, compile_workspace, known_branch
from rocky.version import __version__


@dataclass(frozen=True, slots=True)
class ProjectPage:
    """All that is shown of a project. `details` go by the places of tables in the index."""

    compilation: Compilation
    past: PastRuns
    index: PageIndex
    details: Sequence[TableDetails]

    def part(self, number: int) -> PagePart:
        """The details of the tables of one part, by their places."""
        return PagePart(
            tables={
                str(place): self.details[place]
                for place, table in enumerate(self.index.tables)
                if table.part == number
            }
        )


def load_page(workspace: Workspace) -> ProjectPage:
    """The page, also of a project with errors. Raises what compiling and the state raise."""
    workspace = known_branch(workspace)
    compilation = compile_workspace(workspace, discovered=True)
    project = compilation.project
    names = [each.name for each in project.models.values()]
    past = load_past(workspace, [*names, *(each.name for each in project.seeds.values())])
    found = describe_tables(compilation, past)
    index = PageIndex(
        format=FORMAT,
        project=project.root.resolve().name,
        branch=workspace.branch_name,
        rocky=__version__,
        parts=1 + max((each.part for each in found.tables), default=-1),
        tables=found.tables,
        pipelines=list_pipelines(compilation),
        runs=past.runs,
        findings=found.findings,
    )
    return ProjectPage(compilation, past, index, found.details)
