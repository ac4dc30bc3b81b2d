"""Table memory: what the commits of a table say of how far it is, where no ledger does.

The watermark is a property of the newest version. Time intervals and loaded files are named by the
commits that brought them, so they are gathered from the newest commit down to one that began the
table anew, past those of runs that only rewrite files or delete old rows. Another commit on the way
that names none, such as a promotion's, or one that is gone from the log, ends that: what is older
is not known.
"""

import json
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from rocky.errors import StoreUnreadable
from rocky.plan.watermarks import watermark_value
from rocky.run.materialize.append import LOADED_FILES, LOADED_WHOLE
from rocky.run.materialize.time_interval import INTERVALS, INTERVALS_WHOLE
from rocky.store.delta.commit_actions import DELETE, OPTIMIZE
from rocky.store.delta.snapshot import WATERMARK, Snapshot
from rocky.store.warehouse import Table

_BRINGING_NOTHING: Final = (OPTIMIZE, DELETE)


@dataclass(frozen=True, slots=True)
class NamedParts:
    """Time intervals, or hashes of files, that commits name, each with the commit's version.

    They are all there are `since` a commit that began the table anew; without one there may be
    more.
    """

    parts: Mapping[str, int]
    since: int | None

    def brought_by(self, versions: Collection[int]) -> list[str]:
        """Those that some versions have brought."""
        return [part for part, version in self.parts.items() if version in versions]


@dataclass(frozen=True, slots=True)
class TableMemory:
    """What a table says of itself; None for what it is not about, or does not say."""

    watermark: str | None
    intervals: NamedParts | None
    files: NamedParts | None


def remember_table(table: Table, snapshot: Snapshot) -> TableMemory:
    """What is to be had from a table at a version. Raises StoreUnreadable for a damaged commit."""
    said = snapshot.configuration.get(WATERMARK)
    try:
        mark = watermark_value(said) if said else None
        return TableMemory(
            mark,
            _gather(table, snapshot, INTERVALS, INTERVALS_WHOLE),
            _gather(table, snapshot, LOADED_FILES, LOADED_WHOLE),
        )
    except (ValueError, TypeError, LookupError) as error:
        raise StoreUnreadable(
            f"cannot read how far table `{table.name}` was loaded: {error}"
        ) from error


def commit_infos(table: Table, newest: int) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """What commits say of themselves, from a version down to the oldest that is left."""
    for version in range(newest, -1, -1):
        if table.log.objects.info(table.log.commit_path(version)) is None:
            return
        infos = (each.get("commitInfo") for each in table.log.read_commit(version))
        yield version, next((each for each in infos if isinstance(each, dict)), {})


def _gather(table: Table, snapshot: Snapshot, key: str, whole: str) -> NamedParts | None:
    parts: dict[str, int] = {}
    seen: int | None = None
    for version, info in commit_infos(table, snapshot.version):
        if info.get("operation") in _BRINGING_NOTHING and "runId" in info:
            # What has brought the rows is named below.
            continue
        if key not in info:
            break
        seen = version
        for part in json.loads(info[key]):
            parts.setdefault(str(part), version)
        if info.get(whole) == "true" or version == 0:
            return NamedParts(parts, version)
    return None if seen is None else NamedParts(parts, None)
