"""What git says of a change: the commits it is held to, and the people who made it.

None of it is for who makes the change to choose. The rules are those of the main line as it is now
and as it was when the change left it, so that a key or a rule that was given up since counts no
more; when the main line moves on, no approval is void by that. What is not committed is taken for
the work of the current user.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from rocky.branches.approvals.authorship import ProvenAuthors, prove_authors
from rocky.branches.approvals.policy import Policy, ProjectAtCommit
from rocky.branches.approvals.ssh import Keygen
from rocky.errors import ApprovalRefused
from rocky.ledger.branch_records import BranchRecord
from rocky.project import Project
from rocky.project.git import (
    Repository,
    authors_between,
    changed_files,
    commits_between,
    find_commit,
    find_identity,
    merge_base,
    resolve_ref,
    show_file,
)
from rocky.project.git.program import ask_git
from rocky.project.git.repository import MainLine, find_main_line, is_ancestor

_SHOWN_COMMIT = 12


@dataclass(frozen=True, slots=True)
class ChangeBase:
    """The commits before a change. `base` is what it is compared with, `tip` the main line's."""

    base: ProjectAtCommit
    fork: ProjectAtCommit
    tip: ProjectAtCommit

    @property
    def rules(self) -> tuple[ProjectAtCommit, ...]:
        """The commits whose rules count, each once, the main line's tip last."""
        return tuple({each.commit: each for each in (self.base, self.fork, self.tip)}.values())


def find_change_base(repository: Repository, record: BranchRecord) -> ChangeBase:
    """The commits that a branch's change is held to.

    It is compared with the commit where it left the main line. Once it is on the main line there is
    no such commit: then with the one that the branch was made against. Raises UnknownRevision when
    there is no main line here, or nothing in common with it, and ApprovalRefused for a branch that
    was made against no commit, or one that is not an ancestor of both.
    """
    if record.base_commit is None:
        raise ApprovalRefused(
            f"branch `{record.name}` was made without a commit to compare it with; commit the"
            f" project, then `rocky branch rebase {record.name}` bases it on that commit"
        )
    main, head = find_main_line(repository), resolve_ref(repository, "HEAD")
    fork = merge_base(repository, main.tip, head)
    base = fork if fork != head else _recorded_base(repository, record, main, head)
    return ChangeBase(
        _project_at(repository, base),
        _project_at(repository, fork),
        _project_at(repository, main.tip),
    )


def _recorded_base(repository: Repository, record: BranchRecord, main: MainLine, head: str) -> str:
    assert record.base_commit is not None
    base = resolve_ref(repository, record.base_commit)
    for name, commit in (("HEAD", head), (main.name, main.tip)):
        if not is_ancestor(repository, base, commit):
            raise ApprovalRefused(
                f"branch `{record.name}` was made against commit `{base[:_SHOWN_COMMIT]}`, which"
                f" `{name}` does not have; `rocky branch rebase {record.name}` bases it on"
                f" one that it has"
            )
    return base


def _project_at(repository: Repository, commit: str) -> ProjectAtCommit:
    return ProjectAtCommit(commit, lambda path: show_file(repository, commit, path))


_ROCKY_FOLDER: Final = ".rocky"
"""The folder of what Rocky writes beside a project: approvals and plans, no code."""


def find_authors(
    repository: Repository | None,
    base: ProjectAtCommit | None,
    record: BranchRecord,
    *,
    dirty: bool,
) -> frozenset[str]:
    """The addresses of all who had a hand in a change, and who made the branch."""
    found = {record.created_by}
    if repository is not None:
        head = find_commit(repository, "HEAD")
        if base is not None and head is not None:
            # Whoever commits an approval has not made the change.
            found.update(authors_between(repository, base.commit, head, apart_from=_ROCKY_FOLDER))
        email = find_identity(repository).email
        if dirty and email is not None:
            found.add(email)
    return frozenset(each.casefold() for each in found)


def find_proven_authors(
    repository: Repository | None,
    base: ProjectAtCommit | None,
    policy: Policy,
    keygen: Keygen,
    now: datetime,
    *,
    dirty: bool,
) -> ProvenAuthors:
    """Who is shown to have made a change; nobody where the policy does not ask.

    Raises ApprovalRefused where it asks and that cannot be shown.
    """
    if policy.author_proof == "none":
        return ProvenAuthors()
    head = None if repository is None else find_commit(repository, "HEAD")
    if repository is None or base is None or head is None:
        raise ApprovalRefused(
            "`author_proof` in `[branch.approval]` wants signed commits, and there are none to"
            " compare: commit the project, then `rocky branch rebase` bases the branch on that"
        )
    if dirty:
        raise ApprovalRefused(
            "the project has changes that are not committed, and `author_proof` in"
            " `[branch.approval]` wants every change in a signed commit: commit them with `git"
            " commit -S`"
        )
    commits = commits_between(repository, base.commit, head, apart_from=_ROCKY_FOLDER)
    return prove_authors(repository, commits, policy.signers, keygen, now)


def has_uncommitted_changes(repository: Repository, project: Project) -> bool:
    """Whether files of the project differ from the last commit: tracked, or ones it reads."""
    if find_commit(repository, "HEAD") is None:
        return True
    read = _files_of(project)
    return any(
        each.status != "added" or each.path in read
        for each in changed_files(repository, "HEAD")
        if not each.path.startswith(f"{_ROCKY_FOLDER}/")
    )


def find_git_signing_key(repository: Repository) -> str | None:
    """The key that git itself signs with, where that is an SSH key."""
    if ask_git(repository.top, "config", "--get", "gpg.format").text.strip() != "ssh":
        return None
    return ask_git(repository.top, "config", "--get", "user.signingkey").text.strip() or None


def _files_of(project: Project) -> frozenset[str]:
    found = {project.config_path, project.config.branch.approval.allowed_signers}
    for model in project.models.values():
        found |= {model.path, model.settings_path or model.path}
    for seed in project.seeds.values():
        found |= {seed.path, seed.sidecar_path or seed.path}
    found |= {each.file for each in project.sources.values()}
    found |= {each.path for each in project.contracts.values()}
    return frozenset(found)
