"""A remote state begun anew: the file here takes the place of whatever lies there.

Only for a ledger that nobody else can know of yet, as that of a branch that is being made: what
lies under its name was left by an earlier one that is gone.
"""

from collections.abc import Mapping
from pathlib import Path

from rocky.errors import StateSyncFailed
from rocky.ledger.copies import write_snapshot
from rocky.project.state import State
from rocky.remote.copies import Overtaken, RemoteFailure
from rocky.remote.events import Outcome
from rocky.remote.names import copy_name
from rocky.remote.opening import open_shelf


def _ignore(_operation: str, _outcome: Outcome, _detail: str) -> None:
    return None


def start_over(state: State, path: Path, environment: Mapping[str, str]) -> None:
    """Make the remote copy what the file at `path` is; nothing to do for a local state.

    Raises StateSyncFailed: then nobody elsewhere knows of the file.
    """
    if state.backend == "local":
        return
    shelf, name = open_shelf(state, environment, _ignore), copy_name()
    snapshot = path.with_name(f"{path.name}.sent")
    try:
        write_snapshot(path, snapshot)
        shelf.swap(name, snapshot.read_bytes(), shelf.generation(name))
    except RemoteFailure as failure:
        raise StateSyncFailed(f"could not send `{path.name}`: {failure}") from failure
    except Overtaken as failure:
        raise StateSyncFailed(
            f"somebody else is making `{shelf.place(name)}` at this moment; try again"
        ) from failure
    finally:
        snapshot.unlink(missing_ok=True)
