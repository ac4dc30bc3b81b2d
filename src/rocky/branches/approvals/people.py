"""Who made a change, and against which commit that is asked.

Commits carry the addresses of who made them; what is not committed is taken for the work of
whoever is at work here. A branch's base may be chosen by who makes it, so the rules are taken from
the newest commit of it that the main line has too.
"""

from typing import Final

from rocky.branches.approvals.policy import BaseFiles
from rocky.errors import UnknownRevision
from rocky.git import (
    Repository,
    authors_between,
    changed_files,
    default_base,
    find_commit,
    find_identity,
    merge_base,
    resolve_ref,
    show_file,
)
from rocky.git.program import ask_git
from rocky.ledger.branch_records import BranchRecord
from rocky.project import Project

_OWN: Final = ".rocky"
"""The folder of what Rocky writes beside a project: approvals and plans, no code."""


def find_base(repository: Repository, record: BranchRecord) -> BaseFiles | None:
    """The files that the rules of approval are taken from; None where there is no commit yet.

    Raises UnknownRevision when the commit that a branch was made against is not here.
    """
    if record.base_commit is None:
        return None
    commit = resolve_ref(repository, record.base_commit)
    try:
        main = resolve_ref(repository, default_base(repository))
    except UnknownRevision:
        main = commit
    commit = merge_base(repository, main, commit)
    return BaseFiles(commit, lambda path: show_file(repository, commit, path))


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
