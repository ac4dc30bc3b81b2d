"""A recorded run: what is recorded of it, that checked against the tables, or the run built again.

Only executing it starts Spark. The project's models are never read: what is built is what the
record says was built.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

from rocky.errors import InvalidRequest
from rocky.ledger import LATEST
from rocky.ledger.provenance import ProvenanceRecord
from rocky.ledger.record import RunId
from rocky.ledger.run_records import ArtifactRecord, ModelExecution, RunRecord
from rocky.operations.digest import Digested
from rocky.operations.proof.verify import VerifyReport, VerifyRequest, verify
from rocky.operations.records.run_lookup import locate_run
from rocky.operations.report import flat, hidden, same_fields
from rocky.operations.rows.disclosure import disclosure_for
from rocky.operations.workspace import (
    Workspace,
    compile_workspace,
    known_branch,
    state_path,
)
from rocky.plan.arguments import Count, Request
from rocky.replay.record import RecordedModel, RecordedRun, load_recorded_run
from rocky.replay.verdicts import Differences, ModelVerdict, ReplayReport, Verdict

OnVerdict = Callable[[ModelVerdict], None]
"""Who hears of a verdict as soon as there is one; one at a time."""


@dataclass(frozen=True, slots=True)
class ReplayRequest(Request):
    """Which run, by its id or the `latest`, and of which models; and what to do with the record.

    It is shown and checked, or only checked (`verify`), or the run is built again (`execute`): into
    a scratch area or the empty folder `keep`, `parallel` models at once, on the `adapter`.
    """

    run: str = LATEST
    models: tuple[str, ...] = ()
    verify: bool = False
    execute: bool = False
    keep: Path | None = None
    parallel: Count | None = None
    adapter: str | None = None


@dataclass(frozen=True, slots=True)
class RunFacts:
    """The run's record, but for its models."""

    record: RunRecord = flat(without=("models_executed",))


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRecord:
    """What is recorded of one model. `built_by` made its table: an earlier run if it was reused.

    `as_written` is False when the provenance is not as it was written.
    """

    recorded: RecordedModel = hidden()
    model: str
    built_by: RunId
    execution: ModelExecution
    artifacts: tuple[ArtifactRecord, ...]
    provenance: ProvenanceRecord | None = None
    as_written: bool | None = None


@dataclass(frozen=True, slots=True, repr=False)
class RecordReport(Digested):
    """Everything that is recorded of a run, and that checked against itself and the tables."""

    mode: Literal["inspect"]
    run: RunFacts
    models: tuple[ModelRecord, ...]
    verification: VerifyReport


@dataclass(frozen=True, slots=True, repr=False)
class RecordVerificationReport(Digested):
    """What is recorded of a run, checked against itself and the tables."""

    mode: Literal["verify"]
    run_id: RunId
    verification: VerifyReport = flat()


