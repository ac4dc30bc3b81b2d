"""Unchanged runs: that one which names another may go by what that one found.

Both records are in the chain, so they were written as they are. Whether they fit is a matter of
their content: the other run looked at everything itself, within a day, found all as it was, and no
table of its was written in between.
"""

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Final

from rocky.evidence.findings import FindingCode, Findings
from rocky.evidence.records import LedgerRecords
from rocky.ledger.run_records import (
    GONE_BY_FOR,
    ModelExecution,
    RunRecord,
    RunStatus,
    left_as_it_was,
)

_NO_TIME: Final = timedelta()
_Written = Mapping[tuple[str | None, str], Sequence[str]]
"""The runs that have committed to a table, oldest first, by warehouse and target."""


def check_unchanged_runs(recorded: LedgerRecords, findings: Findings) -> None:
    """Report those that name a run which they may not go by."""
    wanted = {run.unchanged_since for run in recorded.runs.values()} - {None}
    if not wanted:
        return
    done: dict[str, list[ModelExecution]] = {str(each): [] for each in wanted}
    written: dict[tuple[str | None, str], list[str]] = {}
    for (run_id, _), execution in recorded.executions.items():
        if run_id in done:
            done[run_id].append(execution)
        if execution.commits and execution.target is not None:
            place = recorded.root_of(run_id), execution.target.lower()
            written.setdefault(place, []).append(run_id)
    for each in written.values():
        each.sort()
    for run in recorded.runs.values():
        # One that was given up found that something had changed, and says nothing of any model.
        if run.unchanged_since is None or run.status is not RunStatus.SUCCESS:
            continue
        looked = recorded.runs.get(run.unchanged_since)
        why = (
            "which is not there"
            if looked is None
            else _find_misfit(run, looked)
            or _find_change(run, looked, done[looked.run_id], written)
        )
        findings.expect(
            why is None,
            FindingCode.RECORD_INCONSISTENT,
            f"run_history {run.run_id}",
            f"it says that nothing had changed since `{run.unchanged_since}`, {why}",
        )


def _find_misfit(run: RunRecord, looked: RunRecord) -> str | None:
    """Why a run may not go by another, by what both say of themselves."""
    if looked.status is not RunStatus.SUCCESS or looked.unchanged_since is not None:
        return "which did not look at everything itself"
    if not _NO_TIME <= run.started_at - looked.started_at < GONE_BY_FOR:
        return "which did not look within the day before"
    if (run.warehouse, run.config_hash, run.pipeline) != (
        looked.warehouse,
        looked.config_hash,
        looked.pipeline,
    ):
        return "which ran elsewhere, or with other settings"
    if run.full_refresh or run.started_anew or run.plan_id is not None:
        return "but more was asked of it than to bring tables up to date"
    if run.fence is not None and looked.fence is not None and run.fence <= looked.fence:
        return "which has a later fencing token"
    return None


def _find_change(
    run: RunRecord, looked: RunRecord, done: Sequence[ModelExecution], written: _Written
) -> str | None:
    """What had changed, by the records of the run that looked and of those after it."""
    for execution in done:
        if not left_as_it_was(execution):
            return f"which built or moved `{execution.model_name}`"
        runs = written.get((looked.warehouse, (execution.target or "").lower()), ())
        after = bisect_right(runs, looked.run_id)
        if after < len(runs) and runs[after] < run.run_id:
            return f"and `{runs[after]}` wrote `{execution.target}` in between"
    return None
