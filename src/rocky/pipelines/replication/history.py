"""What the ledger remembers of the copies of a pipeline, asked once for all of them."""

import json
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial

from rocky.datatypes.text import field_to_json, fields_from_json
from rocky.datatypes.types import StructField
from rocky.evidence.hashes import canonical_json
from rocky.ledger.lookups import Lookups
from rocky.ledger.pipeline_questions import LastCopy, RecordedCopy
from rocky.ledger.pipeline_records import GracePeriod
from rocky.ledger.records import ModelStatus
from rocky.pipelines.owners import writers_of
from rocky.project.models import Target

_MADE = frozenset({ModelStatus.SUCCESS, ModelStatus.REUSED})


def _none(target: Target) -> None:  # noqa: ARG001 - nothing is known here
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
    find_columns: Callable[[Target], tuple[StructField, ...] | None] = _none
    committed: Mapping[str, LastCopy] = field(default_factory=dict)
    writers: Mapping[str, str] = field(default_factory=dict)

    def copied(self, target: Target) -> LastCopy | None:
        """The last copy, if the last time it was tried it succeeded."""
        found = self.last.get(target.key)
        return found if found is not None and found.status in _MADE else None

    def spelled(self, target: Target) -> Target:
        """A target as the table was first called: in other letters it would be another folder."""
        found = self.committed.get(target.key)
        if found is None or found.target is None or found.target.lower() != target.key:
            return target
        parts = found.target.split(".")
        return Target(*parts) if len(parts) == len(target) else target


def load_history(
    lookups: Lookups | None, targets: Iterable[Target], compared: Collection[str] = ()
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


def _committed(lookups: Lookups, last: Mapping[str, RecordedCopy]) -> dict[str, RecordedCopy]:
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


def _find_columns(lookups: Lookups, target: Target) -> tuple[StructField, ...] | None:
    recorded = lookups.source_columns(target.full_name)
    return tuple(fields_from_json(json.loads(recorded))) if recorded is not None else None
