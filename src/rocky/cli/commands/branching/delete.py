"""`rocky branch delete`: a branch and its tables gone; production is not touched."""

from datetime import UTC, datetime

import click

from rocky.branches.lifecycle import branch_claim, clear_deleted, delete_branch, has_leftovers
from rocky.cli.console import write_json, write_line
from rocky.cli.exit_codes import ExitCode
from rocky.cli.options import BranchCommand, Settings
from rocky.cli.render.branches import branch_document
from rocky.ledger import Ledger
from rocky.ledger.branch_records import BranchRecord, BranchStatus
from rocky.operations.branch.lookup import branch_warehouses, find_branch, find_deleted, find_who
from rocky.operations.branch.state import held_branch
from rocky.operations.state_change import change_state, load_sound_project
from rocky.operations.workspace import main_state_path
from rocky.project import Project
from rocky.project.project import branch_state


@click.command("delete", cls=BranchCommand)
@click.argument("name")
@click.pass_obj
def command(settings: Settings, name: str) -> ExitCode:
    """Delete a branch and its tables.

    What was promoted stays in production, and so do the records of it and the approvals.
    """
    project = load_sound_project(settings.workspace, "deleted")
    record = _find(settings, project, name)
    who = find_who(settings.workspace, project.root)
    removed, warnings = drop_branch(settings, project, record, who)
    if settings.json:
        document = {"branch": branch_document(record), "objects_removed": removed or 0}
        write_json("branch delete", document)
    else:
        for warning in warnings:
            write_line(f"warning: {warning}")
        write_line(f"branch {record.name} is deleted; production is as it was")
    return ExitCode.OK


def _find(settings: Settings, project: Project, name: str) -> BranchRecord:
    """The branch; or one that is recorded as deleted, and whose tables are still there."""
    gone = find_deleted(settings.workspace, name)
    if gone is None:
        return find_branch(settings.workspace, name)
    state = branch_state(main_state_path(settings.workspace), gone.name)
    if has_leftovers(
        branch_warehouses(settings.workspace, project, gone.name, gone.adapter), state
    ):
        return gone
    return find_branch(settings.workspace, name)


def drop_branch(
    settings: Settings, project: Project, record: BranchRecord, who: str
) -> tuple[int | None, tuple[str, ...]]:
    """How many objects went, and what to warn of; None when they stay.

    Nothing of a branch goes before everybody can know that it is deleted.
    """
    warehouses = branch_warehouses(settings.workspace, project, record.name, record.adapter)
    removed: list[int] = []

    def delete(ledger: Ledger) -> None:
        if record.status is BranchStatus.OPEN:
            delete_branch(ledger, record, warehouses, who, datetime.now(UTC))

    def clear(ledger: Ledger) -> None:
        removed.append(clear_deleted(ledger, record, warehouses))

    with held_branch(settings.workspace, record, warehouses[0]):
        _, warnings = change_state(settings.workspace, [branch_claim(record.name)], delete, clear)
    if not removed:
        stays = (
            f"others could not be told that branch `{record.name}` is deleted, so its tables are"
            f" still there; `rocky branch delete {record.name}` removes them when it can be sent"
        )
        return None, (*warnings, stays)
    return removed[0], warnings
