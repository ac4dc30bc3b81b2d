"""Changes: that files were saved, git moved or the ledger was written, told to whoever waits.

The system tells of files. Of git and of the ledger a few small facts are looked at, many times a
second; reading either does not change them, so nobody who only looks causes a change.
"""

import json
import os
from collections import deque
from collections.abc import Iterator, Mapping
from pathlib import Path
from threading import Condition, Event, Thread
from time import time_ns
from typing import Any, Final, NamedTuple

from rocky.errors import RockyError
from rocky.ledger.claims import living_runs
from rocky.operations.execution.saves import Saves, table_folders
from rocky.operations.workspace import (
    Workspace,
    load_workspace,
    main_state_path,
    project_location,
)
from rocky.project.schema_cache import SCHEMAS_FOLDER
from rocky.protocol.memory import FILES, GIT, LEDGER, Memory

_KEPT: Final = 200
_PAUSE: Final = 1.0
_TICK: Final = 20_000_000
"""A file's time may be so many nanoseconds older than the clock's."""


Facts = Mapping[str, tuple[int, int]]


class Notice(NamedTuple):
    """Something that happened; numbers only rise."""

    number: int
    event: str
    data: str


class Notices:
    """What happened, in order, for any number of listeners. Only the newest are kept."""

    def __init__(self) -> None:
        self._condition = Condition()
        self._kept: deque[Notice] = deque(maxlen=_KEPT)
        self._last = 0

    def tell(self, event: str, **facts: Any) -> None:
        """Tell all who wait."""
        with self._condition:
            self._last += 1
            self._kept.append(Notice(self._last, event, json.dumps(facts)))
            self._condition.notify_all()

    @property
    def last(self) -> int:
        """The number of the newest."""
        return self._last

    def after(self, number: int, timeout: float) -> tuple[Notice, ...]:
        """Those after a number, waiting for one at most so long."""
        with self._condition:
            if self._last <= number:
                self._condition.wait(timeout)
            return tuple(each for each in self._kept if each.number > number)


class Lookout:
    """A thread that notices changes, has the memory forget, and tells."""

    def __init__(self, memory: Memory, notices: Notices) -> None:
        self._memory, self._notices = memory, notices
        self._stop = Event()
        self._begun = time_ns() - _TICK
        self._seen: dict[str, Facts] = {}
        self._thread = Thread(target=self._watch, name="rocky-lookout", daemon=True)

    def start(self) -> None:
        """Look from now on: what changes before the thread is ready is noticed, too."""
        self._seen = self._look()
        self._thread.start()

    def close(self) -> None:
        self._stop.set()
        self._thread.join(5)

    def _watch(self) -> None:
        workspace = self._memory.fresh_workspace
        saves = Saves(workspace)
        try:
            saves.tables = table_folders(load_workspace(workspace))
        except (RockyError, OSError):
            # A project that cannot be read has no tables yet; a save may mend it.
            saves.tables = frozenset()
        for saved in self._heard(saves):
            now = self._look()
            changed = {
                kind for kind in {**self._seen, **now} if self._seen.get(kind) != now.get(kind)
            }
            changed |= {FILES} if saved else set()
            self._seen = now
            if changed:
                self._memory.forget(frozenset(changed))
                self._notices.tell("change", kinds=sorted(changed))

    def _look(self) -> dict[str, Facts]:
        try:
            return dict(_facts(self._memory.fresh_workspace))
        except (RockyError, OSError):
            # There is no project just now: that is another fact than whatever was there.
            return {}

    def _heard(self, saves: Saves) -> Iterator[frozenset[Path]]:
        try:
            first = True
            for saved in saves.heard(self._stop):
                # What was saved before the system began to tell has been missed.
                yield saved | saves.since(self._begun) if first else saved
                first = False
        except OSError as error:
            # The system watches only so many folders: they are looked at one by one.
            self._notices.tell("unwatched", reason=str(error))
            looked = self._begun
            while not self._stop.wait(_PAUSE):
                before, looked = looked, time_ns() - _TICK
                yield _looked_at(saves, before)


def _looked_at(saves: Saves, moment: int) -> frozenset[Path]:
    try:
        return saves.since(moment)
    except OSError:
        # The project's own folder is gone, and all that was known of it.
        return frozenset({saves.root})


def _facts(workspace: Workspace) -> Iterator[tuple[str, Facts]]:
    """What is looked at: the ledgers and who writes them, where git's branches are, and columns.

    Of files sizes and times, of folders times: git replaces files, and never changes one.
    """
    root, _ = project_location(workspace)
    state = main_state_path(workspace)
    paths = [
        each
        for each in state.parent.glob(f"{state.stem}*{state.suffix}*")
        if not each.name.endswith("-shm")
    ]
    ledgers = {each.name: stamp for each in paths if (stamp := _stamp(each)) is not None}
    # A run that is killed does not write that it is: it only lets go of its claim.
    running = (each for path in paths if path.suffix == state.suffix for each in _running(path))
    yield LEDGER, {**ledgers, **dict.fromkeys(running, (0, 0))}
    yield GIT, dict(_references(root.absolute()))
    found = (root / SCHEMAS_FOLDER).glob("*.json")
    yield FILES, {each.name: stamp for each in found if (stamp := _stamp(each)) is not None}


def _running(ledger: Path) -> Iterator[str]:
    try:
        yield from (each.run_id for each in living_runs(ledger))
    except RockyError:
        # Somebody is just about to claim or to let go: the next look tells.
        return


def _references(root: Path) -> Iterator[tuple[str, tuple[int, int]]]:
    """Where git's head and all its branches are: a fetch moves what changes are compared with."""
    git = _git_folder(root)
    if git is None:
        return
    try:
        common = git / (git / "commondir").read_text(encoding="utf-8").strip()
    except OSError:
        common = git
    for place in (git / "HEAD", git / "logs/HEAD", common / "packed-refs"):
        if (stamp := _stamp(place)) is not None:
            yield str(place), stamp
    for folder, _, _ in os.walk(common / "refs"):
        try:
            yield folder, (Path(folder).stat().st_mtime_ns, 0)
        except OSError:
            continue


def _stamp(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    # An empty log of SQLite's comes and goes with readers.
    return (found.st_mtime_ns, found.st_size) if found.st_size else None


def _git_folder(root: Path) -> Path | None:
    for folder in (root, *root.parents):
        place = folder / ".git"
        if place.is_dir():
            return place
        if place.is_file():
            said = place.read_text(encoding="utf-8", errors="replace").strip()
            return folder / said.removeprefix("gitdir:").strip()
    return None
