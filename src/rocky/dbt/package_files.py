"""Files of a dbt project, read only below its folder: a manifest may name any path."""

from pathlib import Path
from typing import Final

from rocky.dbt.values import DbtProject, Node

_MOST_BYTES: Final = 64 * 1024 * 1024


def read_below(root: Path, path: str) -> bytes | None:
    """A file of the project; None for what is not below its folder, or too large."""
    try:
        place = (root / path).resolve(strict=True)
        if not place.is_relative_to(root.resolve()) or place.stat().st_size > _MOST_BYTES:
            return None
        return place.read_bytes()
    except (OSError, ValueError):
        return None


def read_node(project: DbtProject, node: Node) -> bytes | None:
    """The file of a node, which may be one of a package that `dbt deps` has installed."""
    if node.package != project.name:
        return read_below(project.root, f"dbt_packages/{node.package}/{node.path}")
    return read_below(project.root, node.path)
