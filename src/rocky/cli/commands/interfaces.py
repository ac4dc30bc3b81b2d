"""`rocky publish` and `rocky imports`: the interfaces that projects build on."""

from pathlib import Path
from typing import Final

import click

from rocky.cli.console import ExitCode, write_report, write_text
from rocky.cli.groups import CommandGroup
from rocky.cli.options import RockyCommand, Settings
from rocky.diagnostics.render import counted
from rocky.operations.interfaces.imports import (
    Done,
    ImportReport,
    UpdateImportsReport,
    UpdateImportsRequest,
    update_imports,
)
from rocky.operations.interfaces.publish import (
    PublishedChange,
    PublishReport,
    PublishRequest,
    publish,
)

REPORTS: Final = {"publish": PublishReport, "imports update": UpdateImportsReport}


@click.command("publish", cls=RockyCommand)
@click.argument("selectors", nargs=-1, metavar="[SELECTOR]...")
@click.option(
    "--out",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Where to write it. Default: `out` of `[publish]`, else interface.json.",
)
@click.option("--check", is_flag=True, help="Write nothing; exit 1 if the file is not up to date.")
@click.pass_obj
def publish_command(
    settings: Settings, selectors: tuple[str, ...], out: Path | None, check: bool
) -> ExitCode:
    """Write the interface of the project's tables for others to build on.

    Without SELECTOR those of `models` in `[publish]`, else every model that has a table.
    """
    report = publish(settings.workspace, PublishRequest(selectors, out, check))
    if settings.json:
        write_report("publish", report)
    elif not settings.quiet or report.failed:
        write_text(render_publication(report))
    return ExitCode.FAILED if report.failed else ExitCode.OK


@click.group("imports", cls=CommandGroup)
def imports_command() -> None:
    """Fetch and accept what other projects publish."""


@imports_command.command("update", cls=RockyCommand)
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option("--check", is_flag=True, help="Write nothing; exit 1 if anything is not up to date.")
@click.option(
    "--fetch-only",
    is_flag=True,
    help="Fetch without accepting: `rocky compile` then reports what changed.",
)
@click.option("--write-pin", "pins", is_flag=True, help="Also pin what is accepted in rocky.toml.")
@click.pass_obj
def update(
    settings: Settings, names: tuple[str, ...], check: bool, fetch_only: bool, pins: bool
) -> ExitCode:
    """Fetch the interfaces of imports and accept them, all or those of NAME.

    Copies `path` to `snapshot` and `snapshot` to `baseline`, which `rocky compile` compares with.
    """
    request = UpdateImportsRequest(names, check, fetch_only, pins)
    report = update_imports(settings.workspace, request)
    if settings.json:
        write_report("imports update", report)
    elif not settings.quiet or check:
        write_text(render_imports(report))
    return ExitCode.FAILED if report.failed else ExitCode.OK


def render_publication(report: PublishReport) -> str:
    """What became of the file, and what in it is new."""
    done = "wrote"
    if report.up_to_date:
        done = "up to date:"
    elif report.check:
        done = "not up to date:" if report.existed else "there is no"
    lines = [f"{done} {report.path}"]
    lines += [f"  {_change_line(each)}" for each in report.changes]
    if report.failed:
        lines.append("run `rocky publish` and commit the file")
    else:
        parts = [counted(len(report.tables), "table")]
        parts += [f"{counted(len(report.reads), 'table')} read of others"] if report.reads else []
        lines.append(f"{', '.join(parts)}; interface {report.interface_hash}")
    return "".join(f"{line}\n" for line in lines)


def render_imports(report: UpdateImportsReport) -> str:
    """Each import: what it is, what changed and who reads it."""
    lines = [line for each in report.imports for line in _import_lines(each, report.done)]
    return "".join(f"{line}\n" for line in lines)


def _import_lines(each: ImportReport, done: Done) -> list[str]:
    state = "up to date"
    if each.stale:
        state = "not up to date" if done == "checked" else done
    tables = counted(each.tables, "table")
    lines = [f"{each.name}: {state}, {tables}; interface {each.interface_hash}"]
    if not each.stale:
        return lines
    for change in each.changes:
        readers = ", ".join(change.read_by)
        lines.append(f"  {_change_line(change)}" + (f"; read by {readers}" if readers else ""))
    if each.accepted_hash is None:
        lines.append("  nothing was accepted before")
    if done == "fetched" and each.baseline_stale:
        lines.append("  not accepted yet: `rocky compile` shows what it breaks")
    if each.pin_stale:
        lines.append(f'  the pin is another: pin = "{each.interface_hash}"')
    elif each.pin_rewritten:
        lines.append("  pinned in rocky.toml")
    return lines


def _change_line(change: PublishedChange) -> str:
    what = f"{change.table}.{change.column}" if change.column else change.table
    return f"{change.impact.value:<8}  {what}: {change.rule}{_sides(change)}"


def _sides(change: PublishedChange) -> str:
    if change.before is not None and change.after is not None:
        return f" ({change.before} -> {change.after})"
    shown = change.before or change.after
    return f" ({shown})" if shown else ""
