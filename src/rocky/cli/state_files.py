"""The state file of one invocation: where it is, and commands that read it.

There is one answer to where it is, for commands that write it and those that read it.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from rocky.cli.options import RockyCommand, Settings
from rocky.cli.projects import nearest_root
from rocky.cli.remote_state import refresh_state
from rocky.diagnostics.suggest import suggestion
from rocky.errors import NothingSelected, ProjectNotFound
from rocky.ledger import STATE_FILE, Reader, open_reader
from rocky.ledger.records import RunRecord
from rocky.project.branching import branch_state

_NEAR_RUNS: Final = 50


class StateCommand(RockyCommand):
    """A command about the past: it reads the state file and no model, so it takes no `--var`."""

    uses_state = True
    takes_branch = True

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.params = [each for each in self.params if each.name != "variables"]


def state_path(settings: Settings) -> Path:
    """The state file that is meant: that of the branch, if one was named. As `main_state_path`."""
    path = main_state_path(settings)
    return path if settings.branch is None else branch_state(path, settings.branch)


def main_state_path(settings: Settings) -> Path:
    """The file of `--state-path`, else the one beside `rocky.toml`. Raises ProjectNotFound.

    With `--state-path` no project is needed: an auditor may have nothing but the file.
    """
    if settings.state_path is not None:
        return settings.state_path
    config = settings.config or nearest_root()
    if config.is_dir():
        config /= "rocky.toml"
    if not config.is_file():
        raise ProjectNotFound(
            f"no `{config.name}` in `{config.parent}`: go to a project's folder,"
            " or name a state file with `--state-path`"
        )
    return config.parent / STATE_FILE


@contextmanager
def chosen_reader(settings: Settings) -> Iterator[Reader | None]:
    """The reader of the state file, or None when nothing has been recorded yet."""
    path = state_path(settings)
    elsewhere = refresh_state(settings, path)
    reader = open_reader(path)
    if reader is None:
        yield None
        return
    reader.alive_elsewhere = elsewhere
    with reader:
        yield reader


def find_run(settings: Settings, wanted: str) -> RunRecord:
    """A run by its id, or the `latest`. Raises NothingSelected."""
    with chosen_reader(settings) as reader:
        run = reader.run(wanted) if reader is not None else None
        if run is not None:
            return run
        known = [each.run_id for each in reader.runs(limit=_NEAR_RUNS)] if reader else []
    if not known:
        raise NothingSelected("no run is recorded yet; `rocky run` makes the first")
    hint = suggestion(wanted, known) or "`rocky history` lists them"
    raise NothingSelected(f"no run `{wanted}`; {hint}")
