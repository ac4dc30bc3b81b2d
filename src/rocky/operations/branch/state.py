"""The state of a branch that is kept elsewhere: fetched before it is believed, held before it goes.

The copy here may be older than a run that another machine has made on the branch, or missing, or of
a former branch of that name.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rocky.branches.lifecycle import branch_claim, clear_branch
from rocky.errors import LedgerLocked
from rocky.ledger import open_history_reader
from rocky.ledger.branch_records import BranchRecord
from rocky.ledger.claims import living_runs
from rocky.operations.workspace import Workspace, refresh_state, state_path, state_settings
from rocky.state.session import open_session
from rocky.store.warehouse import Warehouse


def fetch_branch_state(workspace: Workspace, record: BranchRecord) -> Path:
    """The state file of a branch, as its newest run anywhere left it."""
    own = workspace.on_branch(record.name, record.adapter)
    path = state_path(own)
    forget_former(workspace, record)
    refresh_state(own, path)
    return path


def forget_former(workspace: Workspace, record: BranchRecord) -> None:
    """Remove the copy of the state of a branch that was deleted, and made again, elsewhere."""
    own = workspace.on_branch(record.name, record.adapter)
    path = state_path(own)
    if state_settings(own).backend == "local" or not path.exists() or living_runs(path):
        return
    reader = open_history_reader(path)
    if reader is None:
        return
    with reader:
        # The first run of a branch is the one that made it, at the very moment its row names.
        former = any(each.started_at < record.created_at for each in reader.runs())
    if former:
        clear_branch((), path)


@contextmanager
def held_branch(workspace: Workspace, record: BranchRecord, warehouse: Warehouse) -> Iterator[None]:
    """Keep runs on other machines from a branch that is about to go.

    Raises LedgerLocked while one is at work on it, StateSyncFailed when that cannot be told.
    """
    own = workspace.on_branch(record.name, record.adapter)
    state = state_settings(own)
    if state.backend == "local":
        # Whoever deletes it asks the file here.
        yield
        return
    forget_former(workspace, record)
    listener = workspace.synced
    with open_session(state, state_path(own), workspace.environment, listener=listener) as session:
        session.refresh()
        living = session.living_runs()
        if living:
            raise LedgerLocked(
                f"branch `{record.name}` cannot be deleted: {living[0].holder} its tables, on"
                f" `{living[0].hostname}`; wait for it"
            )
        tables = [each.name for each in warehouse.tables()]
        with session.claim([branch_claim(record.name), *tables]):
            yield
