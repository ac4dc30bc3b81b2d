"""Records that were written on one copy of a ledger, written again on top of another.

Only hashes of what a row once was are kept, so a row is written as it is now; a run is first
written as it was when it began, because nothing may be recorded of a run that has not. Doing it
twice changes nothing: what the other copy has already is left alone.
"""

import json
import sqlite3
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from rocky.canonical import record_json
from rocky.errors import LedgerUnreadable
from rocky.ledger.branch_records import BRANCHES, PROMOTIONS, BranchRecord, former_key
from rocky.ledger.chain import CHAIN_TABLE, Entry, Head, entry_key, parse_entry, value_hash
from rocky.ledger.database import connect_reader, connect_writer, transaction, translated
from rocky.ledger.erasure_records import ERASURES
from rocky.ledger.record import key_of, load_record
from rocky.ledger.run_records import RunRecord, RunStatus
from rocky.ledger.schema import RowWriter, load_head
from rocky.ledger.sweep import SWEPT

_RUNS: Final = "run_history"
_OF_MODEL: Final = frozenset(
    {
        "output_artifacts",
        "partitions",
        "watermarks",
        "input_provenance",
        "input_index",
        "grace_periods",
        "loaded_files",
        "check_history",
    }
)
"""Written in the transaction of the model whose execution stands before them."""

_MOMENTS: Final = {
    "watermarks": "updated_at",
    "partitions": "computed_at",
    "grace_periods": "first_seen_at",
    "loaded_files": "loaded_at",
    "input_index": "recorded_at",
    "idempotency_keys": "since",
}
"""What says which of two rows under one key is newer. Other keys are one run's alone."""


_LEFT_OUT: Final = frozenset({"metadata", "sweeps"})
"""A ledger's own name; and sweeps, which count what they took from the copy they swept: the next
run sweeps again."""


@dataclass(frozen=True, slots=True)
class RebaseResult:
    """Where the other copy's chain ends now.

    `dropped` are runs of ours that the other copy says have ended otherwise: it took them for dead
    and may have recorded what they left, so nothing of theirs is written.
    """

    head: Head
    written: int = 0
    dropped: tuple[str, ...] = ()


def rebase_records(winner: Path, ours: Path, since: Head, base: Head) -> RebaseResult:
    """Write on `winner` what `ours` has recorded after `since`.

    `base` is the last entry of the winner's chain that `ours` knew of: what came later was written
    by others. Raises LedgerUnreadable, LedgerUnwritable.
    """
    source = connect_reader(ours)
    if source is None:
        raise LedgerUnreadable(f"there is no state file `{ours}` to take records from")
    try:
        with translated(winner, writing=True):
            target = connect_writer(winner)
            try:
                with translated(ours, writing=False), transaction(target):
                    work = _Rebase((source, ours), (target, winner), since, base)
                    work.write_all()
                    head = load_head(target, winner)
                # The file is sent as it lies there, without what SQLite keeps beside it.
                target.execute("PRAGMA journal_mode = DELETE").fetchone()
            finally:
                target.close()
    finally:
        source.close()
    if head is None:
        raise LedgerUnreadable(f"the state file `{winner}` has lost its table `{CHAIN_TABLE}`")
    return RebaseResult(head, work.written, tuple(sorted(work.dropped)))


