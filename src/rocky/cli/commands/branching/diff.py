"""`rocky branch diff`: the rows of a branch's tables beside production's. Spark only if needed."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager

import click

from rocky.branches.row_diff import DiffRequest, OtherSide, diff_tables
from rocky.branches.tables import BranchView
from rocky.cli.console import write_json, write_line
from rocky.cli.exit_codes import ExitCode
from rocky.cli.options import BranchCommand, Settings
from rocky.cli.render.data_diff import diff_document, render_diff
from rocky.diagnostics.suggestion import suggestion
from rocky.errors import NothingSelected
from rocky.lazy import load_attribute
from rocky.operations.branch.lookup import find_branch, open_view
from rocky.operations.workspace import load_workspace, model_named
from rocky.plan.adapters import main_adapter
from rocky.project import Project
from rocky.project.project import on_branch
from rocky.run.engine.protocol import Engine


@click.command("diff", cls=BranchCommand)
@click.argument("name")
@click.argument("models", nargs=-1)
@click.option(
    "--key",
    "keys",
    multiple=True,
    metavar="COLUMN",
    help="A column that finds a row again; may be repeated. Default: what the model declares.",
)
@click.option(
    "--sample",
    type=click.IntRange(min=0),
    default=5,
    show_default=True,
    metavar="N",
    help="Changed rows to show of each table.",
)
@click.option(
    "--to",
    type=click.Choice(["production", "base"]),
    default="production",
    show_default=True,
    help="Compare with the tables now, or with those the branch was made of.",
)
@click.pass_obj
def command(
    settings: Settings,
    name: str,
    models: tuple[str, ...],
    keys: tuple[str, ...],
    sample: int,
    to: OtherSide,
) -> ExitCode:
    """Compare the rows of a branch with production's.

    MODELS are names of models, or full names of tables; without any, all are compared. Only files
    that one side alone has are read, on Spark, and nothing is started when none are.
    """
    record = find_branch(settings.workspace, name)
    project = load_workspace(settings.workspace)
    view = open_view(settings.workspace, project, record)
    wanted = DiffRequest(to, _find_targets(project, view, models), keys, sample)
    found = diff_tables(
        view,
        project.models.values(),
        wanted,
        _engine_of(on_branch(project, record.name), record.adapter),
    )
    if settings.json:
        write_json("branch diff", diff_document(found))
    else:
        write_line(render_diff(found))
    return ExitCode.OK


def _engine_of(project: Project, adapter: str) -> Callable[[], AbstractContextManager[Engine]]:
    def open_engine() -> AbstractContextManager[Engine]:
        # Here, not above: a comparison that reads nothing must not wait for Spark's modules.
        opened = load_attribute("rocky.run.engine.spark", "open_project_engine")
        found: AbstractContextManager[Engine] = opened(
            main_adapter(project, adapter)[1], project.root
        )
        return found

    return open_engine


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
