"""`rocky branch approve` and `rocky branch approvals`: signed statements, made and judged.

Names and details are safe to print: they are checked, or escaped, where statements are read.
"""

from collections.abc import Iterator
from typing import Any, Final

import click

from rocky.analysis.changes.change import Impact, ProjectDiff
from rocky.branches.approvals.policy import AUTHOR_UNPROVEN
from rocky.branches.approvals.readiness import Candidate
from rocky.branches.state_hash import BranchState
from rocky.cli.console import ExitCode, write_line, write_report
from rocky.cli.options import BranchCommand, Settings
from rocky.cli.render.tables import render_table
from rocky.diagnostics.render import counted
from rocky.operations.branch.approve import (
    ApprovalReport,
    ApprovalsReport,
    ApprovalsRequest,
    ApproveRequest,
    approvals,
    approve,
)

REPORTS: Final = {"branch approve": ApprovalReport, "branch approvals": ApprovalsReport}
_BREAKING_SHOWN: Final = 20


@click.command("approve", cls=BranchCommand)
@click.argument("name")
@click.option("-m", "--message", metavar="TEXT", help="A message, signed with the approval.")
@click.option(
    "--key", metavar="FILE", help="The key to sign with; for a public key, the SSH agent signs."
)
@click.option("--as", "principal", metavar="NAME", help="The name in `allowed_signers` to sign as.")
@click.pass_obj
def approve_command(
    settings: Settings, name: str, message: str | None, key: str | None, principal: str | None
) -> ExitCode:
    """Sign that a branch may be promoted.

    What is signed is the state of its code, settings, contracts and tables, and what the change
    breaks: when any of it changes, the approval is void.
    """
    request = ApproveRequest(name, message, key, principal)
    if settings.json:
        write_report("branch approve", approve(settings.workspace, request))
    elif settings.quiet:
        approve(settings.workspace, request)
    else:
        # Shown before a passphrase is asked for: nobody signs what they have not seen.
        write_line(_render_signed(approve(settings.workspace, request, _show_subject)))
    return ExitCode.OK


def _show_subject(candidate: Candidate) -> None:
    """What is about to be approved."""
    state = candidate.question.state
    lines = [f"verdict  {_describe_verdict(state)}"]
    breaking = list(_breaking(candidate.diff))
    lines += [f"breaks   {each}" for each in breaking[:_BREAKING_SHOWN]]
    if len(breaking) > _BREAKING_SHOWN:
        lines.append(f"breaks   and {len(breaking) - _BREAKING_SHOWN} more: `rocky ci-diff`")
    for target, table in state.document["tables"].items():
        lines.append(f"table    {target}  {_describe_table(table)}")
    if not state.document["tables"]:
        lines.append("table    none differs from what the branch was made of")
    write_line("\n".join(lines))


def _describe_verdict(state: BranchState) -> str:
    """The verdict in words: the worst impact, and how many there are of each."""
    counts = state.document["verdict"].get("counts", {})
    uncompared = state.document["verdict"].get("uncompared", ())
    if state.verdict == "unknown" and not uncompared:
        return "unknown: there is no commit to compare with"
    if not counts and not uncompared:
        return "no change of the code"
    listed = ", ".join(f"{counts[each.value]} {each.value}" for each in Impact if each in counts)
    if uncompared:
        rest = f"{counted(len(uncompared), 'model')} not compared: `rocky ci-diff` says why"
        listed = f"{listed}, {rest}" if listed else rest
    return f"{state.verdict} ({listed})"


def _breaking(diff: ProjectDiff | None) -> Iterator[str]:
    for table, change in diff.changes if diff is not None else ():
        if change.impact is Impact.BREAKING:
            where = [each for each in (table.name if table else None, change.column) if each]
            yield f"{change.rule} {'.'.join(where)}".strip()


def _describe_table(table: dict[str, Any]) -> str:
    if "content" not in table:
        return "removed"
    made = f"made of version {table['base_version']}" if "base_version" in table else "new"
    return f"{counted(table['rows'], 'row')}, {made}, {table['content'][:12]}"


def _render_signed(report: ApprovalReport) -> str:
    """What was signed, where it is, and how anybody checks it."""
    return "\n".join(
        [
            f"signed   by {report.artifact['approver']} with {report.key_fingerprint}",
            f"state    {report.state_hash}",
            f"file     {report.artifact_path}",
            f"check    {report.verify_command}",
        ]
    )


@click.command("approvals", cls=BranchCommand)
@click.argument("name")
@click.pass_obj
def approvals_command(settings: Settings, name: str) -> ExitCode:
    """List approvals of a branch, and which count."""
    report = approvals(settings.workspace, ApprovalsRequest(name))
    if settings.json:
        write_report("branch approvals", report)
    else:
        write_line(_render_approvals(report))
    return ExitCode.OK


def _render_approvals(report: ApprovalsReport) -> str:
    """Every approval of a branch, one a line, and whether they are enough."""
    rows = [(each.approval_id, each.approver, "counts", "") for each in report.accepted]
    rows += [
        (each.approval_id, each.approver or "-", each.reason, each.detail)
        for each in report.rejected
    ]
    lines = (
        [render_table(("APPROVAL", "BY", "VERDICT", "WHY"), sorted(rows), set())] if rows else []
    )
    if report.policy.author_proof == "none":
        lines.append(f"{AUTHOR_UNPROVEN}: who made the change is what its commits say")
    return "\n".join([*lines, _describe_standing(report)])


def _describe_standing(report: ApprovalsReport) -> str:
    """Whether enough people have approved."""
    policy, there = report.policy, len(report.accepted)
    if not policy.required:
        verb = "counts" if there == 1 else "count"
        return f"{counted(there, 'approval')} {verb}; none is required (`[branch.approval]`)"
    enough = "enough" if report.satisfied else "not enough"
    return f"{there} of {counted(policy.min_approvers, 'approval')}: {enough}"
