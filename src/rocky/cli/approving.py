"""A branch with all that is needed to judge it, loaded once: nothing is read again afterwards."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from rocky.branches.approvals.checking import Question
from rocky.branches.approvals.keygen import Keygen
from rocky.branches.approvals.keys import VARIABLE, KeyChoices, find_key, find_principal
from rocky.branches.approvals.past import Past, find_past
from rocky.branches.approvals.people import find_authors, find_signing_key, has_uncommitted
from rocky.branches.approvals.policy import find_policy
from rocky.branches.approvals.readiness import find_unready
from rocky.branches.approvals.signing import Signer
from rocky.branches.state_hash import branch_state
from rocky.branches.view import BranchView
from rocky.cli.branch_states import fetch_branch_state
from rocky.cli.branches import find_branch, open_view
from rocky.cli.console import write_note
from rocky.cli.git_base import Sides, open_sides
from rocky.cli.options import Settings
from rocky.cli.projects import chosen_place, compile_chosen
from rocky.cli.render.findings import render_findings
from rocky.compiler.compilation import Compilation
from rocky.diff.compare import diff_compilations
from rocky.diff.project_diff import ProjectDiff
from rocky.errors import ApprovalRefused, NotARepository, NotComparable
from rocky.git import Repository, find_commit, find_identity, find_repository
from rocky.ledger.branch_records import BranchRecord
from rocky.ledger.lookups import open_lookups


@dataclass(frozen=True, slots=True)
class OpenChange:
    """A branch, the code beside it, and what both come to.

    `diff` is absent without a commit to compare with. `unready` says, a line a model, why the
    tables are not what the code makes. `repository` is absent outside git.
    """

    compilation: Compilation
    view: BranchView
    diff: ProjectDiff | None
    question: Question
    unready: tuple[str, ...]
    repository: Repository | None
    git_commit: str | None
    git_dirty: bool | None

    @property
    def root(self) -> Path:
        return self.compilation.project.root

    @property
    def record(self) -> BranchRecord:
        return self.question.record


@contextmanager
def open_change(settings: Settings, name: str, now: datetime) -> Iterator[OpenChange]:
    """A branch as it stands now, with the policy it is judged by.

    Raises NothingSelected, ApprovalRefused, NotComparable, SignersUnusable, UnknownRevision
    and what reading tables and records raises: what cannot be told is never taken for approved.
    """
    record = find_branch(settings, name)
    repository = _repository(settings, record)
    if repository is None:
        yield _judge(settings, record, compile_chosen(settings), None, (None, None), now)
        return
    past = find_past(repository, record)
    with open_sides(settings, past.base.commit, exact=True) as sides:
        _refuse_broken(settings, sides)
        diff = diff_compilations(sides.base, sides.head)
        yield _judge(settings, record, sides.head, diff, (repository, past), now)


def _refuse_broken(settings: Settings, sides: Sides) -> None:
    """Raises NotComparable, after showing why, when a side does not compile."""
    for side in sides.broken:
        found = sides.base if side == "base" else sides.head
        errors = sides.errors_of(side)
        shown = render_findings(errors, found.project, "full", colour=settings.colour)
        write_note(shown.rstrip())
        raise NotComparable(
            f"{sides.describe(side)} does not compile, so what the branch changes cannot be told"
        )


def require_ready(change: OpenChange) -> None:
    """Raises ApprovalRefused unless the branch's tables are what the present code makes."""
    if change.unready:
        name = change.record.name
        raise ApprovalRefused(
            "\n".join(
                [
                    "the tables of the branch are not what the present code makes:",
                    *(f"  {each}" for each in change.unready),
                    f"`rocky run --branch {name}` builds them",
                ]
            )
        )


def make_keygen() -> Keygen:
    """`ssh-keygen`, which may ask for a passphrase only where somebody can answer."""
    return Keygen(dict(os.environ), sys.stdin.isatty() and sys.stderr.isatty())


def choose_signer(
    change: OpenChange, keygen: Keygen, key: str | None, principal: str | None, message: str | None
) -> Signer:
    """Who signs here, and with which key. Raises ApprovalRefused."""
    repository = change.repository
    home = os.environ.get("HOME")
    choices = KeyChoices(
        key,
        os.environ.get(VARIABLE),
        None if repository is None else find_signing_key(repository),
        Path(home) if home else None,
    )
    found = find_key(choices, keygen)
    email = None if repository is None else find_identity(repository).email
    signers = change.question.policy.signers
    return Signer(
        found,
        find_principal(found, signers, principal, email),
        message,
        change.git_commit,
        change.git_dirty,
    )


def _repository(settings: Settings, record: BranchRecord) -> Repository | None:
    """The project's repository; None for a branch that was made outside git.

    A git that cannot answer, or is gone since, is not the same as none: it is raised.
    """
    folder, _ = chosen_place(settings)
    try:
        return find_repository(folder)
    except NotARepository:
        if record.base_commit is not None:
            raise
        return None


def _judge(
    settings: Settings,
    record: BranchRecord,
    compilation: Compilation,
    diff: ProjectDiff | None,
    held_to: tuple[Repository | None, Past | None],
    now: datetime,
) -> OpenChange:
    project, (repository, past) = compilation.project, held_to
    base = None if past is None else past.base
    view = open_view(project, record)
    dirty = None if repository is None else has_uncommitted(repository, project)
    question = Question(
        record,
        branch_state(compilation, view, diff),
        find_policy(project, () if past is None else past.rules, os.environ),
        find_authors(repository, base, record, dirty=bool(dirty)),
        now,
        base_commit=None if base is None else base.commit,
    )
    lookups = open_lookups(fetch_branch_state(settings, record))
    if lookups is None:
        unready: tuple[str, ...] = ("nothing is recorded of the branch",)
    else:
        with lookups:
            unready = find_unready(compilation, view, lookups)
    commit = None if repository is None else find_commit(repository, "HEAD")
    return OpenChange(compilation, view, diff, question, unready, repository, commit, dirty)
