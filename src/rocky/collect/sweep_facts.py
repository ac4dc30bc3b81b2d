"""What a ledger says that bears on forgetting runs, read once, at one moment.

Rows of runs that stay are looked at too: they are what others lean on. Only their few keys are
kept, and nothing at all is read when no run is old enough.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from rocky.collect.retention import Retention, days_before, retained_runs
from rocky.collect.sweep_decisions import Leaning, PastRun
from rocky.errors import StoreUnreadable
from rocky.ledger import EvidenceReader
from rocky.ledger.encoding import format_time
from rocky.ledger.record import RunId
from rocky.ledger.rows import load_json
from rocky.project.state import StateRetention
from rocky.store.lifetimes import read_lifetimes
from rocky.store.warehouse import Warehouse

_ENDED_WELL = "Success"


@dataclass(slots=True)
class SweepFacts:
    """Runs by id, those `old` enough to go, and the keys of rows by table and run.

    `hashes` are inputs that only a reuse can vouch for, with the build they are indexed for.
    `collected` are keys of old removals, by file, that no record of the file leans on. `finished`
    runs ended well: nobody will go on with their `progress`.
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

    def leaning(self, in_logs: dict[str, frozenset[str]]) -> Leaning:
        return Leaning(self.named, self.hashes, in_logs)


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
                    # The build itself had these inputs; it needs no reuse to vouch for them.
                    del facts.hashes[str(each)]
        _note(facts, "input_provenance", key)


def _load_files(reader: EvidenceReader, facts: SweepFacts) -> None:
    for key, value in reader.rows("output_artifacts"):
        said = load_json(reader.path, "output_artifacts", key, value)
        path = _end_of(str(said.get("file_path")))
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
            facts.collected.setdefault(_end_of(path), []).append(key)


def _note(facts: SweepFacts, table: str, key: str) -> None:
    run_id = _run_of(key)
    if run_id in facts.old:
        facts.keys.setdefault(table, {}).setdefault(run_id, []).append(key)


def _end_of(path: str) -> str:
    """Catalog, schema, table and file: what stays of a path when a warehouse is moved."""
    return "/".join(path.split("/")[-4:])


def _run_of(key: str) -> RunId:
    return RunId(key.partition("|")[0])
