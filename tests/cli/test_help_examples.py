"""The examples of `--help`: every one is a command line that can be typed."""

import shlex
from collections.abc import Iterator

import click
import pytest

from rocky.cli.app import COMMANDS, load_command, main
from rocky.cli.options import RockyCommand

MUST_HAVE = ("run", "build", "plan", "test", "list", "show", "branch create", "verify")
WIDTH = 80


def commands() -> Iterator[tuple[str, click.Command]]:
    """Every command by what is typed after `rocky`."""
    for name in COMMANDS:
        found = load_command(name)
        yield name, found
        if isinstance(found, click.Group):
            context = click.Context(found, info_name=name)
            for below in found.list_commands(context):
                inner = found.get_command(context, below)
                assert inner is not None
                yield f"{name} {below}", inner


ALL = dict(commands())
LINES = [
    (name, line)
    for name, command in ALL.items()
    if isinstance(command, RockyCommand)
    for line, _ in command.examples
]


@pytest.mark.parametrize(("name", "line"), LINES, ids=[line for _, line in LINES])
def test_an_example_parses(name, line):
    typed = shlex.split(line)
    own = ["rocky", *name.split()]

    assert own == typed[: len(own)]
    context = ALL[name].make_context(name, typed[len(own) :], parent=click.Context(main))
    assert context.params


@pytest.mark.parametrize("name", MUST_HAVE)
def test_the_help_ends_with_examples_that_fit_a_terminal(rocky, name):
    said = rocky(*name.split(), "--help").out

    _, found, examples = said.partition("\nExamples:\n")
    assert found
    lines = examples.splitlines()
    assert len(lines) >= 3
    assert [line for line in lines if not line.startswith(f"  rocky {name}")] == []
    assert max(map(len, lines)) <= WIDTH


def test_a_wrong_line_would_not_parse():
    with pytest.raises(click.UsageError):
        ALL["run"].make_context("run", ["--no-such-option"], parent=click.Context(main))


def test_a_command_without_examples_has_no_empty_section(rocky):
    assert "Examples:" not in rocky("gc", "--help").out
