"""`rocky validate-migration`: rows of models beside those that dbt has built."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

import click

from rocky.cli.console import ExitCode, write_line, write_report
from rocky.cli.dbt_words import SELECTOR
from rocky.cli.options import RockyCommand, Settings
from rocky.cli.start_notes import note_start
from rocky.diagnostics.render import counted
from rocky.operations.migration.validate_migration import (
    ModelComparison,
    ValidateMigrationReport,
    ValidateMigrationRequest,
    validate_migration,
)

REPORTS: Final = {"validate-migration": ValidateMigrationReport}


class MigrationCommand(RockyCommand):
    """With `--build` it runs models, and so keeps state."""

    uses_state = True


@click.command(
    "validate-migration",
    cls=MigrationCommand,
    examples=(
        ("rocky validate-migration ../shop", "every table that dbt has built, by its name"),
        (
            "rocky validate-migration ../shop --tables ../shop/spark-warehouse --build",
            "tables in a folder; run the models first",
        ),
    ),
)
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path))
@click.argument("selectors", nargs=-1, metavar=f"[{SELECTOR}]...")
@click.option(
    "--manifest",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="The manifest that names dbt's tables. Default: `target/manifest.json` in FOLDER.",
)
@click.option(
    "--tables",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="FOLDER",
    help="Read dbt's tables from the folders `SCHEMA.db/TABLE` in here, not by their names.",
)
@click.option("--build", is_flag=True, help="Run the models before they are compared.")
@click.option(
    "--sample",
    type=click.IntRange(min=0),
    default=3,
    metavar="N",
    help="Show at most N rows that only one side has. Default: 3.",
)
@click.option("--target", metavar="ADAPTER", help="Use the Spark of `[adapter.ADAPTER]`.")
@click.pass_obj
def command(  # noqa: PLR0913 - one parameter an option
    settings: Settings,
    folder: Path,
    selectors: tuple[str, ...],
    manifest: Path | None,
    tables: Path | None,
    build: bool,
    sample: int,
    target: str | None,
) -> ExitCode:
    """Compare the rows of models with the tables that dbt has built.

    FOLDER is that of the dbt project. Exits 1 when rows differ, or when nothing could be compared.
    """
    request = ValidateMigrationRequest(folder, selectors, manifest, tables, build, sample, target)
    with note_start(settings) as workspace:
        report = validate_migration(workspace, request)
    if settings.json:
        write_report("validate-migration", report)
    else:
        for line in render_comparison(report, quiet=settings.quiet):
            write_line(line)
    return ExitCode.OK if report.agrees else ExitCode.FAILED


def render_comparison(report: ValidateMigrationReport, *, quiet: bool = False) -> Iterator[str]:
    """A line for each model, and below those that differ how."""
    for each in report.models:
        if each.outcome == "same":
            if not quiet:
                yield f"same     {each.model}: {counted(each.rows_rocky or 0, 'row')}{_types(each)}"
        elif each.outcome == "differs":
            yield from _difference(each)
        else:
            yield f"skipped  {each.model}: {each.reason}"
    yield (
        f"{counted(report.same, 'model')} with the same rows, {report.differ} that differ,"
        f" {report.not_compared} not compared"
    )


def _difference(each: ModelComparison) -> Iterator[str]:
    yield (
        f"DIFFERS  {each.model}: {counted(each.rows_dbt or 0, 'row')} of dbt,"
        f" {counted(each.rows_rocky or 0, 'row')} of Rocky; {each.only_dbt} only in dbt,"
        f" {each.only_rocky} only in Rocky"
    )
    for column in each.columns:
        before, after = column.dbt or "not there", column.rocky or "not there"
        yield f"           {column.column}: {before} -> {after}"
    for mark, rows in (("-", each.sample_dbt), ("+", each.sample_rocky)):
        for row in rows:
            yield f"         {mark} {_row(row)}"


def _types(each: ModelComparison) -> str:
    said = ", ".join(f"{one.column} {one.dbt} -> {one.rocky}" for one in each.columns)
    return f" (other types: {said})" if said else ""


def _row(row: Mapping[str, str | None]) -> str:
    return ", ".join(f"{name}={'null' if cell is None else cell}" for name, cell in row.items())
