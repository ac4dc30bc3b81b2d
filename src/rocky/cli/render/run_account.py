"""One run as `rocky history RUN` tells it: how it went, what failed where, what that held back."""

from rocky.cli.render.history import (
    audited_run,
    describe_run,
    describe_work,
    render_audit,
)
from rocky.cli.render.outcomes import HELD_BACK
from rocky.ledger.run_records import RunStatus
from rocky.operations.history import FailedModel, RunAccount


def render_account(account: RunAccount) -> str:
    """The run in a line or, with an audit, a block; then what went wrong, a line each."""
    run = account.run.record
    if account.run.audit is not None:
        lines = [render_audit([audited_run(run)]), ""]
    else:
        lines = [describe_run(run), describe_work(run), ""]
    told = [
        *([f"error: {account.reason}"] if account.reason else []),
        *(f"error: {name}: {why}" for name, why in run.failed_sources.items()),
        *(_describe_failure(each) for each in account.failed),
        *(f"interrupted: {each}" for each in account.interrupted),
        *(
            f"{HELD_BACK}: {each.model_name} {each.reason or ''}".rstrip()
            for each in account.held_back
        ),
        *_describe_checks(account),
        *(
            f"over budget: {each.model_name or 'the run'}: `{each.limit_type}` ="
            f" {each.limit:g}, {each.actual:g} was used"
            for each in run.budget_breaches
        ),
    ]
    if account.log is not None:
        told.append(f"log: {account.log} (`rocky logs {run.run_id}` shows it)")
    goes_on = run.status is RunStatus.RUNNING and not run.died
    return "\n".join(
        [*lines, *(told or ["nothing has failed yet" if goes_on else "nothing failed"])]
    )


def _describe_failure(failed: FailedModel) -> str:
    tries = f" (after {failed.attempts} attempts)" if failed.attempts > 1 else ""
    return f"error: {failed.model_name}: {failed.error}{tries}"


def _describe_checks(account: RunAccount) -> list[str]:
    failed = [each for each in account.run.check_outcomes if not each.passed]
    if not failed and not account.run.anomalies:
        return []
    # Only pipelines and tests have any; who asks about others does not wait for it.
    from rocky.cli.render.checks import render_checks  # noqa: PLC0415

    return [render_checks(account.run.check_outcomes, account.run.anomalies)]
