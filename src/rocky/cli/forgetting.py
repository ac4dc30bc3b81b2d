"""Forgetting some of the state: a watermark, or runs that are old and vouch for nothing."""

from collections.abc import Sequence
from datetime import UTC, datetime

from rocky.cli.console import write_json, write_line, write_note
from rocky.cli.exit_codes import ExitCode
from rocky.cli.options import Settings
from rocky.cli.render.sweep import render_sweep, sweep_document
from rocky.evidence.retention.sweep import preview_sweep, remove_watermark, sweep_ledger
from rocky.operations.state_change import change_state, load_sound_project
from rocky.operations.warehouses import warehouses_of
from rocky.operations.workspace import refresh_state, state_path


def delete_watermark(settings: Settings, table: str) -> ExitCode:
    """`rocky state delete`."""
    mark, warnings = change_state(
        settings.workspace, [table], lambda ledger: remove_watermark(ledger, table)
    )
    if settings.json:
        deleted = mark.to_json()
        write_json("state delete", {"deleted": deleted, "warnings": list(warnings)})
    elif not settings.quiet:
        write_line(f"deleted the watermark of `{mark.table}`, which was {mark.last_value}")
        write_line("its next run copies everything, and replaces the table when that is done")
    _warn(warnings, settings)
    return ExitCode.OK


def sweep_state(settings: Settings, dry_run: bool) -> ExitCode:
    """`rocky state retention sweep`."""
    project = load_sound_project(settings.workspace, "forgotten")
    rules = project.config.state.retention
    warehouses, now = warehouses_of(settings.workspace, project), datetime.now(UTC)
    warnings: tuple[str, ...] = ()
    if dry_run:
        refresh_state(settings.workspace, state_path(settings.workspace))
        report = preview_sweep(state_path(settings.workspace), warehouses, rules, now)
    else:
        report, warnings = change_state(
            settings.workspace, (), lambda ledger: sweep_ledger(ledger, warehouses, rules, now)
        )
    if settings.json:
        document = sweep_document(report, rules)
        write_json("state retention sweep", {**document, "warnings": list(warnings)})
    elif not settings.quiet:
        write_line(render_sweep(report, rules))
    _warn(warnings, settings)
    return ExitCode.OK


def _warn(warnings: Sequence[str], settings: Settings) -> None:
    if not settings.json:
        for each in warnings:
            write_note(f"warning: {each}")
