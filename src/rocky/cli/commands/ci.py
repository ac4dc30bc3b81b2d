"""`rocky ci`: the compile of a build, with an exit code that tells warnings from errors."""

import os
from collections.abc import Sequence
from pathlib import Path

import click

from rocky.analysis.compilation import Compilation
from rocky.cli.console import write_json, write_line, write_text
from rocky.cli.exit_codes import ExitCode
from rocky.cli.options import RockyCommand, Settings, consumers_option
from rocky.cli.render.compilation import render_summary
from rocky.cli.render.findings import FORMATS, findings_document, render_findings
from rocky.cli.selection import chosen_models, use_json
from rocky.diagnostics import Severity
from rocky.operations.consumers import with_consumers
from rocky.operations.workspace import compile_workspace


@click.command("ci", cls=RockyCommand)
@click.option(
    "--format",
    "style",
    type=click.Choice(FORMATS),
    help="How findings look. Default: github inside GitHub Actions, else full.",
)
@click.option("--jobs", type=click.IntRange(min=1), metavar="N", help="Worker processes at most.")
@click.option("--no-cache", is_flag=True, help="Neither read nor write .rocky/cache.")
@consumers_option
@click.pass_obj
def command(
    settings: Settings,
    style: str | None,
    jobs: int | None,
    no_cache: bool,
    consumers: Sequence[Path],
) -> ExitCode:
    """Compile for a build: exit 1 on errors, 4 on warnings only."""
    if style is None and not settings.asked and os.environ.get("GITHUB_ACTIONS") == "true":
        style = "github"
    as_json = use_json(settings, style)
    compilation = compile_workspace(settings.workspace, jobs=jobs, cache=not no_cache)
    compilation = with_consumers(compilation, consumers)
    code = judge(compilation)
    diagnostics = compilation.diagnostics
    models = chosen_models(compilation, ())
    if as_json:
        document = {
            "compile_ok": not compilation.has_errors,
            # Nothing runs tests yet: null says so, where true would claim they passed.
            "tests_ok": None,
            "models_compiled": len(models),
            "tests_passed": 0,
            "tests_failed": 0,
            "exit_code": int(code),
            "diagnostics": findings_document(diagnostics, compilation.project),
            "failures": [],
        }
        write_json("ci", document)
    else:
        shown = render_findings(
            diagnostics, compilation.project, style or "full", colour=settings.colour
        )
        write_text(shown)
        if not settings.quiet:
            write_line(render_summary(compilation, models, diagnostics))
    return code


def judge(compilation: Compilation) -> ExitCode:
    """What the build is told."""
    severities = {each.severity for each in compilation.diagnostics}
    if Severity.ERROR in severities:
        return ExitCode.FAILED
    return ExitCode.WARNINGS if Severity.WARNING in severities else ExitCode.OK
