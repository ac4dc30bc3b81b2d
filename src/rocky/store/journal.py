"""A journal: the exact commits that several tables are about to get together, written down first.

A commit of a run is rebased onto whatever others have done meanwhile; a prepared one holds for one
version only. Equal arguments give equal bytes, so who takes up another's work after a crash can
make them again and see which of them are there.

The journal lies beside the tables, so whoever comes after a crash finds it where the tables are.
It is made once and removed when all is recorded; while it is there, somebody has work to finish.
"""

import json
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, NamedTuple

from blake3 import blake3

from rocky.canonical import ascii_json
from rocky.errors import StoreUnreadable, StoreUnwritable
from rocky.store.data_file import DataFile
from rocky.store.delta.actions import parse_commit
from rocky.store.delta.change import ROCKY_PROPERTIES, Change, Committed, rebase
from rocky.store.delta.comments import comments_of
from rocky.store.delta.commit import create_commit, refuse_change, require_files
from rocky.store.delta.commit_actions import TOKEN, CommitStamp, compose, time_after
from rocky.store.delta.log import is_checkpoint_due
from rocky.store.delta.signature import NO_AUTHORITY, CommitAuthority, sign_commit
from rocky.store.delta.snapshot import Replay, Snapshot
from rocky.store.warehouse import RESERVED, Table, Warehouse

JOURNAL_FOLDER: Final = f"{RESERVED}/promotions"
ERASURE_FOLDER: Final = f"{RESERVED}/erasures"
_VERSION: Final = 1


@dataclass(frozen=True, slots=True)
class JournalledTable:
    """A table and the exact commit that moves it. `prefix` is where it lies in the warehouse."""

    target: str
    prefix: str
    version: int
    commit: str
    from_version: int | None = None


@dataclass(frozen=True, slots=True)
class Journal:
    """What is under way. `record` is the record of it, to be written when all tables have moved.

    `details` is what the recorder of each table needs, by target. `signature` is over all of it, by
    the key of the run.
    """

    run_id: str
    ledger_id: str
    record: dict[str, Any]
    tables: tuple[JournalledTable, ...]
    details: dict[str, Any] = field(default_factory=dict)
    signature: str = ""

    @property
    def statement(self) -> bytes:
        """What is signed."""
        digest = blake3(ascii_json(_document(self)).encode()).hexdigest()
        return f"rocky journal\n{self.run_id}\n{digest}\n".encode()


def _document(journal: Journal) -> dict[str, Any]:
    return {
        "version": _VERSION,
        "run_id": journal.run_id,
        "ledger_id": journal.ledger_id,
        "record": journal.record,
        "tables": [
            {
                "target": each.target,
                "prefix": each.prefix,
                "version": each.version,
                "from_version": each.from_version,
                "commit": each.commit,
            }
            for each in journal.tables
        ],
        "details": journal.details,
    }


def write_journal(warehouse: Warehouse, journal: Journal, folder: str = JOURNAL_FOLDER) -> None:
    """Write a journal down. Raises StoreUnwritable, also when one of that name is there."""
    document = {**_document(journal), "signature": journal.signature}
    path = _journal_path(journal.run_id, folder)
    if not warehouse.objects.create(path, ascii_json(document).encode()):
        raise StoreUnwritable(f"`{warehouse.objects.place(path)}` is there already")


def load_journals(warehouse: Warehouse, folder: str = JOURNAL_FOLDER) -> tuple[Journal, ...]:
    """Every journal there is, oldest first. Raises StoreUnreadable for one that cannot be read."""
    found = sorted(info.path for info in warehouse.objects.list(folder))
    return tuple(_load_journal(warehouse, path) for path in found if path.endswith(".json"))


def has_journal(warehouse: Warehouse, folder: str = JOURNAL_FOLDER) -> bool:
    """Whether something is under way, or was when its process died; without reading it."""
    found = warehouse.objects.list(folder)
    return any(info.path.endswith(".json") for info in found)


def remove_journal(warehouse: Warehouse, run_id: str, folder: str = JOURNAL_FOLDER) -> None:
    """Say that nothing is left to do."""
    warehouse.objects.delete([_journal_path(run_id, folder)])


