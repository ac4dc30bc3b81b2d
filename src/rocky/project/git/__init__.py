"""Git, asked about the past of a project: the only home of the `git` program."""

from rocky.project.git.repository import (
    ChangeCommit,
    Identity,
    Repository,
    authors_between,
    commits_between,
    current_branch,
    default_base,
    find_commit,
    find_identity,
    find_repository,
    is_shallow,
    merge_base,
    read_commit,
    resolve_ref,
)
from rocky.project.git.trees import (
    ChangedFile,
    Snapshot,
    changed_files,
    check_out,
    is_dirty,
    show_file,
)

__all__ = [
    "ChangeCommit",
    "ChangedFile",
    "Identity",
    "Repository",
    "Snapshot",
    "authors_between",
    "changed_files",
    "check_out",
    "commits_between",
    "current_branch",
    "default_base",
    "find_commit",
    "find_identity",
    "find_repository",
    "is_dirty",
    "is_shallow",
    "merge_base",
    "read_commit",
    "resolve_ref",
    "show_file",
]
