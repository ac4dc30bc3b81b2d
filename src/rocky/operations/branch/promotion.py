"""Production moved: promoted to a branch's tables, reverted, or recovered; all tables or none.

Needs no Spark: nothing is built. Promoting is refused when the branch is no candidate or has
nothing new, when its tables are not what the code makes, when approvals are missing, void or
stale, when its records do not hold, when production has changed meanwhile, and when the change
breaks readers.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal

from rocky.branches.approvals.readiness import Candidate
from rocky.branches.approvals.signatures import Signer
from rocky.branches.approvals.validity import RejectionReason
from rocky.branches.promotion.journal import (
    RecoveredPromotion,
    forget_promotion,
    recover_promotions,
)
from rocky.branches.promotion.promotion import promote_tables
from rocky.branches.promotion.promotion_run import Actor
from rocky.branches.promotion.revert import revert_tables
from rocky.errors import InvalidRequest
from rocky.ledger.branch_records import PromotionRecord
from rocky.operations.branch.change import choose_signer
from rocky.operations.branch.gate import clear_promotion
from rocky.operations.branch.lookup import find_who
from rocky.operations.digest import Digested
from rocky.operations.proof.seal import seal_deed
from rocky.operations.state.state_change import load_sound_project
from rocky.operations.workspace import (
    Workspace,
    caller_of,
    main_state_path,
    refreshed_state,
)
from rocky.plan.adapters import main_adapter
from rocky.plan.arguments import Request
from rocky.project import Project
from rocky.run.prepare.session import RunSession, open_run


@contextmanager
def open_production(workspace: Workspace, project: Project, adapter: str) -> Iterator[RunSession]:
    """Production's tables and ledger, ready to be written."""
    caller = caller_of(workspace, project, main_state_path(workspace))
    with open_run(project, main_adapter(project, adapter)[1], caller) as opened:
        yield opened


def actor_of(
    workspace: Workspace, opened: RunSession, now: datetime, reason: str | None = None
) -> Actor:
    """The current user."""
    code = opened.resources.circumstances
    who = find_who(workspace, opened.project.root)
    return Actor(who, now, code.git_commit, code.git_dirty, reason)


def recover_and_tell(
    workspace: Workspace, opened: RunSession, now: datetime
) -> tuple[RecoveredPromotion, ...]:
    """Finish what was interrupted, and say so."""
    found = recover_promotions(opened, now)
    for each in found:
        how = "undone" if each.undone is not None else "finished"
        workspace.note(f"promotion `{each.run_id}` had been interrupted and was {how}")
    return found


def recover_before_run(workspace: Workspace, project: Project) -> None:
    """Finish what was interrupted, in every warehouse of a project."""
    for adapter in project.config.adapter:
        with open_production(workspace, project, adapter) as opened:
            recover_and_tell(workspace, opened, datetime.now(UTC))


@dataclass(frozen=True, slots=True)
class PromoteRequest(Request):
    """Which branch, and why.

    With `allow_breaking` it is promoted although readers break, if somebody signs the `message`:
    with a `key`, by a name among the signers.
    """

    name: str
    allow_breaking: bool = False
    message: str | None = None
    key: str | None = None
    principal: str | None = None


@dataclass(frozen=True, slots=True)
class RejectedApproval:
    """A statement that did not count, and why."""

    approval_id: str
    reason: RejectionReason
    detail: str


@dataclass(frozen=True, slots=True, repr=False)
class PromotionReport(Digested):
    """A promotion or a revert that was made, as it is recorded."""

    promotion: PromotionRecord
    approvals_rejected: tuple[RejectedApproval, ...]
    success: bool


