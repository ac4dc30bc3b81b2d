"""A command about the state that has commands of its own: `rocky state`, `rocky state delete`.

Its options may stand before or after the inner command, as those of `rocky` itself may.
"""

from collections.abc import Iterable

import click

from rocky.cli.state_files import StateCommand
from rocky.diagnostics.suggest import closest


class StateGroup(StateCommand, click.Group):
    """A state command with commands below it; an unknown one is refused with the nearest name."""

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
