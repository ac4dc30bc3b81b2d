"""Changes: that files were saved, git moved or the ledger was written, told to whoever waits.

The system tells of files. Of git and of the ledger a few small facts are looked at, many times a
second; reading either does not change them, so nobody who only looks causes a change.
"""

import json
from collections import deque
from collections.abc import Iterator, Mapping
from pathlib import Path
from threading import Condition, Event, Thread
from typing import Any, Final, NamedTuple

from rocky.errors import RockyError
from rocky.operations.execution.saves import Saves, table_folders
from rocky.operations.workspace import load_workspace, main_state_path
from rocky.protocol.memory import FILES, GIT, LEDGER, Memory

_KEPT: Final = 200
_PAUSE: Final = 1.0


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
        self._thread = Thread(target=self._watch, name="rocky-lookout", daemon=True)

    def start(self) -> None:
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
        seen = dict(_facts(workspace, saves.root))
        for saved in self._heard(saves):
            now = dict(_facts(workspace, saves.root))
            changed = {kind for kind in (GIT, LEDGER) if seen.get(kind) != now.get(kind)}
            changed |= {FILES} if saved else set()
            seen = now
            if changed:
                self._memory.forget(frozenset(changed))
                self._notices.tell("change", kinds=sorted(changed))

    def _heard(self, saves: Saves) -> Iterator[frozenset[Path]]:
        try:
            yield from saves.heard(self._stop)
        except OSError as error:
            # The system watches only so many folders: the rest is still looked at.
            self._notices.tell("unwatched", reason=str(error))
            while not self._stop.wait(_PAUSE):
                yield frozenset()


def _facts(workspace: Any, root: Path) -> Iterator[tuple[str, Mapping[str, tuple[int, int]]]]:
    """What is looked at: sizes and times of the ledgers' files, and of where git's head is."""
    state = main_state_path(workspace)
    ledgers = {
        each.name: stamp
        for each in state.parent.glob(f"{state.stem}*{state.suffix}*")
        if not each.name.endswith("-shm") and (stamp := _stamp(each)) is not None
    }
    yield LEDGER, ledgers
    git = _git_folder(root)
    heads = ("HEAD", "logs/HEAD") if git is not None else ()
    yield GIT, {name: found for name in heads if (found := _stamp(git / name)) is not None}  # type: ignore[operator]


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
