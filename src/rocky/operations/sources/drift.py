"""Drift: how sources differ from their copies, and a catalogue from what it was told."""

from collections.abc import Mapping
from dataclasses import dataclass

from rocky.governance.planner import find_drift
from rocky.operations.digest import Digested
from rocky.operations.execution.pipeline_report import TableDrift
from rocky.operations.findings import refuse_errors
from rocky.operations.governance.catalogue import HeldFact, govern, held_fact
from rocky.operations.pipelines.choice import replications
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
from rocky.project import Project
from rocky.project.configuration.pipelines import ReplicationPipeline


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


@dataclass(frozen=True, slots=True)
class ChangedFact:
    """Something that a catalogue holds with another value than it was told."""

    applied: HeldFact
    held: HeldFact


@dataclass(frozen=True, slots=True)
class GovernanceDrift:
    """What a catalogue holds otherwise than it was told: gone, changed, and said by others."""

    catalogue: str
    missing: tuple[HeldFact, ...]
    changed: tuple[ChangedFact, ...]
    foreign: tuple[HeldFact, ...]


@dataclass(frozen=True, slots=True, repr=False)
class DriftReport(Digested):
    """What was found, by pipeline; and in the catalogue, where there is one."""

    pipelines: Mapping[str, PipelineDrift]
    catalogue: GovernanceDrift | None = None

    @property
    def has_errors(self) -> bool:
        """Whether a source could not be looked at."""
        return any(each.errors for each in self.pipelines.values())


def drift(workspace: Workspace, request: DriftRequest) -> DriftReport:
    """How sources have changed since they were copied, and what the catalogue holds otherwise.

    Nothing is written.

    Raises NothingSelected, ErrorsFound for errors in `rocky.toml`, and what listing sources raises.
    """
    workspace = known_branch(workspace)
    compilation = compile_workspace(workspace)
    refuse_errors(compilation, config_findings(compilation))
    project = compilation.project
    governed = _governed(project, request) and workspace.branch_name is None
    chosen = _replications(project, request, governed=governed)
    refresh_state(workspace, state_path(workspace))
    caller = caller_of(workspace, project, state_path(workspace))
    asked = RunRequest(filters=request.filters, adapter=request.adapter)
    found: dict[str, PipelineDrift] = {}
    for name, pipeline in chosen.items():
        adapter = pipeline_adapter(project, pipeline, request.adapter)
        found[name] = _report(
            *preview_replication(compilation, name, pipeline, adapter, asked, caller, prune=False)
        )
    return DriftReport(found, _catalogue_drift(project, workspace) if governed else None)


def _governed(project: Project, request: DriftRequest) -> bool:
    """Whether a catalogue is looked at too: not by who asks for one pipeline."""
    asked_for_some = request.pipeline is not None or bool(request.filters)
    return project.config.governance.catalog.kind != "none" and not asked_for_some


def _replications(
    project: Project, request: DriftRequest, *, governed: bool
) -> Mapping[str, ReplicationPipeline]:
    """The pipelines to look at; none is no mistake where there is a catalogue."""
    some = any(isinstance(each, ReplicationPipeline) for each in project.config.pipeline.values())
    return replications(project, request.pipeline) if some or not governed else {}


def _catalogue_drift(project: Project, workspace: Workspace) -> GovernanceDrift:
    found = govern(workspace, project, None)
    drifted = find_drift(found.held, found.applied, project.config.governance.foreign)
    return GovernanceDrift(
        found.catalogue.title,
        tuple(map(held_fact, drifted.missing)),
        tuple(ChangedFact(held_fact(one), held_fact(other)) for one, other in drifted.changed),
        tuple(map(held_fact, drifted.foreign)),
    )


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
