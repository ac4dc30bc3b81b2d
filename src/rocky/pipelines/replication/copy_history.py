"""The history of copies: what the ledger remembers of each, and whether it has to be copied again.

The ledger is asked once for all of them. A copy is skipped only when nothing could be
different: its source is listed as it was, its settings are those of the last copy, and the copy is
still at the version that was recorded.
"""

import json
import os
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache, partial

from rocky.canonical import canonical_json, text_hash
from rocky.errors import StoreUnreadable
from rocky.language.datatypes.text import field_to_json, fields_from_json
from rocky.language.datatypes.types import StructField
from rocky.ledger.pipeline_records import GracePeriod
from rocky.ledger.readers.lookup import LastCopy, LookupReader, RecordedCopy
from rocky.ledger.run_records import UNKNOWN_SOURCE, ModelStatus
from rocky.pipelines.drift.projection import Projected
from rocky.pipelines.owners import writers_of
from rocky.pipelines.replication.routes import RoutedTable
from rocky.project.models import Target
from rocky.project.secrets import url_without_password
from rocky.store.delta.log import Log
from rocky.store.warehouse import Table

_COPIED = frozenset({ModelStatus.SUCCESS, ModelStatus.REUSED})


def _no_columns(target: Target) -> None:  # noqa: ARG001 - nothing is known here
    return None


@dataclass(frozen=True, slots=True)
class CopyHistory:
    """The last execution of each copy and what else is known of it, by the target's key.

    `suspect` are those that a check found wrong after their last copy, or was to look at and did
    not. `committed` is of each table the last execution that left something in it, and `writers`
    are the pipelines of these. `find_columns` gives the columns that its source had when it was
    last copied.
    """

    last: Mapping[str, LastCopy] = field(default_factory=dict)
    watermarked: frozenset[str] = frozenset()
    suspect: frozenset[str] = frozenset()
    grace: Mapping[str, tuple[GracePeriod, ...]] = field(default_factory=dict)
    find_columns: Callable[[Target], tuple[StructField, ...] | None] = _no_columns
    committed: Mapping[str, LastCopy] = field(default_factory=dict)
    writers: Mapping[str, str] = field(default_factory=dict)

    def copied(self, target: Target) -> LastCopy | None:
        """The last copy, if the last time it was tried it succeeded."""
        found = self.last.get(target.key)
        return found if found is not None and found.status in _COPIED else None

    def spelled(self, target: Target) -> Target:
        """A target as the table was first called: in other letters it would be another folder."""
        found = self.committed.get(target.key)
        if found is None or found.target is None or found.target.lower() != target.key:
            return target
        parts = found.target.split(".")
        return Target(*parts) if len(parts) == len(target) else target


def load_copy_history(
    lookups: LookupReader | None, targets: Iterable[Target], compared: Collection[str] = ()
) -> CopyHistory:
    """What is remembered of some targets; nothing where there is no ledger yet.

    `compared` are the checks that hold a copy against its source: one whose run has not told of
    each of them is looked at again.
    """
    if lookups is None:
        return CopyHistory()
    names = [target.full_name for target in targets]
    found = {name.lower(): each for name, each in lookups.last_copies(names).items()}
    run_ids = {each.run_id for each in found.values()}
    told = lookups.check_outcomes(run_ids, compared)
    committed = _committed(lookups, found)
    # Rows that cannot be read fail their table when it is built: here they only keep it from
    # being passed over.
    known, _ = lookups.watermarked(names)
    grace: dict[str, tuple[GracePeriod, ...]] = {}
    for period in lookups.grace_periods():
        grace[period.table.lower()] = (*grace.get(period.table.lower(), ()), period)
    return CopyHistory(
        {key: each.copy for key, each in found.items()},
        frozenset(name.lower() for name in known),
        frozenset(
            key
            for key, each in found.items()
            if _is_suspect(told.get((each.run_id, key), {}), compared)
        ),
        grace,
        partial(_find_columns, lookups),
        {key: each.copy for key, each in committed.items()},
        writers_of(lookups, committed),
    )


def _committed(lookups: LookupReader, last: Mapping[str, RecordedCopy]) -> dict[str, RecordedCopy]:
    """The last executions that left something, by key: older ones where the last left nothing."""
    made = {key: each for key, each in last.items() if each.copy.commit_version is not None}
    rest = [key for key in last if key not in made]
    return made | lookups.committed_copies(rest) if rest else made


def _is_suspect(told: Mapping[str, bool], compared: Collection[str]) -> bool:
    return not all(told.values()) or any(name not in told for name in compared)


def format_columns(columns: Iterable[StructField]) -> str:
    """Columns of a source as they are recorded."""
    fields = [field_to_json(each) for each in columns]
    return canonical_json({"fields": fields, "type": "struct"})


def _find_columns(lookups: LookupReader, target: Target) -> tuple[StructField, ...] | None:
    recorded = lookups.source_columns(target.full_name)
    return tuple(fields_from_json(json.loads(recorded))) if recorded is not None else None


_MARKER_VERSION = 2
"""Raised when copies come to be made differently, so that all are made once more."""


def copy_marker(routed: RoutedTable, tags: str = "") -> str | None:
    """A hash of what is listed of a source and of how it is copied; None where nobody can tell.

    `tags` is a hash of what decides over tags and masks, empty where nothing does.
    """
    found = routed.found
    if found.marker is None:
        return None
    how = _copy_settings(
        found.place.format,
        tuple(found.place.options.items()),
        routed.strategy,
        routed.timestamp_column,
        routed.merge_keys,
        routed.metadata,
    )
    return text_hash("\n".join((found.marker, found.name, how, *([tags] if tags else []))))


@lru_cache(maxsize=1024)
def _copy_settings(
    form: str,
    options: tuple[tuple[str, str], ...],
    strategy: str,
    timestamp_column: str,
    merge_keys: tuple[str, ...],
    metadata: tuple[Projected, ...],
) -> str:
    """The settings of a copy in one text; many tables share them."""
    said = {
        "copied_as": _MARKER_VERSION,
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
    reached = (
        str(place.path or ""),
        url_without_password(str(options.get("url", ""))),
        options.get("dbtable"),
    )
    return f"{routed.found.name}#{text_hash(repr(reached).lower())[:16]}".lower()


def find_source_change(routed: RoutedTable, history: CopyHistory) -> str | None:
    """Why a table is not a copy of what it is to be a copy of now; None when it is."""
    written = history.committed.get(routed.key)
    if written is None or written.copied_from in (source_of(routed), UNKNOWN_SOURCE):
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
    if routed.key in history.suspect or find_source_change(routed, history) is not None:
        # What a check found wrong, or has not seen, stays so until a check says otherwise.
        return False
    if routed.key in history.grace or last.commit_version is None:
        return False
    return _is_at_version(table, last.commit_version)


def _is_at_version(table: Table, version: int) -> bool:
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
