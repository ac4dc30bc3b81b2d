"""The order of a chain's entries, checked: each was written, or removed, by whoever may.

A chain alone cannot tell a row that Rocky wrote again from one that somebody changed and appended a
fitting entry for. The order can: Rocky begins a run, writes what happened to each model in one
transaction, ends the run and never comes back to it. Rocky removes evidence on four occasions only.
A sweep names the runs it forgets, and the entries after its own are what went with them. A
watermark is deleted by whoever asks for it. A grace period ends within the records of the model
whose column it was about. A promotion or a revert, which gives a table other content, removes what
was remembered of the former. What stands elsewhere was put there by hand, and all else was removed
by hand.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from rocky.evidence.findings import FindingCode, Findings
from rocky.evidence.records import LedgerRecords
from rocky.ledger.branch_records import BRANCHES, PROMOTIONS
from rocky.ledger.chain import CHAIN_TABLE, CHAINED, Entry, entry_key
from rocky.ledger.erasure_records import ERASURES
from rocky.ledger.governance_records import GOVERNANCE
from rocky.ledger.record import format_time, key_of, run_id_at
from rocky.ledger.run_records import RunRecord, RunStatus
from rocky.ledger.sweep import SWEEPS, SWEPT, SweepRecord

WATERMARKS: Final = "watermarks"
GRACE: Final = "grace_periods"
REMEMBERED: Final = frozenset({"partitions", WATERMARKS, GRACE, "loaded_files"})
"""What is said of a table as it is, and so goes when the table gets other content."""

_COLLECTED: Final = "collected_files"


class Removals:
    """Goes along a chain, beside the one who looks at what was written."""

    def __init__(self, recorded: LedgerRecords, findings: Findings) -> None:
        self._recorded = recorded
        self._findings = findings
        self._sweep: SweepRecord | None = None
        self._left: dict[str, int] = {}
        self._runs: frozenset[str] = frozenset()
        self._gone: set[tuple[str, str]] = set()

    def report_to(self, findings: Findings) -> None:
        self._findings = findings

    def pass_by(self, entry: Entry) -> None:
        """An entry that removes nothing: it may begin a sweep, and ends the one before."""
        self._sweep = self._recorded.sweeps.get(entry.key) if entry.table == SWEEPS else None
        self._left = dict(self._sweep.removed) if self._sweep is not None else {}
        self._runs = frozenset(self._sweep.runs if self._sweep is not None else ())
        if self._sweep is not None:
            self._findings.expect(
                self._sweep.cutoff <= self._sweep.at,
                FindingCode.RECORD_INCONSISTENT,
                f"{SWEEPS} {entry.key}",
                "it removed records that were not due yet",
            )
        self._findings.expect(
            (entry.table, entry.key) not in self._gone,
            FindingCode.RECORD_CHANGED,
            f"{entry.table} {entry.key}",
            "a sweep removed it, and it was written again: a removed record never comes back",
        )

    def take(self, entry: Entry, *, in_model: bool) -> None:
        """An entry that removes a row; reported when nothing explains it.

        `in_model` when it stands among the records of a model that may remove it.
        """
        if entry.table == WATERMARKS or in_model:
            return
        if self._is_swept(entry):
            self._gone.add((entry.table, entry.key))
            return
        self._findings.add(
            FindingCode.RECORD_MISSING,
            f"{entry.table} {entry.key}",
            "an entry says that it was removed, and no sweep, no deleted watermark, no ended grace"
            " period and no promotion explains it",
        )

    def _is_swept(self, entry: Entry) -> bool:
        sweep, table = self._sweep, entry.table
        if sweep is None or table not in SWEPT or self._left.get(table, 0) < 1:
            return False
        self._left[table] -= 1
        first = entry.key.partition("|")[0]
        if table == _COLLECTED:
            return first < format_time(sweep.cutoff)
        return first in self._runs and first < run_id_at(sweep.cutoff)


def is_upkeep(entry: Entry) -> bool:
    """Whether a command wrote an entry that is no run, and so moved the anchor after a run."""
    return entry.table in (_COLLECTED, SWEEPS, BRANCHES, GOVERNANCE) or (
        entry.removed and entry.table == WATERMARKS
    )


_RUNS: Final = "run_history"
_MODELS: Final = "model_executions"
_FILES: Final = "output_artifacts"
_PROVENANCE: Final = "input_provenance"
_COUNTS: Final = "check_history"
_ONCE: Final = frozenset(
    {_MODELS, _FILES, _PROVENANCE, "collected_files", SWEEPS, PROMOTIONS, ERASURES, GOVERNANCE}
)
_TRANSACTION: Final = (
    _MODELS,
    _FILES,
    "partitions",
    "watermarks",
    _PROVENANCE,
    "input_index",
    GRACE,
    "loaded_files",
)
"""What is written of one model, in this order and with nothing of anybody else in between."""


@dataclass(frozen=True, slots=True)
class ChainOrder:
    """Where in the chain each run begins and ends, and which run wrote which entry.

    A run that has not ended is not in `closed`; what no run writes has the owner None.
    """

    begun: dict[str, int] = field(default_factory=dict)
    closed: dict[str, int] = field(default_factory=dict)
    owners: list[tuple[Entry, str | None]] = field(default_factory=list)

    def is_open(self, run_id: str, seq: int) -> bool:
        """Whether a run could write an entry."""
        return self.begun.get(run_id, seq) < seq < self.closed.get(run_id, seq + 1)


def check_order(
    entries: Sequence[Entry],
    recorded: LedgerRecords,
    findings: Findings,
    sealed: int = 0,
) -> ChainOrder:
    """Report entries that no run can have written.

    Up to a `sealed` entry, by its number, they are not all there, and so only followed.
    """
    order = ChainOrder()
    _place_runs(entries, recorded, order, findings)
    walk = _ChainWalk(recorded, order, Findings() if sealed else findings)
    early = 0 if sealed else _upgraded(entries)
    for entry in entries:
        if entry.seq > sealed:
            walk.report_to(findings)
        walk.take(entry, is_early=entry.seq <= early)
    return order


def _place_runs(
    entries: Sequence[Entry], recorded: LedgerRecords, order: ChainOrder, findings: Findings
) -> None:
    """Find where runs begin and end.

    A run is written when it begins, before it signs its first commit, opens Spark, and ends.
    """
    written: dict[str, list[int]] = {}
    for entry in entries:
        if entry.table == _RUNS and not entry.removed:
            written.setdefault(entry.key, []).append(entry.seq)
    forgotten = {entry.key for entry in entries if entry.table == _RUNS and entry.removed}
    for run_id, numbers in written.items():
        order.begun[run_id] = numbers[0]
        run = recorded.runs.get(run_id)
        if run is None and run_id not in forgotten:
            continue
        due = _MOST_WRITES if run is None else _writes_of(run)
        if run is None or run.status is not RunStatus.RUNNING:
            order.closed[run_id] = numbers[min(due, len(numbers)) - 1]
        findings.expect(
            len(numbers) <= due,
            FindingCode.RECORD_CHANGED,
            f"{_RUNS} {run_id}",
            f"it was written {len(numbers)} times, and a run like this is written {due} times:"
            " it was changed, and an entry put into the chain for it",
        )


_MOST_WRITES: Final = 4
"""How often a run is written at most; of one that is forgotten nobody can tell more."""


def _writes_of(run: RunRecord) -> int:
    """How often a run is written until it stands as it does."""
    if run.warehouse is None:
        # An older Rocky recorded it, and it was chained as it stood; only its death may follow.
        return 1 + run.died
    known = (run.commit_key is not None) + (run.engine is not None)
    return 1 + known + (run.status is not RunStatus.RUNNING)


def _upgraded(entries: Sequence[Entry]) -> int:
    """The last of the entries that may have been made for a ledger without a chain: by table."""
    last, before = 0, (-1, "")
    for entry in entries[1:]:
        now = (CHAINED.index(entry.table) if entry.table in CHAINED else -1, entry.key)
        if now <= before:
            break
        last, before = entry.seq, now
    return last


class _ChainWalk:
    """Goes through a chain and knows whose transaction it is in."""

    def __init__(self, recorded: LedgerRecords, order: ChainOrder, findings: Findings) -> None:
        self._recorded = recorded
        self._order = order
        self._findings = findings
        self._model: str | None = None
        self._step = 0
        self._transaction = 0
        self._written: dict[tuple[str, str], tuple[str | None, int]] = {}
        self._removals = Removals(recorded, findings)
        self._open: dict[str, None] = {}

    def report_to(self, findings: Findings) -> None:
        self._findings = findings
        self._removals.report_to(findings)

    def take(self, entry: Entry, *, is_early: bool) -> None:
        if entry.removed:
            self._take_removal(entry)
            return
        self._removals.pass_by(entry)
        self._follow_runs(entry)
        fits = self._fits(entry)
        self._findings.expect(
            fits or is_early,
            FindingCode.CHAIN_BROKEN,
            f"{CHAIN_TABLE} {entry_key(entry.seq)}",
            f"no run wrote `{entry.table} {entry.key}` at this place: somebody changed the row and"
            " put in an entry for it",
        )
        self._check_once(entry)
        self._order.owners.append((entry, self._owner_of(entry)))

    def _take_removal(self, entry: Entry) -> None:
        in_model = self._may_remove(entry) and self._fits(entry)
        self._removals.take(entry, in_model=in_model)
        if not in_model:
            # Nothing else is removed while a model is recorded.
            self._model = None
            self._transaction += 1
        self._order.owners.append((entry, self._owner_of(entry)))

    def _may_remove(self, entry: Entry) -> bool:
        """Whether the model that is being recorded removes such rows, if it is at its turn."""
        run_id, _, model = (self._model or "").partition("|")
        if entry.table == GRACE:
            return True
        if entry.table not in REMEMBERED or run_id not in self._recorded.promotions:
            return False
        execution = self._recorded.executions.get((run_id, model))
        if execution is None:
            # It was swept since, and does not say any more which table it was about.
            return True
        names = (key_of(model, ""), key_of(str(execution.target).lower(), ""))
        return key_of(entry.key, "").startswith(names)

    def _follow_runs(self, entry: Entry) -> None:
        if entry.table != _RUNS:
            return
        if self._order.begun.get(entry.key) == entry.seq:
            self._open[entry.key] = None
        if self._order.closed.get(entry.key) == entry.seq:
            self._open.pop(entry.key, None)

    def _fits(self, entry: Entry) -> bool:
        if entry.table in _TRANSACTION:
            step = _TRANSACTION.index(entry.table)
            if step == 0:
                self._model = entry.key
            follows = self._model is not None and (step == 0 or step >= self._step)
            self._step = step
            self._transaction += step == 0
            return follows and self._is_of_model(entry)
        self._model = None
        self._transaction += 1
        if entry.table == _COUNTS:
            # A run counts rows for its checks when its models are done, and says so before it ends.
            return bool(self._open)
        if entry.table in (PROMOTIONS, ERASURES):
            # It is a run, which says what it moved before it ends.
            return self._order.is_open(entry.key, entry.seq)
        return entry.table in CHAINED or entry.seq == 1

    def _is_of_model(self, entry: Entry) -> bool:
        """Whether an entry belongs to the model that is being recorded, by a run that is open."""
        model = self._model or ""
        run_id = _run_of(model)
        if entry.table == _PROVENANCE and entry.key != model:
            return False
        if entry.table == _FILES and _run_of(entry.key) != run_id:
            execution = self._recorded.executions.get((run_id, model.partition("|")[2]))
            adopted = execution.adopted if execution is not None else ()
            if _run_of(entry.key) not in {each.run_id for each in adopted}:
                return False
        return self._order.is_open(run_id, entry.seq)

    def _check_once(self, entry: Entry) -> None:
        if entry.table not in _ONCE:
            return
        said, transaction = self._written.setdefault(
            (entry.table, entry.key), (entry.value_hash, self._transaction)
        )
        # A model may commit the same file twice, and says so at once.
        again = entry.table == _FILES and transaction == self._transaction
        self._findings.expect(
            said == entry.value_hash or again,
            FindingCode.RECORD_CHANGED,
            f"{entry.table} {entry.key}",
            "it is written once, and the chain has two entries that differ: it was changed, and an"
            " entry put in for it",
        )

    def _owner_of(self, entry: Entry) -> str | None:
        if entry.table == _RUNS:
            return None if entry.removed else entry.key
        if entry.table in (PROMOTIONS, ERASURES):
            return entry.key
        if entry.table == _COUNTS:
            return next(reversed(self._open), None)
        return _run_of(self._model) if self._model is not None else None


def _run_of(key: str) -> str:
    return key.partition("|")[0]
