"""What a shell may complete on Rocky's command line, from the commands themselves.

    python tools/generate_completions.py      write src/rocky/cli/completions.json

A shell must be answered within a moment, and loading a command takes longer than that. A test wants
the checked-in file to be what this would write.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from rocky.cli.app import main

FILE = Path(__file__).parents[1] / "src" / "rocky" / "cli" / "completions.json"
KINDS = {
    "adapter": "adapter",
    "branch": "branch",
    "code": "code",
    "exclude": "selector",
    "forget": "promotion",
    "model": "model",
    "models": "model",
    "name": "branch",
    "pipeline": "pipeline",
    "plan": "plan",
    "promotion": "promotion",
    "resume": "run",
    "run": "run",
    "selectors": "selector",
    "source": "run",
    "target": "adapter",
    "what": "selector",
}
"""What a parameter is, by its name, unless the command has another meaning for it."""
OF_COMMAND = {
    ("branch approve", "key"): "file",
    ("branch create", "name"): "text",
    ("branch promote", "key"): "file",
    ("build", "models"): "selector",
    ("compact", "tables"): "model",
    ("compile", "names"): "model",
    ("erase", "reason"): "text",
    ("erase", "sources"): "text",
    ("gc", "reason"): "text",
    ("lineage", "target"): "column",
    ("plan", "models"): "selector",
    ("run", "models"): "selector",
    ("seed", "names"): "seed",
    ("test", "models"): "selector",
    ("verify", "what"): "run",
}
FREE = {
    *(
        "base",
        "classification",
        "column",
        "columns",
        "description",
        "dimension",
        "end",
        "filters",
        "head",
        "host",
        "hosts",
        "if_type",
    ),
    *(
        "idempotency_key",
        "key",
        "mask_env",
        "message",
        "names",
        "partition",
        "plan_id",
        "principal",
        "schema",
        "sealed",
        "since",
    ),
    *("sql", "start", "table", "template", "variables", "where"),
}
"""What people write themselves."""


def kind_of(words: str, param: click.Parameter) -> str:
    """What the value of a parameter is; empty for a flag. Raises KeyError for an unknown one."""
    if isinstance(param, click.Option) and (param.is_flag or param.count):
        return ""
    if isinstance(param.type, click.Choice):
        return f"choice:{','.join(map(str, param.type.choices))}"
    if isinstance(param.type, click.Path):
        return "dir" if "FOLDER" in (param.metavar or "") or param.name == "folder" else "file"
    if not isinstance(param.type, type(click.STRING)):
        return "text"
    name = param.name or ""
    found = OF_COMMAND.get((words, name))
    return found or ("text" if name in FREE else KINDS[name])


def describe(words: str, command: click.Command) -> Iterator[tuple[str, dict[str, Any]]]:
    """A command and those below it, by the words that call them; the program itself by none."""
    options = [each for each in command.params if isinstance(each, click.Option)]
    found: dict[str, Any] = {
        "options": {
            name: kind_of(words, each)
            for each in options
            if not each.hidden
            for name in (*each.opts, *each.secondary_opts)
        }
        | {"--help": ""},
        "arguments": [
            kind_of(words, each) + ("*" if each.nargs == -1 else "")
            for each in command.params
            if isinstance(each, click.Argument)
        ],
    }
    below: list[tuple[str, click.Command]] = []
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            inner = command.get_command(context, name)
            assert inner is not None
            below.append((name, inner))
        found["commands"] = {name: inner.get_short_help_str(200) for name, inner in below}
    yield words, found
    for name, inner in below:
        yield from describe(f"{words} {name}".strip(), inner)


def format_table() -> str:
    """All commands as JSON."""
    return json.dumps(dict(describe("", main)), indent=1, sort_keys=True) + "\n"


if __name__ == "__main__":
    FILE.write_text(format_table())
