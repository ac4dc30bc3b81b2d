"""Saves: the files of a project as they are saved, told by the system and not by looking.

Tables, hidden folders and what tools make are not watched: nobody saves anything there.
"""

import os
from collections.abc import Iterator
from pathlib import Path
from threading import Event
from typing import Final

from rocky.operations.workspace import Workspace, project_location
from rocky.project import Project

_QUIET_MS: Final = 20
"""A save is over when nothing else came for so long: editors write a file in several steps."""
_LOOK_MS: Final = 100
"""How often it is looked for folders that are new."""
_MADE_BY_OTHERS: Final = frozenset({"__pycache__", "node_modules", "spark-warehouse"})


class Saves:
    """The saves in a project. `tables` are folders that are left out, once they are known."""

    def __init__(self, workspace: Workspace) -> None:
        root, config = project_location(workspace)
        # The system tells of whole paths.
        self.root = root.absolute()
        self._config = None if config is None else config.absolute()
        self.tables: frozenset[Path] = frozenset()

    def heard(self, stop: Event) -> Iterator[frozenset[Path]]:
        """The files of each save, and every so often none, until it is to stop.

        After the first nothing is missed. A folder that is new counts as saved: what was put there
        before it was watched is looked at. Raises OSError: the system watches only so many folders.
        """
        from watchfiles import watch as watch_files  # noqa: PLC0415 - for those who watch

        places: list[Path] = []
        while not stop.is_set():
            before, places = places, self.places()
            fresh = set(places) - set(before) if before else set()
            for changes in watch_files(
                *places,
                watch_filter=lambda _, path: self.is_read(Path(path)),
                step=_QUIET_MS,
                stop_event=stop,
                rust_timeout=_LOOK_MS,
                yield_on_timeout=True,
            ):
                yield frozenset(fresh | {Path(path) for _, path in changes})
                fresh = set()
                if places != self.places():
                    break

    def since(self, moment: int) -> frozenset[Path]:
        """What was saved, came or went at a moment or later, by a look at every file and folder.

        For the time in which nobody listened. The `moment` is in nanoseconds; folders that others
        came into or went from are in it themselves.
        """
        found = {self.root} if _changed_at(self.root) >= moment else set()
        for place in self.places():
            for folder, folders, names in os.walk(place):
                here = Path(folder)
                folders[:] = [each for each in folders if self.is_read(here / each)]
                paths = (here, *(here / each for each in names))
                found |= {each for each in paths if _changed_at(each) >= moment}
            if place.is_file() and _changed_at(place) >= moment:
                found.add(place)
        return frozenset(found)

    def places(self) -> list[Path]:
        """What is watched: `rocky.toml` and the folders beside it, but not the tables."""
        beside = [each for each in self.root.iterdir() if each.is_dir() and self.is_read(each)]
        named = self._config or self.root / "rocky.toml"
        return sorted([*beside, *([named] if named.exists() else [])])

    def is_read(self, path: Path) -> bool:
        """Whether a project reads what is there, as far as its place tells."""
        if not path.is_relative_to(self.root):
            return True
        parts = path.relative_to(self.root).parts
        hidden = any(part.startswith(".") or part in _MADE_BY_OTHERS for part in parts)
        return not hidden and not any(path.is_relative_to(each) for each in self.tables)


def _changed_at(path: Path) -> int:
    """When a file or folder last became another, which no tool can set; 0 for one that is gone."""
    try:
        return path.lstat().st_ctime_ns
    except OSError:
        return 0


def table_folders(project: Project) -> frozenset[Path]:
    """The folders of warehouses, and of seals: runs change them."""
    places = [each.warehouse for each in project.config.adapter.values()]
    places.append(project.config.evidence.seal_dir)
    return frozenset((project.root / place).absolute() for place in places if "://" not in place)
