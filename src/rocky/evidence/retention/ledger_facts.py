"""The ledger's facts: what it says that bears on removing files, read once, at one moment.

Which runs are alive is asked before the records are read: a run that ends in between is then in
both answers; the other way round it could be in neither.
"""

from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import TypeVar

from rocky.evidence.retention.decisions import (
    Needs,
    Ownership,
    Retention,
    find_needs,
    retained_runs,
    retainers_of,
)
from rocky.ledger import EvidenceReader, open_evidence_reader
from rocky.ledger.branch_records import (
    BRANCHES,
    PROMOTIONS,
    BranchRecord,
    BranchStatus,
    PromotionRecord,
)
from rocky.ledger.chain import CHAIN_TABLE, MalformedEntry, entry_key, parse_entry
from rocky.ledger.claims import Claim, living_runs
from rocky.ledger.provenance import ProvenanceRecord
from rocky.ledger.record import Record, RunId, load_json, load_record
from rocky.ledger.run_records import ArtifactRecord, ModelExecution

R = TypeVar("R", bound=Record)


@dataclass(frozen=True, slots=True)
class LedgerFacts:
    """What the ledger knows. `targets` are all tables that any run wrote, by full name.

    `deleted_branches` are the places of branches that are no more. `heads` are those of the chain
    at the numbers that were asked for.
    """

    targets: tuple[str, ...]
    needs: Needs
    ownership: Ownership
    living: tuple[Claim, ...]
    retained: frozenset[RunId]
    deleted_branches: frozenset[str] = frozenset()
    heads: Mapping[int, str] = field(default_factory=dict)

    def with_shared(self, addresses: frozenset[str]) -> "LedgerFacts":
        """The same, with the files that branches refer to needed as well."""
        return replace(self, needs=replace(self.needs, shared=addresses))


def load_ledger_facts(
    state: Path, retention: Retention, now: datetime, numbers: Collection[int] = ()
) -> LedgerFacts | None:
    """What a ledger says, or None when there is none; `numbers` are of entries in its chain.

    Raises LedgerUnreadable, LedgerLocked.
    """
    living = living_runs(state)
    reader = open_evidence_reader(state)
    if reader is None:
        return None
    with reader:
        run_ids = [RunId(key) for key, _ in reader.rows("run_history")]
        retained = retained_runs(run_ids, retention, now) | {each.run_id for each in living}
        places = {
            RunId(key): str(load_json(state, "run_history", key, value).get("warehouse"))
            for key, value in reader.rows("run_history")
            if key in retained and '"warehouse"' in value
        }
        targets: set[str] = set()
        mine: list[tuple[RunId, ModelExecution]] = []
        for key, value in reader.rows("model_executions"):
            run_id = _run_of(key)
            if run_id in retained:
                execution = load_record(ModelExecution, state, "model_executions", key, value)
                mine.append((run_id, execution))
            targets.add(load_json(state, "model_executions", key, value).get("target") or "")
        retainers = retainers_of(mine)
        wanted = frozenset(each.run_id for each in retainers)
        needs = find_needs(
            retainers,
            mine,
            _of_runs(reader, ProvenanceRecord, "input_provenance", wanted),
            _of_runs(reader, ArtifactRecord, "output_artifacts", wanted),
            _of_runs(reader, PromotionRecord, PROMOTIONS, retained),
        )
        return LedgerFacts(
            tuple(sorted(targets - {""})),
            replace(needs, places=places),
            Ownership(frozenset(run_ids), reader.ledger_id),
            living,
            frozenset(retained),
            _deleted_branches(reader),
            _heads(reader, numbers),
        )


def _deleted_branches(reader: EvidenceReader) -> frozenset[str]:
    # All rows before any is decoded: a reading that stops midway would be left open.
    rows = list(reader.rows(BRANCHES))
    found = [load_record(BranchRecord, reader.path, BRANCHES, *row) for row in rows]
    return frozenset(each.warehouse for each in found if each.status is BranchStatus.DELETED)


def _of_runs(
    reader: EvidenceReader, kind: type[R], table: str, wanted: Collection[RunId]
) -> Iterator[R]:
    """The records of the runs that are wanted; the others are not even decoded."""
    for key, value in reader.rows(table):
        if _run_of(key) in wanted:
            yield load_record(kind, reader.path, table, key, value)


def _heads(reader: EvidenceReader, numbers: Collection[int]) -> dict[int, str]:
    keys = {entry_key(each) for each in numbers}
    found: dict[int, str] = {}
    for key, value in reader.rows(CHAIN_TABLE) if keys else ():
        # A record that cannot be read proves nothing.
        with suppress(MalformedEntry):
            if key in keys:
                entry = parse_entry(value)
                found[entry.seq] = entry.entry_hash
    return found


def _run_of(key: str) -> RunId:
    return RunId(key.partition("|")[0])
