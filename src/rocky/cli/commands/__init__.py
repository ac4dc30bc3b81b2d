"""One module a command, loaded when the command is called."""

from importlib import import_module

import click


def load_command(module: str, name: str) -> click.Command:
    """A command, from its module below here, which is loaded now.

    The one import by name: `rocky --version` must not pay for any command.
    """
    found = vars(import_module(f"{__name__}.{module}")).values()
    return next(each for each in found if isinstance(each, click.Command) and each.name == name)
