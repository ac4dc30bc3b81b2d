"""Prepared commits: the exact bytes of a table's next version, made before anything is moved.

A commit of a run is rebased onto whatever others have done meanwhile; a prepared one holds for one
version only. Equal arguments give equal bytes, so who takes up another's work after a crash can
make them again and see which of them are there.
"""

import uuid
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

from blake3 import blake3

from rocky.errors import StoreUnreadable
from rocky.store.actions import format_commit, parse_commit
from rocky.store.change import Change, Committed
from rocky.store.checkpoint import is_due
from rocky.store.commit import create_commit, refuse_change, require_files
from rocky.store.composition import TOKEN, Occasion, compose
from rocky.store.files import DataFile
from rocky.store.rebase import OURS, rebase
from rocky.store.snapshot import Snapshot
from rocky.store.warehouse import Table

_TABLE_IDS: Final = uuid.UUID("6b1f0f0e-55a4-5d53-9d0d-3f1c6a1b9f11")


class Moment(NamedTuple):
    """What a prepared commit owes to its occasion. `token` names what it is part of."""

    now_ms: int
    token: str


@dataclass(frozen=True, slots=True)
class PreparedCommit:
    """A commit that is right on top of `base` and nowhere else.

    `added` and `removed` are what it does to the files; a file that stays is in neither.
    """

    version: int
    data: bytes
    base: Snapshot | None
    added: tuple[DataFile, ...]
    removed: tuple[str, ...]
    token: str

    @property
    def commit_hash(self) -> str:
        return blake3(self.data).hexdigest()


@dataclass(frozen=True, slots=True)
class Moved:
    """A table that is not what a commit was prepared for. `found` is its version, if there is one.

    Nothing was committed.
    """

    table: str
    expected: int | None
    found: int | None


def prepare_commit(
    table: Table,
    before: Snapshot | None,
    content: Snapshot,
    info: Mapping[str, str],
    moment: Moment,
) -> PreparedCommit:
    """The commit that gives a table which is as `before` the content of a snapshot of any table.

    That is its files, columns, partitions and Rocky's own properties; other properties stay as they
    are. Files that lie elsewhere have to be brought. Raises `ChangeRefused`, and writes nothing.
    """
    files = tuple(replace(file, path=file.name) for file in content.files)
    change = Change(
        "REPLACE",
        before,
        content.schema,
        content.partition_columns,
        files,
        properties=_properties(content, before),
        info=info,
    )
    refuse_change(table.log, change, before)
    token = f"{moment.token}/{table.name}"
    now_ms = moment.now_ms if before is None else max(moment.now_ms, before.timestamp_ms)
    occasion = Occasion(now_ms, token, str(uuid.uuid5(_TABLE_IDS, token)))
    composed = compose(change, rebase(change, before, table.name), files, before, occasion)
    return PreparedCommit(
        0 if before is None else before.version + 1,
        format_commit(composed.actions),
        before,
        composed.added,
        composed.removed,
        token,
    )


def _properties(content: Snapshot, before: Snapshot | None) -> dict[str, str]:
    """A new table gets all properties; one that is there keeps those that others have set."""
    everything = content.configuration
    if before is None:
        return dict(everything)
    return {name: value for name, value in everything.items() if name.startswith(OURS)}


def commit_exactly(table: Table, prepared: PreparedCommit) -> Committed | Moved:
    """Make a prepared commit the version it was prepared for; one that is there is not repeated.

    Raises `ChangeRefused` when a file of it is missing, and `StoreUnreadable` or `StoreUnwritable`
    when it cannot be told whether it was made: commit again.
    """
    base, log = prepared.base, table.log
    expected = None if base is None else base.version
    latest = log.snapshot()
    if latest is not None and latest.version >= prepared.version:
        return _found(table, prepared, latest)
    if not _is_base(latest, base):
        return Moved(table.name, expected, None if latest is None else latest.version)
    require_files(log, prepared.added)
    if not create_commit(log, prepared.version, prepared.data, prepared.token):
        latest = log.snapshot()
        return Moved(table.name, expected, None if latest is None else latest.version)
    made = log.snapshot(prepared.version)
    if made is None:
        raise StoreUnreadable(f"table `{table.name}` vanished after it was committed to")
    committed = Committed(
        made, prepared.added, prepared.removed, commit_hash=log.commit_hash(prepared.version)
    )
    return table.with_checkpoint(committed)


def _found(table: Table, prepared: PreparedCommit, latest: Snapshot) -> Committed | Moved:
    """The commit if it was made before; else somebody else's is in its place."""
    log, version = table.log, prepared.version
    base = prepared.base
    moved = Moved(table.name, None if base is None else base.version, latest.version)
    data = log.objects.read(log.commit_path(version))
    if data is None or (data != prepared.data and not _has_token(data, prepared.token)):
        return moved
    made = log.snapshot(version)
    if made is None:
        return moved
    return Committed(
        made,
        prepared.added,
        prepared.removed,
        repeated=True,
        commit_hash=blake3(data).hexdigest(),
        checkpoint_hash=log.checkpoint_hash(version) if is_due(version) else None,
    )


def _has_token(data: bytes, token: str) -> bool:
    """Whether bytes are our commit as another release of Rocky spells it."""
    try:
        actions = parse_commit(data)
    except ValueError:
        return False
    return any((action.get("commitInfo") or {}).get(TOKEN) == token for action in actions)


def _is_base(latest: Snapshot | None, base: Snapshot | None) -> bool:
    """Whether a table is what a commit was prepared on: a table made anew has another id."""
    if latest is None or base is None:
        return latest is base
    return (latest.version, latest.table_id, latest.files) == (
        base.version,
        base.table_id,
        base.files,
    )
