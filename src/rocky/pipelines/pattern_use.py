"""Patterns of `[pipeline.X.classification]` that are about nothing: they guard nothing.

A run knows the tables and their columns, which a compile may not. Logs of tables that have nothing
new are only read while there is a pattern that no other table fits.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from rocky.analysis.classification.patterns import patterns_of
from rocky.diagnostics.suggestion import suggestion
from rocky.errors import StoreUnreadable
from rocky.project import Project
from rocky.project.models import Target
from rocky.store.warehouse import Table


class TableColumns(NamedTuple):
    """A table of a run, and what tells its columns; None where that cannot be known."""

    target: Target
    columns: Callable[[], Sequence[str] | None]


def stored_columns(table: Table) -> Callable[[], Sequence[str] | None]:
    """The columns of a table as the newest version has them."""

    def names() -> Sequence[str] | None:
        try:
            snapshot = table.snapshot()
        except StoreUnreadable:
            return None
        return None if snapshot is None else [each.name for each in snapshot.schema]

    return names


def unused_patterns(
    project: Project, pipeline: str, tables: Sequence[TableColumns]
) -> Iterator[str]:
    """What is to be said of patterns that fit no column of any table."""
    asked: dict[str, Sequence[str] | None] = {}
    for pattern in patterns_of(project, pipeline):
        meant = [each for each in tables if pattern.is_about(each.target.table)]
        seen: dict[str, str] = {}
        sure = True
        for each in meant:
            if each.target.key not in asked:
                asked[each.target.key] = each.columns()
            names = asked[each.target.key]
            if names is None or any(map(pattern.fits, names)):
                sure = False
                break
            seen.update({name.lower(): name for name in names})
        if sure and tables:
            said = "fits no column of any table" if meant else "names no table of the pipeline"
            known = seen.values() if meant else {each.target.table for each in tables}
            hint = suggestion(pattern.column if meant else pattern.table, known)
            more = f"; {hint}" if hint else ""
            at = f"[pipeline.{pipeline}.classification]"
            yield f"`{pattern.written}` in `{at}` {said}, and classifies nothing{more}"
