"""`rocky doctor`: whether a project can run here, said before anything runs.

A project that cannot be loaded is what it is for, so that is a finding and no failure.
"""

import os
from collections.abc import Sequence
from pathlib import Path

import click

from rocky.cli.console import write_json, write_line
from rocky.cli.exit_codes import ExitCode
from rocky.cli.options import Settings, StateCommand
from rocky.cli.render.doctor import examination_document, render_examination
from rocky.errors import ProjectNotFound, RockyError
from rocky.operations.doctor.examination import CHECKS, examine, is_critical, refuse_unknown
from rocky.operations.doctor.findings import Subject
from rocky.operations.workspace import load_workspace, state_path


@click.command("doctor", cls=StateCommand)
@click.option(
    "--check",
    "names",
    multiple=True,
    metavar="NAME",
    help=f"Only this check. Repeatable. One of {', '.join(CHECKS)}; `spark` then starts Spark.",
)
@click.pass_obj
def command(settings: Settings, names: Sequence[str]) -> ExitCode:
    """Check that settings, state, warehouses and Spark are in order.

    Exit code 3 when something is critical; what could not be checked is.
    """
    refuse_unknown(names)
    results = examine(find_patient(settings, names), names)
    if settings.json:
        write_json("doctor", examination_document(results))
    elif not settings.quiet or is_critical(results):
        write_line(render_examination(results))
    return ExitCode.CRITICAL if is_critical(results) else ExitCode.OK


def find_patient(settings: Settings, names: Sequence[str]) -> Subject:
    """The project of this invocation, or why there is none."""
    start_spark = "spark" in names
    path = _state_path(settings)
    try:
        project = load_workspace(settings.workspace, cache=False)
    except RockyError as failure:
        return Subject(path, os.environ, failure=failure, start_spark=start_spark)
    return Subject(path, os.environ, project, start_spark=start_spark)


def _state_path(settings: Settings) -> Path | None:
    try:
        return state_path(settings.workspace)
    except ProjectNotFound:
        return None
