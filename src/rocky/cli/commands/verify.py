"""`rocky verify`: the ledger against itself and against its tables. Needs no Spark."""

import click

from rocky.cli.console import write_json, write_line
from rocky.cli.exit_codes import ExitCode
from rocky.cli.options import Settings, StateCommand
from rocky.cli.render.evidence import render_verification, verification_document
from rocky.diagnostics.suggestion import suggestion
from rocky.errors import LedgerUnreadable, NothingSelected
from rocky.evidence.verification import EVERYTHING, Verification, VerificationScope, verify_ledger
from rocky.ledger import LATEST, EvidenceReader
from rocky.operations.warehouses import lost_ledger, recorded_warehouses
from rocky.operations.workspace import refresh_state, state_path


@click.command("verify", cls=StateCommand)
@click.argument("what", metavar="[RUN|TABLE]", required=False)
@click.option("--all", "everything", is_flag=True, help="All runs and tables. The default.")
@click.pass_obj
def command(settings: Settings, what: str | None, everything: bool) -> ExitCode:
    """Check what is recorded against itself and the tables.

    RUN is a run's id or `latest`, TABLE a model or the full name of a table. Every hash is computed
    again; the chain of records is checked as a whole in any case.
    """
    if everything and what is not None:
        raise click.UsageError(f"`--all` or `{what}`: leave one of them out")
    scope, found = verify_chosen(settings, what)
    if settings.json:
        write_json("verify", verification_document(scope, found))
    else:
        write_line(render_verification(scope, found, quiet=settings.quiet))
    return ExitCode.FAILED if found.findings else ExitCode.OK


def verify_chosen(settings: Settings, what: str | None) -> tuple[VerificationScope, Verification]:
    """What was asked for, and what came of it. Raises NothingSelected."""

    def choose(reader: EvidenceReader) -> VerificationScope:
        return EVERYTHING if what is None else find_scope(reader, what)

    refresh_state(settings.workspace, state_path(settings.workspace))
    found = verify_ledger(
        state_path(settings.workspace), recorded_warehouses(settings.workspace), choose
    )
    if found is not None:
        return found
    lost = lost_ledger(settings.workspace)
    if lost is not None:
        raise LedgerUnreadable(
            f"the tables were made under the ledger `{lost}`, and"
            f" `{state_path(settings.workspace)}` is not there or empty: put it back, or"
            " name it with `--state-path`"
        )
    raise NothingSelected("no run is recorded yet; `rocky run` makes the first")


def find_scope(reader: EvidenceReader, what: str) -> VerificationScope:
    """The run, model or table that a word names. Raises NothingSelected."""
    runs = [key for key, _ in reader.rows("run_history")]
    if what == LATEST and runs:
        return VerificationScope(run_id=runs[-1])
    if what in runs:
        return VerificationScope(run_id=what)
    wanted = what.replace("`", "").lower()
    names: dict[str, str] = {}
    for _, execution in reader.all_executions():
        if execution.target is not None:
            names[execution.model_name.lower()] = execution.target
            names[execution.target.lower()] = execution.target
    if wanted in names:
        return VerificationScope(target=names[wanted])
    hint = suggestion(what, [*runs, *names]) or "`rocky history` lists the runs"
    raise NothingSelected(f"no run, model or table `{what}` is recorded; {hint}")
