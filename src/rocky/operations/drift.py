"""Drift: how live sources differ from their copies, and what a run would do about it."""

from collections.abc import Mapping
from dataclasses import dataclass

from rocky.operations.digest import Digested
from rocky.operations.findings import refuse_errors
from rocky.operations.pipeline_report import TableDrift
from rocky.operations.pipelines import replications
from rocky.operations.report import hidden
from rocky.operations.workspace import (
    Workspace,
    caller_of,
    compile_workspace,
    known_branch,
    refresh_state,
    state_path,
)
from rocky.pipelines.replication.plan import ReplicationPlan
from rocky.pipelines.replication.replication_run import CopyPreview, preview_replication
from rocky.plan.adapters import pipeline_adapter
from rocky.plan.arguments import Request
from rocky.plan.refusals import config_findings
from rocky.plan.request import RunRequest


@dataclass(frozen=True, slots=True)
class DriftRequest(Request):
    """Which sources: of one `pipeline` or of all that copy tables, some tables of them or all.

    `filters` are written as those of a run, `tenant=acme`.
    """

    pipeline: str | None = None
    filters: tuple[str, ...] = ()
    adapter: str | None = None


@dataclass(frozen=True, slots=True)
class PipelineDrift:
    """How the sources of a pipeline differ from their copies; `errors` are by table."""

    tables_checked: int
    tables_drifted: int
    actions: tuple[TableDrift, ...]
    errors: Mapping[str, str]
    warnings: tuple[str, ...]
    copies: tuple[CopyPreview, ...] = hidden()
    failed: Mapping[str, str] = hidden()


@dataclass(frozen=True, slots=True, repr=False)
class DriftReport(Digested):
    """What was found, by pipeline."""

    pipelines: Mapping[str, PipelineDrift]

    @property
    def has_errors(self) -> bool:
        """Whether a source could not be looked at."""
        return any(each.errors for each in self.pipelines.values())


def drift(workspace: Workspace, request: DriftRequest) -> DriftReport:
    """How sources have changed since they were copied. Nothing is written.

    Raises NothingSelected, ErrorsFound for errors in `rocky.toml`, and what listing sources raises.
    """
    workspace = known_branch(workspace)
    compilation = compile_workspace(workspace)
    refuse_errors(compilation, config_findings(compilation))
    project = compilation.project
    chosen = replications(project, request.pipeline)
    refresh_state(workspace, state_path(workspace))
    caller = caller_of(workspace, project, state_path(workspace))
    asked = RunRequest(filters=request.filters, adapter=request.adapter)
    found: dict[str, PipelineDrift] = {}
    for name, pipeline in chosen.items():
        adapter = pipeline_adapter(project, pipeline, request.adapter)
        found[name] = _report(
            *preview_replication(compilation, name, pipeline, adapter, asked, caller, prune=False)
        )
    return DriftReport(found)


def _report(plan: ReplicationPlan, copies: tuple[CopyPreview, ...]) -> PipelineDrift:
    failed = {each.table: each.reason for each in copies if each.decision == "fail"}
    return PipelineDrift(
        sum(each.decision != "leave" for each in copies),
        sum(bool(each.drift) for each in copies),
        tuple(TableDrift(each.table, record) for each in copies for record in each.drift),
        {**plan.failed, **failed},
        plan.warnings,
        copies,
        plan.failed,
    )
