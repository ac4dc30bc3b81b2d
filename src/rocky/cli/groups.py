"""Commands that have commands of their own: `rocky imports update`."""

from collections.abc import Iterable
from typing import Any

import click

from rocky.cli.options import RockyCommand
from rocky.diagnostics.suggest import closest


class ProjectGroup(RockyCommand, click.Group):
    """A command with commands below it; an unknown one is refused with the nearest name."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        # Values for SQL are given to the command that reads it.
        self.params = [each for each in self.params if each.name != "variables"]

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and not args[0].startswith("-") and args[0] not in self.commands:
            near = closest(args[0], self.commands)
            said = f"did you mean `{near}`?" if near else f"there is {_listed(self.commands)}"
            raise click.UsageError(f"no command `{ctx.command_path} {args[0]}`; {said}", ctx)
        return super().resolve_command(ctx, args)


def _listed(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)
