"""Runs on the page: what the ledger says of the last runs, and of each table's last execution."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from rocky.ledger import LookupReader, open_lookup_reader
from rocky.ledger.readers.history import RecordedExecution
from rocky.ledger.record import RunId
from rocky.ledger.run_records import ModelExecution, RunRecord
from rocky.operations.page.records import PageExecution, PageRun, PastExecution
from rocky.operations.records.history import run_duration_ms
from rocky.operations.records.outcome_words import outcome_of
from rocky.operations.workspace import Workspace, open_history

_RUNS: Final = 30


@dataclass(frozen=True, slots=True)
class PastRuns:
    """What ran. Executions go by the lower-case names of models, checks by those of tables too.

    Where the last execution reused a result, `built` is the one that made it.
    """

    runs: tuple[PageRun, ...] = ()
    last: Mapping[str, PageExecution] = field(default_factory=dict)
    built: Mapping[str, PageExecution] = field(default_factory=dict)
    recent: Mapping[str, Sequence[PastExecution]] = field(default_factory=dict)
    checks: Mapping[str, Mapping[str, bool]] = field(default_factory=dict)


def load_past(workspace: Workspace, models: Collection[str]) -> PastRuns:
    """The past of some models. Raises what opening the state raises: unreadable is not absent."""
    with open_history(workspace) as history:
        if history is None:
            return PastRuns()
        runs = history.runs(_RUNS)
        lookup = open_lookup_reader(history.path)
    if lookup is None:
        return PastRuns()
    with lookup:
        found = lookup.last_executions(models)
        built = dict(_built(lookup, found.values()))
    recent: dict[str, list[PastExecution]] = {}
    checks: dict[str, dict[str, bool]] = {}
    for place, run in enumerate(runs):
        for each in run.models_executed:
            short = PastExecution(place, outcome_of(each), each.duration_ms)
            recent.setdefault(each.model_name.lower(), []).append(short)
        for outcome in run.check_outcomes:
            # Newest first: an older run does not say it again.
            checks.setdefault(outcome.table.lower(), {}).setdefault(outcome.name, outcome.passed)
    last = {name.lower(): _execution(each.run_id, each.execution) for name, each in found.items()}
    return PastRuns(tuple(map(_run, runs)), last, built, recent, checks)


def _built(
    lookup: LookupReader, found: Iterable[RecordedExecution]
) -> Iterator[tuple[str, PageExecution]]:
    for _, each in found:
        if each.reused_from is not None:
            name = each.reused_model or each.model_name
            made = lookup.execution(each.reused_from, name)
            if made is not None:
                yield each.model_name.lower(), _execution(made.run_id, made.execution)


def _run(run: RunRecord) -> PageRun:
    missed = [each for each in run.check_outcomes if not each.passed]
    return PageRun(
        run_id=run.run_id,
        status=run.status,
        died=run.died,
        started_at=run.started_at,
        duration_ms=run_duration_ms(run),
        trigger=run.trigger,
        pipeline=run.pipeline,
        git_commit=run.git_commit,
        outcomes=Counter(sorted(outcome_of(each) for each in run.models_executed)),
        checks_failed=sum(each.severity != "warning" for each in missed),
        checks_warned=sum(each.severity == "warning" for each in missed) or None,
        cost_usd=run.totals.cost_usd if run.totals is not None else None,
    )


def _execution(run_id: RunId, execution: ModelExecution) -> PageExecution:
    return PageExecution(
        run_id=run_id,
        outcome=outcome_of(execution),
        started_at=execution.started_at,
        duration_ms=execution.duration_ms,
        rows=execution.rows_affected,
        files=execution.files,
        bytes_written=execution.bytes_written,
        cost_usd=execution.cost_usd,
        reason=execution.reason,
        failure_kind=execution.failure_kind,
    )
