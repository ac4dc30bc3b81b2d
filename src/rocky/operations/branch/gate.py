"""The gate of a promotion: everything that decides it is looked up here, and nothing is handed in.

Whoever calls it says which branch is meant. The code on both sides, the tables, the policy, the
statements and the records are read by the gate itself, so nobody can bring facts of their own.
"""

from collections.abc import Callable
from datetime import datetime

from rocky.branches.approvals.readiness import Candidate
from rocky.branches.approvals.signatures import Signer, sign_statement
from rocky.branches.approvals.statements import Kind
from rocky.branches.approvals.validity import check_approvals
from rocky.branches.promotion.clearance import (
    SEAL,
    PromotionClearance,
    find_other_inputs,
    refuse_branch,
    refuse_breaking,
    refuse_moved_inputs,
    refuse_unapproved,
    refuse_unverified,
    tables_to_promote,
)
from rocky.branches.record_transfer import load_branch_history
from rocky.branches.tables import judge_change
from rocky.ledger.branch_records import ApprovalRecord
from rocky.operations.branch.change import keygen_of, open_change
from rocky.operations.warehouses import recorded_warehouses_of
from rocky.operations.workspace import Workspace, main_state_path
from rocky.plan.adapters import main_adapter
from rocky.project.project import branch_state


def clear_promotion(
    workspace: Workspace,
    name: str,
    now: datetime,
    find_signer: Callable[[Candidate], Signer] | None = None,
) -> PromotionClearance:
    """Leave to promote a branch as it stands. Raises PromotionRefused.

    With `find_signer`, a change that breaks readers passes when whoever that finds has signed the
    reason. Raises also ApprovalRefused, KeygenUnavailable, and what `open_change` raises.
    """
    workspace = workspace.on_production()
    keygen = keygen_of(workspace)
    with open_change(workspace, name, now) as candidate:
        view, question = candidate.view, candidate.question
        for warning in question.policy.warnings:
            workspace.warn(warning)
        refuse_branch(view, candidate.unready)
        tables = tables_to_promote(view)
        approvals = check_approvals(candidate.root, question, keygen)
        refuse_unapproved(approvals, question)
        project, record = candidate.compilation.project, candidate.record
        # Fetched already, when the branch was judged.
        state = branch_state(main_state_path(workspace), record.name)
        conf = main_adapter(project, record.adapter)[1].conf
        known = recorded_warehouses_of(workspace, project, [view.warehouse], conf)
        refuse_unverified(view, tables, state, known)
        made = load_branch_history(state)
        refuse_moved_inputs(record.name, find_other_inputs(view, tables, made.tables))
        verdict = judge_change(candidate.diff, view)
        allowed: tuple[ApprovalRecord, ...] = ()
        if verdict.is_breaking and find_signer is not None:
            signer = find_signer(candidate)
            signed = sign_statement(Kind.ALLOW_BREAKING, question, signer, candidate.root, keygen)
            allowed = (signed.record,)
        refuse_breaking(verdict, allowed)
        return PromotionClearance(
            what=f"branch promote {record.name}",
            candidate=candidate,
            keygen=keygen,
            approvals=approvals,
            verdict=verdict,
            allowed=allowed,
            made=made,
            seal=SEAL,
        )
