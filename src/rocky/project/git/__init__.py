"""Git, asked about the past of a project: the only home of the `git` program."""

from rocky.project.git.repository import (
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
from rocky.project.git.trees import (
    CACHE_FOLDER,
    ChangedFile,
    Snapshot,
    changed_files,
    check_out,
    is_dirty,
    show_file,
    tracked_files,
)

__all__ = [
    "CACHE_FOLDER",
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
    "tracked_files",
]
