"""Clearances: leave to move production, which every mover asks for, and what it is refused for.

Only a `clear_...` function gives one: that of a promotion is in `rocky.operations.branch.gate`,
those of a revert and of a recovery are here. Each looks up what it decides by, and is handed no
facts. A clearance is no pass for later: whoever uses one looks again at what it was given for.

The records of a branch become part of production's own, so they are verified first; and a table is
promoted only beside the inputs that it was built of, or production would have a result of rows that
it has not got.
"""

from collections.abc import Mapping, Sequence
from dataclasses import InitVar, dataclass, replace
from pathlib import Path
from typing import Final, NamedTuple

from rocky.branches.approvals.readiness import Candidate
from rocky.branches.approvals.ssh import Keygen
from rocky.branches.approvals.validity import (
    ApprovalScope,
    CheckedApprovals,
    check_approvals,
    find_shortfall,
)
from rocky.branches.promotion.reversals import TableReversal, find_promotion, find_reversals
from rocky.branches.record_transfer import BranchHistory
from rocky.branches.table_commits import refuse_altered_version
from rocky.branches.tables import (
    UNKNOWN_IMPACT,
    BranchTable,
    BranchView,
    ChangeVerdict,
    read_inputs,
    same_content,
    table_content,
)
from rocky.errors import PromotionRefused, PromotionUnfinished
from rocky.evidence.records import OpenWarehouse
from rocky.evidence.scope import VerificationScope
from rocky.evidence.verification import verify_ledger
from rocky.ledger.branch_records import (
    PRODUCTION,
    ApprovalRecord,
    BranchStatus,
    PromotionRecord,
)
from rocky.ledger.branches import branch_key, load_branches
from rocky.ledger.readers.table import TableRecords
from rocky.ledger.record import RunId
from rocky.run.prepare.session import RunSession
from rocky.store.delta.signature import is_signed
from rocky.store.delta.snapshot import Snapshot
from rocky.store.journal import Journal, load_journals

