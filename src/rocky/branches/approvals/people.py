"""Who made a change.

Commits carry the addresses of who made them; what is not committed is taken for the work of
whoever is at work here.
"""

from typing import Final

from rocky.branches.approvals.policy import BaseFiles
from rocky.git import (
    Repository,
    authors_between,
    changed_files,
    find_commit,
    find_identity,
)
from rocky.git.program import ask_git
from rocky.ledger.branch_records import BranchRecord
from rocky.project import Project

_OWN: Final = ".rocky"
"""The folder of what Rocky writes beside a project: approvals and plans, no code."""


def find_authors(
    repository: Repository | None, base: BaseFiles | None, record: BranchRecord, *, dirty: bool
) -> frozenset[str]:
    """The addresses of all who had a hand in a change, and who made the branch."""
    found = {record.created_by}
    if repository is not None:
        head = find_commit(repository, "HEAD")
        if base is not None and head is not None:
            # Whoever commits an approval has not made the change.
            found.update(authors_between(repository, base.commit, head, apart_from=_OWN))
        email = find_identity(repository).email
        if dirty and email is not None:
            found.add(email)
    return frozenset(each.casefold() for each in found)


def has_uncommitted(repository: Repository, project: Project) -> bool:
    """Whether files of the project differ from the last commit: tracked, or ones it reads."""
    if find_commit(repository, "HEAD") is None:
        return True
    read = _files_of(project)
    return any(
        each.status != "added" or each.path in read
        for each in changed_files(repository, "HEAD")
        if not each.path.startswith(f"{_OWN}/")
    )


def find_signing_key(repository: Repository) -> str | None:
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
