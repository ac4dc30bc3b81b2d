"""Commands that have commands of their own: `rocky` itself, `rocky state delete`.

Their options may stand before or after the inner command.
"""

from abc import abstractmethod
from collections.abc import Iterable
from typing import ClassVar

import click

from rocky.cli.options import RockyCommand


def nearest_command(name: str, known: Iterable[str]) -> str | None:
    """What was probably meant by an unknown command, as a question."""
    # Here, because `rocky --version` does without diagnostics.
    from rocky.diagnostics.suggestion import suggestion  # noqa: PLC0415

    return suggestion(name, known)


class LazyGroup(click.Group):
    """Commands that are loaded when they are called, and whose helps are known before."""

    summaries: ClassVar[dict[str, str]]

    @abstractmethod
    def load(self, name: str) -> click.Command:
        """The command of one of the names."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        return list(self.summaries)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - click's signature
        return self.load(cmd_name) if cmd_name in self.summaries else None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 - click's signature
        with formatter.section("Commands"):
            formatter.write_dl(list(self.summaries.items()))


class CommandGroup(RockyCommand, click.Group):
    """A command with commands below it; an unknown one is refused with the nearest name.

    Values for SQL are given to the one that reads it.
    """

    takes_variables = False

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        known = self.list_commands(ctx)
        if args and not args[0].startswith("-") and args[0] not in known:
            listed = ", ".join(f"`{name}`" for name in known)
            said = nearest_command(args[0], known) or f"there is {listed}"
            raise click.UsageError(f"no command `{ctx.command_path} {args[0]}`; {said}", ctx)
        return super().resolve_command(ctx, args)
