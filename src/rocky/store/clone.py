"""A clone: a table at a version as a table of its own, whose later commits leave the first alone.

No data is read or written: a clone costs a log. In a folder its files are hard links. In an object
store its log refers to the files where they are, so whoever removes files of the first table has
to ask its clones (`file_usage`); a clone in another bucket, which cannot refer to them, gets
copies, made by the server. A file is never changed once it has its name, so tables may share its
bytes.
"""

import os
import stat
import time
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from shutil import copyfileobj
from typing import Final

import obstore
from blake3 import blake3
from obstore.exceptions import BaseError

from rocky.errors import ChangeRefused, StoreUnreadable, StoreUnwritable
from rocky.store.data_file import DataFile, is_addressed
from rocky.store.delta.actions import Action, format_add, format_commit, format_protocol, format_txn
from rocky.store.delta.change import Committed
from rocky.store.delta.snapshot import Snapshot
from rocky.store.folder import Escape
from rocky.store.guard import write_guard
from rocky.store.objects import (
    FileLocation,
    Objects,
    ask_again,
    locate_file,
    whole_bucket,
    why_failed,
)
from rocky.store.warehouse import Table
from rocky.version import __version__

_COPY_THREADS: Final = 16
_LARGEST_SERVER_COPY: Final = 5 * 1024**3
"""Servers copy no larger object by one request."""


def copy_files(source: Table, files: Iterable[DataFile], target: Table) -> None:
    """Make files of `source` lie in the folder of `target`; those that do are left as they are.

    May be repeated after it was cut short. Raises `StoreUnreadable` for a file that is missing or
    not as long as it was, `StoreUnwritable`.
    """

    def bring(file: DataFile) -> None:
        there = locate_file(target.objects, target.prefix, file.name)
        share_file(source.place_of(file), there, file.size)
        if there.local is not None:
            # A link is as old as the file: nobody may sweep it as a leftover before the commit.
            _refresh(there.local)

    with ThreadPoolExecutor(_COPY_THREADS, "rocky-bring") as pool:
        # Taken one by one, so that a file that is missing is told.
        for _ in pool.map(bring, files):
            pass


def share_file(here: FileLocation, there: FileLocation, size: int) -> None:
    """Make one file lie in a second place too. Raises as `bring_files` does."""
    if str(here) == str(there):
        _require(here, size)
        return
    link, local = here.local, there.local
    if link is not None and local is not None:
        link_file(str(link), str(local), size)
        return
    found = there.info()
    if found is not None and found.size != size:
        raise StoreUnwritable(_damaged(str(there)))
    _require(here, size)
    _copy(here, there, size)
    _require(there, size)


def link_file(here: str, there: str, size: int) -> None:
    """Give a file on a disk a second name, or a copy where there are no links."""
    try:
        if _size(here) != size:
            raise StoreUnreadable(f"could not read `{here}`: its length has changed")
        if not _link(here, there) and _size(there) != size:
            raise StoreUnwritable(_damaged(there))
    except FileNotFoundError as error:
        raise StoreUnreadable(f"could not read `{here}`: it is missing") from error
    except OSError as error:
        raise StoreUnwritable(f"could not write `{there}`: {error.strerror or error}") from error


def _link(here: str, there: str) -> bool:
    """Whether the name was made; False where there is one already."""
    folder, name = os.path.split(there)
    try:
        os.link(here, there)
    except FileExistsError:
        return False
    except FileNotFoundError:
        if not Path(here).exists():
            raise
        Path(folder).mkdir(parents=True, exist_ok=True)
        return _link(here, there)
    except OSError:
        # Another disk, or one that knows no links. The name must not appear before the bytes do.
        Path(folder).mkdir(parents=True, exist_ok=True)
        half = Path(folder, f"_{name}.{os.getpid()}.copy")
        half.unlink(missing_ok=True)
        # A file that is new: what somebody put there meanwhile is not written through.
        with Path(here).open("rb") as source, half.open("xb") as target:
            copyfileobj(source, target)
        half.replace(there)
    return True


def _size(file: str) -> int:
    found = os.lstat(file)
    if not stat.S_ISREG(found.st_mode):
        raise Escape(f"`{file}` is a link or a folder, not a file of a table")
    return found.st_size


def _refresh(file: Path) -> None:
    try:
        os.utime(file, follow_symlinks=False)
    except OSError as error:
        raise StoreUnwritable(f"could not write `{file}`: {error.strerror or error}") from error


