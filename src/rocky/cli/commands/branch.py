"""`rocky branch`: branches made, listed, compared, approved, promoted, reverted and deleted.

Each command is loaded when it is called: some need a compiler, some a Spark.
"""

from typing import Final

import click

from rocky.cli.exit_codes import ExitCode
from rocky.cli.groups import CommandGroup
from rocky.cli.options import BranchCommand
from rocky.lazy import load_attribute

COMMANDS: Final = {
    "create": ("create", "command", "Make a branch of the tables, without copying."),
    "list": ("list", "command", "List branches."),
    "show": ("show", "command", "Show a branch: its tables, and how each stands to production's."),
    "diff": ("diff", "command", "Compare the rows of a branch with production's."),
    "approve": ("approval", "approve", "Sign that a branch may be promoted."),
    "approvals": ("approval", "approvals", "List approvals of a branch, and which count."),
    "promote": ("promotion", "promote", "Move production to a branch's tables, all or none."),
    "revert": ("promotion", "revert", "Move production back to before a promotion."),
    "recover": ("promotion", "recover", "Finish or undo a promotion that was interrupted."),
    "rebase": ("rebase", "command", "Make a branch anew of production as it is now."),
    "delete": ("delete", "command", "Delete a branch and its tables."),
}
"""Name -> module under `rocky.cli.commands.branching`, attribute, one-line help."""


class BranchGroup(BranchCommand, CommandGroup):
    """The commands about branches, each loaded when it is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - click's signature
        if cmd_name not in COMMANDS:
            return None
        module, attribute, _ = COMMANDS[cmd_name]
        command: click.Command = load_attribute(f"rocky.cli.commands.branching.{module}", attribute)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 - click's signature
        with formatter.section("Commands"):
            formatter.write_dl([(name, summary) for name, (_, _, summary) in COMMANDS.items()])


@click.group("branch", cls=BranchGroup)
def command() -> ExitCode:
    """Make, compare, approve, promote and revert branches of the tables."""
    return ExitCode.OK
