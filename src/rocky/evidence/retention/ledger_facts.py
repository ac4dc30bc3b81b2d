"""The ledger's facts: what it says that bears on removing files, and whether it may be believed.

Which runs are alive is asked before the records are read: a run that ends in between is then in
both answers; the other way round it could be in neither.

A ledger that was replaced by an older copy has lost runs, and with them what they need; only the
anchor in the warehouse can tell. Another ledger's anchor says that its runs may need what is here.
Without the one that is left after a removal, what a command has removed would look like what
somebody removed by hand.
"""

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import TypeVar

from rocky.errors import StoreUnreadable, StoreUnwritable
from rocky.evidence.retention.decisions import (
    Needs,
    Ownership,
    Retention,
    find_needs,
    retained_runs,
    retainers_of,
)
from rocky.ledger import EvidenceReader, Ledger, open_evidence_reader
from rocky.ledger.branch_records import (
    BRANCHES,
    PROMOTIONS,
    BranchRecord,
    BranchStatus,
    PromotionRecord,
)
from rocky.ledger.branches import is_newest
from rocky.ledger.chain import CHAIN_TABLE, Head, MalformedEntry, entry_key, parse_entry
from rocky.ledger.claims import Claim, living_runs
from rocky.ledger.erasure_records import ERASURES, ErasureRecord
from rocky.ledger.provenance import ProvenanceRecord
from rocky.ledger.record import Record, RunId, load_json, load_record
from rocky.ledger.run_records import ArtifactRecord, ModelExecution
from rocky.store.anchor import Anchor, anchored_ledgers, read_anchor, write_anchor
from rocky.store.delta.actions import parse_commit
from rocky.store.delta.log import hashes_read
from rocky.store.delta.signature import is_commit_signed
from rocky.store.warehouse import Table, Warehouse

R = TypeVar("R", bound=Record)


@dataclass(frozen=True, slots=True)
class RecordedCommits:
    """The hashes of the commits that are recorded, by table in lower case, warehouse and version.

    Of a table that was dropped and made anew those since then. `keys` are what runs sign commits
    with that they did not come to record.
    """

    hashes: Mapping[str, Mapping[str, Mapping[int, frozenset[str]]]] = field(default_factory=dict)
    keys: Mapping[str, str] = field(default_factory=dict)

    def find_doubt(self, table: Table, newest: int) -> str | None:
        """Why the log of a table, all of which was read, may not decide about its files, if so."""
        recorded: dict[int, frozenset[str]] = {}
        for found in self.hashes.get(table.name.lower(), {}).values():
            # Of any warehouse: this one may have been moved.
            for version, digests in found.items():
                recorded[version] = recorded.get(version, frozenset()) | digests
        # From before commits were recorded nothing can be told.
        first = min(recorded, default=newest + 1)
        for version, digest in hashes_read(table.log, newest).items():
            known = recorded.get(version, frozenset())
            if digest in known or (not known and version < first):
                continue
            if known or not self._is_signed(table, version):
                what = "is not the one that was recorded" if known else "was made by no run"
                return f"its commit {version} {what}: `rocky verify` says more"
        return None

    def _is_signed(self, table: Table, version: int) -> bool:
        data = table.log.commit_bytes(version)
        infos = (each.get("commitInfo") or {} for each in parse_commit(data))
        run_id = next((str(each["runId"]) for each in infos if each.get("runId")), "")
        return is_commit_signed(self.keys.get(run_id), table.prefix, version, data)


@dataclass(frozen=True, slots=True)
class LedgerFacts:
    """What the ledger knows. `targets` are all tables that any run wrote, by full name.

    `deleted_branches` are the places of branches that are no more. `heads` are those of the chain
    at the numbers that were asked for. `commits` tells which commits of tables are recorded.
    """

    targets: tuple[str, ...]
    needs: Needs
    ownership: Ownership
    living: tuple[Claim, ...]
    retained: frozenset[RunId]
    deleted_branches: frozenset[str] = frozenset()
    heads: Mapping[int, str] = field(default_factory=dict)
    commits: RecordedCommits = RecordedCommits()

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
        retained |= _looked_for(reader, retained)
        made_in = {
            RunId(key): str(load_json(state, "run_history", key, value).get("warehouse"))
            for key, value in reader.rows("run_history")
            if '"warehouse"' in value
        }
        places = {run_id: place for run_id, place in made_in.items() if run_id in retained}
        keys = {
            key: str(load_json(state, "run_history", key, value).get("commit_key"))
            for key, value in reader.rows("run_history")
            if '"commit_key"' in value
        }
        for key, value in reader.rows(PROMOTIONS):
            # All that it committed is recorded: what else it signed came to nothing.
            keys.pop(key, None)
            keys.pop(str(load_json(state, PROMOTIONS, key, value).get("recovers")), None)
        targets: set[str] = set()
        commits: dict[str, dict[str, dict[int, frozenset[str]]]] = {}
        mine: list[tuple[RunId, ModelExecution]] = []
        for key, value in reader.rows("model_executions"):
            run_id = _run_of(key)
            if run_id in retained:
                execution = load_record(ModelExecution, state, "model_executions", key, value)
                mine.append((run_id, execution))
            said = load_json(state, "model_executions", key, value)
            target = said.get("target") or ""
            targets.add(target)
            of_table = commits.setdefault(target.lower(), {})
            recorded = of_table.setdefault(made_in.get(run_id, ""), {})
            for each in (*(said.get("adopted") or ()), *(said.get("commits") or ())):
                found = recorded.get(each["version"], frozenset())
                if each["version"] == 0 and found - {each["blake3_hash"]}:
                    # It was dropped and made anew: the log from before is another table's.
                    recorded.clear()
                    found = frozenset()
                recorded[each["version"]] = found | {each["blake3_hash"]}
        _add_redacted(reader, commits)
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
            RecordedCommits(commits, keys),
        )


