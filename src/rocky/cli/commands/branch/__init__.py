"""`rocky branch`: branches made, listed, compared, approved, promoted, reverted and deleted.

Each command is loaded when it is called: some need a compiler, some a Spark.
"""

from typing import Final

import click

from rocky.cli.console import ExitCode
from rocky.cli.groups import CommandGroup, LazyGroup
from rocky.cli.options import BranchCommand

COMMANDS: Final = {
    "create": "Make a branch of the tables, without copying.",
    "list": "List branches.",
    "show": "Show a branch: its tables, and how each compares with production's.",
    "diff": "Compare the rows of a branch with production's.",
    "approve": "Sign that a branch may be promoted.",
    "approvals": "List approvals of a branch, and which count.",
    "promote": "Move production to a branch's tables, all or none.",
    "revert": "Move production back to before a promotion.",
    "recover": "Finish or undo a promotion that was interrupted.",
    "rebase": "Make a branch again from production as it is now.",
    "delete": "Delete a branch and its tables.",
}
"""Name -> one-line help."""


class BranchGroup(LazyGroup, BranchCommand, CommandGroup):
    """The commands about branches."""

    summaries = COMMANDS

    def load(self, name: str) -> click.Command:
        found: click.Command
        match name:
            case "create":
                from rocky.cli.commands.branch.lifecycle import create_command as found
            case "list":
                from rocky.cli.commands.branch.lifecycle import list_command as found
            case "show":
                from rocky.cli.commands.branch.lifecycle import show_command as found
            case "diff":
                from rocky.cli.commands.branch.diff import diff_command as found
            case "approve":
                from rocky.cli.commands.branch.approval import approve_command as found
            case "approvals":
                from rocky.cli.commands.branch.approval import approvals_command as found
            case "promote":
                from rocky.cli.commands.branch.promotion import promote_command as found
            case "revert":
                from rocky.cli.commands.branch.promotion import revert_command as found
            case "recover":
                from rocky.cli.commands.branch.promotion import recover_command as found
            case "rebase":
                from rocky.cli.commands.branch.lifecycle import rebase_command as found
            case _:
                from rocky.cli.commands.branch.lifecycle import delete_command as found
        return found


@click.group("branch", cls=BranchGroup)
def command() -> ExitCode:
    """Make, compare, approve, promote and revert branches of the tables."""
    return ExitCode.OK
