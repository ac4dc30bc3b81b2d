"""`rocky fmt`: the texts of models in their one layout."""

from pathlib import Path
from typing import Final

import click

from rocky.cli.console import ExitCode, write_line, write_note, write_report, write_text
from rocky.cli.options import RockyCommand, Settings
from rocky.diagnostics.render import counted
from rocky.operations.check.fmt import FmtReport, FmtRequest, fmt

REPORTS: Final = {"fmt": FmtReport}


@click.command(
    "fmt",
    cls=RockyCommand,
    examples=(
        ("rocky fmt", "every `.rocky` model of the project"),
        ("rocky fmt --check --diff", "what would change, and exit 1 if anything would"),
        ("rocky fmt models/marts --sql", "also the SQL in one folder"),
    ),
)
@click.argument("paths", nargs=-1, metavar="[PATH]...", type=click.Path(path_type=Path))
@click.option("--check", is_flag=True, help="Write nothing; exit 1 if a file would change.")
@click.option("--diff", is_flag=True, help="Write nothing; print what would change.")
@click.option("--sql", is_flag=True, help="Tidy SQL too: capitals, space and empty lines.")
@click.pass_obj
def command(
    settings: Settings, paths: tuple[Path, ...], check: bool, diff: bool, sql: bool
) -> ExitCode:
    """Lay out the `.rocky` models of the project, or the files and folders of PATH.

    Comments stay, and no fingerprint changes. SQL is left alone without `--sql`. A file that cannot
    be read or written is reported and left as it is; then the exit code is 1.
    """
    report = fmt(settings.workspace, FmtRequest(paths, check or diff, sql))
    left_alone = bool(report.unreadable or report.unwritable)
    failed = left_alone or (check and bool(report.changed))
    if settings.json:
        write_report("fmt", report)
        return ExitCode.FAILED if failed else ExitCode.OK
    for each in report.files:
        if each.error is not None:
            write_note(f"error: {each.error}")
        elif each.diff is not None and diff:
            write_text(each.diff)
        elif each.diff is not None and not settings.quiet:
            write_line(f"{'would change' if check else 'wrote'} {each.path}")
    if not settings.quiet and not diff:
        write_line(_summary(report, check=check))
    return ExitCode.FAILED if failed else ExitCode.OK


def _summary(report: FmtReport, *, check: bool) -> str:
    if not report.files:
        return "no `.rocky` files: `--sql` looks at those in SQL"
    looked = counted(len(report.files), "file")
    changed = len(report.changed)
    done = "to be laid out" if check else "laid out anew"
    broken = f", {len(report.unreadable)} unreadable" if report.unreadable else ""
    broken += f", {len(report.unwritable)} unwritable" if report.unwritable else ""
    return f"{looked}, {changed} {done}{broken}" if changed or broken else f"{looked}, all as it is"
