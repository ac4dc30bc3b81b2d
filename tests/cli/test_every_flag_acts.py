"""A flag does something or is refused: nobody gives one and waits for what never comes."""

import ast
import inspect
import textwrap
from collections.abc import Iterator
from dataclasses import fields

import click
import pytest

from rocky.cli.app import main
from rocky.cli.options import RockyCommand
from rocky.plan.request import RunRequest, Window
from tests.architecture.sources import MODULES, load_source

SHARED = {"config", "output", "state_path", "quiet", "no_color", "variables", "branch", "mask_env"}
"""What `RockyCommand` takes for every command, or refuses."""


def commands(command: click.Command, words: str = "") -> Iterator[tuple[str, click.Command]]:
    """Every command that does something, with the words that call it."""
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            yield from commands(command.get_command(context, name), f"{words} {name}".strip())
    if words and command.callback is not None:
        yield words, command


ALL = dict(commands(main))


@pytest.mark.parametrize("words", ALL)
def test_a_command_uses_each_of_its_own_flags(words):
    command = ALL[words]
    (function,) = ast.parse(
        textwrap.dedent(inspect.getsource(inspect.unwrap(command.callback)))
    ).body
    used = {each.id for each in ast.walk(function) if isinstance(each, ast.Name)}
    taken = {each.arg for each in (*function.args.args, *function.args.kwonlyargs)}
    own = {each.name for each in command.params} - SHARED

    assert taken <= used
    if function.args.kwarg is None:
        assert own <= taken
    else:
        assert function.args.kwarg.arg in used


@pytest.mark.parametrize("words", ALL)
def test_values_for_sql_are_taken_by_commands_that_read_it(words):
    command = ALL[words]
    assert isinstance(command, RockyCommand)
    takes = any(each.name == "variables" for each in command.params)

    assert takes == (command.uses_project and command.takes_variables)
    assert not (takes and isinstance(command, click.Group))


def test_what_a_run_is_asked_for_is_read():
    read = {name for path in MODULES for name in load_source(path).reads}

    asked = {each.name for kind in (RunRequest, Window) for each in fields(kind)}
    assert set() == asked - read


def test_a_list_of_branches_takes_no_values(rocky, shop):
    assert "No such option '--var'" in rocky("branch", "list", "--var", "a=1", "-o", "table").err
    assert "No such option '--var'" in rocky("branch", "--var", "a=1", "list", "-o", "table").err
