"""Maintenance of tables: what compacting them and deleting their old rows have in common.

Both are of production's tables only, are planned without Spark, and start it where there is
something to do. What was done is a run, which is sealed where runs are.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeVar

from rocky.analysis.disclosure import Disclosure
from rocky.errors import RunRefused
from rocky.ledger.record import RunId
from rocky.operations.proof.seal import seal_deed
from rocky.operations.state.state_change import load_sound_project
from rocky.operations.workspace import (
    Workspace,
    caller_of,
    compile_workspace,
    refresh_state,
    state_path,
)
from rocky.plan.adapters import main_adapter
from rocky.project import Project
from rocky.project.configuration.blocks import Adapter
from rocky.run.prepare.pins import open_project_warehouse
from rocky.store.warehouse import Warehouse

# Who only asks what would be done does not wait for pyspark.
if TYPE_CHECKING:
    from rocky.ledger.readers.table import TableRecords
    from rocky.run.prepare.session import RunSession


class _Judged(Protocol):
    @property
    def status(self) -> str: ...


class _Outcome(Protocol):
    @property
    def tables(self) -> Sequence[_Judged]: ...

    @property
    def run_id(self) -> RunId | None: ...


Outcome = TypeVar("Outcome", bound=_Outcome)


@dataclass(frozen=True, slots=True)
class MaintainedTables:
    """The tables that runs of a project have recorded, by target in lower case, and their place."""

    workspace: Workspace
    project: Project
    adapter: Adapter
    state: Path
    warehouse: Warehouse
    records: "Mapping[str, TableRecords]"

    def carry_out(
        self, planned: Outcome, work: "Callable[[RunSession], Outcome]", *, dry_run: bool
    ) -> Outcome:
        """What was planned, if that is all that was asked for or nothing is to be done; else done.

        Raises what a run raises, and SealRefused when it was done and is not sealed.
        """
        if dry_run or all(each.status != "pending" for each in planned.tables):
            return planned
        from rocky.run.prepare.session import open_run  # noqa: PLC0415

        caller = caller_of(self.workspace, self.project, self.state)
        with open_run(self.project, self.adapter, caller) as opened:
            # What fails is told of to whoever reads the ledger.
            disclosure = Disclosure(compile_workspace(self.workspace))
            resources = replace(opened.resources, disclosure=disclosure)
            done = work(replace(opened, resources=resources))
        if done.run_id is not None:
            seal_deed(self.workspace, self.project, "run", done.run_id)
        return done


def open_tables(
    workspace: Workspace, adapter: str | None, *, subject: str, verb: str
) -> MaintainedTables:
    """The recorded tables of production, in the adapter's warehouse.

    `subject` and `verb` say what is not done on a branch. Raises RunRefused there and when
    `rocky.toml` has errors, and NothingSelected for an adapter that there is not.
    """
    branch = workspace.branch_name
    if branch is not None:
        raise RunRefused(
            f"the {subject} of branch `{branch}` are not {verb}: its files are production's too,"
            f" until it is promoted; promote it first (`rocky branch promote {branch}`), or leave"
            " the branch out to do it in production"
        )
    project = load_sound_project(workspace, verb)
    from rocky.maintenance.tables import load_table_records  # noqa: PLC0415

    _, found = main_adapter(project, adapter)
    state = state_path(workspace)
    refresh_state(workspace, state)
    warehouse = open_project_warehouse(found, project.root, workspace.environment)
    return MaintainedTables(workspace, project, found, state, warehouse, load_table_records(state))
