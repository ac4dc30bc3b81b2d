"""Files of a dbt project, read only below its folder: a manifest or a link may name any path."""

from pathlib import Path
from typing import Final

from rocky.dbt.values import DbtProject, Node

_MOST_BYTES: Final = 64 * 1024 * 1024


def is_below(root: Path, path: Path) -> bool:
    """Whether a path leads to a place below a folder, links followed."""
    try:
        return path.resolve().is_relative_to(root.resolve())
    except (OSError, ValueError, RuntimeError):
        # A loop of links, or no path at all.
        return False


def is_file_below(root: Path, path: Path) -> bool:
    """Whether it is a regular file below a folder and not too large: no pipe, no way out."""
    try:
        return is_below(root, path) and path.is_file() and path.stat().st_size <= _MOST_BYTES
    except (OSError, ValueError):
        return False


def read_below(root: Path, path: str) -> bytes | None:
    """A file of the project; None for what is not below its folder, or too large."""
    try:
        place = root / path
        return place.read_bytes() if is_file_below(root, place) else None
    except (OSError, ValueError):
        return None


def read_node(project: DbtProject, node: Node) -> bytes | None:
    """The file of a node, which may be one of a package that `dbt deps` has installed."""
    if node.package != project.name:
        return read_below(project.root, f"dbt_packages/{node.package}/{node.path}")
    return read_below(project.root, node.path)
