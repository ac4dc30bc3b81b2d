"""The workspace: a project that is open, with its settings, its ledger, its tables and a branch.

Every operation takes one. It says where things are and opens them when they are needed: a question
about the past needs a state file and no project. The environment enters here and nowhere below.
"""

import logging
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, Final, Self

from rocky.analysis.compilation import Compilation
from rocky.diagnostics import Severity
from rocky.diagnostics.suggestion import suggestion
from rocky.errors import LedgerUnreadable, NothingSelected, ProjectNotFound, RockyError
from rocky.operations.python_plans import Asker, compile_analysed
from rocky.project import ModelFile, Project, load_project
from rocky.project.configuration.blocks import State
from rocky.project.loader import load_config
from rocky.project.project import (
    branch_prefix,
    branch_state,
    in_environment,
    on_branch,
    state_on_branch,
)
from rocky.project.toml.variables import Keys

# A compile opens a workspace too, and must not pay for SQLite, Arrow and all that runs.
if TYPE_CHECKING:
    from rocky.ledger import HistoryReader
    from rocky.ledger.branch_records import BranchRecord
    from rocky.run.outcomes import Listener
    from rocky.run.prepare.caller import Caller
    from rocky.state.events import SyncListener

LOGGER: Final = logging.getLogger("rocky")
_FETCHING: Final = Lock()


@dataclass(frozen=True, slots=True)
class Workspace:
    """A project that is open, and who works in it.

    `config` is a `rocky.toml` or its folder; without one the nearest folder above is meant.
    `state_file` is a state file that was named. `variables` are the values of `@var(name)` in SQL.
    With a `branch_name`, its tables and its state are meant in place of production's: those of
    `branch_adapter`, where that is known; `is_branch_known` once the branch has been looked up.
    `environment` is where settings, credentials and the record of who ran what come from. `spark`
    is the caller's own session; `is_interactive` says whether somebody can answer a question.
    `warn` and `note` hear a sentence each, `listener` the progress of a run, `synced` every
    transfer of a remote state. `mask_env` is the environment whose `[mask.ENV]` holds. `compiled`
    answers with a compilation that is kept, and whether pipelines' tables are seen as they are.
    """

    config: Path | None = None
    state_file: Path | None = None
    variables: Mapping[str, str] = field(default_factory=dict, repr=False)
    branch_name: str | None = None
    branch_adapter: str | None = None
    is_branch_known: bool = field(default=False, repr=False)
    environment: Mapping[str, str] = field(default_factory=dict, repr=False)
    session_source: str = "api"
    is_interactive: bool = False
    spark: Any = field(default=None, repr=False)
    listener: "Listener | None" = field(default=None, repr=False)
    synced: "SyncListener | None" = field(default=None, repr=False)
    warn: Callable[[str], None] = field(default=LOGGER.warning, repr=False)
    note: Callable[[str], None] = field(default=LOGGER.info, repr=False)
    mask_env: str | None = None
    compiled: "Callable[[Workspace, bool], Compilation] | None" = field(default=None, repr=False)

    def __repr__(self) -> str:
        """What was given; of variables the names alone, because their values may be secret."""
        given = {
            "path": None if self.config is None else str(self.config),
            "branch": self.branch_name,
            "state_path": None if self.state_file is None else str(self.state_file),
            "variables": sorted(self.variables) or None,
            "mask_env": self.mask_env,
        }
        shown = ", ".join(f"{name}={each!r}" for name, each in given.items() if each is not None)
        return f"{type(self).__name__}({shown})"

    def on_branch(self, name: str) -> Self:
        """The same for the tables and the state of a branch; it is looked up before it is used."""
        return replace(self, branch_name=name, branch_adapter=None, is_branch_known=False)

    def on_production(self) -> Self:
        """The same without a branch."""
        return replace(self, branch_name=None, branch_adapter=None, is_branch_known=False)


# ------------------------------------------------------------------ the project


def load_workspace(
    workspace: Workspace, *, cache: bool = True, discovered: bool = False
) -> Project:
    """The project, on its branch if one is chosen. Raises ProjectNotFound, NothingSelected.

    With `cache`, models that are as they were are not read; `discovered` as in `see_pipelines`.
    """
    (folder, config), variables = project_location(workspace), workspace.variables
    workspace = known_branch(workspace)
    project = load_project(
        folder, env=workspace.environment, config=config, remember=cache, variables=variables
    )
    for name in variables:
        if name not in project.variables:
            raise NothingSelected(_unused_variable(name, project))
    if workspace.mask_env is not None:
        project = in_environment(project, workspace.mask_env)
    if workspace.branch_name is not None:
        project = on_branch(project, workspace.branch_name, workspace.branch_adapter)
    # Opening a workspace loads no operation.
    from rocky.operations.pipeline_tables import see_pipelines  # noqa: PLC0415

    return see_pipelines(project, remember=cache, discovered=discovered)


