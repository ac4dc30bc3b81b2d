"""Clones: a table at a version as a table of its own, whose later commits leave the first alone.

In a folder the files are hard links, so a clone costs a log and no space; a file is never changed
once it has its name, so two tables may share its bytes. In object stores they are copied.
"""

import os
import time
import uuid
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from shutil import copyfile
from typing import Final

from rocky.errors import ChangeRefused, StoreUnreadable, StoreUnwritable
from rocky.store.actions import Action, format_add, format_commit, format_txn
from rocky.store.files import DataFile
from rocky.store.protocol import format_protocol
from rocky.store.snapshot import Snapshot
from rocky.store.warehouse import Table
from rocky.version import __version__

_THREADS: Final = 16


def clone_table(source: Table, snapshot: Snapshot, clone: Table) -> Snapshot:
    """Make `clone` what `source` is at a version, with its columns, properties and transactions.

    Raises `ChangeRefused` when there is a table already, `StoreUnreadable`, `StoreUnwritable`.
    """
    if clone.snapshot() is not None:
        raise ChangeRefused(f"table `{clone.name}` cannot be cloned: there is one already")
    with ThreadPoolExecutor(_THREADS, thread_name_prefix="rocky-clone") as pool:
        # Taken one by one, so that a file that is missing is told.
        for _ in pool.map(lambda file: _bring(source, file, clone), snapshot.files):
            pass
    data = format_commit(_actions(source, snapshot))
    if not clone.objects.create(clone.log.commit_path(0), data):
        raise ChangeRefused(f"table `{clone.name}` cannot be cloned: there is one already")
    made = clone.snapshot()
    assert made is not None
    return made


def _actions(source: Table, snapshot: Snapshot) -> list[Action]:
    now_ms = time.time_ns() // 1_000_000
    metadata = {**snapshot.metadata, "id": str(uuid.uuid4()), "createdTime": now_ms}
    info = {
        "timestamp": now_ms,
        "operation": "CLONE",
        "operationParameters": {
            "source": source.uri,
            "sourceVersion": str(snapshot.version),
            "isShallow": "false",
        },
        "engineInfo": f"rocky/{__version__}",
    }
    return [
        {"commitInfo": info},
        {"protocol": format_protocol(snapshot.protocol)},
        {"metaData": metadata},
        *map(format_add, snapshot.files),
        *(format_txn(name, version, now_ms) for name, version in snapshot.transactions.items()),
    ]


def _bring(source: Table, file: DataFile, clone: Table) -> None:
    """Make a file of the source one of the clone's too."""
    path, target = f"{source.prefix}/{file.path}", f"{clone.prefix}/{file.path}"
    here, there = source.objects.local_path(path), clone.objects.local_path(target)
    if here is not None and there is not None:
        _link(here, there)
        return
    data = source.objects.read(path)
    if data is None:
        raise StoreUnreadable(f"could not read `{source.objects.place(path)}`: it is missing")
    clone.objects.put(target, data)


def _link(here: Path, there: Path) -> None:
    try:
        there.parent.mkdir(parents=True, exist_ok=True)
        try:
            os.link(here, there)
        except FileNotFoundError:
            raise
        except OSError:
            # Another disk, or one that knows no links.
            copyfile(here, there)
    except FileNotFoundError as error:
        raise StoreUnreadable(f"could not read `{here}`: it is missing") from error
    except OSError as error:
        raise StoreUnwritable(f"could not write `{there}`: {error.strerror or error}") from error
