"""Reversals: which tables of a promotion can go back to the content they had before it.

The versions in between stay in the tables' logs. A table that the promotion made stays too: there
is nothing to go back to, and the code from before does not read it. A table that keeps its rows
does not follow what it read: such readers are named, with what to do about each.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from rocky.branches.tables import same_content, table_content
from rocky.errors import NothingSelected, PromotionRefused, StoreUnreadable
from rocky.ledger.branch_records import PROMOTED, REVERTED, PromotedTable, PromotionRecord
from rocky.ledger.branches import load_promotions
from rocky.ledger.provenance import ReadRecord
from rocky.ledger.readers.table import open_table_record_reader
from rocky.ledger.record import run_meant
from rocky.project.configuration.strategies import WHOLE_STRATEGIES
from rocky.store.delta.snapshot import Snapshot
from rocky.store.warehouse import Table, Warehouse


def find_stale_readers(
    state: Path, since: str, versions: Mapping[str, Iterable[int]]
) -> dict[str, str]:
    """Tables that keep rows made, since a run, of some versions of others; each with what to do.

    `versions` are by target. Tables between the two count too.
    """
    made_of_it = {target.lower(): set(found) for target, found in versions.items()}
    moved = frozenset(made_of_it)
    keeping: dict[str, tuple[str, str]] = {}
    lookups = open_table_record_reader(state)
    if lookups is None:
        return {}
    with lookups:
        for execution, made in lookups.made_since(since):
            target = made.target.lower()
            if target in moved or not (execution.commits or execution.adopted):
                continue
            goes_on = made.base_version is not None and target in keeping
            if not goes_on and not _reads(made.reads, made_of_it):
                keeping.pop(target, None)
                continue
            if made.output_version is not None:
                made_of_it.setdefault(target, set()).add(made.output_version)
            if execution.strategy not in WHOLE_STRATEGIES:
                keeping[target] = made.target, made.model_name
    return {
        target: "it still has rows that were built from tables which are moved back;"
        f" `rocky run --model {model} --full-refresh` rebuilds it"
        for target, model in keeping.values()
    }


def _reads(reads: Iterable[ReadRecord], versions: Mapping[str, set[int]]) -> bool:
    return any(
        each.version in versions.get((each.target or "").lower(), ())
        or _reads(each.reads, versions)
        for each in reads
    )


@dataclass(frozen=True, slots=True)
class TableReversal:
    """A table to be moved back: as it is, and as it was."""

    promoted: PromotedTable
    table: Table
    now: Snapshot
    before: Snapshot

    @property
    def is_newer(self) -> bool:
        """Whether somebody has changed the table since it was promoted."""
        if table_content(self.now) != self.promoted.to_content:
            return True
        if self.now.version == self.promoted.to_version:
            return False
        try:
            return not same_content(self.now, self.table.snapshot(self.promoted.to_version))
        except StoreUnreadable:
            # Its log no longer goes back that far, so that nobody can say what it was.
            return True


def find_promotion(state: Path, wanted: str) -> PromotionRecord:
    """A promotion or revert by its id or the beginning of it, or a branch's newest promotion.

    The id may be that of the run which began it and died. A revert is found by its id only: who
    says `revert` twice does not want back what was reverted. Raises NothingSelected, and
    PromotionRefused when it was reverted already.
    """
    known = [each for each in load_promotions(state) if each.kind in (PROMOTED, REVERTED)]
    of_branch = [
        each for each in known if each.kind == PROMOTED and each.branch.lower() == wanted.lower()
    ]
    found = [each for each in known if wanted in (each.run_id, each.recovers)] or of_branch
    if not found:
        meant = run_meant(wanted, [each.run_id for each in known])
        found = [each for each in known if each.run_id == meant]
    if not found:
        hint = "`rocky branch list --promotions` shows them" if known else "there is none yet"
        raise NothingSelected(f"no promotion `{wanted}`; {hint}")
    chosen = found[-1]
    again = _standing_revert(chosen, known)
    if again is not None:
        raise PromotionRefused(
            f"`{chosen.run_id}` was reverted already, by `{again.run_id}`;"
            f" `rocky branch revert {again.run_id}` undoes that"
        )
    return chosen


def _standing_revert(
    promotion: PromotionRecord, known: Sequence[PromotionRecord]
) -> PromotionRecord | None:
    """The revert of a promotion that was not reverted itself."""
    reverts = [each for each in known if each.reverts == promotion.run_id]
    return next((each for each in reverts if _standing_revert(each, known) is None), None)


def find_reversals(
    promotion: PromotionRecord, warehouse: Warehouse, *, discard_later: bool
) -> tuple[list[TableReversal], dict[str, str]]:
    """The tables to move back, and those that stay, with why.

    Raises PromotionRefused when something was written since that would be lost, or when what a
    table was is gone.
    """
    by_name = {table.name.lower(): table for table in warehouse.tables()}
    found: list[TableReversal] = []
    left: dict[str, str] = {}
    for each in promotion.tables:
        table = by_name.get(each.target.lower())
        now = table.snapshot() if table is not None else None
        if each.from_version is None:
            left[each.target] = "it was made by the promotion: there is nothing to go back to"
        elif table is None or now is None:
            left[each.target] = "the table is gone"
        else:
            returned = TableReversal(each, table, now, _former_snapshot(table, each))
            if same_content(returned.now, returned.before):
                left[each.target] = "it is as it was before"
            else:
                found.append(returned)
    later = [each for each in found if each.is_newer]
    if later and not discard_later:
        listed = "; ".join(
            f"`{each.promoted.target}` was promoted as version {each.promoted.to_version} and is at"
            f" {each.now.version}"
            for each in later
        )
        raise PromotionRefused(
            f"production has changed since `{promotion.run_id}`: {listed};"
            " `--discard-later` reverts anyway, and what was built since must be built again"
        )
    return found, left


def _former_snapshot(table: Table, promoted: PromotedTable) -> Snapshot:
    """A table as it was before a promotion, all its files there. Raises PromotionRefused."""
    try:
        before = table.snapshot(promoted.from_version)
    except StoreUnreadable as error:
        raise PromotionRefused(f"`{table.name}` cannot be moved back: {error}") from error
    assert before is not None
    if table_content(before) != promoted.from_content:
        raise PromotionRefused(
            f"`{table.name}` cannot be moved back: version {promoted.from_version} is not what the"
            " promotion replaced; see `rocky verify`"
        )
    gone = next((file for file in before.files if table.place_of(file).info() is None), None)
    if gone is not None:
        raise PromotionRefused(
            f"`{table.name}` cannot be moved back: `{table.place_of(gone)}` was collected since;"
            " go back to the code from before, and `rocky run` builds the table again"
        )
    return before
