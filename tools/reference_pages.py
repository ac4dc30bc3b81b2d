"""Writes the reference pages that the code itself knows: settings and commands.

`python tools/reference_pages.py` rewrites docs/reference/{configuration,cli}.md; a test
fails when they are not what this would write.
"""

from collections.abc import Iterator, Mapping
from copy import copy
from inspect import cleandoc
from pathlib import Path
from typing import Any, get_origin, get_type_hints

import click

from rocky.cli.app import main as command_line
from rocky.project import columns, contracts, function_records, seeds, sources
from rocky.project.configuration import model
from rocky.project.configuration.config import Config
from rocky.project.toml.documents import Refusal, refused_keys
from rocky.project.toml.key_words import bare_hint, default_words, records_in, value_words

COLUMNS = tuple[Any, ...]
PAGES = Path(__file__).parents[1] / "docs" / "reference"

CONFIGURATION_HEAD = """# Configuration

Every key that Rocky's TOML files may have, written from the code that reads them. An unknown
key, a wrong type or a bad choice is a diagnostic at its own line, with the nearest key as
help. `${VAR}` and `${VAR:-default}` work in every text value. What the files are for:
[project files](project-files.md).

Every key does something. Keys that other tools of this kind know and Rocky does not act on are
errors at their line, with the reason and what to use instead: [the list](#keys-that-are-refused).
"""

CLI_HEAD = """# Commands

Written from the commands themselves; `rocky COMMAND --help` says the same.

Global options (those of `rocky` itself) may stand before or after the command. With `-o json`
standard output is exactly one JSON document, and everything else goes to standard error. Where
neither `-o` nor `--format` is given, `ROCKY_OUTPUT=json` or `table` decides; without it the output
is text for people, also in a pipe and in the log of a CI job. A selector that matches nothing is an
error.

Exit codes: 0 success, 1 failure, wrong usage or error diagnostics, 2 a run that built only some
tables, 3 a `doctor` that found something critical, 4 `ci` with warnings only, 130 interrupted.
"""


# Blocks whose keys are the user's own names, so no record lists them.
WRITTEN_OUT = {
    "lints": """
### `[lints]`

The level of adjustable findings, by code or name: `allow`, `warn` or `error`. See
[the list](../diagnostics/README.md).
""",
    "test": """
### `[test.NAME]`

A test that many models share, with the keys of a model's `[[tests]]`; one with `use = "NAME"`
begins from it. See [testing](../guides/testing.md#tests-that-many-models-share).
""",
}


SEED_COLUMNS = """
`[target]` is that of a model; `[[columns]]` have the keys of `[[source.columns]]`.
"""


FUNCTION_KEYS = """
Which keys a function has depends on its kind: [functions](project-files.md#functions).
`[[function.columns]]` have the keys of `[[output]]`.
"""


def format_configuration() -> str:
    """The page of every setting."""
    seen: dict[type, str] = {}
    parts = [CONFIGURATION_HEAD, "\n## `rocky.toml`\n"]
    for key, hint in get_type_hints(Config, include_extras=True).items():
        if key in WRITTEN_OUT:
            parts.append(WRITTEN_OUT[key])
            continue
        name = f"{key}.NAME" if get_origin(bare_hint(hint)) is Mapping else key
        parts.extend(_sections(f"[{name}]", hint, seen))
    parts.append("\n## Models: sidecar, front matter\n")
    parts.extend(_sections("a model's settings", model.ModelSettings, seen))
    parts.append("\n## Folders: `_defaults.toml`\n")
    parts.extend(_sections("the top level of `_defaults.toml`", model.FolderDefaults, seen))
    parts.append("\n## Sources\n")
    parts.extend(_sections("[[source]]", sources.SourceRecord, seen))
    parts.extend(_sections("[[source.columns]]", columns.ColumnRecord, seen))
    parts.append("\n## Functions\n")
    parts.extend(_sections("[[function]]", function_records.FunctionRecord, seen))
    parts.append(FUNCTION_KEYS)
    parts.extend(_sections("[[function.parameters]]", function_records.ParameterRecord, seen))
    parts.append("\n## Seeds: the sidecar of a CSV\n")
    parts.extend(_sections("the top level of a seed's sidecar", seeds.SeedRecord, seen))
    parts.append(SEED_COLUMNS)
    parts.append("\n## Python models\n")
    parts.extend(_sections("[[output]]", columns.OutputColumn, seen))
    parts.append("\n## Contracts\n")
    parts.extend(_sections("[[columns]]", contracts.PromisedColumn, seen))
    parts.extend(_sections("[rules]", contracts.ContractRules, seen))
    parts.extend(_refused({Config: "the top level of `rocky.toml`", **seen}))
    return "".join(parts)


