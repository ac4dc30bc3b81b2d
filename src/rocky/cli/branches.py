"""Branches by the names that people type: their records, and what is opened to work on them."""

import os
from dataclasses import dataclass, replace
from pathlib import Path

from rocky.branches.view import BranchView, load_view
from rocky.cli.options import RockyCommand, Settings
from rocky.cli.remote_state import refresh_state
from rocky.cli.state_files import main_state_path
from rocky.diagnostics.suggest import suggestion
from rocky.errors import GitUnavailable, NotARepository, NothingSelected, UnknownRevision
from rocky.git import (
    Repository,
    default_base,
    find_commit,
    find_identity,
    find_repository,
    merge_base,
    resolve_ref,
)
from rocky.ledger.branch_records import PRODUCTION, BranchRecord, BranchStatus
from rocky.ledger.branching import branch_key, load_branches
from rocky.project import Project
from rocky.project.branching import branch_prefix, on_branch
from rocky.run.circumstances import observe_circumstances
from rocky.run.places import open_project_warehouse
from rocky.run.request import main_adapter
from rocky.store.warehouse import Warehouse


class BranchCommand(RockyCommand):
    """A command about branches: it works with production's state and takes the name itself."""

    uses_state = True


def require_branch(settings: Settings, *, sure: bool = True) -> None:
    """Raises NothingSelected unless the branch that was named is there.

    Not `sure` where the state file may be another than the one beside `rocky.toml`.
    """
    assert settings.branch is not None
    branch_prefix(settings.branch)
    if sure or main_state_path(settings).exists():
        find_branch(settings, settings.branch)


def find_branch(settings: Settings, name: str) -> BranchRecord:
    """The record of an open branch, in production's state. Raises NothingSelected."""
    known = open_branches(settings)
    found = known.get(branch_key(name))
    if found is not None:
        return found
    hint = suggestion(name, [each.name for each in known.values()])
    if hint is None:
        hint = "`rocky branch list` shows them" if known else "`rocky branch create` makes one"
    raise NothingSelected(f"no branch `{name}`; {hint}")


def open_branches(settings: Settings) -> dict[str, BranchRecord]:
    """The branches that are not deleted, by key."""
    path = refreshed_state(settings)
    return {
        branch_key(each.name): each
        for each in load_branches(path)
        if each.status is BranchStatus.OPEN
    }


def refreshed_state(settings: Settings) -> Path:
    """Production's state file, fetched where it is kept elsewhere."""
    main = replace(settings, branch=None)
    path = main_state_path(main)
    refresh_state(main, path)
    return path


@dataclass(frozen=True, slots=True)
class People:
    """Who is at work, and the commit that the code of a branch made now is compared with.

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


def find_people(root: Path, base: str | None = None) -> People:
    """Who is at work here. `base` is a reference that was given. Raises UnknownRevision."""
    user = observe_circumstances(root, os.environ).triggering_identity or "unknown"
    try:
        repository = find_repository(root)
    except (NotARepository, GitUnavailable):
        if base is not None:
            raise
        return People(user)
    email = find_identity(repository).email
    return People(email or user, _base_commit(repository, base), repository)


def _base_commit(repository: Repository, base: str | None) -> str | None:
    if base is not None:
        return resolve_ref(repository, base)
    head = find_commit(repository, "HEAD")
    if head is None:
        # Nothing has been committed yet.
        return None
    try:
        return merge_base(repository, resolve_ref(repository, default_base(repository)), head)
    except UnknownRevision:
        return head


def open_view(project: Project, record: BranchRecord) -> BranchView:
    """A branch beside its parent. `project` is production's."""
    parent = project if record.parent == PRODUCTION else on_branch(project, record.parent)
    return load_view(
        record,
        warehouse_of(on_branch(project, record.name), record.adapter),
        warehouse_of(parent, record.adapter),
    )


def warehouse_of(project: Project, adapter: str) -> Warehouse:
    """Where the tables of an adapter lie. Raises NothingSelected."""
    return open_project_warehouse(main_adapter(project, adapter)[1], project.root, os.environ)
