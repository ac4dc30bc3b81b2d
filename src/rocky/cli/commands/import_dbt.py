"""`rocky import-dbt`: a dbt project as a project of Rocky's."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import click

from rocky.cli.console import ExitCode, write_line, write_report
from rocky.cli.options import ProjectlessCommand, Settings
from rocky.diagnostics.render import counted
from rocky.operations.migration.import_dbt import (
    ImportCounts,
    ImportDbtReport,
    ImportDbtRequest,
    ImportedThing,
    import_dbt,
)

REPORTS: Final = {"import-dbt": ImportDbtReport}
_READ_BY: Final = {
    "manifest": "by the manifest of the last `dbt compile`",
    "dbt": "by the installed dbt",
    "files": "by its files alone",
}
_MOST_NOTES: Final = 40


@click.command(
    "import-dbt",
    cls=ProjectlessCommand,
    examples=(
        ("rocky import-dbt shop", "writes `shop-rocky` beside it"),
        ("rocky import-dbt shop --to moved -o json", "another folder; what became of each thing"),
    ),
)
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path))
@click.option(
    "--to",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="FOLDER",
    help="A new or empty folder for the project. Default: `FOLDER-rocky`, beside the other.",
)
@click.option(
    "--manifest",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="The manifest to read. Default: `target/manifest.json` of the dbt project.",
)
@click.option("--no-dbt", is_flag=True, help="Without a manifest, read the files and start no dbt.")
@click.pass_obj
def command(
    settings: Settings, folder: Path, to: Path | None, manifest: Path | None, no_dbt: bool
) -> ExitCode:
    """Write the dbt project in FOLDER as a project of Rocky's.

    The dbt project is not changed and nothing of it is run. What could not be taken over as it is
    is listed with its place.
    """
    request = ImportDbtRequest(folder, to, manifest, use_dbt=not no_dbt)
    report = import_dbt(request, os.environ)
    if settings.json:
        write_report("import-dbt", report)
        return ExitCode.OK
    for line in render_import(report, notes=not settings.quiet):
        write_line(line)
    return ExitCode.OK


def render_import(report: ImportDbtReport, *, notes: bool = True) -> Iterator[str]:
    """What was taken over, what needs a hand, what was changed, and what to do next."""
    hands = [each for each in report.things if each.verdict == "needs_hand"]
    for each in hands:
        yield from _lines(each, "needs a hand")
    if notes:
        # What needs a hand in one place may have been rewritten in another.
        changed = [each for each in report.things if each.verdict != "as_is"]
        lines = [line for each in changed for line in _lines(each, "rewritten")]
        yield from lines[:_MOST_NOTES]
        if len(lines) > _MOST_NOTES:
            yield f"... and {len(lines) - _MOST_NOTES} more: `-o json` has all"
        for said in report.remarks:
            yield f"note: {said}"
        yield ""
    yield f"`{report.project}` was read {_READ_BY[report.read_by]} and written to {report.folder}"
    for count in report.counts:
        yield f"  {_count(count)}"
    errors = "no errors" if not report.errors else counted(report.errors, "error")
    yield f"{report.clean} of {counted(report.models, 'model')} compile: {errors}"
    if notes:
        yield f"next: cd {report.folder} && rocky compile"


def _count(count: ImportCounts) -> str:
    parts = {
        "as written": count.as_is,
        "rewritten": count.rewritten,
        "by hand": count.needs_hand,
    }
    said = ", ".join(f"{number} {how}" for how, number in parts.items() if number)
    return f"{counted(sum(parts.values()), count.kind.replace('_', ' '))}: {said}"


def _lines(thing: ImportedThing, verdict: str) -> Iterator[str]:
    for remark in thing.remarks:
        if remark.needs_hand != (verdict == "needs a hand"):
            continue
        at = thing.file if remark.line is None else f"{thing.file}:{remark.line}"
        yield f"{verdict}: {thing.kind.replace('_', ' ')} `{thing.name}`: {remark.text} ({at})"
