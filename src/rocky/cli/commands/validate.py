"""`rocky validate`: the project's files, without a look into SQL.

Faster than a compile and useful before there is a model: every TOML file, source, seed and
contract is read, and what is wrong with one is reported at its line.
"""

from collections.abc import Sequence

import click

from rocky.cli.console import write_json, write_line, write_text
from rocky.cli.exit_codes import ExitCode
from rocky.cli.options import RockyCommand, Settings
from rocky.cli.render.compilation import counted
from rocky.cli.render.findings import findings_document, render_findings
from rocky.diagnostics import Code, Diagnostic, Severity
from rocky.diagnostics.render import render_summary as count_findings
from rocky.diagnostics.suppression import apply_suppressions, find_allows
from rocky.operations.workspace import load_workspace
from rocky.project import Project


@click.command("validate", cls=RockyCommand)
@click.pass_obj
def command(settings: Settings) -> ExitCode:
    """Check the project's files, without looking into SQL."""
    project = load_workspace(settings.workspace)
    diagnostics = standing_findings(project)
    valid = all(each.severity is not Severity.ERROR for each in diagnostics)
    if settings.json:
        document = {
            "valid": valid,
            "adapters": list(project.config.adapter),
            "pipelines": list(project.config.pipeline),
            "models": len(project.models),
            "sources": len(project.sources),
            "seeds": len(project.seeds),
            "contracts": len(project.contracts),
            "diagnostics": findings_document(diagnostics, project),
        }
        write_json("validate", document)
    else:
        write_text(render_findings(diagnostics, project, "full", colour=settings.colour))
        if not settings.quiet:
            write_line(render_validation(project, diagnostics))
    return ExitCode.OK if valid else ExitCode.FAILED


def standing_findings(project: Project) -> list[Diagnostic]:
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
    return [each for each in kept if each.code is not Code.UNUSED_ALLOW]


def render_validation(project: Project, diagnostics: Sequence[Diagnostic]) -> str:
    found = count_findings(diagnostics, 0).partition(" in ")[0]
    parts = (
        counted(len(project.models), "model"),
        counted(len(project.sources), "source"),
        counted(len(project.seeds), "seed"),
        counted(len(project.contracts), "contract"),
    )
    return f"{found} in the files of {', '.join(parts)}"
