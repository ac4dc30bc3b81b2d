"""What is known of a relation before Spark is asked: its declared name and its columns."""

from rocky.compiler.compilation import Compilation
from rocky.datatypes.types import StructField
from rocky.errors import RockyError
from rocky.plan.steps import Read
from rocky.project.project import Project


def columns_of(compilation: Compilation, read: Read) -> tuple[StructField, ...]:
    """The columns that were compiled or declared. Raises RockyError for a broken model."""
    project = compilation.project
    if read.kind == "model":
        if read.key not in compilation.models:
            raise RockyError(f"model `{name_of(project, read)}` could not be compiled")
        columns = compilation.models[read.key].columns
        return tuple(StructField(each.name, each.type, each.nullable) for each in columns)
    group = project.seeds if read.kind == "seed" else project.sources
    return tuple(group[read.key].columns)


def name_of(project: Project, read: Read) -> str:
    """The name as it is declared."""
    if read.kind == "model":
        return project.models[read.key].name
    return (project.seeds if read.kind == "seed" else project.sources)[read.key].name


def parts_of(name: str) -> tuple[str, ...]:
    """A written name as names are looked up: in lower case, without backticks."""
    return tuple(part.strip("`") for part in name.lower().split("."))