class _Rebase:
    def __init__(
        self,
        ours: tuple[sqlite3.Connection, Path],
        winner: tuple[sqlite3.Connection, Path],
        since: Head,
        base: Head,
    ) -> None:
        self._source, self._ours = ours
        self._target, self._winner = winner
        self._since = since
        self._base = base
        self._rows = RowWriter(self._target, self._winner)
        self._entries = tuple(_entries_after(self._source, since.seq))
        self._last = {(each.table, each.key): each for each in self._entries}
        self._runs: dict[str, list[int]] = {}
        self._theirs = {(each.table, each.key) for each in _entries_after(self._target, base.seq)}
        self.written = 0
        self.dropped: set[str] = set()
        self._settled: set[str] = set()

    def write_all(self) -> None:
        """Everything, in the order of our chain."""
        begun = self._source.execute(
            f"SELECT json_extract(value, '$.key'), key FROM {CHAIN_TABLE}"  # noqa: S608 - one of our own names
            f" WHERE json_extract(value, '$.table') = '{_RUNS}' ORDER BY key"
        )
        for run_id, number in begun:
            self._runs.setdefault(run_id, []).append(int(number))
        owner: str | None = None
        for entry in self._entries:
            if entry.table == "model_executions":
                owner = entry.key.partition("|")[0]
            elif entry.table not in _OF_MODEL:
                owner = None
            run_id = entry.key if entry.table in (_RUNS, PROMOTIONS, ERASURES) else owner
            if entry.table in _LEFT_OUT or (run_id is not None and self._is_dropped(run_id)):
                continue
            if entry.table == _RUNS:
                self._write_run(entry)
            else:
                self._write(entry)
        self._write_unchained()

    def _write_run(self, entry: Entry) -> None:
        """A run as it was at this entry: begun, with its engine, or ended."""
        text = self._own(entry)
        if text is None:
            return
        run = load_record(RunRecord, self._ours, _RUNS, entry.key, text)
        numbers = self._runs[entry.key]
        if entry.seq != numbers[-1] or run.status is RunStatus.RUNNING:
            run = _as_begun(run, with_engine=entry.seq != numbers[0])
            text = record_json(run.to_json())
        there = self._value(self._target, _RUNS, entry.key)
        if there is not None:
            known = load_record(RunRecord, self._winner, _RUNS, entry.key, there)
            if _stage(run) <= _stage(known):
                return
        self._put(_RUNS, entry.key, text)

    def _is_dropped(self, run_id: str) -> bool:
        """Whether the other copy has finished a run's record, and it is not the run's own."""
        if run_id not in self._settled:
            text = self._value(self._source, _RUNS, run_id)
            there = self._value(self._target, _RUNS, run_id)
            self._settled.add(run_id)
            if text is not None and there is not None and text != there:
                run = load_record(RunRecord, self._ours, _RUNS, run_id, text)
                known = load_record(RunRecord, self._winner, _RUNS, run_id, there)
                if known.died or not _is_same_run(run, known):
                    self.dropped.add(run_id)
        return run_id in self.dropped

    def _write(self, entry: Entry) -> None:
        if self._last[entry.table, entry.key] != entry:
            return
        text = self._own(entry)
        there = self._value(self._target, entry.table, entry.key)
        if text is None:
            if there is not None and entry.table not in SWEPT:
                self._remove(entry)
        elif text != there:
            if entry.table == BRANCHES:
                text = self._keep_former(entry.key, text)
            said = text if there is None else self._settle(entry, text, there)
            if said != there:
                self._put(entry.table, entry.key, said)

    def _own(self, entry: Entry) -> str | None:
        """The row of an entry as ours has it now. Raises LedgerUnreadable unless Rocky wrote it so.

        The entry it is given on the other copy would make good what somebody else has put there.
        """
        text = self._value(self._source, entry.table, entry.key)
        found = None if text is None else value_hash(text)
        if found != self._last[entry.table, entry.key].value_hash:
            raise LedgerUnreadable(
                f"the record `{entry.key}` in `{entry.table}` of the state file `{self._ours}` is"
                " not as Rocky wrote it, so it is not sent to the remote state; see what `rocky"
                " verify` finds"
            )
        return text

    def _settle(self, entry: Entry, text: str, there: str) -> str:
        """What stands under a key that both have."""
        if entry.table == "check_history":
            return _union(text, there)
        if (entry.table, entry.key) not in self._theirs:
            return text
        if entry.table == BRANCHES:
            return _newer_branch(text, there)
        moment = _MOMENTS.get(entry.table)
        return there if moment is not None and _is_newer(there, text, moment) else text

    def _keep_former(self, key: str, text: str) -> str:
        """Keep the row that a branch of the same name replaces; what is written under the key.

        Of a former branch that the other copy has deleted too, its own record of that.
        """
        branch = load_record(BranchRecord, self._ours, BRANCHES, key, text)
        newest = key_of(branch.name.lower())
        there = self._value(self._target, BRANCHES, newest)
        if there is None:
            return text
        known = load_record(BranchRecord, self._winner, BRANCHES, newest, there)
        if key != newest:
            is_same = known.created_at == branch.created_at and known.deleted_at is not None
            return there if is_same else text
        former = former_key(known)
        if (
            known.created_at < branch.created_at
            and self._value(self._target, BRANCHES, former) is None
        ):
            self._put(BRANCHES, former, there)
        return text

    def _remove(self, entry: Entry) -> None:
        # What others wrote meanwhile is newer than what we removed.
        if (entry.table, entry.key) not in self._theirs:
            self._rows.remove(entry.table, entry.key)
            self.written += 1

    def _put(self, table: str, key: str, value: str) -> None:
        self._rows.put(table, key, value)
        self.written += 1

    def _write_unchained(self) -> None:
        """State for the next run: of our own runs all, of others what is newer."""
        ours = {entry.key for entry in self._entries if entry.table == _RUNS}
        self._merge("run_progress", lambda key, _: key.partition("|")[0] in ours)
        self._merge("idempotency_keys", self._is_newer_key)

    def _is_newer_key(self, key: str, text: str) -> bool:
        there = self._value(self._target, "idempotency_keys", key)
        return there is None or _is_newer(text, there, _MOMENTS["idempotency_keys"])

    def _merge(self, table: str, is_wanted: Callable[[str, str], bool]) -> None:
        found = self._source.execute(f"SELECT key, value FROM {table} ORDER BY key")  # noqa: S608 - one of our own names
        for key, text in found:
            if is_wanted(key, text):
                self._rows.put(table, key, text)

    @staticmethod
    def _value(connection: sqlite3.Connection, table: str, key: str) -> str | None:
        row = connection.execute(f"SELECT value FROM {table} WHERE key = ?", (key,)).fetchone()  # noqa: S608 - one of our own names
        return None if row is None else str(row[0])


