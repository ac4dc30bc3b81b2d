"""Markers: whether a table has to be copied at all.

A copy is passed over only when nothing could be different: its source is listed as it was, its
settings are those of the last copy, and the copy is still at the version that was recorded.
"""

import os
from functools import lru_cache

from rocky.drift.projection import Projected
from rocky.errors import StoreUnreadable
from rocky.evidence.hashes import canonical_json, text_hash
from rocky.pipelines.replication.concealing import hide_url
from rocky.pipelines.replication.history import CopyHistory
from rocky.pipelines.replication.routing import RoutedTable
from rocky.store.log import Log
from rocky.store.warehouse import Table

_COPIED_AS = 2
"""Raised when copies come to be made differently, so that all are made once more."""


def marker_of(routed: RoutedTable) -> str | None:
    """A hash of what is listed of a source and of how it is copied; None where nobody can tell."""
    found = routed.found
    if found.marker is None:
        return None
    how = _how_copied(
        found.place.format,
        tuple(found.place.options.items()),
        routed.strategy,
        routed.timestamp_column,
        routed.merge_keys,
        routed.metadata,
    )
    return text_hash(f"{found.marker}\n{found.name}\n{how}")


@lru_cache(maxsize=1024)
def _how_copied(
    form: str,
    options: tuple[tuple[str, str], ...],
    strategy: str,
    timestamp_column: str,
    merge_keys: tuple[str, ...],
    metadata: tuple[Projected, ...],
) -> str:
    """The settings of a copy in one text; many tables share them."""
    said = {
        "copied_as": _COPIED_AS,
        "format": form,
        "options": dict(options),
        "strategy": strategy,
        "timestamp_column": timestamp_column,
        "merge_keys": list(merge_keys),
        "metadata": [[each.name, each.sql, each.field.type.text] for each in metadata],
    }
    return canonical_json(said)


def source_of(routed: RoutedTable) -> str:
    """Which source a table is copied from: its name, and a hash of where it is.

    Neither the case of letters nor a password makes it another one.
    """
    place = routed.found.place
    options = {key.lower(): value for key, value in place.options.items()}
    reached = (str(place.path or ""), hide_url(str(options.get("url", ""))), options.get("dbtable"))
    return f"{routed.found.name}#{text_hash(repr(reached).lower())[:16]}".lower()


def changed_source(routed: RoutedTable, history: CopyHistory) -> str | None:
    """Why a table is not a copy of what it is to be a copy of now; None when it is."""
    written = history.committed.get(routed.key)
    if written is None or written.copied_from == source_of(routed):
        return None
    if written.copied_from is None:
        return "what is in the table was not copied: the table is replaced"
    before = written.copied_from.rpartition("#")[0]
    where = "another place" if before == routed.found.name.lower() else f"`{before}`"
    return f"the table was copied from {where} before: it is replaced"


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
    if routed.key in history.suspect or changed_source(routed, history) is not None:
        # What a check found wrong, or has not seen, stays so until a check says otherwise.
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
