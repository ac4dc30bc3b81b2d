"""`rocky emit-sql`: the SQL that would run."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

import click

from rocky.cli.console import ExitCode, write_line, write_note, write_report, write_text
from rocky.cli.options import RockyCommand, Settings
from rocky.diagnostics.render import counted
from rocky.language.dialects.table import DIALECTS, Dialect
from rocky.operations.check.emit_sql import (
    EmitSqlReport,
    EmitSqlRequest,
    EmittedModel,
    emit_sql,
    function_script,
)

REPORTS: Final = {"emit-sql": EmitSqlReport}


@click.command("emit-sql", cls=RockyCommand)
@click.argument("model", required=False)
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    help="Write one file for each model into DIR instead.",
)
@click.option(
    "--dialect",
    type=click.Choice(DIALECTS),
    help="Rewrite it for this engine; comments say what is not exact.",
)
@click.pass_obj
def command(
    settings: Settings, model: str | None, out: Path | None, dialect: Dialect | None
) -> ExitCode:
    """Print the SQL that would run.

    That of MODEL, or of all models in the order they would run. The SQL functions that they call
    are made before.
    """
    report = emit_sql(settings.workspace, EmitSqlRequest(model, out, dialect))
    if report.left_out and not settings.quiet:
        listed = ", ".join(f"`{name}`" for name in report.left_out)
        write_note(f"note: left out, because they are Python: {listed}")
    inexact = sum(bool(each.inexact) for each in report.models)
    if inexact and not settings.quiet:
        write_note(f"note: {counted(inexact, 'model')} not exact; the comments say what to check")
    if settings.json:
        write_report("emit-sql", report)
    elif out is None:
        _print(report.models, alone=model is not None)
    elif not settings.quiet:
        write_line(f"{counted(len(report.written), 'file')} written to {out}")
    return ExitCode.OK


def _print(models: Sequence[EmittedModel], *, alone: bool) -> None:
    """One model as it is, byte for byte; several with a comment line that names each.

    The functions that they need come first, each once.
    """
    if alone:
        write_text(models[0].script)
        return
    write_text(function_script(each for model in models for each in model.functions))
    for model in models:
        sql = model.sql.rstrip()
        end = "" if sql.endswith(";") else "\n;"
        write_line(f"-- {model.name}: {model.path}\n{sql}{end}\n")