def _journal_path(run_id: str, folder: str) -> str:
    return f"{folder}/{run_id}.json"


def _load_journal(warehouse: Warehouse, path: str) -> Journal:
    place = warehouse.objects.place(path)
    data = warehouse.objects.read(path)
    if data is None:
        raise StoreUnreadable(f"`{place}` was removed while it was looked for; try again")
    try:
        document = json.loads(data)
        if document["version"] != _VERSION:
            raise StoreUnreadable(
                f"`{place}` was written by another version of Rocky: finish it with that one"
            )
        return Journal(
            document["run_id"],
            document["ledger_id"],
            document["record"],
            tuple(JournalledTable(**each) for each in document["tables"]),
            document["details"],
            document.get("signature", ""),
        )
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise StoreUnreadable(f"could not read `{place}`: it is damaged ({error})") from error


_TABLE_IDS: Final = uuid.UUID("6b1f0f0e-55a4-5d53-9d0d-3f1c6a1b9f11")


class PreparedStamp(NamedTuple):
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
class TableChanged:
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
    moment: PreparedStamp,
    authority: CommitAuthority = NO_AUTHORITY,
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
        authority=authority,
        comments=comments_of(content),
    )
    return prepare_change(table, change, moment)


def prepare_change(table: Table, change: Change, moment: PreparedStamp) -> PreparedCommit:
    """The commit that makes a change of exactly its base. Raises `ChangeRefused`."""
    before, files, authority = change.base, change.adds, change.authority
    refuse_change(table.log, change, before)
    token = f"{moment.token}/{table.name}"
    now_ms = time_after(before, moment.now_ms)
    occasion = CommitStamp(now_ms, token, str(uuid.uuid5(_TABLE_IDS, token)))
    composed = compose(change, rebase(change, before, table.name), files, before, occasion)
    version = 0 if before is None else before.version + 1
    return PreparedCommit(
        version,
        sign_commit(authority, table.prefix, version, composed.actions),
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
    return {name: value for name, value in everything.items() if name.startswith(ROCKY_PROPERTIES)}


def restore_commit(table: Table, journalled: JournalledTable, run_id: str) -> PreparedCommit | None:
    """A commit as a journal has it; None for a table that is not there any more.

    Raises StoreUnreadable when that cannot be told.
    """
    base, before = journalled.from_version, None
    if base is not None:
        latest = table.snapshot()
        if latest is None or latest.version < base:
            return None
        before = table.snapshot(base)
    data = journalled.commit.encode()
    try:
        replay = Replay(before)
        replay.apply(parse_commit(data), 0)
        after = replay.snapshot(journalled.version)
    except ValueError as error:
        raise StoreUnreadable(
            f"the journal of `{run_id}` has no readable commit for `{table.name}` ({error})"
        ) from error
    here = {} if before is None else {file.path: file for file in before.files}
    return PreparedCommit(
        journalled.version,
        data,
        before,
        tuple(file for file in after.files if file.path not in here),
        tuple(path for path in here if path not in {file.path for file in after.files}),
        f"{run_id}/{table.name}",
    )


def commit_exactly(table: Table, prepared: PreparedCommit) -> Committed | TableChanged:
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
        return TableChanged(table.name, expected, None if latest is None else latest.version)
    require_files(log, prepared.added)
    if not create_commit(log, prepared.version, prepared.data, prepared.token):
        latest = log.snapshot()
        return TableChanged(table.name, expected, None if latest is None else latest.version)
    made = log.snapshot(prepared.version)
    if made is None:
        raise StoreUnreadable(f"table `{table.name}` vanished after it was committed to")
    committed = Committed(
        made, prepared.added, prepared.removed, commit_hash=log.commit_hash(prepared.version)
    )
    return table.with_checkpoint(committed)


def _found(table: Table, prepared: PreparedCommit, latest: Snapshot) -> Committed | TableChanged:
    """The commit if it was made before; else somebody else's is in its place."""
    log, version = table.log, prepared.version
    base = prepared.base
    moved = TableChanged(table.name, None if base is None else base.version, latest.version)
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
        checkpoint_hash=log.checkpoint_hash(version) if is_checkpoint_due(version) else None,
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
