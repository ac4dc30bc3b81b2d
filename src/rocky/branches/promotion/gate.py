"""The gate: whether a branch may be promoted, by its verdict, approvals, records and inputs.

Whatever is not known counts as the worst: a change that cannot be compared is a breaking one. The
records of a branch become part of production's own, so they are verified first; and a table is
promoted only beside the inputs that it was built of, or production would have a result of rows that
it has not got.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from rocky.analysis.changes.change import Change, Impact, ProjectDiff, TableDiff
from rocky.analysis.changes.columns import compare_columns
from rocky.branches.approvals.validity import ApprovalScope, CheckedApprovals, find_shortfall
from rocky.branches.tables import BranchTable, BranchView, read_inputs, table_content
from rocky.errors import PromotionRefused
from rocky.evidence.records import OpenWarehouse
from rocky.evidence.verification import VerificationScope, verify_ledger
from rocky.ledger.branch_records import PRODUCTION, ApprovalRecord
from rocky.ledger.readers.table import TableRecords
from rocky.store.delta.snapshot import Snapshot

UNKNOWN_IMPACT = "unknown"
"""The verdict on a change that could not be compared with anything."""


@dataclass(frozen=True, slots=True)
class ChangeVerdict:
    """What a change does to readers. `breaking` are the changes that break them, in words."""

    impact: str
    breaking: tuple[str, ...] = ()

    @property
    def is_breaking(self) -> bool:
        return self.impact in (Impact.BREAKING, UNKNOWN_IMPACT)


def judge_change(diff: ProjectDiff | None, view: BranchView) -> ChangeVerdict:
    """The verdict on a change: of its code, and of the tables that production would get.

    The tables have the last word about columns. Code is compared with a commit, and production may
    have been built from another: what its readers have today would go without being in the diff.
    """
    if diff is None:
        return ChangeVerdict(UNKNOWN_IMPACT, ("there is no commit to compare the code with",))
    found = []
    told = set()
    for table, change in diff.changes:
        if change.impact is Impact.BREAKING:
            found.append(
                _describe_change(table.name if table is not None else "rocky.toml", change)
            )
            told |= {each.lower() for each in _targets(table)}
    for each in view.changed:
        if each.target.lower() not in told:
            found += [_describe_change(each.target, change) for change in _lost_columns(each)]
    impact = diff.impact.value if diff.impact is not None else "none"
    return ChangeVerdict(Impact.BREAKING.value if found else impact, tuple(found))


def _lost_columns(table: BranchTable) -> Iterator[Change]:
    if table.production is None or table.branch is None:
        return
    for change in compare_columns(table.production.schema, table.branch.schema):
        if change.impact is Impact.BREAKING:
            yield change


def _targets(table: TableDiff | None) -> Iterator[str]:
    if table is not None:
        yield from (each for each in (table.target, table.base_target) if each is not None)


def _describe_change(where: str, change: Change) -> str:
    column = f".{change.column}" if change.column is not None else ""
    return f"{where}{column}: {change.rule}"


def refuse_branch(view: BranchView, unready: Sequence[str]) -> None:
    """Raises PromotionRefused for a branch that is no candidate, whoever approves of it."""
    record = view.record
    if record.parent != PRODUCTION:
        raise PromotionRefused(
            f"branch `{record.name}` was made of branch `{record.parent}`, not of production:"
            " only branches of production are promoted"
        )
    if unready:
        more = f" (and {len(unready) - 1} more)" if len(unready) > 1 else ""
        raise PromotionRefused(
            f"the tables of branch `{record.name}` are not what the code makes: {unready[0]}{more};"
            f" `rocky run --branch {record.name}` builds them"
        )


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
    raise PromotionRefused(
        f"the change breaks readers: {shown}{more}; `--allow-breaking -m REASON` promotes it all"
        " the same, and signs the reason"
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
            f"the records of branch `{name}` do not hold: {first.where}: {first.message}{more};"
            f" `rocky verify --branch {name}` shows all, `rocky branch rebase {name}` makes it anew"
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
                f" made, and production has changed that since; `rocky branch rebase {name}` makes"
                " the branch of production as it is, then run and approve it again"
            )
