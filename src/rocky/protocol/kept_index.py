"""The index of the last time: what a page can be shown while its project is still compiled.

It is kept in the user's cache with a mark of everything it was made of: every file of the project
by name, size and times, the ledger, and what was asked for. With another mark it is not used. With
the same one it is lent until the true one is made, which a server does at once: a variable of the
environment, or a run of another machine, can make a difference that no file tells.
"""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from blake3 import blake3

from rocky.errors import RockyError
from rocky.operations.execution.saves import Saves
from rocky.operations.page.records import FORMAT
from rocky.operations.workspace import Workspace, project_location
from rocky.project.user_cache import read_cache, write_cache
from rocky.protocol.changes import facts_of
from rocky.protocol.memory import GIT
from rocky.version import __version__

_NAME: Final = "page-index"
_LARGEST: Final = 64 * 1024 * 1024


def read_index(workspace: Workspace) -> bytes | None:
    """The answer that was kept, if nothing that a file tells has changed since."""
    root, _ = project_location(workspace)
    found = read_cache(root, _name(workspace))
    if found is None:
        return None
    head, _, answer = bytes(found.payload).partition(b"\n")
    said = json.loads(head)
    mark = mark_of(workspace, frozenset(map(Path, said["tables"])))
    return answer if mark is not None and mark == said["mark"] else None


def write_index(workspace: Workspace, tables: frozenset[Path], mark: str, answer: bytes) -> None:
    """Keep an answer for the next start. `tables` are folders that runs write."""
    if len(answer) > _LARGEST:
        return
    root, _ = project_location(workspace)
    head = json.dumps({"mark": mark, "tables": sorted(map(str, tables))})
    write_cache(root, _name(workspace), head.encode() + b"\n" + answer)


def mark_of(workspace: Workspace, tables: frozenset[Path]) -> str | None:
    """The mark of a project as it is now: taken before an index is made. None when in doubt."""
    saves = Saves(workspace)
    saves.tables = tables
    try:
        looked = [(kind, sorted(each.items())) for kind, each in facts_of(workspace) if kind != GIT]
        hasher = blake3(repr((__version__, FORMAT, str(saves.root), looked)).encode())
        for line in _files(saves):
            hasher.update(line)
    except (RockyError, OSError):
        # Something goes just now, or there is no project: then it is made as ever.
        return None
    return hasher.hexdigest()


def _name(workspace: Workspace) -> str:
    """One file for each way to look at a project."""
    asked = (
        str(workspace.config),
        str(workspace.state_file),
        sorted(workspace.variables.items()),
        workspace.branch_name,
        workspace.mask_env,
    )
    return f"{_NAME}-{blake3(repr(asked).encode()).hexdigest(8)}"


def _files(saves: Saves) -> Iterator[bytes]:
    """Every file that is watched, in an order of its own."""
    waiting = [os.fspath(each) for each in saves.places()]
    while waiting:
        place = waiting.pop()
        if not os.path.isdir(place):  # noqa: PTH112 - ten thousand times
            found = os.stat(place)  # noqa: PTH116
            yield f"{place} {found.st_size} {found.st_mtime_ns} {found.st_ctime_ns}\n".encode()
            continue
        folders = []
        for each in sorted(os.scandir(place), key=lambda entry: entry.name):
            if each.is_dir(follow_symlinks=False):
                if saves.is_read(Path(each.path)):
                    folders.append(each.path)
                continue
            found = each.stat()
            yield f"{each.path} {found.st_size} {found.st_mtime_ns} {found.st_ctime_ns}\n".encode()
        waiting += reversed(folders)
