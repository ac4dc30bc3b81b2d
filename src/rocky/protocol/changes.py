"""Changes: that files were saved, git moved or the ledger was written, told to whoever waits.

The system tells of files. Of git and of the ledger a few small facts are looked at, many times a
second; reading either does not change them, so nobody who only looks causes a change.
"""

import os
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from threading import Event, Thread
from time import time_ns
from typing import Final

from rocky.errors import RockyError
from rocky.ledger.claims import living_runs
from rocky.operations.execution.saves import Saves, table_folders
from rocky.operations.workspace import (
    Workspace,
    known_branch,
    load_workspace,
    main_state_path,
    project_location,
    refresh_state,
    state_path,
    state_settings,
)
from rocky.project.schema_cache import SCHEMAS_FOLDER
from rocky.protocol.memory import FILES, GIT, LEDGER, Memory
from rocky.protocol.notices import Notices

_PAUSE: Final = 1.0
_UNREACHED: Final = "The remote state does not answer: runs of other machines may be missing."
_TICK: Final = 20_000_000
"""A file's time may be so many nanoseconds older than the clock's."""


Facts = Mapping[str, tuple[int, int]]


class Lookout:
    """A thread that notices changes, has the memory forget, and tells."""

    def __init__(
        self, memory: Memory, notices: Notices, *, remote_every: float | None = None
    ) -> None:
        self._memory, self._notices = memory, notices
        self._stop = Event()
        self._begun = time_ns() - _TICK
        self._seen: dict[str, Facts] = {}
        self._thread = Thread(target=self._watch, name="rocky-lookout", daemon=True)
        self._remote_every = remote_every

    def start(self) -> None:
        """Look from now on: what changes before the thread is ready is noticed, too."""
        self._seen = self._look()
        self._thread.start()
        if self._remote_every is not None:
            # Apart: a backend may take its time to answer.
            Thread(target=self._fetch, name="rocky-remote-state", daemon=True).start()

    def close(self) -> None:
        self._stop.set()
        self._thread.join(5)

    def _fetch(self) -> None:
        """Fetch a remote state every so often: what is new in it, the ledger here then shows."""
        said = ""
        while not self._stop.wait(self._remote_every):
            problems: list[str] = []
            workspace = replace(self._memory.fresh_workspace, warn=problems.append, synced=None)
            try:
                if state_settings(workspace).backend == "local":
                    continue
                refresh_state(workspace, state_path(known_branch(workspace)))
            except (RockyError, OSError) as error:
                problems.append(str(error))
            # Not what they are: whoever listens may be of a team, and they name hosts and keys.
            if said != (said := _UNREACHED if problems else ""):
                self._notices.tell("remote", problem=said)

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
            return dict(facts_of(self._memory.fresh_workspace))
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


def facts_of(workspace: Workspace) -> Iterator[tuple[str, Facts]]:
    """What is looked at: the ledgers and who writes them, where git's branches are, and columns.

    Of files sizes and times, of folders times: git replaces files, and never changes one.
    """
    root, _ = project_location(workspace)
    yield LEDGER, _ledger_facts(workspace)
    yield GIT, dict(_references(root.absolute()))
    found = (root / SCHEMAS_FOLDER).glob("*.json")
    yield FILES, {each.name: stamp for each in found if (stamp := _stamp(each)) is not None}


def _ledger_facts(workspace: Workspace) -> Facts:
    """The ledgers of a project, and which runs go on."""
    state = main_state_path(workspace)
    paths = [
        each
        for each in state.parent.glob(f"{state.stem}*{state.suffix}*")
        if not each.name.endswith("-shm")
    ]
    ledgers = {each.name: stamp for each in paths if (stamp := _stamp(each)) is not None}
    # A run that is killed does not write that it is: it only lets go of its claim.
    running = (each for path in paths if path.suffix == state.suffix for each in _running(path))
    return {**ledgers, **dict.fromkeys(running, (0, 0))}


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
