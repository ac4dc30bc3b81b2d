"""The log of one table: which versions there are, what the table is at each, its checkpoints.

A version is a file `<20 digits>.json` that appears whole or not at all. Every tenth version has a
checkpoint, the log so far as one Parquet file. Checkpoints only save reading: they change nothing,
so one that fails does not fail the commit it follows. `deltalake` writes them: an independent
reading of our log each time. One is believed where somebody vouches for its bytes; else the commits
are read. Only where commits are gone is another the only thing left, and what comes of it is
`unproven`.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Any, Final

import pyarrow as pa
from blake3 import blake3
from deltalake import DeltaTable
from deltalake.exceptions import DeltaError

from rocky.errors import StoreUnreadable
from rocky.project.cache import collector_paused
from rocky.store.data_file import name_of
from rocky.store.delta.actions import Action, parse_commit
from rocky.store.delta.checkpoint import CheckpointUnreadable, read_checkpoint, tells_of
from rocky.store.delta.snapshot import Replay, Snapshot
from rocky.store.objects import ObjectInfo, Objects, locate_file

LOG_FOLDER: Final = "_delta_log"
_COMMIT: Final = re.compile(r"(\d{20})\.json")
_CHECKPOINT: Final = re.compile(r"(\d{20})\.checkpoint(?:\.(\d{10})\.(\d{10}))?\.parquet")
_KEPT: Final = 4
_COMMIT_THREADS: Final = 16
_FEW: Final = 4
_COMMITS_AT_ONCE: Final = 256
# What reading finds out of actions that anybody may have written, each in its own way.
_MALFORMED: Final = (
    ValueError,
    LookupError,
    TypeError,
    AttributeError,
    ArithmeticError,
    RecursionError,
)


Vouch = Callable[[str, int, str], bool]
"""Whether a table (by name) has a checkpoint of this hash at this version, by some record."""


_Read = Mapping[int, list[Action]]
"""Checkpoints that are believed, by version: one is as large as its table, and read but once."""
_UNREAD: Final[_Read] = {}


def vouch_for_none(_table: str, _version: int, _digest: str) -> bool:
    """What those say who have no records at hand."""
    return False


@dataclass(frozen=True, slots=True)
class _Listing:
    """The files of a log, from some version on. A checkpoint has one or several parts."""

    commits: Mapping[int, ObjectInfo]
    checkpoints: Mapping[int, Sequence[str]]

    @property
    def latest(self) -> int | None:
        return max((*self.commits, *self.checkpoints), default=None)


@dataclass(frozen=True, slots=True)
class Log:
    """The log of the table called `table`, whose folder is `prefix` below the objects' root.

    Snapshots are remembered with the commit file they end in, so that reading again costs one
    listing, and a table that was deleted and made again is noticed. The files of a `foreign` table
    may lack the columns it is partitioned by, and its checkpoints are believed: nothing is
    recorded of them. Those of other tables are if `vouch` says so.
    `hashes` are of the commits as they were last read.
    """

    table: str
    prefix: str
    objects: Objects = field(repr=False)
    foreign: bool = False
    vouch: Vouch = field(default=vouch_for_none, repr=False, compare=False)
    _known: dict[int, tuple[ObjectInfo, Snapshot]] = field(
        default_factory=dict, repr=False, compare=False
    )
    hashes: dict[int, str] = field(default_factory=dict, repr=False, compare=False)

    def snapshot(self, version: int | None = None) -> Snapshot | None:
        """The table at a version, or at the latest; None when there truly is no table."""
        with collector_paused():
            return self._snapshot(version)

    def _snapshot(self, version: int | None) -> Snapshot | None:
        # A copy: other threads read and remember too.
        remembered = dict(self._known)
        start = max((v for v in remembered if version is None or v <= version), default=None)
        if start is not None:
            listing = self._list(start)
            info, known = remembered[start]
            if listing.commits.get(start) == info:
                return self._load(listing, version, known)
        hint = self._hinted()
        if hint is not None and (version is None or hint <= version):
            listing = self._list(hint)
            believed = self._believed(listing, hint)
            if believed is not None:
                return self._load(listing, version, None, {hint: believed})
        return self._load(self._list(None), version, None)

    def commit_path(self, version: int) -> str:
        return f"{self.prefix}/{LOG_FOLDER}/{version:020d}.json"

    def read_commit(self, version: int) -> list[Action]:
        """The actions of a commit."""
        data = self.commit_bytes(version)
        self.hashes[version] = blake3(data).hexdigest()
        return self._parse(version, data)

    def _parse(self, version: int, data: bytes) -> list[Action]:
        try:
            return parse_commit(data)
        except (ValueError, RecursionError) as error:
            place = self.objects.place(self.commit_path(version))
            raise StoreUnreadable(f"could not read `{place}`: it is damaged ({error})") from error

    def commit_hash(self, version: int) -> str:
        """The hash of a commit file's bytes. Raises `StoreUnreadable`, also where there is none."""
        return blake3(self.commit_bytes(version)).hexdigest()

    def checkpoint_hash(self, version: int) -> str | None:
        """The hash of a checkpoint that says what the commits up to its version do.

        None where there is none in one file, and where it says anything else: whoever records the
        hash makes later readers believe it.
        """
        data = self.objects.read(f"{self.prefix}/{LOG_FOLDER}/{version:020d}.checkpoint.parquet")
        if data is None:
            return None
        snapshot = self.snapshot(version)
        if snapshot is None or snapshot.unproven or not tells_of(data, snapshot):
            return None
        return blake3(data).hexdigest()

    def files(self) -> list[str]:
        """The names of all files in the log's folder, sorted; of those below it their paths."""
        folder = f"{self.prefix}/{LOG_FOLDER}/"
        found = self.objects.list(folder.rstrip("/"))
        return sorted(info.path.removeprefix(folder) for info in found)

    def remember(self, snapshot: Snapshot) -> None:
        """Keep a snapshot for the next reader."""
        info = self.objects.info(self.commit_path(snapshot.version))
        if info is not None:
            self._remember(info, snapshot)

    def history(self) -> list[dict[str, Any]]:
        """What each commit says of itself, with its `version`, newest first."""
        return [
            {"version": version, **info}
            for version in sorted(self._list(None).commits, reverse=True)
            for action in self.read_commit(version)
            if isinstance(info := action.get("commitInfo"), dict)
        ]

    def all_actions(self) -> Iterator[Action]:
        """Every action of every version that is still there, checkpoints included."""
        listing = self._list(None)
        for parts in listing.checkpoints.values():
            for part in parts:
                yield from self._read_checkpoint(part)
        for version in sorted(listing.commits):
            yield from self.read_commit(version)

    def commit_bytes(self, version: int) -> bytes:
        path = self.commit_path(version)
        data = self.objects.read(path)
        if data is None:
            place = self.objects.place(path)
            raise StoreUnreadable(f"could not read `{place}`: the commit is missing from the log")
        return data

    def _load(
        self, listing: _Listing, version: int | None, known: Snapshot | None, read: _Read = _UNREAD
    ) -> Snapshot | None:
        latest = listing.latest
        if latest is None:
            return None
        wanted = latest if version is None else version
        if not 0 <= wanted <= latest:
            raise StoreUnreadable(
                f"table `{self.table}` has no version {wanted}; the latest is {latest}"
            )
        if known is not None and known.version == wanted:
            return known
        try:
            return self._replay(listing, wanted, known, read)
        except _MALFORMED as error:
            raise StoreUnreadable(
                f"could not read table `{self.table}` at version {wanted}: {error}"
            ) from error

    def _replay(
        self, listing: _Listing, wanted: int, known: Snapshot | None, read: _Read
    ) -> Snapshot:
        replay, at, unproven = self._start(listing, wanted, known, read)
        versions = range(at + 1, wanted + 1)
        # A gap would be read over in silence otherwise.
        for version, actions in zip(versions, self._read_commits(versions), strict=True):
            info = listing.commits.get(version)
            replay.apply(actions, 0 if info is None else info.modified_ms)
        snapshot = replace(replay.snapshot(wanted, foreign=self.foreign), unproven=unproven)
        for file in snapshot.files:
            if file.is_elsewhere:
                locate_file(self.objects, self.prefix, file.path)
        info = listing.commits.get(wanted)
        if info is not None:
            self._remember(info, snapshot)
        return snapshot

    def _start(
        self, listing: _Listing, wanted: int, known: Snapshot | None, read: _Read
    ) -> tuple[Replay, int, bool]:
        """What commits are applied to, its version, and whether nothing proves it."""
        at = -1 if known is None else known.version
        far = at if known is None else at + _KEPT
        checkpoints = sorted((v for v in listing.checkpoints if far < v <= wanted), reverse=True)
        for version in checkpoints:
            actions = read.get(version) or self._believed(listing, version)
            if actions is not None:
                return self._from_checkpoint(listing, version, actions), version, False
        # Ends at the first gap: anybody may have put a file of a very high version there.
        if not checkpoints or all(v in listing.commits for v in range(at + 1, wanted + 1)):
            return Replay(known), at, known is not None and known.unproven
        version = checkpoints[0]
        parts = listing.checkpoints[version]
        actions = [each for part in parts for each in self._read_checkpoint(part)]
        return self._from_checkpoint(listing, version, actions), version, True

    def _from_checkpoint(self, listing: _Listing, version: int, actions: list[Action]) -> Replay:
        replay = Replay()
        replay.apply(actions, self._commit_time(listing, version))
        return replay

    def _believed(self, listing: _Listing, version: int) -> list[Action] | None:
        """The actions of a checkpoint that may stand for its commits; None of any other."""
        parts = listing.checkpoints.get(version, ())
        if self.foreign:
            return [each for part in parts for each in self._read_checkpoint(part)] or None
        data = self.objects.read(parts[0]) if len(parts) == 1 else None
        if data is None or not self.vouch(self.table, version, blake3(data).hexdigest()):
            return None
        return self._parse_checkpoint(parts[0], data)

    def _read_commits(self, versions: range) -> Iterator[list[Action]]:
        if len(versions) <= _FEW:
            yield from map(self.read_commit, versions)
            return
        with ThreadPoolExecutor(_COMMIT_THREADS, "rocky-log") as pool:
            for start in range(versions.start, versions.stop, _COMMITS_AT_ONCE):
                some = range(start, min(start + _COMMITS_AT_ONCE, versions.stop))
                yield from pool.map(self.read_commit, some)

    def _commit_time(self, listing: _Listing, version: int) -> int:
        """A checkpoint does not say when its commit was made; the commit, if it is there, does."""
        info = listing.commits.get(version)
        if info is None:
            return 0
        data = self.commit_bytes(version)
        self.hashes[version] = blake3(data).hexdigest()
        # What it did is in the checkpoint: it may have brought all the files of a large table.
        lines = b"\n".join(each for each in data.splitlines() if b"commitInfo" in each)
        said = (
            action.get("commitInfo", {}).get("timestamp")
            for action in (self._parse(version, lines) if lines else ())
        )
        return next(
            (int(timestamp) for timestamp in said if timestamp is not None), info.modified_ms
        )

    def _read_checkpoint(self, path: str) -> list[Action]:
        data = self.objects.read(path)
        if data is None:
            place = self.objects.place(path)
            raise StoreUnreadable(f"could not read `{place}`: the checkpoint is missing")
        return self._parse_checkpoint(path, data)

    def _parse_checkpoint(self, path: str, data: bytes) -> list[Action]:
        try:
            return read_checkpoint(data)
        except CheckpointUnreadable as error:
            place = self.objects.place(path)
            raise StoreUnreadable(f"could not read `{place}`: {error}") from error

    def _list(self, start: int | None) -> _Listing:
        folder = f"{self.prefix}/{LOG_FOLDER}"
        after = None if start is None else f"{folder}/{start:020d}"
        commits: dict[int, ObjectInfo] = {}
        parts: dict[int, dict[str, int]] = {}
        for info in self.objects.list(folder, after=after):
            name = info.path.rpartition("/")[2]
            if commit := _COMMIT.fullmatch(name):
                commits[int(commit[1])] = info
            elif checkpoint := _CHECKPOINT.fullmatch(name):
                found = parts.setdefault(int(checkpoint[1]), {})
                found[info.path] = int(checkpoint[3] or 1)
        complete = {
            version: sorted(found)
            for version, found in parts.items()
            if len(set(found.values())) == 1 and len(found) == max(found.values())
        }
        return _Listing(commits, complete)

    def _hinted(self) -> int | None:
        """The version `_last_checkpoint` names: a hint, which may be missing, old or damaged."""
        data = self.objects.read(f"{self.prefix}/{LOG_FOLDER}/_last_checkpoint")
        if data is None:
            return None
        try:
            return int(json.loads(data)["version"])
        except _MALFORMED:
            # Without the hint the whole log is listed, which says the same.
            return None

    def _remember(self, info: ObjectInfo, snapshot: Snapshot) -> None:
        self._known[snapshot.version] = (info, snapshot)
        for version in sorted(self._known)[:-_KEPT]:
            self._known.pop(version, None)


