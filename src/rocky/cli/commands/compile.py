"""`rocky compile`: judge the whole project, or report on some of its models.

The whole project is compiled either way: a model's types depend on all it reads. `--model`
narrows what is reported and what decides the exit code.
"""

from collections.abc import Sequence
from pathlib import Path

import click

from rocky.analysis.compilation import Compilation
from rocky.analysis.contracts import record_baselines
from rocky.cli.console import write_json, write_line, write_note, write_text
from rocky.cli.exit_codes import ExitCode
from rocky.cli.options import RockyCommand, Settings, consumers_option
from rocky.cli.render.compilation import compilation_document, render_summary
from rocky.cli.render.findings import FORMATS, render_findings
from rocky.cli.render.verification import (
    Verification,
    render_verification,
    verification_document,
)
from rocky.cli.selection import broken_inputs, chosen_findings, chosen_models, use_json
from rocky.compiler.passes import compile_project
from rocky.diagnostics import Diagnostic, Severity
from rocky.lazy import load_attribute
from rocky.operations.consumers import with_consumers
from rocky.operations.workspace import load_workspace
from rocky.project import Project


@click.command("compile", cls=RockyCommand)
@click.option("--model", "names", multiple=True, metavar="MODEL", help="Report on this model only.")
@click.option("--verify", type=click.Choice(["spark"]), help="Compare with Spark's own analyser.")
@click.option(
    "--live", is_flag=True, help="Compare declared sources with what is there now. Starts Spark."
)
@click.option(
    "--format", "style", type=click.Choice(FORMATS), help="How findings look. Default: full."
)
@click.option("--jobs", type=click.IntRange(min=1), metavar="N", help="Worker processes at most.")
@click.option("--no-cache", is_flag=True, help="Neither read nor write .rocky/cache.")
@click.option(
    "--record-baselines",
    "record",
    is_flag=True,
    help="Record what is nullable now, for contracts with `no_new_nullable`.",
)
@consumers_option
@click.pass_obj
def command(  # noqa: PLR0913 - one for each option
    settings: Settings,
    names: Sequence[str],
    verify: str | None,
    live: bool,
    style: str | None,
    jobs: int | None,
    no_cache: bool,
    record: bool,
    consumers: Sequence[Path],
) -> ExitCode:
    """Check every model, column, type and contract."""
    as_json = use_json(settings, style)
    if record and names:
        raise click.UsageError("`--record-baselines` is for all contracts: leave out `--model`")
    if live and names:
        raise click.UsageError("`--live` looks at all sources: leave out `--model`")
    project = load_workspace(settings.workspace, cache=not no_cache)
    compilation = compile_project(project, jobs=jobs, cache=not no_cache)
    recorded = record_baselines(project, compilation.models) if record else []
    if recorded:
        compilation = compile_project(project, jobs=jobs, cache=not no_cache)
    compilation = with_consumers(compilation, consumers)
    models = chosen_models(compilation, names)
    diagnostics = chosen_findings(compilation, models) if names else compilation.diagnostics
    if live:
        diagnostics = (*diagnostics, *_look_at_sources(project))
    verification = _ask_spark(compilation, [model.name for model in models]) if verify else None
    if as_json:
        document = compilation_document(compilation, models, diagnostics)
        document["baselines_recorded"] = recorded
        document["verify"] = verification_document(verification) if verification else None
        write_json("compile", document)
    else:
        shown = render_findings(diagnostics, project, style or "full", colour=settings.colour)
        write_text(shown)
        if not settings.quiet:
            write_text("".join(f"recorded {path}\n" for path in recorded))
            write_line(render_summary(compilation, models, diagnostics))
        if verification is not None:
            write_line(render_verification(verification))
    broken = broken_inputs(compilation, models) if names and not settings.quiet else ""
    if broken:
        write_note(f"note: models further up have errors: {broken}")
    failed = any(each.severity is Severity.ERROR for each in diagnostics)
    differs = verification is not None and not verification.agrees
    return ExitCode.FAILED if failed or differs else ExitCode.OK


def _look_at_sources(project: Project) -> list[Diagnostic]:
    compare_live = load_attribute("rocky.pipelines.drift.live", "compare_live")
    find_adapter = load_attribute("rocky.operations.show", "find_adapter")
    found: list[Diagnostic] = compare_live(project, find_adapter(project, "default"))
    return found


def _ask_spark(compilation: Compilation, models: list[str]) -> Verification:
    analyse = load_attribute("rocky.spark.analyser", "analyse_project")
    found: Verification = analyse(compilation, models=models)
    return found
