"""Branches by the names that people type: their records, their state, their warehouses.

The state of a branch may be remote: it is fetched before it is used, and held before it
goes. The copy here may be older than a run that another machine has made on the branch.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from rocky.branches.lifecycle import branch_claim
from rocky.branches.tables import BranchView, load_branch_view
from rocky.errors import (
    GitUnavailable,
    LedgerLocked,
    NotARepository,
    UnknownRevision,
)
from rocky.ledger.branch_records import PRODUCTION, BranchRecord, BranchStatus
from rocky.ledger.branches import branch_key, load_branches
from rocky.operations.workspace import (
    Workspace,
    forget_former,
    on_known_branch,
    refresh_state,
    refreshed_state,
    state_path,
    state_settings,
)
from rocky.plan.adapters import main_adapter
from rocky.project import Project
from rocky.project.git import (
    Repository,
    find_commit,
    find_identity,
    find_repository,
    merge_base,
    resolve_ref,
)
from rocky.project.git.repository import find_main_line, is_ancestor
from rocky.project.project import on_branch
from rocky.run.prepare.caller import observe_origin
from rocky.run.prepare.pins import open_project_warehouse
from rocky.state.session import open_session
from rocky.store.warehouse import Warehouse


def fetch_branch_state(workspace: Workspace, record: BranchRecord) -> Path:
    """The state file of a branch, as its newest run anywhere left it."""
    own = on_known_branch(workspace, record.name, record.adapter)
    path = state_path(own)
    forget_former(workspace, record)
    refresh_state(own, path)
    return path


@contextmanager
def held_branch(workspace: Workspace, record: BranchRecord, warehouse: Warehouse) -> Iterator[None]:
    """Keep runs on other machines from a branch that is about to go.

    Raises LedgerLocked while a run is using it, StateSyncFailed when that cannot be told.
    """
    own = on_known_branch(workspace, record.name, record.adapter)
    state = state_settings(own)
    if state.backend == "local":
        # Whoever deletes it asks the file here.
        yield
        return
    forget_former(workspace, record)
    listener = workspace.synced
    with open_session(state, state_path(own), workspace.environment, listener=listener) as session:
        session.refresh(current=True)
        living = session.living_runs()
        if living:
            raise LedgerLocked(
                f"branch `{record.name}` cannot be deleted: {living[0].holder} its tables, on"
                f" `{living[0].hostname}`; wait for it"
            )
        tables = [each.name for each in warehouse.tables()]
        with session.claim([branch_claim(record.name), *tables]):
            yield


def find_deleted(workspace: Workspace, name: str) -> BranchRecord | None:
    """The record of a branch that was deleted, if there is none of that name any more."""
    known = {branch_key(each.name): each for each in load_branches(refreshed_state(workspace))}
    found = known.get(branch_key(name))
    return found if found is not None and found.status is BranchStatus.DELETED else None


@dataclass(frozen=True, slots=True)
class People:
    """The current user, and the commit that the code of a branch made now is compared with.

    A project outside git has neither a commit nor an address: a user's name stands for it.
    """

    who: str
    base_commit: str | None = None
    repository: Repository | None = None

    def resolve(self, ref: str) -> str | None:
        """The commit that a reference means, if it means one."""
        if self.repository is None:
            return None
        try:
            return resolve_ref(self.repository, ref)
        except UnknownRevision:
            return None


def find_who(workspace: Workspace, root: Path) -> str:
    """The current user: git's address, else a user's name. Answers without git too."""
    try:
        email = find_identity(find_repository(root)).email
    except (NotARepository, GitUnavailable):
        email = None
    return email or _user(workspace, root)


def find_people(workspace: Workspace, root: Path, base: str | None = None) -> People:
    """The current user, and what a branch made now is compared with.

    `base` is a reference that was given. Raises UnknownRevision, and GitUnavailable: a git that
    cannot answer is not the same as none.
    """
    try:
        repository = find_repository(root)
    except NotARepository:
        if base is not None:
            raise
        return People(_user(workspace, root))
    email = find_identity(repository).email
    return People(email or _user(workspace, root), _base_commit(repository, base), repository)


def _user(workspace: Workspace, root: Path) -> str:
    return observe_origin(root, workspace.environment).triggering_identity or "unknown"


def _base_commit(repository: Repository, base: str | None) -> str | None:
    if base is not None:
        return _given_base(repository, base, resolve_ref(repository, "HEAD"))
    head = find_commit(repository, "HEAD")
    if head is None:
        # Nothing has been committed yet.
        return None
    try:
        return merge_base(repository, find_main_line(repository).tip, head)
    except UnknownRevision:
        # Not promoted before there is a main line: the gate says so.
        return head


def _given_base(repository: Repository, base: str, head: str) -> str:
    """The commit that was named: one that the code here and the main line have in common."""
    commit, main = resolve_ref(repository, base), find_main_line(repository)
    for name, of in (("HEAD", head), (main.name, main.tip)):
        if not is_ancestor(repository, commit, of):
            raise UnknownRevision(
                f"`{base}` is not an ancestor of `{name}`: a branch is compared with a commit that"
                f" the code here and the main line `{main.name}` have in common; without `--base`"
                " it is the newest of those"
            )
    return commit


def open_view(workspace: Workspace, project: Project, record: BranchRecord) -> BranchView:
    """A branch beside its parent. `project` is production's."""
    parent = project if record.parent == PRODUCTION else on_branch(project, record.parent)
    return load_branch_view(
        record,
        warehouse_of(workspace, on_branch(project, record.name), record.adapter),
        warehouse_of(workspace, parent, record.adapter),
    )


def branch_warehouses(
    workspace: Workspace, project: Project, name: str, adapter: str
) -> tuple[Warehouse, ...]:
    """Where tables of a branch may lie: those of its own adapter first, each place once."""
    own = on_branch(project, name)
    found = [warehouse_of(workspace, own, each) for each in (adapter, *own.config.adapter)]
    return tuple({each.uri: each for each in found}.values())


def warehouse_of(workspace: Workspace, project: Project, adapter: str) -> Warehouse:
    """Where the tables of an adapter lie. Raises NothingSelected."""
    return open_project_warehouse(
        main_adapter(project, adapter)[1], project.root, workspace.environment
    )
