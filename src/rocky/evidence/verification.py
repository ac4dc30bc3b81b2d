"""Verification: a ledger against itself and against its tables, everything computed again.

Nothing is believed: not a name, not a hash, not a count. What cannot be read at all is raised,
never taken for absent. Nothing is written. A run that writes meanwhile makes tables newer than the
records that were read a moment before, so what is found while the ledger moves is looked at again.
"""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

from rocky.compiler.garbage import without_collection
from rocky.errors import LedgerUnreadable
from rocky.evidence.chain import anchored_by, check_anchor, check_chain, check_covered
from rocky.evidence.chain_order import check_order
from rocky.evidence.erasures import Certificates, check_erasure_journals
from rocky.evidence.findings import Finding, FindingCode, Findings
from rocky.evidence.journals import check_promotion_journals
from rocky.evidence.provenance import (
    ProvenanceChecker,
    check_artifact,
    check_execution,
    check_promotions,
    check_reuse,
)
from rocky.evidence.records import (
    LedgerRecords,
    Maker,
    OpenWarehouse,
    Places,
    TablePlace,
    load_ledger_records,
    load_provenances,
    load_runs,
    maker_of,
    split_place,
)
from rocky.evidence.rewrites import check_rewrites
from rocky.evidence.scope import EVERYTHING, Point, VerificationScope
from rocky.evidence.sealed_chain import NotAsSealed, check_sealed_chain
from rocky.evidence.seals import NOTHING_KEPT, KeptHeads, check_kept
from rocky.evidence.table_files import ExpectedFile, LogChecker, check_files
from rocky.evidence.tables import (
    DroppedTables,
    ExpectedTable,
    TableHistory,
    find_tables,
    place_of_execution,
)
from rocky.evidence.unchanged_runs import check_unchanged_runs
from rocky.ledger.chain import BEFORE_FIRST, CHAIN_TABLE, Head
from rocky.ledger.readers.evidence import EvidenceReader, open_evidence_reader
from rocky.ledger.run_records import ArtifactRecord, ModelExecution
from rocky.store.delta.log import LOG_FOLDER, Log

_READERS: Final = 16
_CLOCKS_DIFFER: Final = timedelta(minutes=10)
_LEDGER_ID: Final = re.compile(r"[0-9a-f]{32}")


@dataclass(frozen=True, slots=True)
class Verification:
    """The result. `checked` counts what was looked at; `head` is where the chain ends.

    `since` is the point that it was restricted to; None when it was not, or could not be. Rows that
    nothing rests on were `passed` by: their entries are those that were sealed, no more is known.
    """

    findings: tuple[Finding, ...]
    notes: tuple[str, ...]
    checked: Mapping[str, int]
    head: Head = BEFORE_FIRST
    since: Point | None = None
    passed: bool = False


def verify_evidence(
    reader: EvidenceReader,
    open_warehouse: OpenWarehouse,
    scope: VerificationScope = EVERYTHING,
    kept: KeptHeads = NOTHING_KEPT,
) -> Verification:
    """Check a ledger and its tables, and that they go on from what was `kept` of them.

    Raises LedgerUnreadable for a file without a chain, or one that SQLite finds damaged, and
    StoreUnreadable for a table that cannot be looked at.
    """
    if not reader.is_chained:
        raise LedgerUnreadable(
            f"the state file `{reader.path}` was written by an older Rocky and has no chain;"
            " the next `rocky run` makes one"
        )
    if scope.since is not None and scope.since.is_sealed:
        try:
            quick = _verify(reader, open_warehouse, (scope, kept), passing=True)
        except NotAsSealed:
            quick = None
        if quick is not None and not quick.findings:
            return quick
    # What does not fit is told after looking at everything.
    reader.refuse_damaged()
    return _verify(reader, open_warehouse, (scope, kept), passing=False)


def _verify(
    reader: EvidenceReader,
    open_warehouse: OpenWarehouse,
    asked: tuple[VerificationScope, KeptHeads],
    *,
    passing: bool,
) -> Verification:
    """What was asked for; `passing` by earlier rows that nothing rests on. Raises NotAsSealed."""
    findings = Findings()
    # Records refer to each other in no circle, and all are kept until the end.
    with without_collection():
        work = _Verifier(reader, open_warehouse, asked[0], findings, passing=passing)
        work.check()
        head = work.check_kept(asked[1])
    found, notes = tuple(findings.found), tuple(findings.notes)
    return Verification(found, notes, Counter(findings.checked), head, work.since, passing)


