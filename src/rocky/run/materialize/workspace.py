"""Workspace: the views of one build, and what its strategy does with them.

All views begin with the build's own prefix, so that builds in one session do not meet, and all are
gone when the workspace is closed. The model's rows are the view `source`: Spark evaluates it again
each time it is read, unless it is kept.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rocky.datatypes.types import StructField
from rocky.run.build import Build
from rocky.run.engine import Frame, Written
from rocky.run.materialize.columns import agree_columns
from rocky.run.materialize.expressions import column_list, quote_name
from rocky.run.materialize.starting_point import StartingPoint
from rocky.spark.layout import Layout
from rocky.store.files import DataFile


class Workspace:
    """The views of one build. Use `open_workspace`."""

    def __init__(self, build: Build) -> None:
        self.build = build
        self.source = f"{build.view}_source"
        self.columns: tuple[StructField, ...] = ()
        self._engine = build.engine
        self._bound: list[str] = []

    @property
    def names(self) -> tuple[str, ...]:
        """The columns of the source, in order."""
        return tuple(column.name for column in self.columns)

    def column(self, name: str) -> StructField:
        """The column of the source that a setting means; the compiler has seen that it exists."""
        key = name.lower()
        return next(each for each in self.columns if each.name.lower() == key)

    def bind_source(self, query: str | None) -> None:
        """The model's rows as the view `source`, with the columns that were compiled."""
        frame = self._author_frame(query)
        agreed = agree_columns(self.build, self._engine.columns(frame))
        self.columns = tuple(field for _, field in agreed)
        if any(written != field.name for written, field in agreed):
            raw = self._bind(f"{self.build.view}_author", frame)
            renamed = ", ".join(
                f"{quote_name(written)} AS {quote_name(field.name)}" for written, field in agreed
            )
            frame = self._engine.frame(f"SELECT {renamed} FROM {raw}")
        self._bind(self.source, frame)

    def bind_sql(self, name: str, sql: str) -> str:
        """A view over a query."""
        return self._bind(f"{self.build.view}_{name}", self._engine.frame(sql))

    def bind_files(self, name: str, base: StartingPoint, files: Sequence[DataFile]) -> str:
        """A view over some files of the table, with the columns it will have."""
        view = f"{self.build.view}_{name}"
        self._engine.views.bind_table(view, self.build.table, base.seen_as(files))
        self._bound.append(view)
        return view

    def keep(self, view: str) -> None:
        """Evaluate a view only once: its rows are kept from the first time it is read.

        What does not fit into memory goes to disk. Dropping the view forgets them.
        """
        self._engine.frame(f"CACHE LAZY TABLE {view}")

    def ask(self, sql: str, limit: int = 1) -> list[tuple[Any, ...]]:
        """The first rows of a query."""
        return self._engine.rows(self._engine.frame(sql), limit)

    def write(
        self, sql: str, schema: tuple[StructField, ...], layout: Layout, taken: frozenset[str]
    ) -> Written:
        """Write the rows of a query as files of the table, not yet committed."""
        frame = self._engine.frame(sql)
        return self._engine.write(frame, self.build.table, layout, schema, taken)

    def rows_hash(self, view: str, names: Sequence[str]) -> str:
        """The hash of a view's rows, its columns in the order of `names`."""
        frame = self._engine.frame(f"SELECT {column_list(names)} FROM {view}")
        return self._engine.rows_hash(frame)

    def close(self) -> None:
        self._engine.views.unbind(self._bound)

    def _author_frame(self, query: str | None) -> Frame:
        build = self.build
        if query is not None:
            return self._engine.frame(query)
        model = build.model
        return self._engine.python_frame(Path(model.path), model.text, build.python_inputs or {})

    def _bind(self, view: str, frame: Frame) -> str:
        self._engine.views.bind_frame(view, frame)
        self._bound.append(view)
        return view


@contextmanager
def open_workspace(build: Build) -> Iterator[Workspace]:
    """A workspace whose views are gone afterwards."""
    workspace = Workspace(build)
    try:
        yield workspace
    finally:
        workspace.close()
