"""`rocky drift`: how live sources differ from their copies, and what a run would do about it."""

from collections.abc import Sequence
from typing import Final

import click

from rocky.cli.commands.run import RunCommand
from rocky.cli.console import ExitCode, write_line, write_note, write_report
from rocky.cli.options import Settings
from rocky.cli.render.run import describe_drift
from rocky.cli.start_notes import note_start
from rocky.diagnostics.render import counted
from rocky.operations.sources.drift import (
    DriftReport,
    DriftRequest,
    GovernanceDrift,
    PipelineDrift,
    drift,
)

REPORTS: Final = {"drift": DriftReport}


@click.command("drift", cls=RunCommand)
@click.option("--pipeline", metavar="NAME", help="One pipeline; otherwise all that copy tables.")
@click.option(
    "--filter", "filters", multiple=True, metavar="KEY=VALUE", help="Some tables: `tenant=acme`."
)
@click.option("--target", metavar="ADAPTER", help="On `[adapter.ADAPTER]`.")
@click.pass_obj
def command(
    settings: Settings, /, pipeline: str | None, filters: Sequence[str], target: str | None
) -> ExitCode:
    """Report how live sources differ from their copies. Nothing is changed.

    With `[governance.catalog]` also what the catalogue holds otherwise than it was told.

    Exits 1 when a source could not be read.
    """
    with note_start(settings) as workspace:
        report = drift(workspace, DriftRequest(pipeline, tuple(filters), target))
    if settings.json:
        write_report("drift", report)
    for name, found in report.pipelines.items():
        if not settings.json:
            write_line(f"pipeline {name}\n{_render(found)}")
        for warning in found.warnings:
            write_note(f"warning: {warning}")
    if report.catalogue is not None and not settings.json:
        write_line(_render_catalogue(report.catalogue))
    return ExitCode.FAILED if report.has_errors else ExitCode.OK


def _render(found: PipelineDrift) -> str:
    """What has changed in a source since it was copied."""
    lines = [describe_drift(each.table, each.record) for each in found.actions]
    lines += [
        f"error: {each.table}: {each.reason}" for each in found.copies if each.decision == "fail"
    ]
    lines += [f"error: {name}: {why}" for name, why in found.failed.items()]
    looked = counted(found.tables_checked, "table")
    return "\n".join([*lines, f"{looked} looked at, {found.tables_drifted} drifted"])


def _render_catalogue(found: GovernanceDrift) -> str:
    """What has changed in a catalogue since it was told."""
    lines = [f"gone: {each.said}" for each in found.missing]
    lines += [f"changed: {each.held.said}, was {each.applied.value}" for each in found.changed]
    lines += [f"foreign: {each.said}" for each in found.foreign]
    drifted = counted(len(lines), "difference")
    return "\n".join([f"catalogue {found.catalogue}", *lines, f"{drifted} from what was applied"])
