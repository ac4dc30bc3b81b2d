"""A project on a branch: the same project, whose tables lie in a folder of the branch's own.

A branch is a place and not a name: models, targets and SQL are what they are in production, so
their hashes are too, and what the branch has built is what production would have built. Sources
whose files are tables of the warehouse are read from the branch's own copies.
"""

import re
from dataclasses import replace
from pathlib import Path
from typing import Final

from rocky.errors import NothingSelected
from rocky.project.adapter import Adapter
from rocky.project.imports import ImportedTable
from rocky.project.project import Project
from rocky.project.sources import SourceTable
from rocky.project.state import State

PREFIX: Final = "branch__"
"""What the folder of a branch, and its schema in a catalogue, begins with."""

_NAME: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}")


def branch_prefix(name: str) -> str:
    """The namespace of a branch's tables. Raises NothingSelected for what is no name of one."""
    if not _NAME.fullmatch(name) or name.endswith("."):
        raise NothingSelected(
            f"`{name}` cannot be the name of a branch: up to 64 letters, digits, `_`, `.` and `-`,"
            " the first a letter, a digit or `_`"
        )
    return f"{PREFIX}{name}"


def branch_root(warehouse: str, name: str) -> str:
    """Where the tables of a branch lie: below the warehouse it was made of."""
    return f"{warehouse.rstrip('/')}/{branch_prefix(name)}"


def branch_state(state: Path, name: str) -> Path:
    """The state file of a branch, beside the project's own."""
    return state.with_name(f"{state.stem}.{branch_prefix(name)}{state.suffix}")


def on_branch(project: Project, name: str) -> Project:
    """The project with its tables on a branch."""
    config = project.config
    adapters = {key: _on_branch(each, name) for key, each in config.adapter.items()}
    sources = {
        key: _source_on_branch(project, source, name) for key, source in project.sources.items()
    }
    state = state_on_branch(config.state, name)
    return replace(project, config=config._replace(adapter=adapters, state=state), sources=sources)


def state_on_branch(state: State, name: str) -> State:
    """Where a state that is kept elsewhere has that of a branch: beside its own."""
    prefix = branch_prefix(name)
    return state._replace(
        s3_prefix=f"{state.s3_prefix.rstrip('/')}/{prefix}/",
        valkey_prefix=f"{state.valkey_prefix}{prefix}:",
    )


def _on_branch(adapter: Adapter, name: str) -> Adapter:
    # A catalogue knows one table by a name, and that is production's.
    return adapter._replace(warehouse=branch_root(adapter.warehouse, name), register=False)


def _source_on_branch(project: Project, source: SourceTable, name: str) -> SourceTable:
    """A source that is a table of a warehouse is the branch's own table of that name."""
    if source.path is None or isinstance(source, ImportedTable):
        # A branch has copies of the project's own tables; those of others are where they are.
        return source
    for adapter in project.config.adapter.values():
        below = _below(project.root, adapter.warehouse, source.path)
        if below is not None:
            return replace(source, path=f"{branch_root(adapter.warehouse, name)}/{below}")
    return source


def _below(root: Path, warehouse: str, path: str) -> str | None:
    """The path below a warehouse; None for one that is not in it."""
    if "://" in warehouse or "://" in path:
        start = warehouse.rstrip("/") + "/"
        return path.removeprefix(start) if path.startswith(start) else None
    place, start_place = (root / path).absolute(), (root / warehouse).absolute()
    if not place.is_relative_to(start_place) or place == start_place:
        return None
    return place.relative_to(start_place).as_posix()
