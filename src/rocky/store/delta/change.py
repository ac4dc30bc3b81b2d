"""A change: what one commit does to a table, rebased onto what is there now. Pure.

`base` is the snapshot a change was computed from. Blind appends and whole replacements hold on any
later snapshot and are rebased. Other changes hold while the columns and the files that they were
computed from are there (equal paths are equal bytes, so that is a comparison of names) and no file
has come that they would have had to read; else they are refused with `ConcurrentChange`, because
their rows would have to be computed again. A change that does not say what it has read has read
everything.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

from rocky.errors import ChangeRefused, ClaimLost, ConcurrentChange
from rocky.language.datatypes.types import StructField
from rocky.store.data_file import DataFile
from rocky.store.delta.comments import DESCRIBED, Comments
from rocky.store.delta.labels import TABLE_LABELS
from rocky.store.delta.schema import evolves, same_columns
from rocky.store.delta.signature import FENCE, NO_AUTHORITY, CommitAuthority
from rocky.store.delta.snapshot import FILES_HASH, ROWS_HASH, Snapshot

Operation = Literal["REPLACE", "APPEND", "MERGE", "OVERWRITE", "COMPACT", "DELETE"]


@dataclass(frozen=True, slots=True)
class FilesRead:
    """What a change was computed from: the files at some paths, and none that it `passes_over`.

    Files that come meanwhile are asked about too, by what their log says of them.
    """

    paths: frozenset[str]
    passes_over: Callable[[DataFile], bool]


@dataclass(frozen=True, slots=True)
class Change:
    """One commit to be made.

    REPLACE makes `adds` the whole content; APPEND adds; MERGE, OVERWRITE and DELETE add `adds` and
    remove the files at the paths `removes`; COMPACT does so too and is refused unless they hold the
    same rows, so that whoever follows the changes of the table may pass over it. `schema` and
    `partition_columns` are those of the table after the change; while files stay, only columns may
    be added and NOT NULL dropped. `properties` replace table properties of the same names, and
    REPLACE drops all other `rocky.` ones. An append that sets a property which another writer has
    set meanwhile (a watermark) is refused, not rebased. `info` goes into commitInfo (runId, model,
    recipeHash, ledgerHead ...). `transaction` (application id, version) makes the commit happen at
    most once. `comments` is what the project says of the table; without it, what is said of it
    stays. `authority` is that of the run that makes it: a change with a fencing token replaces only
    what it was computed from. `reads` lets a MERGE or an OVERWRITE without one hold beside changes
    to other files: its rows hash is then a difference, as that of an append is.
    """

    operation: Operation
    base: Snapshot | None
    schema: tuple[StructField, ...]
    partition_columns: tuple[str, ...]
    adds: tuple[DataFile, ...]
    removes: frozenset[str] = frozenset()
    properties: Mapping[str, str] = field(default_factory=dict)
    info: Mapping[str, str] = field(default_factory=dict)
    transaction: tuple[str, int] | None = None
    authority: CommitAuthority = NO_AUTHORITY
    comments: Comments | None = None
    reads: FilesRead | None = None


@dataclass(frozen=True, slots=True)
class Committed:
    """What a commit did. `repeated` is True when its transaction had been committed before.

    `warnings` say what failed after the commit and did not undo it, such as a checkpoint.
    `commit_hash` is of the bytes of the file that is version `snapshot.version` of the log, and
    `checkpoint_hash` of the checkpoint made after it, if one was due. A repeated commit has none
    when others have committed since.
    """

    snapshot: Snapshot
    added: tuple[DataFile, ...]
    removed: tuple[str, ...]
    repeated: bool = False
    warnings: tuple[str, ...] = ()
    commit_hash: str | None = None
    checkpoint_hash: str | None = None


ROCKY_PROPERTIES: Final = "rocky."
"""What the properties begin with that say something of the rows."""
_OF_FILES: Final = frozenset({ROWS_HASH, FILES_HASH})
_OF_THE_TABLE: Final = frozenset({DESCRIBED, *TABLE_LABELS})
"""Those that say something of the table, whatever its rows are."""
_MODULUS: Final = 2**128


@dataclass(frozen=True, slots=True)
class RebasedChange:
    """What a change makes of the latest snapshot, before its own files come in.

    `remaining` are the paths that stay live, `leaving` the files that go unless they are added
    again. `rows_hash` is None when the change does not say it; it is not in `configuration`.
    """

    schema: tuple[StructField, ...]
    partition_columns: tuple[str, ...]
    configuration: Mapping[str, str]
    rows_hash: str | None
    remaining: frozenset[str]
    leaving: Mapping[str, DataFile]


def rebase(change: Change, latest: Snapshot | None, table: str) -> RebasedChange:
    """The change as it applies to `latest`. Raises `ConcurrentChange` or `ChangeRefused`."""
    live = {} if latest is None else {file.path: file for file in latest.files}
    _refuse_stale(change, latest, table)
    if change.operation == "REPLACE":
        leaving = live
    else:
        if latest is not change.base:
            _refuse_conflict(change, latest, table)
        unknown = change.removes - live.keys()
        if unknown:
            raise ChangeRefused(f"table `{table}` has no file `{min(unknown)}` to remove")
        leaving = {path: live[path] for path in change.removes}
    remaining = frozenset(live) - leaving.keys()
    if change.operation == "COMPACT":
        _refuse_other_rows(change, latest, leaving, table)
    elif latest is not None and leaving and latest.configuration.get("delta.appendOnly") == "true":
        raise ChangeRefused(f"table `{table}` is append-only: `delta.appendOnly` is set")
    return RebasedChange(
        _evolved_columns(change, latest, table)
        if latest is not None and remaining
        else change.schema,
        change.partition_columns,
        _kept_properties(change, latest),
        _rows_hash(change, latest),
        remaining,
        leaving,
    )


def _refuse_other_rows(
    change: Change, latest: Snapshot | None, leaving: Mapping[str, DataFile], table: str
) -> None:
    """Raise unless a compaction brings as many rows as it takes, of the hash that the table has."""
    brought, taken = (sum(each.rows for each in files) for files in (change.adds, leaving.values()))
    known = None if latest is None else latest.configuration.get(ROWS_HASH)
    if brought != taken or known is None or change.properties.get(ROWS_HASH) != known:
        raise ChangeRefused(
            f"table `{table}` cannot be compacted: {taken} rows would become {brought}, or others"
        )


def _refuse_stale(change: Change, latest: Snapshot | None, table: str) -> None:
    """Raise when the table was written under a later claim, or is no longer what was replaced."""
    fence, base = change.authority.fence, change.base
    if fence is None:
        return
    if latest is not None and latest.transactions.get(FENCE, 0) > fence:
        raise ClaimLost(
            f"a later run has written table `{table}`: this run has lost its claim on it, and"
            " committed nothing"
        )
    if change.operation == "REPLACE" and _version_of(latest) != _version_of(base):
        raise ConcurrentChange(
            f"another writer changed table `{table}` since this run read it; run again"
        )


def _version_of(snapshot: Snapshot | None) -> tuple[str, int] | None:
    return None if snapshot is None else (snapshot.table_id, snapshot.version)


def _refuse_conflict(change: Change, latest: Snapshot | None, table: str) -> None:
    """Raise unless the change, computed from its base, is also right on `latest`."""
    base = change.base
    if latest is None or (base is None and change.operation != "APPEND"):
        raise ConcurrentChange(f"table `{table}` was made or dropped by another writer; run again")
    known = {} if base is None else base.configuration
    for name in change.properties:
        if name != ROWS_HASH and latest.configuration.get(name) != known.get(name):
            raise ConcurrentChange(
                f"another writer changed property `{name}` of table `{table}`; run again"
            )
    if base is None or change.operation == "APPEND":
        return
    if _has_other_rows(change, base, latest):
        raise ConcurrentChange(f"another writer changed the rows of table `{table}`; run again")
    if not same_columns(base.schema, latest.schema):
        raise ConcurrentChange(f"another writer changed the columns of table `{table}`; run again")


def _has_other_rows(change: Change, base: Snapshot, latest: Snapshot) -> bool:
    """Whether rows were taken away that a change has read, or came that it would have read."""
    before = {file.path for file in base.files}
    now = {file.path: file for file in latest.files}
    reads = change.reads
    if reads is None or change.authority.fence is not None:
        # Who holds a claim meets nobody. What came all the same may be of no run, and must be
        # looked at before anything is put on top of it.
        return before != now.keys()
    if base.table_id != latest.table_id or not reads.paths | change.removes <= now.keys():
        return True
    return not all(reads.passes_over(now[path]) for path in now.keys() - before)


def _evolved_columns(change: Change, latest: Snapshot, table: str) -> tuple[StructField, ...]:
    """The columns after a change that keeps files of `latest`."""
    if change.partition_columns != latest.partition_columns:
        raise ChangeRefused(
            f"table `{table}` is partitioned by ({', '.join(latest.partition_columns)}), the change"
            f" by ({', '.join(change.partition_columns)}); build the whole table again"
        )
    if same_columns(change.schema, latest.schema):
        return latest.schema
    base = change.base
    if base is not None and not same_columns(base.schema, latest.schema):
        # Another writer changed the columns. Rows of the old ones still fit when it only added.
        if same_columns(change.schema, base.schema) and evolves(base.schema, latest.schema) is None:
            return latest.schema
        raise ConcurrentChange(f"another writer changed the columns of table `{table}`; run again")
    why = evolves(latest.schema, change.schema)
    if why is not None:
        raise ChangeRefused(
            f"table `{table}` cannot keep its files: {why}; build the whole table again"
        )
    return change.schema


def _kept_properties(change: Change, latest: Snapshot | None) -> dict[str, str]:
    """The table properties, without those that are about the files of one version."""
    kept = {} if latest is None else dict(latest.configuration)
    if change.operation == "REPLACE":
        # They describe rows that are gone, such as a watermark.
        kept = {
            name: value
            for name, value in kept.items()
            if not name.startswith(ROCKY_PROPERTIES) or name in _OF_THE_TABLE
        }
    merged = kept | dict(change.properties)
    return {name: value for name, value in merged.items() if name not in _OF_FILES}


def _rows_hash(change: Change, latest: Snapshot | None) -> str | None:
    """The rows hash after the change: a sum over rows, so what a change does is a difference."""
    said = change.properties.get(ROWS_HASH)
    rebases = change.operation == "APPEND" or change.reads is not None
    if said is None or not rebases or latest is change.base:
        return said
    before, now = _hash_sum(change.base), _hash_sum(latest)
    if before is None or now is None:
        return None
    return f"{(now + int(said, 16) - before) % _MODULUS:032x}"


def _hash_sum(snapshot: Snapshot | None) -> int | None:
    if snapshot is None or not snapshot.files:
        return 0
    found = snapshot.configuration.get(ROWS_HASH)
    return None if found is None else int(found, 16)
