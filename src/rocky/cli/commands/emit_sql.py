"""`rocky emit-sql`: the SQL that would run.

It is the author's text with the front matter left out and nothing else changed, so what is
printed is what Spark is given. Models that would not run are refused.
"""

from collections.abc import Sequence
from pathlib import Path

import click

from rocky.cli.console import write_json, write_line, write_note, write_text
from rocky.cli.exit_codes import ExitCode
from rocky.cli.options import Settings, TextCommand
from rocky.cli.render.compilation import counted
from rocky.cli.render.findings import render_findings
from rocky.cli.selection import chosen_findings, chosen_models
from rocky.diagnostics import Severity
from rocky.errors import RockyError
from rocky.operations.workspace import compile_workspace
from rocky.project import ModelFile


@click.command("emit-sql", cls=TextCommand)
@click.argument("model", required=False)
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    help="Write one file a model into DIR instead.",
)
@click.pass_obj
def command(settings: Settings, model: str | None, out: Path | None) -> ExitCode:
    """Print the SQL that would run.

    That of MODEL, or of all models in the order they would run. It is text also when piped;
    `-o json` asks for JSON.
    """
    compilation = compile_workspace(settings.workspace)
    names = (model,) if model is not None else ()
    models = chosen_models(compilation, names)
    findings = chosen_findings(compilation, models) if names else compilation.diagnostics
    errors = [each for each in findings if each.severity is Severity.ERROR]
    if errors:
        write_note(render_findings(errors, compilation.project, "full", colour=False).rstrip())
        raise RockyError(
            f"{counted(len(errors), 'error')}: nothing would run, so nothing is printed"
        )
    models = _with_sql(models, alone=model is not None, quiet=settings.quiet)
    written = _write_files(models, compilation.project.root, out) if out is not None else []
    if settings.json:
        documents = [
            {"name": each.name, "path": each.path, "target": each.target.full_name, "sql": each.sql}
            for each in models
        ]
        write_json("emit-sql", {"models": documents, "written": written})
    elif out is None:
        _print(models, alone=model is not None)
    elif not settings.quiet:
        write_line(f"{counted(len(written), 'file')} written to {out}")
    return ExitCode.OK


def _with_sql(models: Sequence[ModelFile], *, alone: bool, quiet: bool) -> list[ModelFile]:
    """The models that are SQL. Raises RockyError when the one asked for is not."""
    python = [each.name for each in models if each.is_python]
    if python and alone:
        raise RockyError(f"model `{python[0]}` is Python: there is no SQL to print")
    if python and not quiet:
        listed = ", ".join(f"`{name}`" for name in python)
        write_note(f"note: left out, because they are Python: {listed}")
    return [each for each in models if not each.is_python]


def _print(models: Sequence[ModelFile], *, alone: bool) -> None:
    """One model as it is, byte for byte; several with a comment line that names each."""
    if alone:
        write_text(models[0].sql)
        return
    for model in models:
        sql = model.sql.rstrip()
        end = "" if sql.endswith(";") else "\n;"
        write_line(f"-- {model.name}: {model.path}\n{sql}{end}\n")


def _write_files(models: Sequence[ModelFile], root: Path, out: Path) -> list[str]:
    """Write NAME.sql for each model. Refuses to write over the models themselves."""
    own = {(root / model.path).resolve() for model in models}
    # A sidecar may give a model any name; a slash in it must not lead out of the folder.
    paths = {model.name: out / f"{model.name.replace('/', '_')}.sql" for model in models}
    for path in paths.values():
        if path.resolve() in own:
            raise RockyError(f"`{path}` is a model of the project: choose another folder for --out")
    out.mkdir(parents=True, exist_ok=True)
    for model in models:
        paths[model.name].write_text(model.sql, encoding="utf-8", newline="")
    return [path.as_posix() for path in paths.values()]