REFUSED_HEAD = """
## Keys that are refused

Nothing would act on them, so they are errors. Those marked "to come" are planned.

| key | where | why not | instead |
| --- | --- | --- | --- |
"""


def _refused(records: Mapping[type, str]) -> Iterator[str]:
    """A row for each key that is refused, with all the places that refuse it for one reason."""
    yield REFUSED_HEAD
    places: dict[tuple[str, Refusal], list[str]] = {}
    for record, title in records.items():
        for key, refusal in refused_keys(record).items():
            places.setdefault((key, refusal), []).append(title[:1].lower() + title[1:])
    for (key, refusal), titles in places.items():
        mark = " (to come)" if refusal.later else ""
        short = [title.partition(" with ")[0] for title in titles] if titles[1:] else titles
        where = ", ".join(dict.fromkeys(short))
        yield f"| `{key}`{mark} | {where} | {refusal.reason} | {refusal.help} |\n"


def _sections(title: str, hint: Any, seen: dict[type, str]) -> Iterator[str]:
    """A section for each record in an annotation, then those of the records inside it."""
    for chosen, record in records_in(hint):
        if record in seen:
            continue
        suffix = f' with `type = "{chosen}"`' if chosen else ""
        shown = f"`{title}`" if title.startswith("[") else title.capitalize()
        seen[record] = shown + suffix
        yield f"\n### {seen[record]}\n\n{cleandoc(record.__doc__ or '')}\n\n"
        yield "| key | value | default |\n| --- | --- | --- |\n"
        hints = get_type_hints(record, include_extras=True)
        for key, field in hints.items():
            if (chosen and key == "type") or key in refused_keys(record):
                continue
            default = getattr(record, "_field_defaults", {}).get(key, ...)
            # Columns are read one by one, so their records do not show in the annotation.
            words = "list of table" if key == "columns" and field == COLUMNS else value_words(field)
            yield f"| `{key.rstrip('_')}` | {words} | {default_words(default)} |\n"
        inside = title.strip("[]") if title.startswith("[") else ""
        for key, field in hints.items():
            path = f"{inside}.{key}" if inside else key
            many = get_origin(bare_hint(field)) is tuple
            yield from _sections(f"[[{path}]]" if many else f"[{path}]", field, seen)


def format_commands() -> str:
    """The page of every command."""
    context = click.Context(command_line, info_name="rocky")
    parts = [CLI_HEAD, _usage("rocky", command_line)]
    for name in command_line.list_commands(context):
        command = command_line.get_command(context, name)
        if command is not None and not command.hidden:
            parts.extend(_usages(f"rocky {name}", command))
    return "".join(parts)


def _usages(title: str, command: click.Command) -> Iterator[str]:
    """The help of a command, and of those below it."""
    yield _usage(title, command)
    if isinstance(command, click.Group):
        context = click.Context(command, info_name=title)
        for name in command.list_commands(context):
            below = command.get_command(context, name)
            if below is not None:
                yield from _usages(f"{title} {name}", below)


def _usage(title: str, command: click.Command) -> str:
    """The help of a command, without the options that every command has."""
    shared = {parameter.name for parameter in command_line.params}
    is_root = command is command_line
    # click keeps the help option of the first context that asked for it: a copy has none yet.
    command = copy(command)
    command._help_option = None  # noqa: SLF001
    if not is_root:
        command.params = [each for each in command.params if each.name not in shared]
    settings = command_line.context_settings | {"terminal_width": 88, "max_content_width": 88}
    context = click.Context(command, info_name=title, **settings)
    text = "\n".join(line.rstrip() for line in command.get_help(context).splitlines())
    return f"\n## `{title}`\n\n```text\n{text}\n```\n"


def main() -> None:
    (PAGES / "configuration.md").write_text(format_configuration())
    (PAGES / "cli.md").write_text(format_commands())


if __name__ == "__main__":
    main()
