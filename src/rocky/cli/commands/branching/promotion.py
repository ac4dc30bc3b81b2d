"""`rocky branch promote`, `revert` and `recover`: production moved, all tables or none.

Needs no Spark: nothing is built, tables get content that is there.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime

import click

from rocky.branches.approvals.signatures import sign_statement
from rocky.branches.approvals.statements import Kind
from rocky.branches.approvals.validity import check_approvals
from rocky.branches.promotion.gate import (
    find_other_inputs,
    judge_change,
    refuse_branch,
    refuse_breaking,
    refuse_moved_inputs,
    refuse_unapproved,
    refuse_unverified,
)
from rocky.branches.promotion.journal import forget_promotion
from rocky.branches.promotion.promotion import (
    PROMOTED,
    BranchHistory,
    load_branch_history,
    promote_tables,
    refuse_empty_promotion,
    tables_to_promote,
)
from rocky.branches.promotion.revert import REVERTED, find_promotion, revert_tables
from rocky.branches.tables import BranchTable
from rocky.cli.console import write_json, write_line, write_note
from rocky.cli.exit_codes import ExitCode
from rocky.cli.options import BranchCommand, Settings
from rocky.cli.render.promotions import (
    promotion_document,
    recovered_document,
    render_forgotten,
    render_promotion,
    render_recovered,
)
from rocky.ledger.branch_records import ApprovalRecord
from rocky.operations.branch.change import OpenChange, choose_signer, keygen_of, open_change
from rocky.operations.branch.lookup import refreshed_state
from rocky.operations.branch.production import draft_promotion, open_production, recover_and_tell
from rocky.operations.state_change import load_sound_project
from rocky.operations.warehouses import recorded_warehouses_of
from rocky.operations.workspace import main_state_path
from rocky.plan.adapters import main_adapter
from rocky.project.project import branch_state


@click.command("promote", cls=BranchCommand)
@click.argument("name")
@click.option("--allow-breaking", is_flag=True, help="Although readers break; signs the reason.")
@click.option("-m", "--message", metavar="TEXT", help="Why; with `--allow-breaking` it is signed.")
@click.option("--key", metavar="FILE", help="The key to sign with; a public one asks an agent.")
@click.option("--as", "principal", metavar="NAME", help="The name in `allowed_signers` to sign by.")
@click.pass_obj
def promote(
    settings: Settings,
    name: str,
    allow_breaking: bool,
    message: str | None,
    key: str | None,
    principal: str | None,
) -> ExitCode:
    """Move production to a branch's tables, all or none.

    Nothing is built: the tables get the content that was approved. Refused when approvals are
    missing or void, when the change breaks readers, and when production has changed meanwhile.
    """
    if not allow_breaking and (key is not None or principal is not None):
        raise click.UsageError("`--key` and `--as` are for `--allow-breaking`, which signs")
    now, keygen = datetime.now(UTC), keygen_of(settings.workspace)
    with open_change(settings.workspace, name, now) as change:
        question = change.question
        for warning in question.policy.warnings:
            write_note(f"warning: {warning}")
        refuse_branch(change.view, change.unready)
        tables = tables_to_promote(change.view)
        refuse_empty_promotion(change.view, tables)
        checked = check_approvals(change.root, question, keygen)
        refuse_unapproved(checked, question)
        made = _rely_on(settings, change, tables)
        verdict = judge_change(change.diff, change.view)
        allowed: tuple[ApprovalRecord, ...] = ()
        if allow_breaking and verdict.is_breaking:
            signer = choose_signer(settings.workspace, change, key, principal, message)
            signed = sign_statement(Kind.ALLOW_BREAKING, question, signer, change.root, keygen)
            allowed = (signed.record,)
        refuse_breaking(verdict, allowed)
        project = change.compilation.project
        with open_production(settings.workspace, project, change.record.adapter) as opened:
            recover_and_tell(settings.workspace, opened, now)
            draft = replace(
                draft_promotion(
                    settings.workspace, opened, PROMOTED, change.record.name, now, message
                ),
                state_hash=question.state.hash,
                verdict=verdict.impact,
                breaking=verdict.breaking,
                base_commit=question.base_commit,
                policy=question.policy.to_json(),
                approvals=(*checked.accepted, *allowed),
                left=_left(change),
            )
            promotion = promote_tables(opened, change.view, made, draft)
    if settings.json:
        write_json("branch promote", promotion_document(promotion, checked.rejected))
    else:
        write_line(render_promotion(promotion))
    return ExitCode.OK


def _rely_on(
    settings: Settings, change: OpenChange, tables: Sequence[BranchTable]
) -> BranchHistory:
    """What is recorded of the branch, when it holds. Raises PromotionRefused."""
    project, record = change.compilation.project, change.record
    # Fetched already, when the branch was judged.
    state = branch_state(main_state_path(settings.workspace), record.name)
    conf = main_adapter(project, record.adapter)[1].conf
    reopen = recorded_warehouses_of(settings.workspace, project, [change.view.warehouse], conf)
    refuse_unverified(change.view, tables, state, reopen)
    made = load_branch_history(state)
    refuse_moved_inputs(record.name, find_other_inputs(change.view, tables, made.tables))
    return made


def _left(change: OpenChange) -> dict[str, str]:
    """Tables that only production has changed: they stay as production has them."""
    return {
        each.target: "changed in production since the branch was made; it stays as it is"
        for each in change.view.tables.values()
        if each.has_moved and not each.is_changed
    }


@click.command("revert", cls=BranchCommand)
@click.argument("promotion")
@click.option(
    "--discard-later",
    is_flag=True,
    help="Also where runs have changed tables since: what they made has to be made again.",
)
@click.option("-m", "--message", metavar="TEXT", help="Why.")
@click.option("--target", metavar="ADAPTER", help="The tables of `[adapter.ADAPTER]`.")
@click.pass_obj
def revert(
    settings: Settings,
    promotion: str,
    discard_later: bool,
    message: str | None,
    target: str | None,
) -> ExitCode:
    """Move production back to before a promotion.

    PROMOTION is its id, or the name of a branch: then its newest. A revert can be reverted too, by
    its own id.
    """
    project = load_sound_project(settings.workspace, "reverted")
    refreshed_state(settings.workspace)
    now = datetime.now(UTC)
    with open_production(settings.workspace, project, main_adapter(project, target)[0]) as opened:
        # First: one that was interrupted is known only when it is finished.
        recover_and_tell(settings.workspace, opened, now)
        found = find_promotion(opened.surroundings.ledger.path, promotion)
        draft = draft_promotion(settings.workspace, opened, REVERTED, found.branch, now, message)
        record = revert_tables(opened, found, draft, discard_later=discard_later)
    if settings.json:
        write_json("branch revert", promotion_document(record, ()))
    else:
        write_line(render_promotion(record))
    return ExitCode.OK


@click.command("recover", cls=BranchCommand)
@click.option("--forget", metavar="RUN", help="Give up one whose state file is lost.")
@click.option("--target", metavar="ADAPTER", help="The tables of `[adapter.ADAPTER]`.")
@click.pass_obj
def recover(settings: Settings, forget: str | None, target: str | None) -> ExitCode:
    """Finish or undo a promotion that was interrupted.

    Exit 1 when it had to be undone.
    """
    project = load_sound_project(settings.workspace, "recovered")
    with open_production(settings.workspace, project, main_adapter(project, target)[0]) as opened:
        if forget is not None:
            moved = forget_promotion(opened, forget)
            if settings.json:
                write_json("branch recover", {"forgotten": forget, "tables_moved": moved})
            else:
                write_line(render_forgotten(forget, moved))
            return ExitCode.OK
        found = recover_and_tell(settings.workspace, opened, datetime.now(UTC))
    if settings.json:
        write_json("branch recover", recovered_document(found))
    else:
        write_line(render_recovered(found))
    undone = any(each.undone is not None for each in found)
    return ExitCode.FAILED if undone else ExitCode.OK
