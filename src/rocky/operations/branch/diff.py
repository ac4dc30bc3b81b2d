"""The rows of a branch's tables beside production's. Spark only if rows have to be read."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

from rocky.analysis.disclosure import Disclosure, Secrets, shown
from rocky.branches.row_diff import (
    ChangedRow,
    DataDiff,
    DiffScope,
    OtherSide,
    TableDifference,
    ValueChange,
    diff_tables,
)
from rocky.branches.tables import BranchView
from rocky.diagnostics.suggestion import suggestion
from rocky.errors import NothingSelected, StoreUnreadable
from rocky.operations.branch.lookup import open_view
from rocky.operations.digest import Digested
from rocky.operations.report import same_fields
from rocky.operations.rows.disclosure import disclosure_for
from rocky.operations.workspace import (
    Workspace,
    compile_workspace,
    find_branch,
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
    compilation = compile_workspace(workspace)
    project = compilation.project
    view = open_view(workspace, project, record)
    targets = _find_targets(project, view, request.models)
    looking = disclosure_for(workspace, compilation)
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

    try:
        found = diff_tables(view, project.models.values(), scope, open_engine)
    except StoreUnreadable as error:
        told = _untold(error, looking)
        if told is None:
            raise
        raise told from None
    found = replace(found, tables=tuple(_without_values(each, looking) for each in found.tables))
    return DataDiffReport(**same_fields(DataDiff, found))


def _untold(error: StoreUnreadable, looking: Disclosure) -> StoreUnreadable | None:
    """What to raise for an error in which Spark may tell a hidden value; None for itself."""
    from rocky.run.engine.failures import classify_step_failure, hide_words  # noqa: PLC0415 - as above

    if error.__cause__ is None:
        return None
    told = hide_words(classify_step_failure(error.__cause__), looking)
    if told.hides is None:
        return None
    return StoreUnreadable(f"rows differ and cannot be compared: {told.message}")


def _without_values(table: TableDifference, looking: Disclosure) -> TableDifference:
    """A difference whose sample shows only what the person who asks may see."""

    def secrets(column: str) -> Secrets:
        return looking.in_stored(table.target, [column])[0]

    rows = [
        ChangedRow(
            {name: shown(value, secrets(name)) for name, value in row.key.items()},
            {
                name: ValueChange(*(shown(one, secrets(name)) for one in (each.before, each.after)))
                for name, each in row.columns.items()
            },
        )
        for row in table.sample
    ]
    return replace(table, sample=tuple(rows))


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