def compile_workspace(
    workspace: Workspace,
    *,
    jobs: int | None = None,
    cache: bool = True,
    discovered: bool = False,
    portability: bool = False,
    asker: Asker = "reader",
) -> Compilation:
    """The project, compiled for somebody. Raises what `load_workspace` raises."""
    if workspace.compiled is not None and cache and jobs is None and not portability:
        return workspace.compiled(workspace, discovered)
    project = load_workspace(workspace, cache=cache, discovered=discovered)
    return compile_analysed(project, asker, jobs=jobs, cache=cache, portability=portability)


def project_location(workspace: Workspace) -> tuple[Path, Path | None]:
    """The folder of the project, and its settings file when that was named."""
    if workspace.config is None:
        return nearest_root(), None
    if workspace.config.is_dir():
        return workspace.config, None
    return workspace.config.parent, workspace.config


def nearest_root() -> Path:
    """Where `rocky.toml` is; here when there is none, so that the message is about here."""
    here = Path()
    for folder in (here, *(Path(os.path.relpath(each)) for each in Path.cwd().parents)):
        if (folder / "rocky.toml").is_file():
            return folder
    return here


def _unused_variable(name: str, project: Project) -> str:
    known = sorted(project.variables)
    hint = suggestion(name, known)
    if hint is None:
        listed = ", ".join(f"`{each}`" for each in known)
        hint = f"they ask for {listed}" if known else "none asks for any"
    return f"no model asks for the variable `{name}`; {hint}"


def model_named(project: Project, name: str) -> ModelFile:
    """The model that goes by a name or by its target's full name. Raises NothingSelected."""
    wanted = name.replace("`", "").lower()
    found = project.models.get(wanted)
    if found is None:
        found = next((each for each in project.models.values() if each.target.key == wanted), None)
    if found is None:
        raise NothingSelected(unknown_name("model", name, model_names(project)))
    return found


def model_names(project: Project) -> list[str]:
    return [model.name for model in project.models.values()]


def unknown_name(noun: str, name: str, known: Iterable[str]) -> str:
    """What to say of a name that nothing has."""
    names = list(known)
    hint = suggestion(name, names)
    if hint is None:
        hint = f"`rocky list` shows what there is ({len(names)} in all)" if names else "none exist"
    return f"no {noun} `{name}`; {hint}"


def broken_models(compilation: Compilation) -> set[str]:
    """The names of models that have errors of their own."""
    return {
        each.model
        for each in compilation.diagnostics
        if each.severity is Severity.ERROR and each.model is not None
    }


# ------------------------------------------------------------------ the ledger


def caller_of(workspace: Workspace, project: Project, state: Path) -> "Caller":
    """What a run of the project, recorded in a state file, brings along."""
    from rocky.run.outcomes import SilentListener  # noqa: PLC0415
    from rocky.run.prepare.caller import Caller, observe_origin  # noqa: PLC0415

    return Caller(
        state,
        observe_origin(
            project.root, workspace.environment, session_source=workspace.session_source
        ),
        workspace.environment,
        workspace.listener or SilentListener(),
        workspace.spark,
        synced=workspace.synced,
        warn=workspace.warn,
    )


def state_path(workspace: Workspace) -> Path:
    """The state file: that of the branch, if one is chosen. Raises as `main_state_path`."""
    path = main_state_path(workspace)
    return path if workspace.branch_name is None else branch_state(path, workspace.branch_name)


def main_state_path(workspace: Workspace) -> Path:
    """Production's state file: the one that was named, else that beside `rocky.toml`.

    With a file that was named no project is needed: an auditor may have nothing else. Raises
    ProjectNotFound.
    """
    if workspace.state_file is not None:
        return workspace.state_file
    from rocky.ledger import STATE_FILE  # noqa: PLC0415

    config = workspace.config or nearest_root()
    if config.is_dir():
        config /= "rocky.toml"
    if not config.is_file():
        raise ProjectNotFound(
            f"no `{config.name}` in `{config.parent}`: go to a project's folder,"
            " or name a state file with `--state-path`"
        )
    return config.parent / STATE_FILE


def state_settings(workspace: Workspace) -> State:
    """`[state]` of the project; a state file that was named without a project is a local one.

    Raises RockyError when `rocky.toml` does not say it rightly: the default is another place.
    """
    folder, config = project_location(workspace)
    try:
        settings, errors = load_config(folder, env=workspace.environment, config=config)
    except ProjectNotFound:
        return State()
    own = [each for each in errors if _decides_location(each.keys)]
    if own:
        raise RockyError(own[0].text)
    if workspace.branch_name is None:
        return settings.state
    return state_on_branch(settings.state, workspace.branch_name)


def _decides_location(keys: Keys) -> bool:
    """Whether what stands there decides where the state is, and not only what is kept in it."""
    return keys[:1] in ((), ("state",)) and keys[1:2] not in (("retention",), ("idempotency",))