SEAL: Final = object()
"""What a clearance is made with: nothing but a `clear_...` function may touch it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Clearance:
    """Leave to move tables of production. `what` is the command that moves them, for the record."""

    what: str
    seal: InitVar[object] = None

    def __post_init__(self, seal: object) -> None:
        if seal is not SEAL:
            raise PromotionRefused(
                "only `promote`, `revert` and `recover` of `rocky.operations.branch` may move"
                " production"
            )

    @property
    def contents(self) -> Mapping[str, str | None]:
        """The tables that may be moved, each with the content that it may get."""
        return {}


@dataclass(frozen=True, slots=True, kw_only=True)
class PromotionClearance(Clearance):
    """Leave to promote a branch as it was looked at.

    `approvals` are those that count, `allowed` those that take the blame for breaking readers;
    `made` is what is recorded of the branch, and holds.
    """

    candidate: Candidate
    keygen: Keygen
    approvals: CheckedApprovals
    verdict: ChangeVerdict
    allowed: tuple[ApprovalRecord, ...]
    made: BranchHistory

    @property
    def contents(self) -> Mapping[str, str | None]:
        wanted = tables_to_promote(self.candidate.view)
        return {each.parent_table.name: each.content for each in wanted}

    def look_again(self, opened: RunSession) -> None:
        """Raises PromotionRefused unless it is for this production and still as it was.

        The branch must be the one that this ledger has, and enough approvals of it must count now.
        """
        resources, question = opened.resources, self.candidate.question
        name, parent = question.record.name, self.candidate.view.parent
        if parent.uri != resources.warehouse.uri:
            raise PromotionRefused(
                f"branch `{name}` was made from the tables in `{parent.uri}`, not from those in"
                f" `{resources.warehouse.uri}`"
            )
        known = {branch_key(each.name): each for each in load_branches(resources.ledger.path)}
        now = known.get(branch_key(name))
        if (
            now is None
            or now.status is not BranchStatus.OPEN
            or now.created_at != question.record.created_at
        ):
            raise PromotionRefused(
                f"branch `{name}` has just been deleted or made again; try again"
            )
        present = replace(question, now=resources.clock())
        refuse_unapproved(check_approvals(self.candidate.root, present, self.keygen), present)


@dataclass(frozen=True, slots=True, kw_only=True)
class RevertClearance(Clearance):
    """Leave to move `reversals` of a promotion back; `left` are its tables that stay, with why."""

    promotion: PromotionRecord
    reversals: tuple[TableReversal, ...]
    left: Mapping[str, str]

    @property
    def contents(self) -> Mapping[str, str | None]:
        return {each.table.name: table_content(each.before) for each in self.reversals}


@dataclass(frozen=True, slots=True, kw_only=True)
class RecoveryClearance(Clearance):
    """Leave to finish what was let through, and written down, before."""

    journal: Journal


def clear_revert(opened: RunSession, wanted: str, *, discard_later: bool) -> RevertClearance:
    """Leave to move production back to before a promotion, by its id or its branch's name.

    Raises NothingSelected when there is none, and PromotionRefused when it was reverted already,
    cannot go back, or, unless it is to `discard_later`, when its tables were changed since;
    ForeignCommit when the commits to go back to were altered.
    """
    resources = opened.resources
    promotion = find_promotion(resources.ledger.path, wanted)
    found, left = find_reversals(promotion, resources.warehouse, discard_later=discard_later)
    if not found:
        raise PromotionRefused(f"`{promotion.run_id}` left no table that can be moved back")
    for each in found:
        refuse_altered_version(resources.ledger, each.promoted.model_name, each.table, each.before)
    return RevertClearance(
        what=f"branch revert {promotion.run_id}",
        promotion=promotion,
        reversals=tuple(found),
        left=left,
        seal=SEAL,
    )


def clear_recovery(opened: RunSession, journal: Journal) -> RecoveryClearance:
    """Leave to finish an interrupted move that is written down in the warehouse.

    Raises PromotionUnfinished for one of another ledger, PromotionRefused for one not there, one
    that no promotion of this ledger has signed, and one whose approvals are not signed.
    """
    if journal not in load_journals(opened.resources.warehouse):
        raise PromotionRefused(
            f"the warehouse has no such journal of promotion `{journal.run_id}`: there is nothing"
            " to recover"
        )
    if journal.ledger_id != opened.resources.ledger.ledger_id:
        raise PromotionUnfinished(
            f"promotion `{journal.run_id}` was started with another state file (ledger"
            f" `{journal.ledger_id}`): recover it with that one; if it is lost, `rocky branch"
            f" recover --forget {journal.run_id}` leaves the tables as they are"
        )
    if not is_own_journal(opened, journal):
        raise PromotionRefused(
            f"the journal of promotion `{journal.run_id}` is foreign: no promotion of this ledger"
            " has signed it, so nothing is moved by it; `rocky branch recover --forget"
            f" {journal.run_id}` removes it"
        )
    promotion = PromotionRecord.from_json(journal.record)
    _refuse_unsigned(promotion, Keygen(opened.caller.environment))
    return RecoveryClearance(what=f"branch recover {journal.run_id}", journal=journal, seal=SEAL)


def is_own_journal(opened: RunSession, journal: Journal) -> bool:
    """Whether a promotion that this ledger has recorded as begun has signed a journal."""
    with opened.resources.ledger.lookups() as lookups:
        key = lookups.commit_key(RunId(journal.run_id))
    return key is not None and is_signed(key, journal.statement, journal.signature)


def _refuse_unsigned(promotion: PromotionRecord, keygen: Keygen) -> None:
    """Raises PromotionRefused unless each approval that was relied on is signed by its signer."""
    for each in promotion.approvals:
        answer = keygen.verify(
            each.statement.encode(),
            each.signature,
            f"{each.allowed_signer}\n",
            each.approver,
            promotion.at,
        )
        if not answer.good:
            raise PromotionRefused(
                f"the approval `{each.approval_id}` by `{each.approver}` in the journal of"
                f" `{promotion.run_id}` is not signed by them: {answer.detail}"
            )


def refuse_branch(view: BranchView, unready: Sequence[str]) -> None:
    """Raises PromotionRefused for a branch that is no candidate, whoever approves of it."""
    record = view.record
    if record.parent != PRODUCTION:
        raise PromotionRefused(
            f"branch `{record.name}` was made from branch `{record.parent}`, not from production:"
            " only branches of production are promoted"
        )
    if unready:
        more = f" (and {len(unready) - 1} more)" if len(unready) > 1 else ""
        raise PromotionRefused(
            f"the tables of branch `{record.name}` do not match the code: {unready[0]}{more};"
            f" `rocky run --branch {record.name}` builds them"
        )


def tables_to_promote(view: BranchView) -> tuple[BranchTable, ...]:
    """The tables whose content the branch has changed and production has not got.

    Raises PromotionRefused when there are none, and when production has changed one of them too:
    nothing is overwritten.
    """
    wanted = [
        each
        for each in view.changed
        if each.branch is not None and not same_content(each.branch, each.production)
    ]
    moved = [each for each in wanted if each.has_moved]
    if moved:
        listed = "; ".join(_describe_moved(each) for each in moved)
        name = view.record.name
        raise PromotionRefused(
            f"production has changed since the branch was made: {listed}; `rocky branch rebase"
            f" {name}` bases it on production as it is now, then run and approve it again"
        )
    if not wanted:
        raise PromotionRefused(
            f"branch `{view.record.name}` has nothing to promote: every table is the same as"
            f" in production"
        )
    return tuple(wanted)


def _describe_moved(table: BranchTable) -> str:
    now = "is gone" if table.production is None else f"is at version {table.production.version}"
    was = "was not there" if table.base is None else f"was at version {table.base}"
    return f"`{table.target}` {was} and {now}"


def refuse_unapproved(checked: CheckedApprovals, question: ApprovalScope) -> None:
    """Raises PromotionRefused unless enough people have approved of exactly this."""
    shortfall = find_shortfall(checked, question.policy)
    if shortfall is not None:
        name = question.record.name
        raise PromotionRefused(f"{shortfall}\n`rocky branch approve {name}` signs it")


def refuse_breaking(verdict: ChangeVerdict, allowed: Sequence[ApprovalRecord]) -> None:
    """Raises PromotionRefused for a change that breaks readers and that nobody has allowed to."""
    if not verdict.is_breaking or allowed:
        return
    shown = "; ".join(verdict.breaking[:_SHOWN_CHANGES])
    more = (
        f" (and {len(verdict.breaking) - _SHOWN_CHANGES} more)"
        if len(verdict.breaking) > _SHOWN_CHANGES
        else ""
    )
    how = "the change breaks readers"
    if verdict.impact == UNKNOWN_IMPACT:
        how = "it is not known whether the change breaks readers"
    raise PromotionRefused(
        f"{how}: {shown}{more}; `--allow-breaking -m REASON` promotes it"
        f" anyway and signs the reason"
    )


_SHOWN_CHANGES = 5


def refuse_unverified(
    view: BranchView, tables: Sequence[BranchTable], state: Path, open_warehouse: OpenWarehouse
) -> None:
    """Raises PromotionRefused unless the branch's records hold, and the files that would move."""
    name = view.record.name
    scope = VerificationScope(files=frozenset().union(*map(_new_files, tables)))
    verified = verify_ledger(state, open_warehouse, lambda _reader: scope)
    if verified is None:
        raise PromotionRefused(f"nothing is recorded of branch `{name}`")
    findings = verified[1].findings
    if findings:
        first = findings[0]
        more = f" (and {len(findings) - 1} more)" if len(findings) > 1 else ""
        raise PromotionRefused(
            f"the records of branch `{name}` fail verification: {first.where}:"
            f" {first.message}{more};"
            f" `rocky verify --branch {name}` shows all, `rocky branch rebase {name}` makes it"
            " again"
        )