def promote(workspace: Workspace, request: PromoteRequest) -> PromotionReport:
    """Promote a branch. Raises PromotionRefused, PromotionUndone, LedgerLocked, InvalidRequest.

    And as `clear_promotion`: then production is as it was.
    """
    if not request.allow_breaking and (request.key, request.principal) != (None, None):
        raise InvalidRequest("`--key` and `--as` need `--allow-breaking`")
    workspace = workspace.on_production()
    now = datetime.now(UTC)

    def find_signer(candidate: Candidate) -> Signer:
        return choose_signer(workspace, candidate, request.key, request.principal, request.message)

    signer = find_signer if request.allow_breaking else None
    cleared = clear_promotion(workspace, request.name, now, signer)
    candidate = cleared.candidate
    project, adapter = candidate.compilation.project, candidate.record.adapter
    with open_production(workspace, project, adapter) as opened:
        recover_and_tell(workspace, opened, now)
        actor = actor_of(workspace, opened, now, request.message)
        promotion = promote_tables(opened, cleared, actor)
    seal_deed(workspace, project, "promotion", promotion.run_id)
    rejected = tuple(
        RejectedApproval(each.approval_id, each.reason, each.detail)
        for each in cleared.approvals.rejected
    )
    return PromotionReport(promotion, rejected, success=True)


@dataclass(frozen=True, slots=True)
class RevertRequest(Request):
    """Which promotion, by its id, or by the name of a branch: then its newest; and why.

    With `discard_later` also where tables were changed since: what was made has to be made again.
    `adapter` is the one whose tables are meant.
    """

    promotion: str
    discard_later: bool = False
    message: str | None = None
    adapter: str | None = None


def revert(workspace: Workspace, request: RevertRequest) -> PromotionReport:
    """Take a promotion back; a revert can be taken back too, by its own id.

    Raises NothingSelected when there is none, PromotionRefused when it was reverted already, cannot
    be, or when tables were changed since, PromotionUndone, LedgerLocked and RunRefused.
    """
    workspace = workspace.on_production()
    project = load_sound_project(workspace, "reverted")
    refreshed_state(workspace)
    now = datetime.now(UTC)
    with open_production(workspace, project, main_adapter(project, request.adapter)[0]) as opened:
        # First: one that was interrupted is known only when it is finished.
        recover_and_tell(workspace, opened, now)
        actor = actor_of(workspace, opened, now, request.message)
        promotion = revert_tables(
            opened, request.promotion, actor, discard_later=request.discard_later
        )
    seal_deed(workspace, project, "revert", promotion.run_id)
    return PromotionReport(promotion, (), success=True)


@dataclass(frozen=True, slots=True)
class RecoverRequest(Request):
    """`forget` is the run of one to give up; `adapter` the one whose tables are meant."""

    forget: str | None = None
    adapter: str | None = None


@dataclass(frozen=True, slots=True)
class RecoveredReport:
    """A recovered promotion: `recorded_as` is who finished it, `reason` why it was undone."""

    promotion: str
    branch: str
    outcome: Literal["finished", "undone"]
    recorded_as: str | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True, repr=False)
class RecoveryReport(Digested):
    """The promotions that were recovered, oldest first."""

    recovered: tuple[RecoveredReport, ...]

    @property
    def has_undone(self) -> bool:
        """Whether something could not be finished."""
        return any(each.outcome == "undone" for each in self.recovered)


@dataclass(frozen=True, slots=True, repr=False)
class ForgottenReport(Digested):
    """A promotion that was given up, and for each of its tables whether it had been moved."""

    forgotten: str
    tables_moved: Mapping[str, bool]


def recover(workspace: Workspace, request: RecoverRequest) -> RecoveryReport | ForgottenReport:
    """Finish or undo what was interrupted.

    Raises LedgerLocked while the process that began it is running, PromotionUnfinished for
    one of another ledger, and when one is to be forgotten that can be finished; NothingSelected,
    RunRefused.
    """
    workspace = workspace.on_production()
    project = load_sound_project(workspace, "recovered")
    with open_production(workspace, project, main_adapter(project, request.adapter)[0]) as opened:
        if request.forget is not None:
            return ForgottenReport(request.forget, forget_promotion(opened, request.forget))
        found = recover_and_tell(workspace, opened, datetime.now(UTC))
    for each in found[-1:]:
        seal_deed(workspace, project, "recovery of promotion", each.run_id)
    return RecoveryReport(tuple(map(_recovered, found)))


def _recovered(found: RecoveredPromotion) -> RecoveredReport:
    return RecoveredReport(
        found.run_id,
        found.branch,
        "finished" if found.undone is None else "undone",
        None if found.record is None else found.record.run_id,
        found.undone,
    )
