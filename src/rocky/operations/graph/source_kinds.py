"""What tables are called that models read and do not make."""

from typing import Literal

from rocky.project import SourceTable
from rocky.project.imports import ImportedTable
from rocky.project.pipeline_tables import PipelineTable


def source_kind(source: SourceTable) -> Literal["source", "import", "table"]:
    """What a table is called that models read and do not make.

    One of another project is an import, one that a pipeline of this one writes a table.
    """
    if isinstance(source, PipelineTable):
        return "table"
    return "import" if isinstance(source, ImportedTable) else "source"
