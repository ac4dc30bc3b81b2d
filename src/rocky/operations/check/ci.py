"""CI: a compile for a build, with an exit code that tells warnings from errors."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from rocky.analysis.compilation import Compilation
from rocky.diagnostics import Diagnostic, Severity
from rocky.operations.check.compile import (
    CompileSummary,
    chosen_models,
    summarise,
)
from rocky.operations.check.consumers import with_consumers_of
from rocky.operations.check.tracked_cache import find_tracked_cache
from rocky.operations.digest import Digested
from rocky.operations.findings import Finding, findings_of
from rocky.operations.python_plans import judge
from rocky.operations.report import hidden
from rocky.operations.workspace import Workspace, compile_workspace
from rocky.plan.arguments import Count, Request
from rocky.project import Project


@dataclass(frozen=True, slots=True)
class CiRequest(Request):
    """As that of a compile of all models."""

    consumers: tuple[Path, ...] = ()
    jobs: Count | None = None
    cache: bool = True


@dataclass(frozen=True, slots=True)
class CiFailure:
    """A test that failed."""

    name: str
    error: str


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class CiReport(Digested):
    """The result for CI: exit code 1 for errors, 4 for warnings only.

    `tests_ok` is null because no tests are run: true would claim that they passed.
    """

    project: Project = hidden()
    found: tuple[Diagnostic, ...] = hidden()
    summary: CompileSummary = hidden()
    compile_ok: bool
    tests_ok: bool | None
    models_compiled: int
    tests_passed: int
    tests_failed: int
    exit_code: int
    diagnostics: Sequence[Finding]
    failures: tuple[CiFailure, ...]


def ci(workspace: Workspace, request: CiRequest) -> CiReport:
    """Compile for a build. Raises what loading raises, and InvalidRequest."""
    compilation = compile_workspace(
        workspace,
        jobs=request.jobs,
        cache=request.cache,
        portability=True,
        asker=judge(workspace.environment),
    )
    compilation = with_consumers_of(compilation, request.consumers)
    found = (
        *compilation.diagnostics,
        *_exposures(compilation),
        *find_tracked_cache(compilation.project),
    )
    models = chosen_models(compilation, ())
    severities = {each.severity for each in found}
    return CiReport(
        project=compilation.project,
        found=found,
        summary=summarise(compilation, models, found),
        compile_ok=Severity.ERROR not in severities,
        tests_ok=None,
        models_compiled=len(models),
        tests_passed=0,
        tests_failed=0,
        exit_code=1 if Severity.ERROR in severities else 4 if Severity.WARNING in severities else 0,
        diagnostics=findings_of(found, compilation.project),
        failures=(),
    )


def _exposures(compilation: Compilation) -> Iterator[Diagnostic]:
    """Columns that are clear in other environments, where there are any."""
    if compilation.project.config.mask.environments:
        # It binds masks, and a build that binds nothing shall not pay for that.
        from rocky.analysis.exposure import find_exposures  # noqa: PLC0415

        yield from find_exposures(compilation)
