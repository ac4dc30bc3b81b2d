"""`rocky branch delete`: a branch and its tables gone; production is not touched."""

from datetime import UTC, datetime

import click

from rocky.branches.making import delete_branch
from rocky.cli.branches import BranchCommand, find_branch, find_people, warehouse_of
from rocky.cli.console import write_json, write_line
from rocky.cli.exit_codes import ExitCode
from rocky.cli.options import Settings
from rocky.cli.render.branches import branch_document
from rocky.cli.upkeep import change_state, load_sound_project
from rocky.ledger import Ledger
from rocky.project.branching import on_branch


@click.command("delete", cls=BranchCommand)
@click.argument("name")
@click.pass_obj
def command(settings: Settings, name: str) -> ExitCode:
    """Delete a branch and its tables.

    What was promoted stays in production, and so do the records of it and the approvals.
    """
    project = load_sound_project(settings, "deleted")
    record = find_branch(settings, name)
    warehouse = warehouse_of(on_branch(project, record.name), record.adapter)
    who = find_people(project.root).who

    def delete(ledger: Ledger) -> int:
        return delete_branch(ledger, record, warehouse, who, datetime.now(UTC))

    removed, warnings = change_state(settings, [], delete)
    if settings.json:
        document = {"branch": branch_document(record), "objects_removed": removed}
        write_json("branch delete", document)
    else:
        for warning in warnings:
            write_line(f"warning: {warning}")
        write_line(f"branch {record.name} is deleted; production is as it was")
    return ExitCode.OK