@dataclass(frozen=True, slots=True)
class RowDifferences:
    """The first rows that only one side has: `recorded` were written then, `replayed` now."""

    recorded: tuple[Mapping[str, Any], ...]
    replayed: tuple[Mapping[str, Any], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RebuiltModel:
    """How a model that was built again compares with its record.

    `reason` says why it could not be built again, or what differs; `causes` what may have made it
    differ. `failed` when building it failed.
    """

    model: str
    target: str
    verdict: Verdict
    built_by: RunId
    reason: str | None = None
    failed: bool
    causes: tuple[str, ...]
    notes: tuple[str, ...]
    recorded_files: tuple[str, ...]
    replayed_files: tuple[str, ...]
    recorded_rows_hash: str | None = None
    replayed_rows_hash: str | None = None
    duration_ms: int | None = None
    differences: RowDifferences | None = None


@dataclass(frozen=True, slots=True)
class VerdictCounts:
    """How many models got each verdict."""

    bit_exact: int
    row_exact: int
    diverged: int
    non_replayable: int


@dataclass(frozen=True, slots=True)
class LeftOutStep:
    """A step of the run that has no verdict, and why: a seed, a query without a table."""

    name: str
    reason: str


@dataclass(frozen=True, slots=True, repr=False)
class RebuildReport(Digested):
    """A run built again. `kept` is where, if it was to be kept.

    The `exit_code` is 0 when all are exact, 1 when one diverged or failed, and 2 when none did and
    some could not be built again.
    """

    mode: Literal["execute"]
    run_id: RunId
    exit_code: int
    summary: VerdictCounts
    models: tuple[RebuiltModel, ...]
    left_out: tuple[LeftOutStep, ...]
    kept: str | None = None


def replay(
    workspace: Workspace, request: ReplayRequest, on_verdict: OnVerdict = lambda _: None
) -> RecordReport | RecordVerificationReport | RebuildReport:
    """What is recorded of a run and the result of checking it, or that of building it again.

    Raises NothingSelected for a run, a model or an adapter that is not there, and other
    RockyErrors when nothing could be built at all.
    """
    _refuse_contradictions(request)
    workspace, run = locate_run(known_branch(workspace), request.run)
    recorded = load_recorded_run(state_path(workspace), run.run_id, request.models)
    if request.execute:
        return _execute(workspace, request, recorded, on_verdict)
    run_id = recorded.run.run_id
    verification = verify(workspace, VerifyRequest(run_id))
    if request.verify:
        return RecordVerificationReport("verify", run_id, verification)
    models = tuple(map(_record, recorded.models))
    return RecordReport("inspect", RunFacts(recorded.run), models, verification)


def _refuse_contradictions(request: ReplayRequest) -> None:
    if request.verify and request.execute:
        raise InvalidRequest("`--verify` and `--execute` cannot be used together")
    if request.verify and request.models:
        raise InvalidRequest("`--verify` checks the whole run: leave `--model` out")
    of_execution = {"keep": request.keep, "parallel": request.parallel, "target": request.adapter}
    for name, given in of_execution.items():
        if given is not None and not request.execute:
            raise InvalidRequest(f"`--{name}` is for `--execute`")


def _record(model: RecordedModel) -> ModelRecord:
    return ModelRecord(
        recorded=model,
        model=model.name,
        as_written=None if model.provenance is None else not model.touched,
        **same_fields(ModelRecord, model, besides={"recorded", "model", "as_written"}),
    )


def _execute(
    workspace: Workspace, request: ReplayRequest, recorded: RecordedRun, on_verdict: OnVerdict
) -> RebuildReport:
    # Who looks at a record or checks it does not wait for pyspark.
    from rocky.replay.execution import PARALLEL, ReplayOptions, replay_project_run  # noqa: PLC0415

    compilation = compile_workspace(workspace, asker="person")
    found = replay_project_run(
        compilation.project,
        recorded,
        ReplayOptions(request.parallel or PARALLEL, request.keep, request.adapter),
        state=state_path(workspace),
        environment=workspace.environment,
        spark=workspace.spark,
        told=on_verdict,
        listener=workspace.listener,
        disclosure=disclosure_for(workspace, compilation),
    )
    return _rebuild_report(found)


def _rebuild_report(found: ReplayReport) -> RebuildReport:
    return RebuildReport(
        "execute",
        found.run_id,
        found.exit_code,
        VerdictCounts(**{each.value: found.count(each) for each in Verdict}),
        tuple(_rebuilt(each) for each in found.models),
        tuple(LeftOutStep(each.name, each.why) for each in found.left_out),
        found.kept,
    )


def _rebuilt(verdict: ModelVerdict) -> RebuiltModel:
    return RebuiltModel(
        differences=_row_differences(verdict.differences),
        **same_fields(RebuiltModel, verdict, besides={"differences"}),
    )


def _row_differences(found: Differences | None) -> RowDifferences | None:
    if found is None:
        return None
    return RowDifferences(
        tuple(_plain(row) for row in found.recorded), tuple(_plain(row) for row in found.replayed)
    )


_PLAIN: Final = (str, int, float, bool, type(None))


def _plain(value: Any) -> Any:
    """A value of a row as JSON has it; what JSON has not, as a text."""
    if isinstance(value, float) and not -float("inf") < value < float("inf"):
        return str(value)
    if isinstance(value, _PLAIN):
        return value
    if isinstance(value, Mapping):
        return {str(key): _plain(each) for key, each in value.items()}
    if isinstance(value, bytes | bytearray):
        return value.hex()
    if isinstance(value, Iterable):
        return [_plain(each) for each in value]
    return str(value)