def _looked_for(reader: EvidenceReader, retained: Collection[RunId]) -> set[RunId]:
    """The runs that say what others did, in which nothing had changed."""
    return {
        RunId(said)
        for key, value in reader.rows("run_history")
        if key in retained and '"unchanged_since"' in value
        for said in [load_json(reader.path, "run_history", key, value).get("unchanged_since")]
        if said is not None
    }


def _add_redacted(
    reader: EvidenceReader, commits: Mapping[str, dict[str, dict[int, frozenset[str]]]]
) -> None:
    """Know commits again that have lost statistics to an erasure; nothing else is as recorded."""
    for key, value in reader.rows(ERASURES):
        for table in load_record(ErasureRecord, reader.path, ERASURES, key, value).tables:
            for recorded in commits.get(table.target.lower(), {}).values():
                for each in table.commits:
                    known = recorded.get(each.version, frozenset())
                    if each.before in known:
                        recorded[each.version] = known | {each.after}


def _deleted_branches(reader: EvidenceReader) -> frozenset[str]:
    # All rows before any is decoded: a reading that stops midway would be left open.
    rows = list(reader.rows(BRANCHES))
    found = [(row[0], load_record(BranchRecord, reader.path, BRANCHES, *row)) for row in rows]
    newest = [each for key, each in found if is_newest(key, each)]
    return frozenset(each.warehouse for each in newest if each.status is BranchStatus.DELETED)


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


@dataclass(frozen=True, slots=True)
class WarehouseAnchors:
    """The anchors in a warehouse, by ledger; `doubt` says why they cannot be told."""

    of_ledger: Mapping[str, Anchor] = field(default_factory=dict)
    doubt: str | None = None

    def others_since(self, ledger_id: str | None, moment: datetime) -> list[str]:
        """The ids of other ledgers that were written to at or after a moment."""
        return [
            each
            for each, anchor in self.of_ledger.items()
            if each != ledger_id and anchor.recorded_at >= moment
        ]


def load_anchors(warehouse: Warehouse) -> WarehouseAnchors:
    """All anchors in a warehouse."""
    try:
        found = {each: read_anchor(warehouse, each) for each in anchored_ledgers(warehouse)}
    except StoreUnreadable as error:
        return WarehouseAnchors(doubt=str(error))
    return WarehouseAnchors({each: anchor for each, anchor in found.items() if anchor is not None})


def find_doubt(
    anchors: WarehouseAnchors, ledger_id: str | None, heads: Mapping[int, str]
) -> str | None:
    """Why a ledger, by the heads its chain had, may not decide about a warehouse, if so."""
    if anchors.doubt is not None:
        return anchors.doubt
    mine = anchors.of_ledger.get(ledger_id or "")
    if mine is not None and heads.get(mine.seq) != mine.head:
        return (
            "the state file was replaced by an older copy: the warehouse has an anchor of"
            " records that it lacks; `rocky verify` says more"
        )
    return None


def leave_anchors(
    ledger: Ledger, open_warehouse: Callable[[str], Warehouse], now: datetime
) -> list[str]:
    """Note the ledger's head in each warehouse that its runs wrote to; what to warn of."""
    head, warnings = ledger.head(), []
    for place, newest in newest_run_by_warehouse(ledger).items():
        anchor = Anchor(head.entry_hash, head.seq, newest, now)
        try:
            known = write_anchor(
                open_warehouse(place),
                ledger.ledger_id,
                anchor,
                lambda found: ledger.knows(Head(found.seq, found.head)),
            )
        except (StoreUnreadable, StoreUnwritable) as error:
            warnings.append(f"could not write the ledger's anchor to the warehouse: {error}")
            continue
        if not known:
            warnings.append(
                f"the warehouse has a later anchor than `{ledger.path.name}`: the state file was"
                " replaced by an older copy, or changed; `rocky verify` says more"
            )
    return warnings


def newest_run_by_warehouse(ledger: Ledger) -> dict[str, str]:
    """The newest run of each warehouse, by its place."""
    reader = open_evidence_reader(ledger.path)
    found: dict[str, str] = {}
    if reader is None:
        return found
    with reader:
        for key, value in reader.rows("run_history"):
            place = load_json(ledger.path, "run_history", key, value).get("warehouse")
            if place is not None:
                found[str(place)] = key
    return found
