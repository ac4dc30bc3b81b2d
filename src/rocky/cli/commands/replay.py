"""`rocky replay`: what is recorded of a run; checked against the tables; or built again.

Only `--execute` starts Spark. It never reads the project's models: what is built is what the record
says was built.
"""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from rocky.cli.console import write_json, write_line, write_note
from rocky.cli.exit_codes import ExitCode
from rocky.cli.options import Settings, StateCommand
from rocky.cli.render.replay import recorded_document, render_recorded
from rocky.cli.render.units import format_duration
from rocky.cli.render.verdicts import render_report, report_document
from rocky.lazy import load_attribute
from rocky.ledger import LATEST
from rocky.operations.workspace import load_workspace, refresh_state, state_path
from rocky.replay.record import RecordedRun, load_recorded_run
from rocky.replay.verdicts import ModelVerdict, ReplayReport


@click.command("replay", cls=StateCommand)
@click.argument("run", default=LATEST)
@click.option("--model", "models", multiple=True, metavar="NAME", help="Only this model.")
@click.option("--verify", "verifies", is_flag=True, help="Check what is recorded of the run.")
@click.option("--execute", "executes", is_flag=True, help="Build the run again, and compare.")
@click.option(
    "--keep",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="FOLDER",
    help="With --execute: build into this folder, which must be empty, and leave it there.",
)
@click.option(
    "--parallel",
    type=click.IntRange(min=1),
    metavar="N",
    help="With --execute: models at once, at most. Default: 2.",
)
@click.option(
    "--target", metavar="ADAPTER", help="With --execute: run on `[adapter.ADAPTER]` of the project."
)
@click.pass_obj
def command(settings: Settings, /, run: str, **given: Any) -> ExitCode:
    """Show what is recorded of a run, check it, or build it again.

    RUN is a run's id; without one, the latest. `--execute` builds every model from the record
    alone, in a scratch area, and compares: the exit code is 0 when all are bit_exact or row_exact,
    1 when one diverged or failed, 2 when none did and some could not be replayed.
    """
    _refuse_meaningless(given)
    models: Sequence[str] = given["models"]
    refresh_state(settings.workspace, state_path(settings.workspace))
    recorded = load_recorded_run(state_path(settings.workspace), run, models)
    if given["verifies"]:
        return _verify(settings, recorded)
    if given["executes"]:
        return _execute(settings, recorded, given)
    if settings.json:
        write_json("replay", recorded_document(recorded))
    else:
        write_line(render_recorded(recorded, whole=bool(models)))
    return ExitCode.OK


def _refuse_meaningless(given: dict[str, Any]) -> None:
    if given["verifies"] and given["executes"]:
        raise click.UsageError("`--verify` and `--execute` exclude each other")
    if given["verifies"] and given["models"]:
        raise click.UsageError("`--verify` checks the whole run: leave `--model` out")
    for name in ("keep", "parallel", "target"):
        if given[name] is not None and not given["executes"]:
            raise click.UsageError(f"`--{name}` is for `--execute`")


def _verify(settings: Settings, recorded: RecordedRun) -> ExitCode:
    verify = load_attribute("rocky.cli.commands.verify", "verify_chosen")
    scope, found = verify(settings, recorded.run.run_id)
    if settings.json:
        document_of = load_attribute("rocky.cli.render.evidence", "verification_document")
        document = {"mode": "verify", "run_id": recorded.run.run_id}
        write_json("replay", document | document_of(scope, found))
    else:
        render = load_attribute("rocky.cli.render.evidence", "render_verification")
        write_line(render(scope, found, quiet=settings.quiet))
    return ExitCode.FAILED if found.findings else ExitCode.OK


def _execute(settings: Settings, recorded: RecordedRun, given: dict[str, Any]) -> ExitCode:
    orders = load_attribute("rocky.replay.execution", "ReplayRequest")
    replay = load_attribute("rocky.replay.execution", "replay_project_run")
    chosen = {name: given[name] for name in ("parallel", "keep") if given[name] is not None}
    chosen["adapter"] = given["target"]
    report: ReplayReport = replay(
        load_workspace(settings.workspace),
        recorded,
        orders(**chosen),
        state=state_path(settings.workspace),
        environment=os.environ,
        told=_tell_nobody if settings.quiet else _tell,
    )
    if settings.json:
        write_json("replay", report_document(report))
    else:
        write_line(render_report(report))
    if report.kept is not None and not settings.quiet:
        write_note(f"what was built is in `{report.kept}`")
    return ExitCode(report.exit_code)


def _tell(verdict: ModelVerdict) -> None:
    took = "" if verdict.duration_ms is None else f" in {format_duration(verdict.duration_ms)}"
    write_note(f"{verdict.model}: {verdict.verdict.value}{took}")


def _tell_nobody(_: ModelVerdict) -> None:
    """A quiet replay says everything at its end."""
