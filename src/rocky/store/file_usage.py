"""Which files of a table are in use: by which versions, by which branches, and by nobody.

Lifetimes are read from the whole log. Checkpoints are not read: they tell what is there, not since
when. So a log whose first commits somebody has removed is refused, nothing is guessed. In an
object store the logs of branches name files of other tables, and only these logs tell: every
branch is read, whoever made it, before a file goes.

Leftovers are of writers that died. A new write may reuse an old leftover of the same bytes, so
sweep only where nobody is writing the table; `older_than_ms` guards against writers one does not
know of.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from threading import Lock
from time import monotonic
from typing import Any, Final, NamedTuple

from rocky.errors import ChangeRefused, ClaimLost, StoreUnreadable, StoreUnwritable
from rocky.store.data_file import is_addressed, is_uri
from rocky.store.delta.actions import Action, parse_path
from rocky.store.delta.log import LOG_FOLDER, Log
from rocky.store.folder import remove_empty_folders
from rocky.store.objects import ObjectInfo
from rocky.store.warehouse import BRANCH_PREFIX, STAGING, Table, Warehouse, open_warehouse

_COMMIT_NAME: Final = re.compile(r"(\d{20})\.json")
_COMMIT_THREADS: Final = 16


@dataclass(frozen=True, slots=True)
class Lifetime:
    """The versions `first` up to, not including, `end` hold the file; no `end`: the newest does.

    `ended_ms` is when it was removed: what the commit says or when its file was written, the later.
    """

    first: int
    end: int | None = None
    ended_ms: int | None = None

    def covers(self, version: int) -> bool:
        return self.first <= version and (self.end is None or version < self.end)


@dataclass(frozen=True, slots=True)
class CommitInfo:
    """Who made a version and when, as far as the commit says."""

    version: int
    time_ms: int
    engine: str | None = None
    run_id: str | None = None
    ledger_id: str | None = None


@dataclass(frozen=True, slots=True)
class Lifetimes:
    """All a log says of its files. Paths are relative to the table."""

    commits: tuple[CommitInfo, ...] = ()
    of_file: Mapping[str, tuple[Lifetime, ...]] = field(default_factory=dict)

    @property
    def latest(self) -> int | None:
        """The newest version; None when there is no table."""
        return self.commits[-1].version if self.commits else None

    @property
    def live(self) -> frozenset[str]:
        """The files of the newest version."""
        return frozenset(path for path, spans in self.of_file.items() if spans[-1].end is None)


NO_LIFETIMES: Final = Lifetimes()


def read_lifetimes(log: Log) -> Lifetimes:
    """The lifetimes of all files of a table; none when there truly is no table.

    Raises StoreUnreadable when a commit is missing, damaged, or says what Rocky does not know.
    """
    listed = _list_commits(log)
    snapshot = log.snapshot()
    if snapshot is None:
        return NO_LIFETIMES
    for version in range(snapshot.version + 1):
        # Before all are asked for: anybody may have put a file of a very high version there.
        if version not in listed:
            log.read_commit(version)
    with ThreadPoolExecutor(_COMMIT_THREADS, "rocky-log") as pool:
        # Every version from the first: one that is missing must not pass as one that did nothing.
        commits = list(pool.map(log.read_commit, range(snapshot.version + 1)))
    try:
        found = _follow(commits, listed)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise StoreUnreadable(f"could not read the log of table `{log.table}`: {error}") from error
    if found.live != {file.path for file in snapshot.files}:
        raise StoreUnreadable(
            f"could not read the log of table `{log.table}`: its commits and its checkpoint differ"
        )
    return found


def _list_commits(log: Log) -> dict[int, ObjectInfo]:
    listed = {}
    for info in log.objects.list(f"{log.prefix}/{LOG_FOLDER}"):
        if matched := _COMMIT_NAME.fullmatch(info.path.rpartition("/")[2]):
            listed[int(matched[1])] = info
    return listed


def _follow(commits: Sequence[Sequence[Action]], listed: Mapping[int, ObjectInfo]) -> Lifetimes:
    infos: list[CommitInfo] = []
    spans: dict[str, list[Lifetime]] = {}
    for version, actions in enumerate(commits):
        info = _commit_info(version, actions, listed.get(version))
        infos.append(info)
        # Inside one commit the order means nothing: a file that is removed and added stays.
        for action in _of_kind(actions, "remove"):
            _end(spans.get(parse_path(action), []), info)
        for action in _of_kind(actions, "add"):
            _begin(spans.setdefault(parse_path(action), []), version)
    return Lifetimes(tuple(infos), {path: tuple(found) for path, found in spans.items()})


def _of_kind(actions: Sequence[Action], kind: str) -> list[Any]:
    return [action[kind] for action in actions if action.get(kind) is not None]


def _commit_info(version: int, actions: Sequence[Action], listed: ObjectInfo | None) -> CommitInfo:
    said: Mapping[str, Any] = next(iter(_of_kind(actions, "commitInfo")), {})
    written_ms = 0 if listed is None else listed.modified_ms
    return CommitInfo(
        version,
        max(int(said.get("timestamp") or 0), written_ms),
        said.get("engineInfo"),
        said.get("runId"),
        said.get("ledgerId"),
    )


def _end(spans: list[Lifetime], info: CommitInfo) -> None:
    if spans and spans[-1].end is None:
        spans[-1] = Lifetime(spans[-1].first, info.version, info.time_ms)


def _begin(spans: list[Lifetime], version: int) -> None:
    if spans and spans[-1].end is None:
        return
    if spans and spans[-1].end == version:
        # Removed and added by one commit: it never left.
        spans[-1] = Lifetime(spans[-1].first)
    else:
        spans.append(Lifetime(version))


_TABLE_THREADS: Final = 16


def branches_of(warehouse: Warehouse) -> Iterator[Warehouse]:
    """The branches whose tables may refer to files of others: none in a folder."""
    location = warehouse.objects.location
    if location.folder is not None:
        return
    for folder in warehouse.objects.folders(""):
        if folder.startswith(BRANCH_PREFIX):
            place = warehouse.objects.place(folder)
            yield open_warehouse(place, base=Path(), options=location.settings)


def load_shared(branch: Warehouse) -> frozenset[str]:
    """The URIs of files elsewhere that any version of a table of a branch refers to.

    Raises `StoreUnreadable` when that cannot be told.
    """
    try:
        logs = [table.log for table in branch.tables()]
        with ThreadPoolExecutor(_TABLE_THREADS, "rocky-branches") as pool:
            return frozenset().union(*pool.map(_shared_by, logs))
    except (StoreUnreadable, ValueError, KeyError, TypeError) as error:
        raise StoreUnreadable(
            f"cannot tell which files the branch at `{branch.objects.place('')}` needs: {error}"
        ) from error


def _shared_by(log: Log) -> set[str]:
    # Of all versions: an older one can be read as long as its commit is there.
    paths = (
        parse_path(action[kind])
        for action in log.all_actions()
        for kind in ("add", "remove")
        if action.get(kind)
    )
    return {path for path in paths if is_uri(path)}


def refuse_shared(branch: Warehouse) -> None:
    """Raise `ChangeRefused` when another branch refers to files of this one; `StoreUnreadable`."""
    location = branch.objects.location
    if location.folder is not None:
        return
    above = branch.objects.place("").rpartition("/")[0]
    start = f"{location.bucket}/{location.prefix}/"
    for other in branches_of(open_warehouse(above, base=Path(), options=location.settings)):
        if other.uri == branch.uri:
            continue
        if any(uri.partition("://")[2].startswith(start) for uri in load_shared(other)):
            name = other.uri.rpartition("/")[2].removeprefix(BRANCH_PREFIX)
            raise ChangeRefused(
                f"`{branch.uri}` is not removed: the branch `{name}` was made from it and reads"
                " its files; delete that one first"
            )


_DELETE_THREADS: Final = 16


class StoredFiles(NamedTuple):
    """The files in a table's folder that are Rocky's to remove: data, and what was staged."""

    data: tuple[ObjectInfo, ...]
    staged: tuple[ObjectInfo, ...]


def list_files(table: Table) -> StoredFiles:
    """The data and staged files of a table; not its log, nor what others keep in its folder."""
    start = len(table.prefix) + 1
    data, staged = [], []
    for info in table.objects.list(table.prefix):
        path = info.path[start:]
        if path.startswith(f"{STAGING}/"):
            staged.append(info)
        elif is_addressed(path):
            data.append(info)
    return StoredFiles(tuple(data), tuple(staged))


class RemovalFence:
    """Asked before each removal whether the table is still as it was when that was decided.

    A process may be stopped at any moment and go on after others have taken its table over, and
    what nothing needed then may be needed now. `check` raises ClaimLost when the claim is gone; the
    log is asked for a version after the `latest` once a second, by a clock that goes on while a
    process is stopped. Threads may share it, and once it is lost it stays lost.
    """

    def __init__(
        self, table: Table, latest: int | None, check: Callable[[], None] = lambda: None
    ) -> None:
        self._table = table
        self._latest = latest
        self._check = check
        self._lock = Lock()
        self._looked_at: float | None = None
        self._lost: str | None = None

    def look(self) -> None:
        """Raise ClaimLost when nothing more may be removed."""
        with self._lock:
            try:
                if self._lost is None:
                    self._look()
            except ClaimLost as lost:
                self._lost = str(lost)
                raise
            if self._lost is not None:
                raise ClaimLost(self._lost)

    def _look(self) -> None:
        self._check()
        now = monotonic()
        if self._looked_at is not None and now - self._looked_at < _LOOK_SECONDS:
            return
        if has_moved(self._table, self._latest):
            raise ClaimLost(
                f"another writer changed table `{self._table.name}` while files of it were being"
                " removed; the others are left as they are"
            )
        self._looked_at = now


_LOOK_SECONDS: Final = 1.0


def has_moved(table: Table, latest: int | None) -> bool:
    """Whether a table has a version after the one that something was decided by."""
    following = 0 if latest is None else latest + 1
    return table.objects.info(table.log.commit_path(following)) is not None


def find_leftovers(table: Table, older_than_ms: int) -> tuple[ObjectInfo, ...]:
    """Staged and data files last written before a time (in ms) that no version refers to.

    A file that any commit or checkpoint still in the log adds or removes is referred to: an older
    version can be read as long as its commit is there.
    """
    referred = set(_referred_paths(table))
    start = len(table.prefix) + 1
    files = list_files(table)
    unreferred = (info for info in files.data if info.path[start:] not in referred)
    return tuple(info for info in (*unreferred, *files.staged) if info.modified_ms < older_than_ms)


def sweep_table(
    table: Table, older_than_ms: int, check: Callable[[], None] = lambda: None
) -> tuple[ObjectInfo, ...]:
    """Delete the leftovers of a table; what was deleted. Raises ClaimLost when `check` does."""
    snapshot = table.snapshot()
    fence = RemovalFence(table, None if snapshot is None else snapshot.version, check)
    removal = remove_files(table, find_leftovers(table, older_than_ms), fence)
    if removal.failure is not None:
        raise removal.failure
    return removal.gone


class Removal(NamedTuple):
    """The files that are gone, and what kept others from going."""

    gone: tuple[ObjectInfo, ...]
    failure: StoreUnreadable | StoreUnwritable | ClaimLost | None = None


def remove_files(table: Table, files: Iterable[ObjectInfo], fence: RemovalFence) -> Removal:
    """Delete files that are still as they were listed, as long as a fence lets it."""

    def remove(info: ObjectInfo) -> bool | StoreUnreadable | StoreUnwritable | ClaimLost:
        try:
            fence.look()
            # Somebody may have written it anew since it was listed.
            if table.objects.info(info.path) != info:
                return False
            table.objects.delete([info.path])
        except (StoreUnreadable, StoreUnwritable, ClaimLost) as failure:
            return failure
        return True

    listed = list(files)
    with ThreadPoolExecutor(_DELETE_THREADS, "rocky-sweep") as pool:
        found = list(pool.map(remove, listed))
    removed = tuple(info for info, gone in zip(listed, found, strict=True) if gone is True)
    _remove_empty_folders(table, removed)
    return Removal(removed, next((each for each in found if not isinstance(each, bool)), None))


def _remove_empty_folders(table: Table, removed: Iterable[ObjectInfo]) -> None:
    """The folders of what was staged; in an object store there are none."""
    folder = table.objects.location.folder
    if folder is None:
        return
    root = PurePosixPath(table.prefix, STAGING)
    parents = {parent for info in removed for parent in PurePosixPath(info.path).parents}
    below = (each for each in parents if each == root or root in each.parents)
    remove_empty_folders(folder, map(str, below))


def _referred_paths(table: Table) -> Iterator[str]:
    for action in table.log.all_actions():
        for kind in ("add", "remove"):
            if action.get(kind):
                yield parse_path(action[kind])
