"""Contents: which files of a table hold rows of a subject, in any version, and what its log says.

Every data file in the table's folder is read, whichever version it belongs to or none: only the key
columns, and without Spark. A file that cannot be asked, because the table had no such column then
or one of another type, is taken to hold such rows unless the newest version needs it. Of files that
are gone already only statistics are left, which are values as well.
"""

import json
import re
from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from blake3 import blake3

from rocky.errors import StoreUnreadable
from rocky.language.datatypes.types import StructField
from rocky.language.filters import Filter
from rocky.ledger.erasure_records import RedactedCommit
from rocky.maintenance.erasure.subject import Subject
from rocky.run.materialize.key_bounds import bounds_of
from rocky.store.data_file import DataFile, name_of
from rocky.store.delta.log import LOG_FOLDER
from rocky.store.delta.redaction import names_added, redact_commit
from rocky.store.delta.snapshot import Snapshot
from rocky.store.file_usage import Lifetime, list_files, read_lifetimes
from rocky.store.objects import ObjectInfo, Objects, open_object
from rocky.store.parquet.filters import can_filter, mask_of
from rocky.store.warehouse import Table

_READERS: Final = 8
_CHECKPOINT: Final = re.compile(r"\d{20}\.checkpoint(\.\d{10}\.\d{10})?\.parquet")
HINT: Final = "_last_checkpoint"


@dataclass(frozen=True, slots=True)
class HeldFile:
    """A file with rows of the subject: how many, or None where it could not be asked."""

    info: ObjectInfo
    rows: int | None

    @property
    def name(self) -> str:
        return self.info.path.rpartition("/")[2]


@dataclass(frozen=True)
class TableContents:
    """What a table holds of a subject.

    `held` are files on disk in any version; `live` are those of them that the newest version has,
    as its log has them; `lost` are names of files that are gone and may have held such rows by
    their statistics. `versions` are those that hold a file of `held`.
    """

    table: Table
    snapshot: Snapshot
    held: tuple[HeldFile, ...] = ()
    lost: frozenset[str] = frozenset()
    staged: tuple[ObjectInfo, ...] = ()
    versions: tuple[int, ...] = ()
    commits: tuple[RedactedCommit, ...] = ()
    checkpoints: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_clean(self) -> bool:
        """Whether there is nothing to do."""
        return not self.held and not self.commits and not self.staged

    @cached_property
    def live(self) -> tuple[DataFile, ...]:
        names = {each.name for each in self.held}
        return tuple(file for file in self.snapshot.files if file.name in names)

    @property
    def live_rows(self) -> int:
        """How many rows of the newest version are the subject's."""
        names = {file.name for file in self.live}
        return sum(each.rows or 0 for each in self.held if each.name in names)

    @property
    def names(self) -> frozenset[str]:
        """The files of whose values nothing may be said any more."""
        return frozenset(each.name for each in self.held) | self.lost


def look_into(
    table: Table,
    snapshot: Snapshot,
    columns: Sequence[str],
    subject: Subject,
    asked_as_now: frozenset[int],
) -> TableContents:
    """What a table holds. Raises StoreUnreadable when that cannot be told.

    A file that none of the versions `asked_as_now` has, but others, cannot be asked: its key may
    have been masked then, or is now.
    """
    fields = key_fields(snapshot, columns)
    asked = FileQuestion(fields, subject)
    spans = _spans(table)
    live = {file.name for file in snapshot.files}
    data, staged = list_files(table)
    whole = len(asked_as_now) == snapshot.version + 1
    otherwise = _names_besides(spans, data, asked_as_now) if not whole else frozenset()
    held = find_held(table.objects, data, live, asked, otherwise - live)
    there = set(map(_name, data))
    logs = {v: table.log.commit_bytes(v) for v in range(snapshot.version + 1)}
    lost = frozenset(_lost(logs.values(), there, fields, subject, otherwise))
    return _contents(table, snapshot, held, lost, staged, logs, spans)


def look_behind(table: Table, snapshot: Snapshot, kept: Collection[int]) -> TableContents:
    """All of a table but some versions: the files that none of the `kept` has. Nobody asks them.

    Files that no version has count as others: nobody can tell what is in them.
    """
    spans = _spans(table)
    data, staged = list_files(table)
    gone = _names_besides(spans, data, frozenset(kept))
    held = tuple(HeldFile(each, None) for each in data if _name(each) in gone)
    logs = {v: table.log.commit_bytes(v) for v in range(snapshot.version + 1)}
    lost = gone - set(map(_name, data))
    return _contents(table, snapshot, held, lost, staged, logs, spans)


Spans = Mapping[str, tuple[Lifetime, ...]]


def _spans(table: Table) -> Spans:
    """In which versions each file is that the log tells of, by name."""
    return {name_of(path): found for path, found in read_lifetimes(table.log).of_file.items()}


def _names_besides(
    spans: Spans, data: Sequence[ObjectInfo], versions: frozenset[int]
) -> frozenset[str]:
    """The files, of those on disk and those that the log tells of, that no such version has."""
    ordered = sorted(versions)

    def is_among(found: tuple[Lifetime, ...]) -> bool:
        for each in found:
            at = bisect_left(ordered, each.first)
            if at < len(ordered) and each.covers(ordered[at]):
                return True
        return False

    kept = {name for name, found in spans.items() if is_among(found)}
    return frozenset({*spans, *map(_name, data)} - kept)


