"""One run as `rocky history RUN` tells it: who ran what, how it went, what failed where."""

from typing import Final

from rocky.cli.render.history import (
    audited_run,
    describe_outcome,
    describe_run,
    describe_unchanged,
    describe_work,
    render_audit,
)
from rocky.cli.render.promotion import render_moves
from rocky.cli.render.tables import Room, format_count, format_duration, render_fitted
from rocky.ledger.branch_records import PROMOTED, PromotionRecord
from rocky.ledger.run_records import RunRecord, RunStatus
from rocky.operations.records.history import FailedModel, RunAccount
from rocky.operations.records.outcome_words import HELD_BACK

_SHORT_COMMIT: Final = 12


def render_account(account: RunAccount, width: int | None = None) -> str:
    """Who ran which code, what became of each model, then what went wrong, a line each.

    With an audit the first lines are a block. Tables fit a terminal of that `width`.
    """
    run = account.run.record
    if account.run.audit is not None:
        lines = [render_audit([audited_run(run)]), ""]
    else:
        lines = [describe_run(run), _describe_origin(account), describe_work(run), ""]
    if account.promotion is not None:
        lines += [*_render_promotion(account.promotion), ""]
    elif run.models_executed:
        lines += [_render_models(run, width), ""]
    told = [
        *([describe_unchanged(run.unchanged_since)] if run.unchanged_since else []),
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


def _describe_origin(account: RunAccount) -> str:
    """As `by ann@example.com, from commit 1a2b3c4d5e6f and changes after it, on branch fix`."""
    said = [f"by {account.by or 'nobody that is recorded'}"]
    if account.git_commit is None:
        said.append("from no recorded commit")
    else:
        dirty = " and changes after it" if account.git_dirty else ""
        said.append(f"from commit {account.git_commit[:_SHORT_COMMIT]}{dirty}")
    if account.branch is not None:
        said.append(f"on branch `{account.branch}`")
    return ", ".join(said)


def _render_models(run: RunRecord, width: int | None) -> str:
    rows = [
        (
            each.model_name,
            describe_outcome(each),
            format_count(each.rows_affected),
            format_duration(each.duration_ms),
        )
        for each in run.models_executed
    ]
    head = ("MODEL", "OUTCOME", "ROWS", "TOOK")
    return render_fitted(head, rows, {2, 3}, Room(width, ("ROWS",))).text


def _render_promotion(promotion: PromotionRecord) -> list[str]:
    """What was moved, because of which branch or which promotion, and who approved it."""
    if promotion.kind == PROMOTED:
        first = f"promoted branch `{promotion.branch}`"
    elif promotion.reverts is not None:
        first = f"took back {promotion.reverts}, the promotion of branch `{promotion.branch}`"
    else:
        first = f"moved nothing in the end, of branch `{promotion.branch}`"
    lines = [first if promotion.reason is None else f"{first}: {promotion.reason}"]
    if promotion.approvers:
        lines.append(f"approved by {', '.join(promotion.approvers)}")
    return [*lines, *(render_moves(promotion) if promotion.tables else ())]


def _describe_failure(failed: FailedModel) -> str:
    tries = f" (after {failed.attempts} attempts)" if failed.attempts > 1 else ""
    return f"error: {failed.model_name}: {failed.error}{tries}"


def _describe_checks(account: RunAccount) -> list[str]:
    if not account.run.check_outcomes and not account.run.anomalies:
        return []
    # Only pipelines and tests have any; who asks about others does not wait for it.
    from rocky.cli.render.checks import render_checks  # noqa: PLC0415

    return [render_checks(account.run.check_outcomes, account.run.anomalies)]