def hashes_read(log: Log, newest: int) -> dict[int, str]:
    """The hashes of the commits that a snapshot of a version was made from, by version.

    As they were when they were read: what has changed since does not count.
    """
    known = log.hashes
    oldest = min((each for each in dict(known) if each <= newest), default=newest)
    for version in range(oldest, newest + 1):
        if version not in known:
            known[version] = log.commit_hash(version)
    return {version: known[version] for version in range(oldest, newest + 1)}


CHECKPOINT_INTERVAL: Final = 10
CHECKPOINT_FAILED: Final = "no checkpoint"
"""How the warning of a failed one begins. It is recorded: the file may be there all the same."""


def is_checkpoint_due(version: int) -> bool:
    return version > 0 and version % CHECKPOINT_INTERVAL == 0


def _reads_otherwise(table: DeltaTable, snapshot: Snapshot | None) -> bool:
    """Whether others read another table than we do: they take checkpoints that we do not look at.

    One of somebody else's would be copied into ours, and be recorded as ours.
    """
    assert snapshot is not None
    found = pa.table(table.get_add_actions())
    columns = (found[name].to_pylist() for name in ("path", "size_bytes", "num_records"))
    theirs = sorted(
        (name_of(path), size, rows or 0) for path, size, rows in zip(*columns, strict=True)
    )
    ours = sorted((each.name, each.size, each.rows) for each in snapshot.files)
    said = table.metadata()
    return (
        theirs != ours
        or dict(said.configuration) != dict(snapshot.metadata.get("configuration") or {})
        or str(said.id) != snapshot.table_id
    )


def write_checkpoint(log: Log, version: int) -> str | None:
    """Write the checkpoint of a version; what went wrong, or None."""
    location = log.objects.location
    try:
        table = DeltaTable(
            location.place(log.prefix),
            version=version,
            storage_options=location.delta_options or None,
        )
        if _reads_otherwise(table, log.snapshot(version)):
            return (
                f"{CHECKPOINT_FAILED} of table `{log.table}` at version {version}: a checkpoint in"
                " its log says otherwise than its commits do; `rocky verify` says more"
            )
        table.create_checkpoint()
    except (DeltaError, OSError, ValueError) as error:
        first_line = str(error).split("\n", 1)[0]
        return f"{CHECKPOINT_FAILED} of table `{log.table}` at version {version}: {first_line}"
    return None