def _require(place: FileLocation, size: int) -> None:
    found = place.info()
    if found is None or found.size != size:
        what = "missing" if found is None else "not as long as it was"
        raise StoreUnreadable(f"could not read `{place}`: it is {what}")


def _copy(here: FileLocation, there: FileLocation, size: int) -> None:
    try:
        if size <= _LARGEST_SERVER_COPY and _same_store(here.objects, there.objects):
            store = whole_bucket(there.objects).store
            ask_again(lambda: obstore.copy(store, _key(here), _key(there)))
        else:
            with obstore.open_writer(there.objects.store, _own_key(there)) as opened:
                for piece in obstore.get(here.objects.store, _own_key(here)).stream():
                    opened.write(bytes(piece))
    except (BaseError, OSError, ValueError) as error:
        raise StoreUnwritable(f"could not write `{there}`: {why_failed(error)}") from error


def _same_store(one: Objects, other: Objects) -> bool:
    """Whether a server can copy from one place to the other."""
    a, b = one.location, other.location
    return bool(a.bucket) and a.bucket == b.bucket and dict(a.settings) == dict(b.settings)


def _key(place: FileLocation) -> str:
    """The key in the bucket."""
    return f"{place.objects.location.prefix}/{place.path}".lstrip("/")


def _own_key(place: FileLocation) -> str:
    """The key as the client of the objects takes it, which starts at their own root."""
    local = place.local
    return place.path if local is None else local.as_posix().removeprefix("/")


def _damaged(place: str) -> str:
    return (
        f"`{place}` exists already, and its content does not match its name; restore or remove it"
    )


_CLONE_THREADS: Final = 16
NO_INFO: Final[Mapping[str, str]] = {}


def clone_table(
    source: Table, snapshot: Snapshot, clone: Table, info: Mapping[str, str] = NO_INFO
) -> Committed:
    """Make `clone` what `source` is at a version, with its columns, properties and transactions.

    `info` goes into the clone's commit: who made it, and which state of the ledger it belongs to.

    Raises `ChangeRefused` when there is a table already, `StoreUnreadable`, `StoreUnwritable`.
    """
    if clone.snapshot() is not None:
        raise ChangeRefused(f"table `{clone.name}` cannot be cloned: there is one already")
    files = _share_files(source, snapshot.files, clone)
    actions = _clone_actions(source, snapshot, files, info)
    data = format_commit(actions)
    if not all(file.is_elsewhere for file in files):
        write_guard(clone.objects, clone.prefix)
    if not clone.objects.create(clone.log.commit_path(0), data):
        raise ChangeRefused(f"table `{clone.name}` cannot be cloned: there is one already")
    made = _cloned_snapshot(snapshot, actions, files)
    clone.log.remember(made)
    return Committed(made, made.files, (), commit_hash=blake3(data).hexdigest())


def clone_tables(
    wanted: Iterable[tuple[Table, Snapshot, Table]],
    info: Callable[[Table], Mapping[str, str]] = lambda _source: NO_INFO,
) -> list[Committed]:
    """Several clones at once, as `clone_table` makes each, in their order.

    `info` says for a source what its clone's commit carries.
    """
    with ThreadPoolExecutor(_CLONE_THREADS, "rocky-clone") as pool:
        return list(
            pool.map(lambda each: clone_table(each[0], each[1], each[2], info(each[0])), wanted)
        )


def _clone_actions(
    source: Table, snapshot: Snapshot, files: Sequence[DataFile], said: Mapping[str, str]
) -> list[Action]:
    now_ms = time.time_ns() // 1_000_000
    metadata = {
        **snapshot.metadata,
        # Without hashes of files that the table no longer has: other tools leave them there.
        "configuration": dict(snapshot.configuration),
        "id": str(uuid.uuid4()),
        "createdTime": now_ms,
    }
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


def _cloned_snapshot(
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
            if "/" in file.path:
                # Not a name of ours: no folder on the way may lead elsewhere.
                share_file(source.place_of(file), clone.place_of(file), file.size)
            else:
                link_file(f"{here}/{file.path}", f"{there}/{file.path}", file.size)
        return files
    shared = [file for file in files if _can_refer(source, file, clone)]
    _require_there(source, shared)
    known = {file.path: source.file_uri(file) for file in shared}
    for file in files:
        if file.path not in known:
            own = locate_file(clone.objects, clone.prefix, file.name)
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