class _Verifier:
    def __init__(
        self,
        reader: EvidenceReader,
        open_warehouse: OpenWarehouse,
        scope: VerificationScope,
        findings: Findings,
        *,
        passing: bool,
    ) -> None:
        self._findings = findings
        self._passed = scope.since.seq if passing and scope.since is not None else 0
        self._reader = self._whole = reader
        if passing and scope.since is not None:
            self._chain, wanted = check_sealed_chain(reader, scope.since, findings)
            self._reader = reader.of_runs(wanted)
        else:
            self._chain = check_chain(reader, findings)
        self._scope = scope.found_in(self._chain)
        recent = self._scope.recent
        if recent is not None and not passing:
            self._reader = reader.of_runs(recent | reader.rested_upon())
        self._places = Places(open_warehouse)
        self._recorded = load_ledger_records(self._reader, self._places, findings)
        check_unchanged_runs(self._recorded, findings)
        self._drops = DroppedTables(self._recorded, findings)
        runs = self._recorded.runs
        if (asked := runs.get(scope.run_id or "")) is not None:
            self._scope = replace(self._scope, looked=asked.unchanged_since)
        findings.checked["runs"] = len(runs if recent is None else runs.keys() & recent)
        if recent is not None:
            every = reader.count("run_history")
            findings.checked["earlier_runs"] = every - len(runs.keys() & recent)
            if passing:
                findings.checked["unseen_runs"] = every - len(runs)

    @property
    def since(self) -> Point | None:
        """The point that the work is restricted to."""
        return self._scope.since

    def check(self) -> None:
        tables = self._tables()
        histories = self._check_logs(tables)
        for place, table in tables.items():
            history = histories.get(place, TableHistory())
            for maker, execution in table.executions:
                if self._scope.holds(maker, execution.target) and not self._drops.is_former(
                    place, maker
                ):
                    check_execution(maker, execution, history, self._findings)
        provenance = self._check_provenance(histories)
        made = {
            (run_id, each.target.lower()): each for (run_id, _), each in provenance.outputs.items()
        }
        for maker, execution in self._executions():
            check_reuse(maker, execution, self._recorded, made, self._findings)
        check_promotions(self._recorded, histories, self._findings)
        self._check_files(histories)
        if self._scope.is_all:
            Certificates(self._recorded).check_gone(self._findings)
        self._check_anchors()

    def check_kept(self, kept: KeptHeads) -> Head:
        """Check what was kept of the ledger and its tables; where the chain ends."""
        check_kept(kept, self._reader.ledger_id, self._chain, self._recorded, self._findings)
        newest = max(self._chain.heads, default=0)
        return Head(newest, self._chain.heads[newest]) if newest else BEFORE_FIRST

    def _executions(self) -> Iterator[tuple[Maker, ModelExecution]]:
        for maker, execution in self._recorded.executions.items():
            if self._scope.holds(maker, execution.target):
                yield maker, execution

    def _tables(self) -> dict[TablePlace, ExpectedTable]:
        """The tables to check; when it is all, also those that no record speaks of."""
        tables = find_tables(self._recorded)
        if not self._scope.is_all:
            return {
                place: table
                for place, table in tables.items()
                if any(
                    self._scope.holds(maker, each.target)
                    for maker, each in table.with_former().executions
                )
            }
        for root in self._roots():
            # The tables of a ledger that was rolled back are still there.
            for table in self._places.warehouse(root).tables():
                tables.setdefault(TablePlace(root, table.prefix), ExpectedTable())
        return dict(sorted(tables.items()))

    def _check_logs(
        self, tables: Mapping[TablePlace, ExpectedTable]
    ) -> dict[TablePlace, TableHistory]:
        checker = LogChecker(self._recorded, self._chain, self._reader.ledger_id, self._findings)
        logs = [
            Log(each.name, each.prefix, self._places.warehouse(each.root).objects)
            for each in tables
        ]
        with ThreadPoolExecutor(_READERS, "rocky-verify") as pool:
            read = pool.map(_read_log, logs)
            found = {}
            for (place, recorded), files in zip(tables.items(), read, strict=True):
                expected, since = self._drops.settle(place, recorded, files)
                found[place] = replace(checker.check(place, expected, files), since=since)
            return found

    def _check_provenance(self, histories: Mapping[TablePlace, TableHistory]) -> ProvenanceChecker:
        checker = ProvenanceChecker(self._recorded, histories, self._findings)
        for record in load_provenances(self._reader, self._places, self._findings):
            checker.remember(record)
            if self._scope.holds(maker_of(record.run_id, record.model_name), record.target):
                checker.check(record)
        for entry in self._recorded.index:
            if self._scope.holds(maker_of(entry.run_id, entry.model_name), entry.target):
                checker.check_index(entry)
        return checker

    def _check_files(self, histories: Mapping[TablePlace, TableHistory]) -> None:
        expected = []
        in_use = {
            place: history.states[max(history.states)]
            for place, history in histories.items()
            if history.states
        }
        earlier = self._earlier_files()
        for artifact in self._artifacts():
            place, path = split_place(artifact.file_path)
            maker = maker_of(artifact.run_id, artifact.model_name)
            history = histories.get(self._table_of(maker) or place, TableHistory())
            if self._drops.has_dropped(artifact.file_path):
                continue
            if not self._drops.is_former(place, maker):
                check_artifact(artifact, history, self._findings)
            collected = _is_collected(artifact, self._recorded)
            if collected:
                self._findings.checked["collected"] += 1
                self._check_collected(artifact)
            if self._scope.files is not None and artifact.blake3_hash not in self._scope.files:
                continue
            if artifact.file_path in earlier:
                self._findings.checked["unread"] += 1
                continue
            expected.append(
                ExpectedFile(
                    self._places.warehouse(place.root).objects,
                    f"{place.prefix}/{path}",
                    artifact.blake3_hash,
                    artifact.size_bytes,
                    history.rows.get(path),
                    may_be_gone=collected and path not in in_use.get(place, ()),
                )
            )
        check_files(expected, self._findings)

    def _earlier_files(self) -> frozenset[str]:
        """With a point, the files that a run had recorded before it."""
        recent = self._scope.recent
        if recent is None:
            return frozenset()
        makers = (
            files for (run_id, _), files in self._recorded.files.items() if run_id not in recent
        )
        return frozenset(path for files in makers for path in files)

    def _check_collected(self, artifact: ArtifactRecord) -> None:
        removed = self._recorded.collected[artifact.file_path]
        self._findings.expect(
            removed.collected_at <= datetime.now(UTC) + _CLOCKS_DIFFER,
            FindingCode.RECORD_INCONSISTENT,
            f"collected_files {artifact.file_path}",
            "it says that the file was removed at a time that has not come yet",
        )

    def _table_of(self, maker: Maker) -> TablePlace | None:
        """Whose file it is: where it lies does not tell, for clones share files."""
        execution = self._recorded.executions.get(maker)
        if execution is None:
            return None
        return place_of_execution(self._recorded, maker, execution.target)

    def _artifacts(self) -> Iterator[ArtifactRecord]:
        for artifact in self._recorded.artifacts():
            maker = maker_of(artifact.run_id, artifact.model_name)
            if self._scope.holds(maker, split_place(artifact.file_path)[0].name):
                yield artifact

    def _check_anchors(self) -> None:
        ledger_id = self._reader.ledger_id
        if ledger_id is None or not _LEDGER_ID.fullmatch(ledger_id):
            why = (
                "it is not the id of a ledger, so nothing in a warehouse can be told to be its own"
            )
            self._findings.add(FindingCode.RECORD_MALFORMED, "metadata ledger_id", why)
            return
        for root in self._roots():
            self._take_in(anchored_by(self._places.warehouse(root), ledger_id))
        order = check_order(self._chain.entries, self._recorded, self._findings, self._passed)
        check_rewrites(self._reader, self._chain.entries, self._findings)
        newest = []
        for root in self._roots():
            warehouse, findings = self._places.warehouse(root), self._findings
            runs = [each for each in self._recorded.runs.values() if each.warehouse == root]
            check_promotion_journals(warehouse, self._recorded, findings)
            check_erasure_journals(warehouse, self._recorded, findings)
            newest.append(check_anchor(warehouse, ledger_id, self._chain, order, runs, findings))
        reached = [each for each in newest if each is not None]
        if max(reached, default=0) < self._passed:
            raise NotAsSealed
        if reached:
            self._take_in({each or "" for entry, each in order.owners if entry.seq > max(reached)})
            check_covered(max(reached), order, self._recorded.runs, self._findings)

    def _take_in(self, run_ids: Collection[str]) -> None:
        """Know the records of some runs, also of such as only found all as it was."""
        if self._passed and not self._recorded.runs.keys() >= set(run_ids):
            raise NotAsSealed
        for run in load_runs(self._whole.of_runs(frozenset(run_ids) - self._recorded.runs.keys())):
            root = None if run.warehouse is None else self._places.root(run.warehouse)
            self._recorded.runs[run.run_id] = replace(run, models_executed=(), warehouse=root)

    def _roots(self) -> list[str]:
        found = {each.warehouse for each in self._recorded.runs.values()}
        return sorted(root for root in found if root is not None)


