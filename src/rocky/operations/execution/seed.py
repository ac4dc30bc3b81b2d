"""Seeds: the project's CSV files, loaded into their tables.

A run like any other, so it is recorded and locked like one. A seed whose file and columns are those
its table was loaded from is left alone; when all are, there is no run.
"""

from dataclasses import dataclass
from datetime import datetime

from rocky.ledger.record import RunId
from rocky.ledger.run_records import ModelStatus, RunStatus
from rocky.operations.digest import Digested
from rocky.operations.findings import refuse_errors
from rocky.operations.report import hidden
from rocky.operations.workspace import (
    Workspace,
    caller_of,
    compile_workspace,
    known_branch,
    state_path,
)
from rocky.plan.adapters import choose_adapter
from rocky.plan.arguments import Request
from rocky.plan.refusals import refusing_findings
from rocky.plan.request import RunRequest
from rocky.plan.steps import HELD, RunPlan, plan_seeds
from rocky.run.materialize.mask_sql import mask_sql_of
from rocky.run.materialize.seeds import UNCHANGED, is_loaded, refuse_shared_target
from rocky.run.outcomes import RunResult, StepOutcome
from rocky.run.prepare.pins import open_project_warehouse


@dataclass(frozen=True, slots=True)
class SeedRequest(Request):
    """Which seeds: those that are named, or all. A `full_refresh` loads what has not changed."""

    names: tuple[str, ...] = ()
    full_refresh: bool = False
    adapter: str | None = None


@dataclass(frozen=True, slots=True)
class LoadedSeed:
    """What became of a seed: `loaded`, `unchanged`, `failed`, `interrupted` or `held`.

    `reason` is why its table is held, as it was reverted.
    """

    name: str
    target: str | None
    status: str
    rows: int | None
    files: int | None
    bytes_written: int | None
    rows_hash: str | None
    commit_version: int | None
    duration_ms: int
    error: str | None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class SeedCounts:
    """How many seeds ended how."""

    loaded: int
    unchanged: int
    failed: int
    interrupted: int
    held: int = 0


@dataclass(frozen=True, slots=True, repr=False)
class SeedReport(Digested):
    """What became of the seeds. Without a run, there was nothing to load."""

    run_id: RunId | None
    status: RunStatus
    started_at: datetime | None
    finished_at: datetime | None
    duration_ms: int
    seeds: tuple[LoadedSeed, ...]
    summary: SeedCounts
    result: RunResult | None = hidden()
    seal: str | None = None
    seal_error: str | None = None

    @property
    def exit_code(self) -> int:
        """130 interrupted, 1 nothing loaded, over budget, not sent or sealed, 2 some failed."""
        return 0 if self.result is None else self.result.exit_code


def seed(workspace: Workspace, request: SeedRequest) -> SeedReport:
    """Load seeds. Raises NothingSelected, ErrorsFound, RunRefused, and what a run raises."""
    workspace = known_branch(workspace)
    compilation = compile_workspace(workspace)
    plan = plan_seeds(compilation, request.names)
    refuse_errors(compilation, refusing_findings(plan), undone="nothing was loaded")
    asked = RunRequest(request.names, full_refresh=request.full_refresh, adapter=request.adapter)
    loaded = {} if request.full_refresh else _loaded(workspace, plan, request.adapter)
    if len(loaded) == len(plan.steps):
        seeds = tuple(
            LoadedSeed(name, target, "unchanged", None, None, None, None, None, 0, None)
            for name, target in loaded.items()
        )
        return SeedReport(
            None, RunStatus.SUCCESS, None, None, 0, seeds, SeedCounts(0, len(seeds), 0, 0), None
        )
    # Only a run pays for what runs.
    from rocky.operations.proof.seal import refuse_unsealable, seal_run  # noqa: PLC0415
    from rocky.run.project_run import run_request  # noqa: PLC0415

    refuse_unsealable(workspace, plan.project)
    result = run_request(plan, asked, caller_of(workspace, plan.project, state_path(workspace)))
    return _report(seal_run(workspace, plan.project, result))


def _loaded(workspace: Workspace, plan: RunPlan, adapter: str | None) -> dict[str, str]:
    """The tables of seeds that need no loading, by seed. Their logs say so: no Spark is needed."""
    project = plan.project
    warehouse = open_project_warehouse(
        choose_adapter(project, plan, adapter), project.root, workspace.environment
    )
    seeds = [project.seeds[step.key] for step in plan.steps if step.kind == "seed"]
    targets = {each.name: refuse_shared_target(each, project) for each in seeds}
    return {
        each.name: targets[each.name].full_name
        for each in seeds
        if is_loaded(
            each,
            warehouse.table(targets[each.name]),
            mask_sql_of(plan.compilation, each.name.lower()),
        )
    }


def _report(result: RunResult) -> SeedReport:
    seeds = tuple(_seed(each) for each in result.outcomes)
    ended = [each.status for each in seeds]
    return SeedReport(
        result.run_id,
        result.status,
        result.started_at,
        result.finished_at,
        result.totals.duration_ms,
        seeds,
        SeedCounts(*(ended.count(word) for word in SeedCounts.__dataclass_fields__)),
        result,
        result.seal,
        result.seal_error,
    )


def _seed(outcome: StepOutcome) -> LoadedSeed:
    execution = outcome.execution
    word = "interrupted" if execution.status is ModelStatus.INTERRUPTED else "failed"
    if execution.status in (ModelStatus.SUCCESS, ModelStatus.REUSED):
        # A masked twin is reused where it is as it was.
        same = execution.action == UNCHANGED or execution.status is ModelStatus.REUSED
        word = "unchanged" if same else "loaded"
    held = execution.decision == HELD
    word = "held" if held else word
    loaded = word == "loaded"
    return LoadedSeed(
        outcome.step.name,
        execution.target,
        word,
        execution.rows_affected if loaded else None,
        execution.files if loaded else None,
        execution.bytes_written if loaded else None,
        execution.rows_hash,
        execution.commit_version,
        execution.duration_ms,
        execution.error,
        execution.reason if held else None,
    )
