"""The rows of a branch's tables beside production's. Spark only if rows have to be read."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from rocky.branches.row_diff import DataDiff, DiffScope, OtherSide, diff_tables
from rocky.branches.tables import BranchView
from rocky.diagnostics.suggestion import suggestion
from rocky.errors import NothingSelected
from rocky.operations.branch.lookup import open_view
from rocky.operations.digest import Digested
from rocky.operations.report import same_fields
from rocky.operations.workspace import (
    Workspace,
    find_branch,
    load_workspace,
    model_named,
)
from rocky.plan.adapters import main_adapter
from rocky.plan.arguments import Natural, Request
from rocky.project import Project
from rocky.project.project import on_branch
from rocky.project.setting_places import placed_settings
from rocky.run.engine.protocol import Engine


@dataclass(frozen=True, slots=True)
class DiffRequest(Request):
    """Which branch; which `models`, by name or full name of a table, all of them without any.

    `key` are columns that find a row again, in place of those that a model declares; `sample` is
    how many changed rows of each table to give; `to` what the branch is compared with.
    """

    name: str
    models: tuple[str, ...] = ()
    key: tuple[str, ...] = ()
    sample: Natural = 5
    to: OtherSide = "production"


@dataclass(frozen=True, slots=True, repr=False)
class DataDiffReport(Digested, DataDiff):
    """All tables of a branch that differ, and how many do not.

    `compared_with` is `production`, which stands for the tables of the `parent` as they are now, or
    `base`, for those that the branch was made of.
    """


def diff(workspace: Workspace, request: DiffRequest) -> DataDiffReport:
    """What differs. Only files that one side alone has are read.

    Raises InvalidRequest, NothingSelected, StoreUnreadable, and what opening an engine raises.
    """
    workspace = workspace.on_production()
    record = find_branch(workspace, request.name)
    project = load_workspace(workspace)
    view = open_view(workspace, project, record)
    targets = _find_targets(project, view, request.models)
    scope = DiffScope(request.to, targets, request.key, request.sample)
    adapter = main_adapter(on_branch(project, record.name), record.adapter)[1]

    @contextmanager
    def open_engine() -> Iterator[Engine]:
        # Here, not above: a comparison that reads nothing must not wait for Spark's modules.
        from rocky.run.prepare.session import open_announced_engine  # noqa: PLC0415

        with (
            placed_settings(project, adapter),
            open_announced_engine(project, adapter, workspace.listener, workspace.spark) as engine,
        ):
            yield engine

    found = diff_tables(view, project.models.values(), scope, open_engine)
    return DataDiffReport(**same_fields(DataDiff, found))


def _find_targets(project: Project, view: BranchView, names: Sequence[str]) -> frozenset[str]:
    """The tables that are meant. Raises NothingSelected for one that the branch has not."""
    found = set()
    for name in names:
        key = name.replace("`", "").lower()
        if key not in view.tables:
            key = model_named(project, name).target.full_name.lower()
        if key not in view.tables:
            near = suggestion(key, view.tables)
            raise NothingSelected(
                f"the branch `{view.record.name}` has no table of `{name}`"
                + (f"; {near}" if near else f"; `rocky run --branch {view.record.name}` builds it")
            )
        found.add(key)
    return frozenset(found)
