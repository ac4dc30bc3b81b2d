"""`rocky seal`: the heads of the ledger and of its tables, signed into a file."""

from pathlib import Path
from typing import Final

import click

from rocky.cli.console import ExitCode, write_line, write_report
from rocky.cli.options import Settings, StateCommand
from rocky.diagnostics.render import counted
from rocky.operations.proof.seal import SealReport, SealRequest, seal

REPORTS: Final = {"seal": SealReport}


@click.command("seal", cls=StateCommand)
@click.option("--key", metavar="KEY", help="An SSH key: a file, or the text of its public half.")
@click.option("--as", "principal", metavar="NAME", help="Who seals, if a key has several names.")
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Where to write it. Default: a file in `[evidence] seal_dir`.",
)
@click.pass_obj
def command(
    settings: Settings, key: str | None, principal: str | None, out: Path | None
) -> ExitCode:
    """Sign where the ledger and its tables are now, into a file to keep elsewhere.

    `rocky verify --sealed` proves later that what is there then goes on from it.
    """
    report = seal(settings.workspace, SealRequest(key, principal, out))
    if settings.json:
        write_report("seal", report)
    elif settings.quiet:
        write_line(report.path)
    else:
        write_line(_render(report))
    return ExitCode.OK


def _render(report: SealReport) -> str:
    whose = "" if report.branch is None else f" of branch `{report.branch}`"
    return "\n".join(
        [
            f"sealed   entry {report.seq:,}{whose} and {counted(report.tables, 'table')}",
            f"head     {report.entry_hash}",
            f"signed   {report.signer}, {report.key_fingerprint}",
            f"file     {report.path}",
            f"check    {report.verify_command}",
        ]
    )
