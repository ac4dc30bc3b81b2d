"""Which runs a sweep forgets, and the facts of the ledger that decide it.

A ledger proves what is in tables, so age alone forgets nothing: a run that made a commit, or whose
records another run's records rest on, stays for as long as they do. What goes are runs that left
nothing behind but their own story. In doubt a run is kept. The facts are read once, at one moment,
and nothing at all is read when no run is old enough.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Final

from rocky.errors import StoreUnreadable
from rocky.evidence.retention.decisions import Retention, days_before, retained_runs
from rocky.ledger import EvidenceReader
from rocky.ledger.record import RunId, format_time, load_json
from rocky.project.configuration.blocks import Domain, StateRetention
from rocky.store.file_usage import read_lifetimes
from rocky.store.warehouse import Warehouse

NO_RUNS: Final[frozenset[RunId]] = frozenset()


class KeepRunReason(StrEnum):
    """Why a run that is old enough to go stays; of several reasons the first one here is given."""

    DOMAIN = "its records are of a domain that is not swept"
    LATEST = "it is the newest that wrote to its warehouse"
    RUNNING = "it has not ended"
    COMMITTED = "it made a commit that a table's log has"
    ADOPTED = "a later run recorded commits that it left behind"
    INDEXED = "its result may be reused"
    REUSED = "a run that is kept reused what it built"
    LEANED_ON = "records that are kept refer to it"
    UNCERTAIN = "it failed, and may have made a commit that is not recorded"


@dataclass(slots=True)
class PastRun:
    """What bears on whether a run may be forgotten. `domains` are those it has records in.

    An `unfinished` run died or gave up. `reused` are the runs whose builds it took over, `hashes`
    the inputs it found equal to theirs, `files` what it recorded of tables' files. `looked` is the
    run that says of its models what it has no records of.
    """

    run_id: RunId
    warehouse: str | None = None
    running: bool = False
    unfinished: bool = False
    committed: bool = False
    domains: set[Domain] = field(default_factory=set)
    reused: set[RunId] = field(default_factory=set)
    adopted: set[RunId] = field(default_factory=set)
    hashes: set[str] = field(default_factory=set)
    files: set[str] = field(default_factory=set)
    looked: RunId | None = None


@dataclass(frozen=True, slots=True)
class RunReferences:
    """What records that are not a run's own rest on: an index of results, and hashes in it.

    `named` are the runs the index names. `hashes` are inputs that only the record of a reuse
    proves. `in_logs` are runs that made a commit, by warehouse, where the logs were looked at.
    """

    named: Collection[RunId] = NO_RUNS
    hashes: Collection[str] = frozenset()
    in_logs: Mapping[str, Collection[str]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SweepDecision:
    """The runs to forget, oldest first, and how many that are old enough stay for which reason."""

    forgotten: tuple[RunId, ...] = ()
    kept: Mapping[KeepRunReason, int] = field(default_factory=dict)


def decide_runs(
    runs: Mapping[RunId, PastRun],
    old: Collection[RunId],
    leaning: RunReferences,
    applies_to: Collection[Domain],
) -> SweepDecision:
    """Which of the `old` runs are forgotten."""
    reasons: dict[RunId, KeepRunReason] = {}
    latest = _latest(runs.values())
    adopted = {each for run in runs.values() for each in run.adopted}
    for run_id in sorted(old, reverse=True):
        why = _own_reason(runs[run_id], leaning, applies_to)
        if why is None and run_id in latest:
            why = KeepRunReason.LATEST
        if why is None and run_id in adopted:
            why = KeepRunReason.ADOPTED
        if why is not None:
            reasons[run_id] = why
    candidates = [each for each in sorted(old, reverse=True) if each not in reasons]
    _keep_referenced(runs, candidates, leaning, reasons)
    forgotten = tuple(sorted(each for each in old if each not in reasons))
    return SweepDecision(forgotten, Counter(reasons.values()))


def _latest(runs: Iterable[PastRun]) -> set[RunId]:
    """The newest run of each warehouse: its anchor names it."""
    newest: dict[str | None, RunId] = {}
    for run in runs:
        newest[run.warehouse] = max(run.run_id, newest.get(run.warehouse, run.run_id))
    return set(newest.values())


def _own_reason(
    run: PastRun, leaning: RunReferences, applies_to: Collection[Domain]
) -> KeepRunReason | None:
    if not {"history", *run.domains} <= set(applies_to):
        return KeepRunReason.DOMAIN
    if run.running:
        return KeepRunReason.RUNNING
    if run.committed:
        return KeepRunReason.COMMITTED
    if run.run_id in leaning.named:
        return KeepRunReason.INDEXED
    if not run.unfinished:
        return None
    looked_at = leaning.in_logs.get(run.warehouse or "")
    if looked_at is None:
        return KeepRunReason.UNCERTAIN
    return KeepRunReason.COMMITTED if run.run_id in looked_at else None


def _keep_referenced(
    runs: Mapping[RunId, PastRun],
    candidates: list[RunId],
    leaning: RunReferences,
    reasons: dict[RunId, KeepRunReason],
) -> None:
    """Keep, newest first, runs that kept ones reused, and the last that proves a hash or a file."""
    going, wanted = set(candidates), set(leaning.hashes)
    stay = [run for run_id, run in runs.items() if run_id not in going]
    reused = {each for run in stay for each in run.reused}
    proven = {each for run in stay for each in run.hashes}
    files = {each for run in stay for each in run.files}
    looked = {run.looked for run in stay}
    for run_id in candidates:
        run = runs[run_id]
        if run_id in reused:
            reasons[run_id] = KeepRunReason.REUSED
        elif run_id in looked or not run.files <= files or (run.hashes - proven) & wanted:
            reasons[run_id] = KeepRunReason.LEANED_ON
        else:
            continue
        # What it reused is older, so it is yet to come.
        reused |= run.reused
        looked.add(run.looked)
        proven |= run.hashes
        files |= run.files


_ENDED_WELL = "Success"


@dataclass(slots=True)
class SweepFacts:
    """Runs by id, those `old` enough to go, and the keys of rows by table and run.

    `hashes` are inputs that only the record of a reuse proves, with the build they are indexed for.
    `collected` are keys of old removals, by file, that no record of the file leans on. `finished`
    runs ended well: their `progress` is no longer needed.
    """

    cutoff: datetime
    runs: dict[RunId, PastRun] = field(default_factory=dict)
    old: frozenset[RunId] = frozenset()
    keys: dict[str, dict[RunId, list[str]]] = field(default_factory=dict)
    named: set[RunId] = field(default_factory=set)
    hashes: dict[str, str] = field(default_factory=dict)
    collected: dict[str, list[str]] = field(default_factory=dict)
    progress: dict[RunId, list[str]] = field(default_factory=dict)
    finished: set[RunId] = field(default_factory=set)

    def leaning(self, in_logs: dict[str, frozenset[str]]) -> RunReferences:
        return RunReferences(self.named, self.hashes, in_logs)


def load_sweep_facts(
    reader: EvidenceReader, retention: StateRetention, living: Collection[RunId], now: datetime
) -> SweepFacts:
    """What a ledger says. Raises LedgerUnreadable."""
    facts = SweepFacts(days_before(now, retention.max_age_days))
    run_ids = [RunId(key) for key, _ in reader.rows("run_history")]
    kept = Retention(retention.max_age_days, retention.min_runs_kept, 0)
    retained = retained_runs(run_ids, kept, now) | set(living)
    facts.old = frozenset(run_ids) - retained
    for key, _ in reader.rows("run_progress"):
        facts.progress.setdefault(_run_of(key), []).append(key)
    if facts.old or facts.progress:
        _load_runs(reader, facts)
    _load_collected(reader, facts)
    if facts.old:
        _load_executions(reader, facts)
        _load_lineage(reader, facts)
    if facts.old or facts.collected:
        _load_files(reader, facts)
    return facts


def runs_in_logs(
    facts: SweepFacts, undecided: Collection[RunId], warehouses: Sequence[Warehouse]
) -> dict[str, frozenset[str]]:
    """The runs that made a commit, by warehouse, where an undecided run may have made one.

    A warehouse whose logs cannot all be read is left out: nothing can be told from it.
    """
    wanted = {facts.runs[each].warehouse for each in undecided}
    found: dict[str, frozenset[str]] = {}
    for warehouse in warehouses:
        place = warehouse.objects.place("")
        if place not in wanted:
            continue
        try:
            commits = [
                commit
                for table in warehouse.tables()
                for commit in read_lifetimes(table.log).commits
            ]
        except StoreUnreadable:
            continue
        found[place] = frozenset(each.run_id for each in commits if each.run_id is not None)
    return found


def _load_runs(reader: EvidenceReader, facts: SweepFacts) -> None:
    for key, value in reader.rows("run_history"):
        said = load_json(reader.path, "run_history", key, value)
        run_id, status = RunId(key), said.get("status")
        facts.runs[run_id] = PastRun(
            run_id,
            said.get("warehouse"),
            running=status == "Running",
            unfinished=said.get("reason") is not None,
            looked=said.get("unchanged_since"),
        )
        if status == _ENDED_WELL:
            facts.finished.add(run_id)


def _load_executions(reader: EvidenceReader, facts: SweepFacts) -> None:
    for key, value in reader.rows("model_executions"):
        run = facts.runs.get(_run_of(key))
        if run is None:
            continue
        said = load_json(reader.path, "model_executions", key, value)
        # Records of the first version tell of no commits, only of the version they left.
        early = run.warehouse is None and said.get("commit_version") is not None
        run.committed |= bool(said.get("commits")) or bool(said.get("adopted")) or early
        run.adopted |= {each["run_id"] for each in said.get("adopted", ()) if "run_id" in each}
        if said.get("reused_from") is not None:
            run.reused.add(said["reused_from"])
            run.hashes.add(str(said.get("input_hash")))
        _note(facts, "model_executions", key)


def _load_lineage(reader: EvidenceReader, facts: SweepFacts) -> None:
    for key, value in reader.rows("input_index"):
        said = load_json(reader.path, "input_index", key, value)
        facts.named.add(RunId(str(said.get("run_id"))))
        if said.get("basis") != "content":
            facts.hashes[key] = f"{said.get('run_id')}|{str(said.get('model_name')).lower()}"
    makers = frozenset(facts.hashes.values())
    for key, value in reader.rows("input_provenance"):
        run = facts.runs.get(_run_of(key))
        if run is None:
            continue
        run.domains.add("lineage")
        if key in makers:
            said = load_json(reader.path, "input_provenance", key, value)
            for each in (said.get("input_hash"), said.get("cutoff_hash")):
                if facts.hashes.get(str(each)) == key:
                    # The build itself had these inputs; no reuse is needed to prove them.
                    del facts.hashes[str(each)]
        _note(facts, "input_provenance", key)


def _load_files(reader: EvidenceReader, facts: SweepFacts) -> None:
    for key, value in reader.rows("output_artifacts"):
        said = load_json(reader.path, "output_artifacts", key, value)
        path = _path_below_warehouse(str(said.get("file_path")))
        # A record of the file leans on the record that it was removed.
        facts.collected.pop(path, None)
        run = facts.runs.get(_run_of(key))
        if run is not None:
            run.files.add(path)
            run.domains.add("audit")
            _note(facts, "output_artifacts", key)
            run.committed |= run.warehouse is None


def _load_collected(reader: EvidenceReader, facts: SweepFacts) -> None:
    cutoff = format_time(facts.cutoff)
    for key, _ in reader.rows("collected_files"):
        moment, _, path = key.partition("|")
        if moment < cutoff:
            facts.collected.setdefault(_path_below_warehouse(path), []).append(key)


def _note(facts: SweepFacts, table: str, key: str) -> None:
    run_id = _run_of(key)
    if run_id in facts.old:
        facts.keys.setdefault(table, {}).setdefault(run_id, []).append(key)


def _path_below_warehouse(path: str) -> str:
    """Catalog, schema, table and file: what stays of a path when a warehouse is moved."""
    return "/".join(path.split("/")[-4:])


def _run_of(key: str) -> RunId:
    return RunId(key.partition("|")[0])