def _new_files(table: BranchTable) -> set[str]:
    return _addresses(table.branch) - _addresses(table.production)


def _addresses(snapshot: Snapshot | None) -> set[str]:
    return set() if snapshot is None else {file.address for file in snapshot.files}


class OtherInput(NamedTuple):
    """An input that stays as production has it, and the content that `reader` was built of."""

    reader: str
    table: BranchTable
    content: str | None


def find_other_inputs(
    view: BranchView, tables: Sequence[BranchTable], known: Mapping[str, TableRecords]
) -> tuple[OtherInput, ...]:
    """What the tables that are to be promoted were built of, beside each other."""
    moving = {each.target.lower() for each in tables}
    found = []
    for each in tables:
        records = known.get(each.target.lower())
        if records is None:
            continue
        for read in read_inputs(records.execution, records.provenance):
            target = (read.target or "").lower()
            table = view.tables.get(target)
            if table is not None and target not in moving:
                content = read.identity if read.identity is not None else table.content
                found.append(OtherInput(each.target, table, content))
    return tuple(found)


def refuse_moved_inputs(name: str, relied: Sequence[OtherInput], *, again: bool = False) -> None:
    """Raises PromotionRefused when production has no longer what a table was built of.

    `again` looks at production once more, in place of what was seen of it.
    """
    for each in relied:
        now = each.table.parent_table.snapshot() if again else each.table.production
        if now is None or table_content(now) != each.content:
            raise PromotionRefused(
                f"`{each.reader}` was built of `{each.table.target}` as it was when the branch was"
                f" made, and production has changed that since; `rocky branch rebase {name}`"
                f" bases it on production as it is now, then run and approve it again"
            )
