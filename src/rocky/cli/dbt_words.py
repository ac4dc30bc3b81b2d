"""What those who come from dbt type, and what it is called here.

Only for messages: none of these words is accepted, so that each thing keeps one name.
"""

import re
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
_EXTRA: Final = re.compile(r"unexpected extra argument \((?P<name>[\w.]+)\)")
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
    if context is None:
        return message
    if not isinstance(mistake, click.NoSuchOption):
        extra = _EXTRA.search(message)
        named = any("--model" in each.opts for each in context.command.params)
        if extra is None or not named:
            return message
        how = f"{context.command_path} --model {extra['name']}"
        return f"{message.rstrip('.')}; a model is named so: `{how}`"
    if mistake.option_name == "--watch":
        # As other tools have it; the nearest name would lead astray.
        return "No such option '--watch'; it is `rocky watch --run`"
    arguments = [each for each in context.command.params if isinstance(each, click.Argument)]
    takes = any(SELECTOR in (each.metavar or "") for each in arguments)
    if not takes or mistake.option_name not in SELECTING:
        return message
    return f"{message.rstrip('.')}; models are named without one: `{context.command_path} orders+`"
