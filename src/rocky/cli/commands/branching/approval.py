"""`rocky branch approve` and `rocky branch approvals`: signed statements, made and judged.

Needs no Spark. Nothing is stored that would not count.
"""

from datetime import UTC, datetime

import click

from rocky.branches.approvals.signatures import sign_statement
from rocky.branches.approvals.statements import Kind
from rocky.branches.approvals.validity import check_approvals
from rocky.cli.console import write_json, write_line, write_note
from rocky.cli.exit_codes import ExitCode
from rocky.cli.options import BranchCommand, Settings
from rocky.cli.render.approvals import (
    checked_document,
    render_checked,
    render_signed,
    render_subject,
    signed_document,
)
from rocky.operations.branch.change import choose_signer, keygen_of, open_change, require_ready


@click.command("approve", cls=BranchCommand)
@click.argument("name")
@click.option("-m", "--message", metavar="TEXT", help="What to say with it; it is signed too.")
@click.option("--key", metavar="FILE", help="The key to sign with; a public one asks an agent.")
@click.option("--as", "principal", metavar="NAME", help="The name in `allowed_signers` to sign by.")
@click.pass_obj
def approve(
    settings: Settings, name: str, message: str | None, key: str | None, principal: str | None
) -> ExitCode:
    """Sign that a branch may be promoted.

    What is signed is the state of its code, settings, contracts and tables, and what the change
    breaks: when any of it changes, the approval is void.
    """
    keygen = keygen_of(settings.workspace)
    with open_change(settings.workspace, name, datetime.now(UTC)) as change:
        require_ready(change)
        signer = choose_signer(settings.workspace, change, key, principal, message)
        question = change.question
        for warning in question.policy.warnings:
            write_note(f"warning: {warning}")
        if not settings.json and not settings.quiet:
            write_line(render_subject(question.state, change.diff))
        signed = sign_statement(Kind.APPROVAL, question, signer, change.root, keygen)
        if settings.json:
            write_json("branch approve", signed_document(signed, question, change.root))
        elif not settings.quiet:
            write_line(render_signed(signed, question, change.root))
    return ExitCode.OK


@click.command("approvals", cls=BranchCommand)
@click.argument("name")
@click.pass_obj
def approvals(settings: Settings, name: str) -> ExitCode:
    """List approvals of a branch, and which count."""
    with open_change(settings.workspace, name, datetime.now(UTC)) as change:
        checked = check_approvals(change.root, change.question, keygen_of(settings.workspace))
        for warning in change.question.policy.warnings:
            write_note(f"warning: {warning}")
        if settings.json:
            write_json("branch approvals", checked_document(checked, change.question))
        else:
            write_line(render_checked(checked, change.question))
    return ExitCode.OK
