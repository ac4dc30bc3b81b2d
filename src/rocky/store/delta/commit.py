"""Commits: one change becomes one file of the log, or nothing does.

The file of the next version is created only if it is absent, so of two writers one gets it; the
other reads what was committed, rebases and tries the version after. Data files must lie in the
table's folder before.
"""

import logging
import random
import time
import uuid
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Final

from blake3 import blake3

from rocky.errors import ChangeRefused, ConcurrentChange, StoreUnreadable, StoreUnwritable
from rocky.store.data_file import Address, DataFile, name_of, path_of, salted
from rocky.store.delta.actions import unwritable_feature
from rocky.store.delta.change import Change, Committed, rebase
from rocky.store.delta.commit_actions import (
    TOKEN,
    CommitActions,
    CommitStamp,
    compose,
    time_after,
)
from rocky.store.delta.log import Log
from rocky.store.delta.schema import UnstorableColumns, refuse_unstorable
from rocky.store.delta.signature import sign_commit
from rocky.store.delta.snapshot import Replay, Snapshot
from rocky.store.guard import write_guard
from rocky.store.objects import FileLocation, locate_file

logger = logging.getLogger(__name__)

_TRIES: Final = 200
_LONGEST_PAUSE: Final = 0.5
_PAUSE_STEP: Final = 0.005
_THREADS: Final = 16


def commit_change(log: Log, change: Change) -> Committed:
    """Commit a change on top of whatever is there now.

    Raises `ChangeRefused` or `ConcurrentChange` when it does not hold there, and `StoreUnwritable`
    when the log cannot be written; the table is then as it was.
    """
    refuse_change(log, change, None)
    require_files(log, change.adds)
    # Not the change's base: a table may have been dropped and made again since, with fewer
    # versions, and a commit after a gap would make it unreadable.
    latest, token = log.snapshot(), uuid.uuid4().hex
    for failures in range(1, _TRIES + 1):
        if latest is not None and _is_committed(change, latest):
            return _repeated(log, change, latest)
        composed = _compose(log, change, latest, token)
        version = 0 if latest is None else latest.version + 1
        data = sign_commit(change.authority, log.prefix, version, composed.actions)
        change.authority.check()
        if create_commit(log, version, data, token):
            committed = _committed(log, version, composed, latest)
            return replace(committed, commit_hash=blake3(data).hexdigest())
        # Writers that meet once would go on meeting in step.
        time.sleep(random.uniform(0, min(_LONGEST_PAUSE, _PAUSE_STEP * failures)))
        latest = log.snapshot()
    raise ConcurrentChange(
        f"other writers of table `{log.table}` were faster {_TRIES} times; run again later"
    )


def _refuse_columns(log: Log, change: Change) -> None:
    try:
        refuse_unstorable(change.schema)
    except UnstorableColumns as error:
        raise ChangeRefused(f"table `{log.table}` cannot be stored: {error}") from error
    missing = set(change.partition_columns) - {column.name for column in change.schema}
    if missing:
        raise ChangeRefused(
            f"table `{log.table}` has no column `{min(missing)}` to be partitioned by"
        )


def require_files(log: Log, adds: Sequence[DataFile]) -> None:
    """Raise unless every file lies where it is said to, with the size it is said to have."""
    places = [locate_file(log.objects, log.prefix, file.path) for file in adds]
    with ThreadPoolExecutor(_THREADS) as pool:
        found = list(pool.map(FileLocation.info, places))
    for file, place, info in zip(adds, places, found, strict=True):
        if info is None or info.size != file.size:
            what = "is missing" if info is None else f"has {info.size} bytes, not {file.size}"
            raise ChangeRefused(f"table `{log.table}` cannot take the file `{place}`: it {what}")


def _is_committed(change: Change, latest: Snapshot) -> bool:
    if change.transaction is None:
        return False
    application, version = change.transaction
    return latest.transactions.get(application, -1) >= version


def _repeated(log: Log, change: Change, latest: Snapshot) -> Committed:
    """A commit that was made before; its hash is known while it is the latest."""
    committed = Committed(latest, (), (), repeated=True)
    if log.objects.info(log.commit_path(latest.version)) is None:
        return committed
    actions = log.read_commit(latest.version)
    made = {(txn["appId"], txn["version"]) for each in actions if (txn := each.get("txn"))}
    if change.transaction not in made:
        return committed
    return replace(committed, commit_hash=log.commit_hash(latest.version))


def refuse_change(log: Log, change: Change, latest: Snapshot | None) -> None:
    """Raise `ChangeRefused` for columns no table can have, or a table Rocky does not write."""
    _refuse_columns(log, change)
    if latest is None:
        return
    schema = str(latest.metadata.get("schemaString", ""))
    feature = unwritable_feature(latest.protocol, latest.configuration, schema)
    if feature is not None:
        raise ChangeRefused(
            f"table `{log.table}` uses {feature}, which Rocky does not write; choose another"
        )


def _compose(log: Log, change: Change, latest: Snapshot | None, token: str) -> CommitActions:
    refuse_change(log, change, latest)
    rebased = rebase(change, latest, log.table)
    files = _distinct(log, change.adds, rebased.remaining)
    now_ms = time_after(latest, time.time_ns() // 1_000_000)
    return compose(change, rebased, files, latest, CommitStamp(now_ms, token, str(uuid.uuid4())))


def _distinct(log: Log, adds: Sequence[DataFile], remaining: frozenset[str]) -> list[DataFile]:
    """The files, each at a path of its own: equal bytes are salted, and written once more."""
    # By name: a path of its own for the same bytes elsewhere would still be the same rows twice.
    used = set(map(name_of, remaining))
    files = []
    for file in adds:
        distinct, count = file, 0
        while distinct.name in used:
            count += 1
            distinct = _salted(log, file, count)
        used.add(distinct.name)
        files.append(distinct)
    return files


def _salted(log: Log, file: DataFile, count: int) -> DataFile:
    """Copy `count` of a file, written beside it."""
    place = locate_file(log.objects, log.prefix, file.path)
    data = place.read()
    if data is None:
        raise StoreUnreadable(f"could not read `{place}`: it is missing")
    copy = salted(data, count)
    path = path_of(Address(blake3(copy).hexdigest()))
    # Where it is there already, it can only be the same bytes.
    log.objects.create(f"{log.prefix}/{path}", copy)
    return replace(file, path=path, size=len(copy))


def create_commit(log: Log, version: int, data: bytes, token: str) -> bool:
    """Whether this commit is the one of that version."""
    write_guard(log.objects, log.prefix)
    try:
        if log.objects.create(log.commit_path(version), data):
            return True
        # A client that retries by itself may have met its own commit.
        return _is_ours(log, version, token)
    except StoreUnwritable:
        # The answer may have been lost on its way after the commit was made.
        try:
            if _is_ours(log, version, token):
                return True
        except StoreUnreadable:
            logger.warning("commit not confirmed: table=%s version=%d", log.table, version)
        raise


def _is_ours(log: Log, version: int, token: str) -> bool:
    if log.objects.info(log.commit_path(version)) is None:
        return False
    infos = (action.get("commitInfo") or {} for action in log.read_commit(version))
    return any(info.get(TOKEN) == token for info in infos)


def _committed(
    log: Log, version: int, composed: CommitActions, latest: Snapshot | None
) -> Committed:
    replay = Replay(latest)
    replay.apply(composed.actions, 0)
    snapshot = replay.snapshot(version)
    log.remember(snapshot)
    return Committed(snapshot, composed.added, composed.removed)
