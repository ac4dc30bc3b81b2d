"""Validate: the project's files, without a look into SQL.

Faster than a compile and useful before there is a model: every TOML file, source, seed and
contract is read, and what is wrong with one is reported at its line.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from rocky.diagnostics import Code, Diagnostic
from rocky.diagnostics.suppression import apply_suppressions, find_allows
from rocky.operations.digest import Digested
from rocky.operations.findings import Finding, errors_in, findings_of
from rocky.operations.report import hidden
from rocky.operations.workspace import Workspace, load_workspace
from rocky.project import Project
from rocky.project.pipeline_tables import PipelineTable


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ValidateReport(Digested):
    """What the files hold, counted, and what is wrong with them."""

    project: Project = hidden()
    found: tuple[Diagnostic, ...] = hidden()
    valid: bool
    adapters: tuple[str, ...]
    pipelines: tuple[str, ...]
    models: int
    sources: int
    seeds: int
    contracts: int
    diagnostics: Sequence[Finding]


def validate(workspace: Workspace) -> ValidateReport:
    """Read every file of the project. Raises what loading raises."""
    project = load_workspace(workspace)
    found = _standing_findings(project)
    return ValidateReport(
        project=project,
        found=found,
        valid=not errors_in(found),
        adapters=tuple(project.config.adapter),
        pipelines=tuple(project.config.pipeline),
        models=len(project.models),
        sources=sum(not isinstance(each, PipelineTable) for each in project.sources.values()),
        seeds=len(project.seeds),
        contracts=len(project.contracts),
        diagnostics=findings_of(found, project),
    )


def _standing_findings(project: Project) -> tuple[Diagnostic, ...]:
    """What loading found and the project does not allow.

    Allows of rules that only a compile applies look unused here, so that finding is dropped.
    """
    paths = {each.path for each in project.diagnostics if each.path is not None}
    allows = {
        model.path: find_allows(model.text, model.path)
        for model in project.models.values()
        if model.path in paths
    }
    levels = {code.value: level for code, level in project.config.lints.items()}
    kept = apply_suppressions(project.diagnostics, allows, levels)
    return tuple(each for each in kept if each.code is not Code.UNUSED_ALLOW)