def _read_log(log: Log) -> dict[str, bytes]:
    """The bytes of every file of a log, by name."""
    found = {}
    for name in log.files():
        data = log.objects.read(f"{log.prefix}/{LOG_FOLDER}/{name}")
        if data is not None:
            found[name] = data
    return found


def _is_collected(artifact: ArtifactRecord, recorded: LedgerRecords) -> bool:
    """Whether a file was removed on purpose, and not written again since."""
    removed = recorded.collected.get(artifact.file_path)
    if removed is None:
        return False
    return removed.collected_at > recorded.last_written(artifact.file_path)


_TRIES: Final = 10
"""Runs that end while a verification goes on make it out of date; each is followed at once."""


def verify_ledger(
    path: Path,
    open_warehouse: OpenWarehouse,
    choose: Callable[[EvidenceReader], VerificationScope],
    kept: KeptHeads = NOTHING_KEPT,
) -> tuple[VerificationScope, Verification] | None:
    """What `choose` asks for, and the result; None when there is no ledger yet.

    Raises as `verify_evidence` does.
    """
    scope, found, last = None, None, None
    for _ in range(_TRIES):
        reader = open_evidence_reader(path)
        if reader is None:
            return None
        with reader:
            newest = reader.last_row(CHAIN_TABLE)
            if scope is not None and found is not None and newest == last:
                break
            scope, last = choose(reader), newest
            found = verify_evidence(reader, open_warehouse, scope, kept)
        if not found.findings:
            break
    return None if scope is None or found is None else (scope, found)
