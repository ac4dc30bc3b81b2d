"""The reference pages say what the code says, and the other pages name only what exists."""

import re
from pathlib import Path

import click
import pytest

from rocky.cli.app import main as command_line
from tools.reference_pages import PAGES, format_commands, format_configuration

ROOT = Path(__file__).parents[2]
COMMAND_LINE = re.compile(r"^\$ rocky (?P<words>.*)$", re.MULTILINE)


@pytest.mark.parametrize(
    ("name", "write"), [("configuration.md", format_configuration), ("cli.md", format_commands)]
)
def test_a_reference_page_is_what_the_code_would_write(name, write, bless):
    page = PAGES / name
    if bless:
        page.write_text(write())

    assert write() == page.read_text()


def test_every_command_line_in_the_pages_has_a_command_and_options_that_exist():
    context = click.Context(command_line)
    wrong = []
    for page in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]:
        for found in COMMAND_LINE.finditer(page.read_text()):
            words = found["words"].partition("#")[0].split()
            command = command_line.get_command(context, words[0])
            for word in words[1:]:
                if isinstance(command, click.Group):
                    command = command.get_command(context, word) or command
            known = command and {
                option for parameter in command.params for option in parameter.opts
            } | {option for parameter in command_line.params for option in parameter.opts}
            options = {word.partition("=")[0] for word in words[1:] if word.startswith("-")}
            if not known or options - known:
                wrong.append(f"{page.relative_to(ROOT)}: {found.group()}")

    assert [] == wrong
