"""Ways out of a dbt project: settings and links that would have dbt read what is not in its folder.

Rocky does not follow them when it reads files itself. dbt would, so it is not asked.
"""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from rocky.dbt.package_files import is_below
from rocky.dbt.project_files import installed_packages

_OURS: Final = frozenset({"target-path", "log-path"})
"""Where dbt writes to: it is told a folder of ours."""
_USUAL: Final = ("models", "seeds", "data", "snapshots", "tests", "macros", "analyses", "functions")


def find_way_out(root: Path) -> str | None:
    """The first path that leads out of the project, or is no file at all, in words."""
    if not is_below(root, root / "dbt_packages"):
        return "`dbt_packages` leads out of the project"
    for folder in sorted((root / "dbt_packages").glob("*")):
        if not is_below(root, folder):
            return f"`dbt_packages/{folder.name}` leads out of the project"
    for folder, settings in installed_packages(root):
        for key, path in _paths(settings):
            place = folder / path
            if "{" in path or not is_below(folder, place):
                return f"`{path}` of `{key}` leads out of the project"
            for each in _irregular(folder, place):
                name = each.relative_to(folder).as_posix()
                return f"`{name}` leads out of the project, or is no file"
    return None


def _paths(settings: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for key, value in settings.items():
        if str(key).endswith(("-path", "-paths")) and key not in _OURS:
            for each in value if isinstance(value, list) else [value]:
                yield str(key), str(each)
    for each in _USUAL:
        yield each, each


def _irregular(root: Path, place: Path) -> Iterator[Path]:
    """Links that lead out, pipes and the like, below a folder."""
    for at, folders, files in os.walk(place):
        for each in folders:
            if not is_below(root, Path(at, each)):
                yield Path(at, each)
        for each in files:
            if not (is_below(root, Path(at, each)) and Path(at, each).is_file()):
                yield Path(at, each)
