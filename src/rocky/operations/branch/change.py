"""A branch with all that is needed to judge it, loaded once: nothing is read again afterwards."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

from rocky.analysis.changes.change import ProjectDiff
from rocky.analysis.changes.diff import diff_compilations
from rocky.analysis.compilation import Compilation
from rocky.branches.approvals.commits import (
    ChangeBase,
    find_authors,
    find_change_base,
    find_git_signing_key,
    find_proven_authors,
    has_uncommitted_changes,
)
from rocky.branches.approvals.policy import find_policy
from rocky.branches.approvals.readiness import Candidate, find_outdated_tables
from rocky.branches.approvals.signatures import (
    KEY_VARIABLE,
    KeyChoices,
    Signer,
    find_key,
    find_principal,
)
from rocky.branches.approvals.ssh import Keygen
from rocky.branches.approvals.validity import ApprovalScope
from rocky.branches.state_hash import compute_state
from rocky.errors import NotARepository
from rocky.ledger.branch_records import BranchRecord
from rocky.ledger.readers.commits import open_lookup_reader
from rocky.operations.branch.lookup import fetch_branch_state, open_view
from rocky.operations.changes.revisions import Sides, open_sides
from rocky.operations.findings import SideBroken
from rocky.operations.python_plans import judge
from rocky.operations.workspace import (
    Workspace,
    compile_workspace,
    find_branch,
    project_location,
)
from rocky.project.git import Repository, find_commit, find_identity, find_own_repository


@contextmanager
def open_change(workspace: Workspace, name: str, now: datetime) -> Iterator[Candidate]:
    """A branch as it stands now, with the policy it is judged by.

    Raises NothingSelected, ApprovalRefused, NotComparable, SignersUnusable, UnknownRevision
    and what reading tables and records raises: what cannot be told is never taken for approved.
    """
    record = find_branch(workspace, name)
    repository = _repository(workspace, record)
    if repository is None:
        yield _judge(
            workspace,
            record,
            compile_workspace(workspace, asker=judge(workspace.environment)),
            None,
            (None, None),
            now,
        )
        return
    past = find_change_base(repository, record)
    with open_sides(workspace, past.base.commit, exact=True, list_files=False) as sides:
        _refuse_broken(sides)
        diff = diff_compilations(sides.base, sides.head)
        yield _judge(workspace, record, sides.head, diff, (repository, past), now)


def _refuse_broken(sides: Sides) -> None:
    """Raises SideBroken when a side does not compile."""
    for side in sides.broken:
        found = sides.base if side == "base" else sides.head
        errors = sides.errors_of(side)
        raise SideBroken(
            f"{sides.describe(side)} does not compile, so the changes of the branch are not known",
            errors,
            found.project,
        )


def keygen_of(workspace: Workspace) -> Keygen:
    """`ssh-keygen`, which may ask for a passphrase only where somebody can answer."""
    return Keygen(dict(workspace.environment), workspace.is_interactive)


def choose_signer(
    workspace: Workspace,
    candidate: Candidate,
    key: str | None,
    principal: str | None,
    message: str | None,
) -> Signer:
    """Who signs here, and with which key. Raises ApprovalRefused."""
    repository = candidate.repository
    home = workspace.environment.get("HOME")
    choices = KeyChoices(
        key,
        workspace.environment.get(KEY_VARIABLE),
        None if repository is None else find_git_signing_key(repository),
        Path(home) if home else None,
    )
    found = find_key(choices, keygen_of(workspace))
    email = None if repository is None else find_identity(repository).email
    signers = candidate.question.policy.signers
    return Signer(
        found,
        find_principal(found, signers, principal, email),
        message,
        candidate.git_commit,
        candidate.git_dirty,
    )


def _repository(workspace: Workspace, record: BranchRecord) -> Repository | None:
    """The project's repository; None for a branch that was made outside git.

    A git that cannot answer, or is gone since, is not the same as none: it is raised.
    """
    folder, _ = project_location(workspace)
    try:
        return find_own_repository(folder)
    except NotARepository:
        if record.base_commit is not None:
            raise
        return None


def _judge(
    workspace: Workspace,
    record: BranchRecord,
    compilation: Compilation,
    diff: ProjectDiff | None,
    held_to: tuple[Repository | None, ChangeBase | None],
    now: datetime,
) -> Candidate:
    project, (repository, past) = compilation.project, held_to
    base = None if past is None else past.base
    view = open_view(workspace, project, record)
    dirty = None if repository is None else has_uncommitted_changes(repository, project)
    policy = find_policy(project, () if past is None else past.rules, workspace.environment)
    proven = find_proven_authors(
        repository, base, policy, keygen_of(workspace), now, dirty=bool(dirty)
    )
    question = ApprovalScope(
        record,
        compute_state(compilation, view, diff),
        policy,
        find_authors(repository, base, record, dirty=bool(dirty)) | proven.people,
        now,
        base_commit=None if base is None else base.commit,
        author_keys=proven.keys,
    )
    lookups = open_lookup_reader(fetch_branch_state(workspace, record))
    if lookups is None:
        unready: tuple[str, ...] = ("nothing is recorded of the branch",)
    else:
        with lookups:
            unready = find_outdated_tables(compilation, view, lookups)
    commit = None if repository is None else find_commit(repository, "HEAD")
    return Candidate(compilation, view, diff, question, unready, repository, commit, dirty)
