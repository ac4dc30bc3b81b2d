"""`rocky branch`: branches made, listed, compared, approved, promoted, reverted and deleted.

Each command is loaded when it is called: some need a compiler, some a Spark.
"""

from typing import Final

import click

from rocky.cli.console import ExitCode
from rocky.cli.groups import CommandGroup, LazyGroup
from rocky.cli.options import BranchCommand

COMMANDS: Final = {
    "create": ("lifecycle", "Make a branch of the tables, without copying."),
    "list": ("lifecycle", "List branches."),
    "show": ("lifecycle", "Show a branch: its tables, and how each compares with production's."),
    "diff": ("diff", "Compare the rows of a branch with production's."),
    "approve": ("approval", "Sign that a branch may be promoted."),
    "approvals": ("approval", "List approvals of a branch, and which count."),
    "promote": ("promotion", "Move production to a branch's tables, all or none."),
    "revert": ("promotion", "Move production back to before a promotion."),
    "recover": ("promotion", "Finish or undo a promotion that was interrupted."),
    "rebase": ("lifecycle", "Make a branch again from production as it is now."),
    "delete": ("lifecycle", "Delete a branch and its tables."),
}
"""Name -> module here and one-line help."""


class BranchGroup(LazyGroup, BranchCommand, CommandGroup):
    """The commands about branches."""

    folder = "branch."
    table = COMMANDS


@click.group("branch", cls=BranchGroup)
def command() -> ExitCode:
    """Make, compare, approve, promote and revert branches of the tables."""
    return ExitCode.OK
