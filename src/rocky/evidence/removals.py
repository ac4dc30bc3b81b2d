"""Removals, explained: of what is gone from a ledger, an entry says so, and another says why.

Rocky removes evidence on four occasions only. A sweep names the runs it forgets, and the entries
after its own are what went with them. A watermark is deleted by whoever asks for it. A grace period
ends within the records of the model whose column it was about. A promotion or a revert, which gives
a table other content, removes what was remembered of the former. All else was removed by hand.
"""

from typing import Final

from rocky.evidence.findings import FindingCode, Findings
from rocky.evidence.recorded import Recorded
from rocky.ledger.branch_records import BRANCHES
from rocky.ledger.chain import Entry
from rocky.ledger.encoding import format_time
from rocky.ledger.rows import run_id_at
from rocky.ledger.sweeping import SWEEPS, SWEPT, SweepRecord

WATERMARKS: Final = "watermarks"
GRACE: Final = "grace_periods"
REMEMBERED: Final = frozenset({"partitions", WATERMARKS, GRACE, "loaded_files"})
"""What is said of a table as it is, and so goes when the table gets other content."""

_COLLECTED: Final = "collected_files"


class Removals:
    """Goes along a chain, beside the one who looks at what was written."""

    def __init__(self, recorded: Recorded, findings: Findings) -> None:
        self._recorded = recorded
        self._findings = findings
        self._sweep: SweepRecord | None = None
        self._left: dict[str, int] = {}
        self._runs: frozenset[str] = frozenset()
        self._gone: set[tuple[str, str]] = set()

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
                "it swept what was not past yet",
            )
        self._findings.expect(
            (entry.table, entry.key) not in self._gone,
            FindingCode.RECORD_CHANGED,
            f"{entry.table} {entry.key}",
            "a sweep removed it, and it was written again: what is forgotten does not come back",
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
    return entry.table in (_COLLECTED, SWEEPS, BRANCHES) or (
        entry.removed and entry.table == WATERMARKS
    )