def _contents(
    table: Table,
    snapshot: Snapshot,
    held: tuple[HeldFile, ...],
    lost: frozenset[str],
    staged: tuple[ObjectInfo, ...],
    logs: Mapping[int, bytes],
    spans: Spans,
) -> TableContents:
    newest, names = snapshot.version, {each.name for each in held}
    versions = {
        version
        for name in names
        for one in spans.get(name, ())
        for version in range(one.first, newest + 1 if one.end is None else one.end)
    }
    commits = _redactions(logs, names | lost)
    checkpoints = _checkpoints(table) if commits else {}
    return TableContents(
        table, snapshot, held, lost, staged, tuple(sorted(versions)), commits, checkpoints
    )


def _redactions(logs: Mapping[int, bytes], gone: Collection[str]) -> tuple[RedactedCommit, ...]:
    """The commits that lose statistics of files that are gone."""
    return tuple(
        RedactedCommit(version, blake3(before).hexdigest(), blake3(after).hexdigest())
        for version, before in logs.items()
        for after in (redact_commit(before, lambda name: name in gone),)
        if after != before
    )


def key_fields(snapshot: Snapshot, columns: Sequence[str]) -> list[StructField]:
    """The columns of a table that carry the key."""
    wanted = {each.lower() for each in columns}
    return [each for each in snapshot.schema if each.name.lower() in wanted]


class FileQuestion:
    """Asks files how many rows of a subject they hold."""

    def __init__(self, fields: Sequence[StructField], subject: Subject) -> None:
        self._fields = {each.name.lower(): each for each in fields}
        self._subject = subject

    def count(self, objects: Objects, info: ObjectInfo, *, is_live: bool) -> int | None:
        """The rows of a file that are the subject's; None where it cannot be asked.

        A column that a live file lacks was added since, and is null in all its rows.
        """
        try:
            with open_object(objects, info.path) as opened:
                file = pq.ParquetFile(opened)
                names = {each.lower(): each for each in file.schema_arrow.names}
                asked = [key for key in self._fields if key in names]
                if not asked:
                    return 0 if is_live else None
                condition = self._subject.condition(asked)
                batches = file.iter_batches(columns=[names[each] for each in asked])
                return sum(self._count(condition, batch, names) for batch in batches)
        except (pa.ArrowException, OSError, ValueError, TypeError):
            return None

    def _count(self, condition: Filter, batch: Any, names: Mapping[str, str]) -> int:
        types = {key: each.type for key, each in self._fields.items()}
        mask = mask_of(condition, types, lambda key: batch[names[key]])
        return int(pc.sum(pc.fill_null(mask, False)).as_py() or 0)


def can_ask(fields: Sequence[StructField], subject: Subject) -> bool:
    """Whether files can be asked for values of these types without Spark."""
    return bool(fields) and can_filter(subject.condition([each.name for each in fields]), fields)


def find_held(
    objects: Objects,
    data: Sequence[ObjectInfo],
    live: set[str],
    asked: FileQuestion,
    unasked: Collection[str] = (),
) -> tuple[HeldFile, ...]:
    """The files that hold rows of the subject, and those that cannot be asked.

    Raises StoreUnreadable for a live one that fails.
    """

    def count(info: ObjectInfo) -> int | None:
        if _name(info) in unasked:
            return None
        return asked.count(objects, info, is_live=_name(info) in live)

    with ThreadPoolExecutor(_READERS, "rocky-erase") as pool:
        counted = list(pool.map(count, data))
    held = []
    for info, rows in zip(data, counted, strict=True):
        if rows is None and _name(info) in live:
            raise StoreUnreadable(
                f"`{objects.place(info.path)}` is part of the newest version, and its key columns"
                " cannot be read: nobody can tell whose rows it holds"
            )
        if rows is None or rows:
            held.append(HeldFile(info, rows))
    return tuple(held)


def _name(info: ObjectInfo) -> str:
    return info.path.rpartition("/")[2]


def _lost(
    logs: Iterable[bytes],
    there: set[str],
    fields: Sequence[StructField],
    subject: Subject,
    unasked: Collection[str],
) -> Iterator[str]:
    """The files that are gone, and whose statistics do not tell that no row was the subject's."""
    for data in logs:
        for name, file in names_added(data).items():
            said = json.loads(file.stats)
            tells = said.keys() - {"numRecords"} or any(file.partition_values.values())
            if name in there or not tells:
                continue
            if name in unasked or any(_may_hold(file, each.name, subject) for each in fields):
                yield name


def _may_hold(file: DataFile, column: str, subject: Subject) -> bool:
    bounds = bounds_of(file, column)
    low, high = bounds.low, bounds.high
    if low is None or high is None:
        return bounds.nulls != file.rows
    for value in subject.values:
        if isinstance(value, int) and isinstance(low, int) and isinstance(high, int):
            if low <= value <= high:
                return True
        elif isinstance(value, str) and isinstance(low, str) and isinstance(high, str):
            # The bounds of long texts are cut off.
            if low <= value and (value <= high or value.startswith(high)):
                return True
        else:
            return True
    return False


def _checkpoints(table: Table) -> dict[str, str]:
    """The checkpoints of a log, by name, with the hashes of their bytes."""
    found = {}
    for name in table.log.files():
        if _CHECKPOINT.fullmatch(name):
            data = table.objects.read(f"{table.prefix}/{LOG_FOLDER}/{name}")
            if data is not None:
                found[name] = blake3(data).hexdigest()
    return found