def _entries_after(connection: sqlite3.Connection, seq: int) -> Iterator[Entry]:
    found = connection.execute(
        f"SELECT value FROM {CHAIN_TABLE} WHERE key > ? ORDER BY key",  # noqa: S608 - one of our own names
        (entry_key(seq),),
    )
    return (parse_entry(text) for (text,) in found)


def _as_begun(run: RunRecord, *, with_engine: bool) -> RunRecord:
    return replace(
        run,
        status=RunStatus.RUNNING,
        finished_at=None,
        reason=None,
        purpose=None,
        models_executed=(),
        engine=run.engine if with_engine else None,
        totals=None,
        budget_breaches=(),
        anchored=None,
        unchanged=None,
        check_outcomes=(),
        anomalies=(),
    )


def _stage(run: RunRecord) -> int:
    """How far a run has come: begun, with its engine, ended."""
    return 2 if run.status is not RunStatus.RUNNING else int(run.engine is not None)


def _is_same_run(run: RunRecord, known: RunRecord) -> bool:
    """Whether two records under one id are of one run: two machines may begin at one moment."""
    return (run.started_at, run.hostname) == (known.started_at, known.hostname)


def _is_newer(one: str, other: str, moment: str) -> bool:
    first, second = (_moment_of(text, moment) for text in (one, other))
    return first > second


def _moment_of(text: str, moment: str) -> str:
    # Times are written so that their texts sort as they do.
    found = json.loads(text)
    return str(found.get(moment, "")) if isinstance(found, dict) else ""


def _union(text: str, there: str) -> str:
    """Counts of both, each moment once, oldest first."""
    counts: dict[str, Any] = {}
    for each in (*json.loads(there), *json.loads(text)):
        counts[str(each.get("timestamp"))] = each
    merged = [counts[moment] for moment in sorted(counts)]
    return record_json(merged)


def _newer_branch(text: str, there: str) -> str:
    """The branch that was made later; of one branch the record that it was deleted, once."""
    ours, theirs = json.loads(text), json.loads(there)
    if ours["created_at"] != theirs["created_at"]:
        return max(text, there, key=lambda each: str(json.loads(each)["created_at"]))
    return there if theirs.get("deleted_at") is not None else text
