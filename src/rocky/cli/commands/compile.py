"""`rocky compile`: judge the whole project, or report on some of its models.

The whole project is compiled either way: a model's types depend on all it reads. `--model`
narrows what is reported and what decides the exit code.
"""

from collections.abc import Sequence

import click

from rocky.cli.console import write_json, write_line, write_note, write_text
from rocky.cli.exit_codes import ExitCode
from rocky.cli.lazy import load_attribute
from rocky.cli.options import RockyCommand, Settings
from rocky.cli.projects import broken_models, compile_chosen, model_named
from rocky.cli.render.compilation import compilation_document, render_summary
from rocky.cli.render.findings import FORMATS, render_findings
from rocky.cli.render.verification import render_verification, verification_document
from rocky.compiler.compilation import Compilation
from rocky.diagnostics import Diagnostic, Severity
from rocky.lineage.models import reach_models
from rocky.project import ModelFile


@click.command("compile", cls=RockyCommand)
@click.option("--model", "names", multiple=True, metavar="MODEL", help="Report on this model only.")
@click.option("--verify", type=click.Choice(["spark"]), help="Compare with Spark's own analyser.")
@click.option(
    "--format", "style", type=click.Choice(FORMATS), help="How findings look. Default: full."
)
@click.option("--jobs", type=click.IntRange(min=1), metavar="N", help="Worker processes at most.")
@click.option("--no-cache", is_flag=True, help="Neither read nor write .rocky/cache.")
@click.pass_obj
def command(
    settings: Settings,
    names: Sequence[str],
    verify: str | None,
    style: str | None,
    jobs: int | None,
    no_cache: bool,
) -> ExitCode:
    """Check every model, column, type and contract."""
    as_json = use_json(settings, style)
    compilation = compile_chosen(settings, jobs=jobs, cache=not no_cache)
    models = chosen_models(compilation, names)
    diagnostics = chosen_findings(compilation, models) if names else compilation.diagnostics
    verification = None
    if verify is not None:
        analyse = load_attribute("rocky.spark.analyse", "analyse_project")
        verification = analyse(compilation, models=[model.name for model in models])
    if as_json:
        document = compilation_document(compilation, models, diagnostics)
        if verification is not None:
            document["verify"] = verification_document(verification)
        write_json("compile", document)
    else:
        colour = settings.colour
        write_text(
            render_findings(diagnostics, compilation.project, style or "full", colour=colour)
        )
        if not settings.quiet:
            write_line(render_summary(compilation, models, diagnostics))
        if verification is not None:
            write_line(render_verification(verification))
    if names and not settings.quiet:
        note_broken_inputs(compilation, models)
    failed = any(each.severity is Severity.ERROR for each in diagnostics)
    differs = verification is not None and not verification.agrees
    return ExitCode.FAILED if failed or differs else ExitCode.OK


def use_json(settings: Settings, style: str | None) -> bool:
    """Whether to print JSON: `--format` speaks of text, so the two cannot both be asked for."""
    if style is None or not settings.json:
        return settings.json
    if settings.asked:
        raise click.UsageError("`--format` is a form of text; leave it out or drop `-o json`")
    return False


def chosen_models(compilation: Compilation, names: Sequence[str]) -> list[ModelFile]:
    """The models that are named, or all, in the order they would run."""
    project = compilation.project
    ordered = [project.models[name.lower()] for name in compilation.order]
    wanted = {model_named(project, name).key for name in names}
    return [model for model in ordered if model.key in wanted] if names else ordered


def chosen_findings(
    compilation: Compilation, models: Sequence[ModelFile]
) -> tuple[Diagnostic, ...]:
    """The findings of some models, and those in `rocky.toml`, which concern every model."""
    names = {model.name.lower() for model in models}
    paths = {model.path for model in models} | {compilation.project.config_path}
    return tuple(
        each
        for each in compilation.diagnostics
        if (each.model.lower() in names if each.model is not None else each.path in paths)
    )


def note_broken_inputs(compilation: Compilation, models: Sequence[ModelFile]) -> None:
    """Say which models further up have errors: they may be why types are unknown here."""
    chosen = {model.name for model in models}
    above = reach_models(compilation.upstream, chosen) - chosen
    broken = sorted(above & broken_models(compilation))
    if broken:
        listed = ", ".join(f"`{name}`" for name in broken[:5])
        more = f" and {len(broken) - 5} more" if len(broken) > 5 else ""
        write_note(f"note: models it reads have errors: {listed}{more}")
