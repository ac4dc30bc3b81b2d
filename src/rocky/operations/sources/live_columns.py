"""Live columns: what a source has now, told by its files where they can, else by Spark.

Spark starts when it is first needed, and not at all where every source is told without it.
"""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Literal

from rocky.language.datatypes.types import StructField
from rocky.operations.workspace import Workspace
from rocky.project import Project
from rocky.project.configuration.blocks import Adapter
from rocky.project.sources import SourceTable
from rocky.run.engine.file_columns import describe_files
from rocky.run.engine.protocol import Engine
from rocky.run.prepare.session import open_announced_engine

Asked = Literal["files", "spark"]


@dataclass(slots=True)
class LiveColumns:
    """One look at some sources."""

    workspace: Workspace
    project: Project
    adapter: Adapter
    opened: ExitStack
    _engine: Engine | None = field(default=None, repr=False)

    def of(self, source: SourceTable) -> tuple[tuple[StructField, ...], Asked]:
        """The columns of a source, and who told them. Raises SourceUnreadable."""
        root = self.project.root
        told = None
        if self.workspace.spark is None:
            # A session at hand may have been told to read files otherwise.
            told = describe_files(source, self.adapter, root, self.workspace.environment)
        if told is not None:
            return told, "files"
        return self.engine().describe(source), "spark"

    def engine(self) -> Engine:
        """Spark, started if it is not up yet."""
        if self._engine is None:
            announced = open_announced_engine(
                self.project, self.adapter, self.workspace.listener, self.workspace.spark
            )
            self._engine = self.opened.enter_context(announced)
        return self._engine


@contextmanager
def open_live(workspace: Workspace, project: Project, adapter: Adapter) -> Iterator[LiveColumns]:
    """What tells live columns; Spark ends with it if it was started."""
    with ExitStack() as opened:
        yield LiveColumns(workspace, project, adapter, opened)
