"""Relations: views over what a project's names stand for now, bound when first asked for.

A model with a table is its newest version; one without (a view, an ephemeral model) is its query
over the relations it reads. A table that was never built is not empty: it is missing, unless a
preview of its model's query will do.
"""

from collections.abc import Mapping
from types import TracebackType
from typing import Final, Self

from rocky.analysis.compilation import Compilation
from rocky.analysis.names import Names
from rocky.errors import InputNotBuilt, RockyError
from rocky.language.datatypes.types import StructField
from rocky.language.names import split_name
from rocky.language.syntax.references import bind_names, fill_placeholders
from rocky.plan.steps import Read, resolve_name
from rocky.project.configuration.strategies import is_inline
from rocky.project.models import ModelFile
from rocky.project.project import Project
from rocky.project.python_models import inputs_of
from rocky.run.engine.protocol import Engine
from rocky.run.materialize.seeds import seed_target
from rocky.store.warehouse import Warehouse

EVER: Final = ("0001-01-01", "9999-12-31")
"""The interval of a query that is asked for all its rows."""


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


class BoundRelations:
    """The views of one command. Leaving it unbinds them all.

    With `preview`, a table that was never built is its model's query, of all rows there are.
    """

    def __init__(
        self,
        compilation: Compilation,
        warehouse: Warehouse,
        engine: Engine,
        prefix: str,
        *,
        preview: bool = False,
    ) -> None:
        self._preview = preview
        self._compilation = compilation
        self._warehouse = warehouse
        self._engine = engine
        self._prefix = prefix
        self._names = Names(compilation.project)
        self._views: dict[Read, str] = {}
        self._count = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._engine.views.unbind(list(self._views.values()))

    @property
    def project(self) -> Project:
        return self._compilation.project

    def named(self, name: str, reader: str = "") -> Read:
        """What a name in an assertion stands for. Raises RockyError when it is nothing."""
        found = resolve_name(
            self._compilation.project, self._names, split_name(name.lower()), reader
        )
        if found is None:
            raise RockyError(f"no model, source or seed `{name}`")
        return found

    def view_of(self, read: Read) -> str:
        """The view of a relation. Raises InputNotBuilt, or what binding it raises."""
        found = self._views.get(read)
        if found is None:
            # Numbered before it is bound: binding a query binds what it reads.
            self._count += 1
            found = f"{self._prefix}_{self._count}"
            self._bind(found, read)
            self._views[read] = found
        return found

    def bind(self, sql: str, own: Mapping[tuple[str, ...], str]) -> str:
        """A query of nobody's in particular, each table it reads replaced by its view.

        `own` are views that are bound already, by the parts of names. Raises RockyError for a name
        that is nothing, and what `view_of` raises.
        """
        return bind_names(sql, lambda parts: own.get(parts) or self._view_named(parts, ""))

    def columns_of(self, read: Read) -> tuple[StructField, ...]:
        """The columns a relation has by what was compiled or declared."""
        return columns_of(self._compilation, read)

    def _bind(self, view: str, read: Read) -> None:
        project, views = self._compilation.project, self._engine.views
        if read.kind == "source":
            views.bind_source(view, project.sources[read.key].as_read())
        elif read.kind == "seed":
            self._bind_seed(view, read)
        elif is_inline(project.models[read.key].strategy):
            self._bind_query(view, project.models[read.key])
        else:
            model = project.models[read.key]
            table = self._warehouse.table(model.target)
            snapshot = table.snapshot()
            if snapshot is not None:
                views.bind_table(view, table, snapshot)
            elif self._preview:
                self._bind_query(view, model)
            else:
                raise InputNotBuilt(
                    f"`{model.target.full_name}` has not been built:"
                    f" `rocky run --model {model.name}` builds it"
                )

    def _bind_query(self, view: str, model: ModelFile) -> None:
        if model.is_python:
            inputs = {
                each.parameter: self._view_named(each.parts, model.key) or ""
                for each in inputs_of(model)
            }
            frame = self._engine.python_frame(model, inputs)
        else:
            sql = fill_placeholders(model.sql, *EVER)
            frame = self._engine.frame(
                bind_names(sql, lambda parts: self._view_named(parts, model.key))
            )
        self._engine.views.bind_frame(view, frame)

    def _bind_seed(self, view: str, read: Read) -> None:
        """A seed's table once it is loaded; before that its file, which has the same rows."""
        project = self._compilation.project
        seed = project.seeds[read.key]
        table = self._warehouse.table(seed_target(seed, project.config))
        snapshot = table.snapshot()
        if snapshot is not None:
            self._engine.views.bind_table(view, table, snapshot)
        else:
            self._engine.views.bind_seed(view, seed)

    def _view_named(self, parts: tuple[str, ...], reader: str) -> str | None:
        found = resolve_name(self._compilation.project, self._names, parts, reader)
        return self.view_of(found) if found is not None else None
