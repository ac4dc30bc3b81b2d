"""`rocky branch promote`, `revert` and `recover`: production moved, all tables or none."""

from typing import Final

import click

from rocky.cli.console import ExitCode, write_line, write_report
from rocky.cli.options import BranchCommand, Settings
from rocky.cli.render.promotion import render_moves
from rocky.diagnostics.render import counted
from rocky.ledger.branch_records import PROMOTED, PromotionRecord
from rocky.operations.branch.promotion import (
    ForgottenReport,
    PromoteRequest,
    PromotionReport,
    RecoveredReport,
    RecoverRequest,
    RecoveryReport,
    RevertRequest,
    promote,
    recover,
    revert,
)

REPORTS: Final = {
    "branch promote": PromotionReport,
    "branch revert": PromotionReport,
    "branch recover": RecoveryReport | ForgottenReport,
}


@click.command("promote", cls=BranchCommand)
@click.argument("name")
@click.option(
    "--allow-breaking", is_flag=True, help="Promote even if readers break; the reason is signed."
)
@click.option("-m", "--message", metavar="TEXT", help="The reason; `--allow-breaking` signs it.")
@click.option(
    "--key", metavar="FILE", help="The key to sign with; for a public key, the SSH agent signs."
)
@click.option("--as", "principal", metavar="NAME", help="The name in `allowed_signers` to sign as.")
@click.pass_obj
def promote_command(
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
    request = PromoteRequest(name, allow_breaking, message, key, principal)
    _show_promotion(settings, "branch promote", promote(settings.workspace, request))
    return ExitCode.OK


@click.command("revert", cls=BranchCommand)
@click.argument("promotion")
@click.option(
    "--discard-later",
    is_flag=True,
    help="Revert even tables that runs have changed since; what those built must be built again.",
)
@click.option("-m", "--message", metavar="TEXT", help="The reason.")
@click.option("--target", metavar="ADAPTER", help="The tables of `[adapter.ADAPTER]`.")
@click.pass_obj
def revert_command(
    settings: Settings,
    promotion: str,
    discard_later: bool,
    message: str | None,
    target: str | None,
) -> ExitCode:
    """Move production back to before a promotion.

    PROMOTION is the id of a promotion, or the name of a branch for its newest one. A revert can
    be reverted too, by its own id.
    """
    request = RevertRequest(promotion, discard_later, message, target)
    _show_promotion(settings, "branch revert", revert(settings.workspace, request))
    return ExitCode.OK


def _show_promotion(settings: Settings, command: str, report: PromotionReport) -> None:
    if settings.json:
        write_report(command, report)
    else:
        write_line(_render_promotion(report.promotion))


def _render_promotion(promotion: PromotionRecord) -> str:
    """What was moved, from which version to which, on whose approval."""
    lines = render_moves(promotion)
    is_promotion = promotion.kind == PROMOTED
    verb = "promoted" if is_promotion else "moved back"
    lines.append(f"{counted(len(promotion.tables), 'table')} {verb} as {promotion.run_id}")
    if promotion.approvers:
        lines.append(f"approved by {', '.join(promotion.approvers)}")
    if is_promotion:
        lines.append(f"to go back: rocky branch revert {promotion.run_id}")
    else:
        lines.append(
            "the code stays as it is: take the change back in git too; until then runs hold what"
            " was moved back, and `rocky run --force` does not"
        )
        lines.append(f"to undo it: rocky branch revert {promotion.run_id}")
    return "\n".join(lines)


@click.command("recover", cls=BranchCommand)
@click.option("--forget", metavar="RUN", help="Give up this promotion, whose state file is lost.")
@click.option("--target", metavar="ADAPTER", help="The tables of `[adapter.ADAPTER]`.")
@click.pass_obj
def recover_command(settings: Settings, forget: str | None, target: str | None) -> ExitCode:
    """Finish or undo a promotion that was interrupted.

    Exit 1 when it had to be undone.
    """
    report = recover(settings.workspace, RecoverRequest(forget, target))
    if settings.json:
        write_report("branch recover", report)
    elif isinstance(report, ForgottenReport):
        write_line(_render_forgotten(report))
    else:
        lines = [_describe_recovered(each) for each in report.recovered]
        write_line("\n".join(lines) or "nothing was interrupted")
    undone = isinstance(report, RecoveryReport) and report.has_undone
    return ExitCode.FAILED if undone else ExitCode.OK


def _describe_recovered(found: RecoveredReport) -> str:
    said = f"{found.promotion} of branch {found.branch}: "
    if found.outcome == "undone":
        return f"{said}undone, {found.reason}"
    return f"{said}finished" + (f" by {found.recorded_as}" if found.recorded_as else "")


def _render_forgotten(report: ForgottenReport) -> str:
    """Which tables an interrupted promotion had moved when it was given up."""
    lines = [
        f"{target}: {'moved' if has_moved else 'not moved'}"
        for target, has_moved in report.tables_moved.items()
    ]
    return "\n".join([*lines, f"{report.forgotten} is forgotten; the tables are as they are"])
