"""Git, asked about the past of a project: the only home of the `git` program."""

from rocky.git.repository import (
    Identity,
    Repository,
    authors_between,
    current_branch,
    default_base,
    find_commit,
    find_identity,
    find_repository,
    is_shallow,
    merge_base,
    resolve_ref,
)
from rocky.git.snapshot import Snapshot, check_out, show_file
from rocky.git.worktree import ChangedFile, changed_files, is_dirty

__all__ = [
    "ChangedFile",
    "Identity",
    "Repository",
    "Snapshot",
    "authors_between",
    "changed_files",
    "check_out",
    "current_branch",
    "default_base",
    "find_commit",
    "find_identity",
    "find_repository",
    "is_dirty",
    "is_shallow",
    "merge_base",
    "resolve_ref",
    "show_file",
]
