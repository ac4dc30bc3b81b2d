"""Clones: a table at a version as a table of its own, whose later commits leave the first alone.

No data is read or written: a clone costs a log. In a folder its files are hard links. In an object
store its log refers to the files where they are, so whoever removes files of the first table has to
ask its clones; a clone in another bucket, which cannot refer to them, gets copies.
"""

import os
import time
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Final

from blake3 import blake3

from rocky.errors import ChangeRefused, StoreUnreadable
from rocky.store.actions import Action, format_add, format_commit, format_txn
from rocky.store.bringing import share_file, share_local
from rocky.store.change import Committed
from rocky.store.elsewhere import place_of
from rocky.store.files import DataFile, is_addressed
from rocky.store.log import FOLDER
from rocky.store.protocol import format_protocol
from rocky.store.snapshot import Snapshot
from rocky.store.warehouse import BRANCH_PREFIX, Table, Warehouse
from rocky.version import __version__

_THREADS: Final = 16
NO_INFO: Final[Mapping[str, str]] = {}


def clone_table(
    source: Table, snapshot: Snapshot, clone: Table, info: Mapping[str, str] = NO_INFO
) -> Committed:
    """Make `clone` what `source` is at a version, with its columns, properties and transactions.

    `info` goes into the clone's commit: who made it, and which state of the ledger it vouches for.

    Raises `ChangeRefused` when there is a table already, `StoreUnreadable`, `StoreUnwritable`.
    """
    if clone.snapshot() is not None:
        raise ChangeRefused(f"table `{clone.name}` cannot be cloned: there is one already")
    files = _share_files(source, snapshot.files, clone)
    actions = _actions(source, snapshot, files, info)
    data = format_commit(actions)
    if not clone.objects.create(clone.log.commit_path(0), data):
        raise ChangeRefused(f"table `{clone.name}` cannot be cloned: there is one already")
    made = _as_cloned(snapshot, actions, files)
    clone.log.remember(made)
    return Committed(made, made.files, (), commit_hash=blake3(data).hexdigest())


def clone_tables(
    wanted: Iterable[tuple[Table, Snapshot, Table]],
    info: Callable[[Table], Mapping[str, str]] = lambda _source: NO_INFO,
) -> list[Committed]:
    """Several clones at once, as `clone_table` makes each, in their order.

    `info` says for a source what its clone's commit carries.
    """
    with ThreadPoolExecutor(_THREADS, "rocky-clone") as pool:
        return list(
            pool.map(lambda each: clone_table(each[0], each[1], each[2], info(each[0])), wanted)
        )


def _actions(
    source: Table, snapshot: Snapshot, files: Sequence[DataFile], said: Mapping[str, str]
) -> list[Action]:
    now_ms = time.time_ns() // 1_000_000
    metadata = {**snapshot.metadata, "id": str(uuid.uuid4()), "createdTime": now_ms}
    info = {
        **said,
        "timestamp": now_ms,
        "operation": "CLONE",
        "operationParameters": {
            "source": source.uri,
            "sourceVersion": str(snapshot.version),
            "isShallow": str(any(file.is_elsewhere for file in files)).lower(),
        },
        "engineInfo": f"rocky/{__version__}",
    }
    return [
        {"commitInfo": info},
        {"protocol": format_protocol(snapshot.protocol)},
        {"metaData": metadata},
        *map(format_add, files),
        *(format_txn(name, version, now_ms) for name, version in snapshot.transactions.items()),
    ]


def _as_cloned(
    snapshot: Snapshot, actions: Sequence[Action], files: tuple[DataFile, ...]
) -> Snapshot:
    """What a reader makes of the clone's log; it says of the table all that the first one did."""
    metadata = next(each["metaData"] for each in actions if "metaData" in each)
    return replace(
        snapshot,
        version=0,
        files=files,
        table_id=metadata["id"],
        timestamp_ms=metadata["createdTime"],
        metadata=metadata,
    )


def _share_files(source: Table, files: tuple[DataFile, ...], clone: Table) -> tuple[DataFile, ...]:
    """The files as the clone's log calls them, each of them there."""
    here, there = (each.objects.local_path(each.prefix) for each in (source, clone))
    if here is not None and there is not None:
        for file in files:
            share_local(f"{here}/{file.path}", f"{there}/{file.path}", file.size)
        return files
    shared = [file for file in files if _can_refer(source, file, clone)]
    _require_there(source, shared)
    known = {file.path: source.file_uri(file) for file in shared}
    for file in files:
        if file.path not in known:
            own = place_of(clone.objects, clone.prefix, file.name)
            share_file(source.place_of(file), own, file.size)
    return tuple(replace(file, path=known.get(file.path, file.name)) for file in files)


def _can_refer(source: Table, file: DataFile, clone: Table) -> bool:
    """Whether the clone can read a file where it is: the same server, and a name of its bytes."""
    here, there = source.objects.location, clone.objects.location
    same = bool(here.bucket) and here.bucket == there.bucket and here.settings == there.settings
    return same and is_addressed(file.path)


def _require_there(source: Table, files: Sequence[DataFile]) -> None:
    """Raise `StoreUnreadable` for a file that is missing. One listing tells of all in a folder."""
    if not files:
        return
    start = len(source.prefix) + 1
    sizes = {info.path[start:]: info.size for info in source.objects.list(source.prefix)}
    for file in files:
        if sizes.get(file.path) != file.size and not file.is_elsewhere:
            what = "not as long as it was" if file.path in sizes else "missing"
            raise StoreUnreadable(f"could not read `{source.place_of(file)}`: it is {what}")


def drop_branch_folder(warehouse: Warehouse) -> int:
    """Remove all tables of a branch, whose folder this is; how many objects there were.

    May be repeated after it was cut short: logs go last, so what is left can be read until then.
    Raises `ChangeRefused` for a folder that is not a branch's own, `StoreUnwritable`.
    """
    objects = warehouse.objects
    name = objects.place("").rstrip("/").rpartition("/")[2]
    if not name.startswith(BRANCH_PREFIX) or name == BRANCH_PREFIX:
        raise ChangeRefused(
            f"`{objects.place('')}` is not removed: it is not the folder of a branch, which begins"
            f" with `{BRANCH_PREFIX}`"
        )
    logs: list[str] = []
    others: list[str] = []
    for info in objects.list(""):
        (logs if f"/{FOLDER}/" in info.path else others).append(info.path)
    with ThreadPoolExecutor(_THREADS, "rocky-drop") as pool:
        for paths in (others, logs):
            for _ in pool.map(lambda path: objects.delete([path]), paths):
                pass
    folder = objects.location.folder
    if folder is not None:
        # What is left are empty folders, unless somebody is writing there.
        _remove_folders(folder)
    return len(logs) + len(others)


def _remove_folders(folder: Path) -> None:
    for parent, _, _ in os.walk(folder, topdown=False):
        with suppress(OSError):
            Path(parent).rmdir()
