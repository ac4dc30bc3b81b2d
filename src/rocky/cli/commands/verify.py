"""`rocky verify`: the ledger against itself and against its tables. Needs no Spark."""

from pathlib import Path
from typing import Final

import click

from rocky.cli.console import ExitCode, write_line, write_report
from rocky.cli.options import Settings, StateCommand
from rocky.cli.render.tables import format_bytes
from rocky.diagnostics.render import counted
from rocky.operations.proof.verify import VerifiedCommit, VerifyReport, VerifyRequest, verify

REPORTS: Final = {"verify": VerifyReport}


@click.command(
    "verify",
    cls=StateCommand,
    examples=(
        ("rocky verify", "all runs and tables"),
        ("rocky verify latest", "what the latest run left"),
        ("rocky verify fct_revenue", "the table of a model"),
        ("rocky verify --sealed seals/", "also that it goes on from seals"),
        ("rocky verify --sealed seals/ --since seal", "only what came after the newest"),
    ),
)
@click.argument("what", metavar="[RUN|TABLE]", required=False)
@click.option("--all", "everything", is_flag=True, help="All runs and tables. The default.")
@click.option(
    "--sealed",
    metavar="FILE|DIR|git:REF[:PATH]",
    help="Also that they go on from these seals, which `rocky seal` made.",
)
@click.option(
    "--allowed-signers",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Who may seal. Default: the project's list; with `git:REF`, the one of that commit.",
)
@click.option(
    "--since",
    metavar="RUN|SEAL|DATE",
    help="Leave out what was recorded before: after a run, a seal by its name, the newest (`seal`)"
    " or from a date, time or age (7d) on. `seal` and names of seals need `--sealed`.",
)
@click.option("--head", metavar="HASH", help="Also that the chain of records has this entry.")
@click.pass_obj
def command(
    settings: Settings,
    what: str | None,
    everything: bool,
    sealed: str | None,
    allowed_signers: Path | None,
    head: str | None,
    since: str | None,
) -> ExitCode:
    """Check that records and tables are unchanged and agree.

    RUN is a run's id, the beginning of one or `latest`, TABLE a model or the full name of a table.
    Every hash is computed again; the chain of records is checked as a whole in any case, and so are
    seals. With `--since`, earlier records are compared with the chain and not judged, and files
    that they had are not read; after a seal, records that nothing rests on are not compared either.
    What was left out is said.
    """
    if everything and what is not None:
        raise click.UsageError(f"`--all` and `{what}` cannot be used together")
    report = verify(settings.workspace, VerifyRequest(what, sealed, head, allowed_signers, since))
    if settings.json:
        write_report("verify", report)
    else:
        write_line(render_verification(report, quiet=settings.quiet))
    return ExitCode.OK if report.verified else ExitCode.FAILED


def render_verification(report: VerifyReport, *, quiet: bool) -> str:
    """One line a finding, one a note, and what was checked."""
    lines = [f"{each.code}: {each.where}: {each.message}" for each in report.findings]
    if not quiet:
        lines += [f"note: {each}" for each in report.notes]
        lines += [] if report.sealed_in is None else [_describe_commit(report.sealed_in)]
        lines += [_summary(report)]
    return "\n".join(lines)


def _describe_commit(place: VerifiedCommit) -> str:
    ref = "" if place.ref is None else f" `{place.ref}`,"
    return f"note: the seals are of{ref} commit `{place.commit}`, in `{place.repository}`"


def _summary(report: VerifyReport) -> str:
    checked, scope = report.checked, report.scope
    verdict = "verified" if report.verified else counted(len(report.findings), "finding")
    what = "" if scope.name is None else f": {scope.kind} `{scope.name}`"
    parts = [
        counted(checked.records, "record"),
        f"{checked.entries:,} entries of the chain",
        f"{counted(checked.commits, 'commit')} of {counted(checked.tables, 'table')}",
        f"{counted(checked.files, 'file')} ({format_bytes(checked.bytes)})",
    ]
    if checked.collected:
        parts.append(f"{counted(checked.collected, 'file')} collected or erased since")
    if report.seals:
        newest = max(report.seals, key=lambda each: each.seq)
        parts.append(
            f"{counted(checked.seals, 'seal')}, the newest of entry {newest.seq:,} by"
            f" `{newest.signer}`"
        )
    return f"{verdict}{what}: {', '.join(parts)}"
