"""Commands that have commands of their own: `rocky imports update`, `rocky state delete`.

Their options may stand before or after the inner command, as those of `rocky` itself may.
"""

from typing import Any

import click

from rocky.cli.options import RockyCommand
from rocky.diagnostics.suggestion import closest


class CommandGroup(RockyCommand, click.Group):
    """A command with commands below it; an unknown one is refused with the nearest name."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        known = self.list_commands(ctx)
        if args and not args[0].startswith("-") and args[0] not in known:
            near = closest(args[0], known)
            listed = ", ".join(f"`{name}`" for name in known)
            said = f"did you mean `{near}`?" if near else f"there is {listed}"
            raise click.UsageError(f"no command `{ctx.command_path} {args[0]}`; {said}", ctx)
        return super().resolve_command(ctx, args)


class ProjectGroup(CommandGroup):
    """Commands about a project's files: values for SQL are given to the one that reads it."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.params = [each for each in self.params if each.name != "variables"]
