"""Lifetimes: from which version to which each file was part of a table, from its whole log.

Checkpoints are not read: they tell what is there, not since when. So a log whose first commits
somebody has removed has no lifetimes; it is refused, nothing is guessed.
"""

import re
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, Final

from rocky.errors import StoreUnreadable
from rocky.store.actions import Action, parse_path
from rocky.store.log import FOLDER, Log
from rocky.store.objects import ObjectInfo

_COMMIT: Final = re.compile(r"(\d{20})\.json")
_THREADS: Final = 16


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
    with ThreadPoolExecutor(_THREADS, "rocky-log") as pool:
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
    for info in log.objects.list(f"{log.prefix}/{FOLDER}"):
        if matched := _COMMIT.fullmatch(info.path.rpartition("/")[2]):
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
