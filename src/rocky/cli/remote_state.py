"""The state of a project that keeps it elsewhere: fetched before a command looks at it."""

import os
from pathlib import Path

from rocky.cli.console import write_note
from rocky.cli.options import Settings
from rocky.cli.projects import nearest_root
from rocky.cli.syncing import sync_listener
from rocky.errors import ProjectNotFound, RockyError
from rocky.lazy import load_attribute
from rocky.project.branching import state_on_branch
from rocky.project.load import load_config
from rocky.project.state import State
from rocky.project.variables import Keys


def state_settings(settings: Settings) -> State:
    """Where the project keeps its state; a file that was named without a project is itself.

    Raises RockyError when `rocky.toml` does not say it rightly: the default is another place.
    """
    chosen = settings.config
    try:
        if chosen is None:
            config, errors = load_config(nearest_root(), env=os.environ)
        elif chosen.is_dir():
            config, errors = load_config(chosen, env=os.environ)
        else:
            config, errors = load_config(chosen.parent, env=os.environ, config=chosen)
    except ProjectNotFound:
        return State()
    own = [each for each in errors if _says_where(each.keys)]
    if own:
        raise RockyError(own[0].text)
    return (
        config.state if settings.branch is None else state_on_branch(config.state, settings.branch)
    )


def _says_where(keys: Keys) -> bool:
    """Whether what stands there decides where the state is, and not only what is kept in it."""
    return keys[:1] in ((), ("state",)) and keys[1:2] not in (("retention",), ("idempotency",))


def refresh_state(settings: Settings, path: Path) -> frozenset[str]:
    """Fetch the state, where it is kept elsewhere, to be looked at only.

    Returns the runs that are at work on other machines. Raises what `state_settings` raises.
    """
    state = state_settings(settings)
    if state.backend == "local":
        return frozenset()
    open_session = load_attribute("rocky.remote.session", "open_session")
    with open_session(state, path, os.environ, listener=sync_listener(settings)) as session:
        session.refresh()
        for warning in session.warnings:
            write_note(f"warning: {warning}")
        if session.is_unvouched:
            return frozenset()
        return frozenset(each.run_id for each in session.living_runs())
