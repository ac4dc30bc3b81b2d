"""What a promotion relies on beside the tables it moves: the branch's records, and other inputs.

What the records of a branch say becomes part of production's own, so they are checked first. And a
table is promoted only beside the inputs that it was built of, or production would have a result of
rows that it has not got.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from rocky.branches.inputs import read_inputs
from rocky.branches.view import BranchTable, BranchView, table_content
from rocky.errors import PromotionRefused
from rocky.evidence.places import OpenWarehouse
from rocky.evidence.settling import verify_ledger
from rocky.evidence.verify import Scope
from rocky.ledger.table_records import TableRecords
from rocky.store.snapshot import Snapshot


def refuse_unsound(
    view: BranchView, tables: Sequence[BranchTable], state: Path, open_warehouse: OpenWarehouse
) -> None:
    """Raises PromotionRefused unless the branch's records hold, and the files that would move."""
    name = view.record.name
    scope = Scope(files=frozenset().union(*map(_new_files, tables)))
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


class Relied(NamedTuple):
    """An input that stays as production has it, and the content that `reader` was built of."""

    reader: str
    table: BranchTable
    content: str | None


def find_relied(
    view: BranchView, tables: Sequence[BranchTable], known: Mapping[str, TableRecords]
) -> tuple[Relied, ...]:
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
                found.append(Relied(each.target, table, content))
    return tuple(found)


def refuse_moved_inputs(name: str, relied: Sequence[Relied], *, again: bool = False) -> None:
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
