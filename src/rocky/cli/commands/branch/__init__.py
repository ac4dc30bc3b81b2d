"""`rocky branch`: branches made, listed, compared, approved, promoted, reverted and deleted.

Each command is loaded when it is called: some need a compiler, some a Spark.
"""

from typing import Final

import click

from rocky.cli.commands import load_command
from rocky.cli.exit_codes import ExitCode
from rocky.cli.groups import CommandGroup
from rocky.cli.options import BranchCommand

COMMANDS: Final = {
    "create": ("lifecycle", "Make a branch of the tables, without copying."),
    "list": ("lifecycle", "List branches."),
    "show": ("lifecycle", "Show a branch: its tables, and how each stands to production's."),
    "diff": ("diff", "Compare the rows of a branch with production's."),
    "approve": ("approval", "Sign that a branch may be promoted."),
    "approvals": ("approval", "List approvals of a branch, and which count."),
    "promote": ("promotion", "Move production to a branch's tables, all or none."),
    "revert": ("promotion", "Move production back to before a promotion."),
    "recover": ("promotion", "Finish or undo a promotion that was interrupted."),
    "rebase": ("lifecycle", "Make a branch anew of production as it is now."),
    "delete": ("lifecycle", "Delete a branch and its tables."),
}
"""Name -> module here, and one-line help."""


class BranchGroup(BranchCommand, CommandGroup):
    """The commands about branches, each loaded when it is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - click's signature
        if cmd_name not in COMMANDS:
            return None
        return load_command(f"branch.{COMMANDS[cmd_name][0]}", cmd_name)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 - click's signature
        with formatter.section("Commands"):
            formatter.write_dl([(name, summary) for name, (_, summary) in COMMANDS.items()])


@click.group("branch", cls=BranchGroup)
def command() -> ExitCode:
    """Make, compare, approve, promote and revert branches of the tables."""
    return ExitCode.OK