def refresh_state(workspace: Workspace, path: Path, *, current: bool = False) -> frozenset[str]:
    """Fetch a remote state, to be looked at only; a local one is as it is.

    Returns the runs that are running on other machines. Raises what `state_settings` raises, and
    StateSyncFailed when the state cannot be reached and no copy of it is here, or none will do
    because the answer has to be `current`.
    """
    state = state_settings(workspace)
    if state.backend == "local":
        return frozenset()
    # Only projects with a remote state pay for its clients. Of a server's threads one fetches.
    from rocky.state.session import open_session  # noqa: PLC0415

    given = (state, path, workspace.environment)
    with _FETCHING, open_session(*given, listener=workspace.synced) as session:
        session.refresh(current=current)
        for warning in session.warnings:
            workspace.warn(warning)
        living = () if session.is_unvouched else session.living_runs()
        return frozenset(each.run_id for each in living)


def expect_named_state(workspace: Workspace) -> None:
    """Refuse to read a state file that was named and is not there. Raises LedgerUnreadable."""
    named = workspace.state_file
    if named is not None and not named.exists():
        raise LedgerUnreadable(f"no state file `{named}`; a mistyped path, or no run yet")


@contextmanager
def open_history(workspace: Workspace) -> "Iterator[HistoryReader | None]":
    """The reader of the state file, or None when nothing has been recorded yet."""
    from rocky.ledger import open_history_reader  # noqa: PLC0415

    path = state_path(workspace)
    others = refresh_state(workspace, path)
    expect_named_state(workspace)
    reader = open_history_reader(path)
    if reader is None:
        yield None
        return
    reader.alive_elsewhere = others
    with reader:
        yield reader


# ------------------------------------------------------------------ the branch


def known_branch(workspace: Workspace, *, sure: bool = True) -> Workspace:
    """The workspace with its branch as it was made, whatever was typed. Raises NothingSelected.

    Not `sure` where the state file may be another than the one beside `rocky.toml`.
    """
    if workspace.branch_name is None or workspace.is_branch_known:
        return workspace
    branch_prefix(workspace.branch_name)
    main = workspace.on_production()
    if not (sure or main_state_path(main).exists()) and state_settings(main).backend == "local":
        return on_known_branch(workspace, workspace.branch_name, None)
    record = find_branch(workspace, workspace.branch_name)
    forget_former(workspace, record)
    return on_known_branch(workspace, record.name, record.adapter)


def on_known_branch(workspace: Workspace, name: str, adapter: str | None) -> Workspace:
    """The workspace on a branch that has been looked up, by the name it was made under."""
    return replace(workspace, branch_name=name, branch_adapter=adapter, is_branch_known=True)


def find_branch(workspace: Workspace, name: str) -> "BranchRecord":
    """The record of an open branch, in production's state. Raises NothingSelected."""
    from rocky.ledger.branches import branch_key  # noqa: PLC0415

    known = open_branches(workspace)
    found = known.get(branch_key(name))
    if found is not None:
        return found
    hint = suggestion(name, [each.name for each in known.values()])
    if hint is None:
        hint = (
            "`rocky branch list` shows them"
            if known
            else f"`{main_state_path(workspace.on_production()).name}` has no branches;"
            " `rocky branch create` makes one"
        )
    raise NothingSelected(f"no branch `{name}`; {hint}")


def open_branches(workspace: Workspace) -> "dict[str, BranchRecord]":
    """The branches that are not deleted, by key."""
    from rocky.ledger.branch_records import BranchStatus  # noqa: PLC0415
    from rocky.ledger.branches import branch_key, load_branches  # noqa: PLC0415

    found = load_branches(refreshed_state(workspace))
    return {branch_key(each.name): each for each in found if each.status is BranchStatus.OPEN}


def refreshed_state(workspace: Workspace) -> Path:
    """Production's state file, fetched where the state is remote."""
    main = workspace.on_production()
    path = main_state_path(main)
    refresh_state(main, path)
    expect_named_state(main)
    return path


def forget_former(workspace: Workspace, record: "BranchRecord") -> None:
    """Remove the copy of the state of a branch that was deleted, and made again, elsewhere."""
    own = on_known_branch(workspace, record.name, record.adapter)
    path = state_path(own)
    if state_settings(own).backend == "local" or not path.exists():
        return
    # Only projects with a remote state pay for it.
    from rocky.branches.lifecycle import clear_branch  # noqa: PLC0415
    from rocky.ledger import open_history_reader  # noqa: PLC0415
    from rocky.ledger.claims import living_runs  # noqa: PLC0415

    if living_runs(path):
        return
    reader = open_history_reader(path)
    if reader is None:
        return
    with reader:
        # The first run of a branch is the one that made it, at the very moment its row names.
        former = any(each.started_at < record.created_at for each in reader.runs())
    if former:
        clear_branch((), path)
