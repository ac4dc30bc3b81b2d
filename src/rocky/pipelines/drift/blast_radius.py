"""The blast radius of drift: which columns downstream a change of a copied column gets to.

A project reads a copy through a declared source: by the copy's name, or by its folder. From there
on column lineage leads.
"""

from collections.abc import Iterator, Sequence

from rocky.analysis.compilation import Compilation
from rocky.analysis.lineage import ColumnRef, Lineage
from rocky.language.datatypes.types import StructField
from rocky.project.models import Target
from rocky.project.sources import SourceTable


def find_reached_columns(
    compilation: Compilation, target: Target, column: str, folder: str | None = None
) -> tuple[str, ...]:
    """The columns that read a column of a copy, as `model.column`, sorted.

    A model whose rows the column decides (a filter, a join, a grouping) is there as `model.*`.
    `folder` is where the copy lies.
    """
    readers = list(_readers(compilation, target, folder))
    if not readers:
        return ()
    project = compilation.project
    tables = {each.name: _names(each.columns) for each in project.sources.values()}
    tables |= {each.name: _names(each.columns) for each in project.seeds.values()}
    lineage = Lineage(compilation.models, tables)
    found: set[str] = set()
    for source in readers:
        # Lineage follows names as they are declared.
        spelt = {field.name.lower(): field.name for field in source.columns}
        name = spelt.get(column.lower(), column)
        trace = lineage.trace(ColumnRef(source.name, name), "downstream")
        found.update(f"{each.table}.{each.column}" for each in trace.reached)
        found.update(f"{each.model}.*" for each in trace.influences)
    return tuple(sorted(found))


def _names(columns: Sequence[StructField]) -> list[str]:
    return [field.name for field in columns]


def _readers(compilation: Compilation, target: Target, folder: str | None) -> Iterator[SourceTable]:
    """The declared sources that are this copy."""
    names = {target.key, f"{target.schema}.{target.table}".lower()}
    root = compilation.project.root
    for source in compilation.project.sources.values():
        path = source.path
        if source.format == "table":
            if (path or source.name).replace("`", "").lower() in names:
                yield source
        elif path is not None and folder is not None:
            place = path if "://" in path else str((root / path).resolve())
            if _plain(place) == _plain(folder):
                yield source


def _plain(place: str) -> str:
    """A place without what readers spell differently."""
    for scheme in ("file://", "file:"):
        place = place.removeprefix(scheme)
    return place.replace("s3a://", "s3://").rstrip("/")
