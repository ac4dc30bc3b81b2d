"""Markers: whether a table has to be copied at all.

A copy is passed over only when nothing could be different: its source is listed as it was, its
settings are those of the last copy, and the copy is still at the version that was recorded.
"""

import os

from rocky.drift.projection import Projected
from rocky.errors import StoreUnreadable
from rocky.evidence.hashes import canonical_json, text_hash
from rocky.pipelines.replication.history import CopyHistory
from rocky.pipelines.replication.routing import RoutedTable
from rocky.store.log import Log
from rocky.store.warehouse import Table

_COPIED_AS = 1
"""Raised when copies come to be made differently, so that all are made once more."""


def marker_of(routed: RoutedTable) -> str | None:
    """A hash of what is listed of a source and of how it is copied; None where nobody can tell."""
    found = routed.found
    if found.marker is None:
        return None
    said = {
        "copied_as": _COPIED_AS,
        "listed": found.marker,
        "source": found.name,
        "format": found.place.format,
        "options": dict(found.place.options),
        "strategy": routed.strategy,
        "timestamp_column": routed.timestamp_column,
        "merge_keys": list(routed.merge_keys),
        "metadata": [_said(each) for each in routed.metadata],
    }
    return text_hash(canonical_json(said))


def _said(column: Projected) -> list[str]:
    return [column.name, column.sql, column.field.type.text]


def is_unchanged(
    routed: RoutedTable, marker: str | None, history: CopyHistory, table: Table
) -> bool:
    """Whether the last copy of a table is what a new one would be."""
    last = history.copied(routed.target)
    if marker is None or last is None or last.source_marker != marker:
        return False
    if last.watermark is not None and routed.key not in history.watermarked:
        # Somebody deleted it, to have everything loaded again.
        return False
    if routed.key in history.suspect:
        # What a check found wrong stays wrong until a check says otherwise.
        return False
    if routed.key in history.grace or last.commit_version is None:
        return False
    return _is_at(table, last.commit_version)


def _is_at(table: Table, version: int) -> bool:
    """Whether a table is at a version, without reading its log."""
    log = table.log
    try:
        return _is_there(log, version) and not _is_there(log, version + 1)
    except (StoreUnreadable, OSError):
        # The copy itself will say what is wrong.
        return False


def _is_there(log: Log, version: int) -> bool:
    path = log.commit_path(version)
    folder = log.objects.location.folder
    if folder is None:
        return log.objects.info(path) is not None
    try:
        os.stat(f"{folder}/{path}")  # noqa: PTH116 - called for thousands of tables
    except FileNotFoundError:
        return False
    return True
