"""What those who come from dbt type, and what it is called here.

Only for messages: none of these words is accepted, so that each thing keeps one name.
"""

from typing import Final

import click

COMMANDS: Final = {
    "clone": "branch create",
    "debug": "doctor",
    "ls": "list",
    "parse": "compile",
    "retry": "run",
    "snapshot": "run",
}
SELECTING: Final = frozenset({"--select", "-s", "--models", "-m"})
SELECTOR: Final = "SELECTOR"
"""What the arguments that select are called in every usage line."""


def translate_command(name: str) -> str | None:
    """What a command of dbt is called here, as the end of a message."""
    ours = COMMANDS.get(name)
    return f"what dbt calls so is `rocky {ours}`" if ours is not None else None


def describe_mistake(mistake: click.UsageError) -> str:
    """A wrong command line in a sentence; where it selects as dbt does, how it is done here."""
    message = mistake.format_message()
    context = mistake.ctx
    if not isinstance(mistake, click.NoSuchOption) or context is None:
        return message
    if mistake.option_name == "--watch":
        # As other tools have it; the nearest name would lead astray.
        return "No such option '--watch'; it is `rocky watch --run`"
    arguments = [each for each in context.command.params if isinstance(each, click.Argument)]
    takes = any(SELECTOR in (each.metavar or "") for each in arguments)
    if not takes or mistake.option_name not in SELECTING:
        return message
    return f"{message.rstrip('.')}; models are named without one: `{context.command_path} orders+`"
