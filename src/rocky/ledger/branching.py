"""Branches and promotions in the ledger: written and read one at a time, and rarely.

A branch keeps its row when it is deleted, so that the ledger still says who made and dropped it;
one of the same name that is made later takes the row's place.
"""

from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import TypeVar

from rocky.ledger.branch_records import BRANCHES, PROMOTIONS, BranchRecord, PromotionRecord
from rocky.ledger.database import READER_PATIENCE_SECONDS, connect_reader, translated
from rocky.ledger.encoding import format_json
from rocky.ledger.ledger_file import LedgerFile
from rocky.ledger.record import Record
from rocky.ledger.rows import key_of, load_record
from rocky.ledger.schema import table_names

R = TypeVar("R", bound=Record)


def record_branch(ledger: LedgerFile, record: BranchRecord) -> None:
    """Write how a branch stands."""
    with ledger.transaction() as rows:
        rows.put(BRANCHES, branch_key(record.name), format_json(record.to_json()))


def record_promotion(ledger: LedgerFile, record: PromotionRecord) -> None:
    """Write what a promotion, or a revert, has moved: within its run, before that ends."""
    with ledger.transaction() as rows:
        rows.put(PROMOTIONS, record.run_id, format_json(record.to_json()))


def branch_key(name: str) -> str:
    """What a branch's row is kept under: folders, too, may not tell `A` from `a`."""
    return key_of(name.lower())


def load_branches(path: Path) -> tuple[BranchRecord, ...]:
    """Every branch there is or was, by name; none without a ledger. Raises LedgerUnreadable.

    A branch that was promoted is as if it had been made of what it promoted.
    """
    found = _load_all(path, BRANCHES, BranchRecord)
    promotions = load_promotions(path) if found else ()
    return tuple(_after_promotions(each, promotions) for each in found)


def _after_promotions(
    branch: BranchRecord, promotions: tuple[PromotionRecord, ...]
) -> BranchRecord:
    tables, at = dict(branch.tables), dict(branch.at)
    begun: dict[str, datetime] = {}
    for each in promotions:
        # A revert may come after the branch was made anew: its versions are those of the old one.
        begun[each.run_id] = begun.get(each.reverts or "", each.at)
        if branch_key(each.branch) != branch_key(branch.name):
            continue
        if begun[each.run_id] < branch.created_at:
            continue
        for moved in each.tables:
            if moved.branch_version is not None:
                tables[moved.target] = moved.to_version
                at[moved.target] = moved.branch_version
    return replace(branch, tables=tables, at=at)


def load_promotions(path: Path) -> tuple[PromotionRecord, ...]:
    """Every promotion and revert, oldest first; none without a ledger."""
    return _load_all(path, PROMOTIONS, PromotionRecord)


def _load_all(path: Path, table: str, kind: type[R]) -> tuple[R, ...]:
    connection = connect_reader(path, READER_PATIENCE_SECONDS)
    if connection is None:
        return ()
    try:
        with translated(path, writing=False):
            if table not in table_names(connection):
                return ()
            stored = connection.execute(f"SELECT key, value FROM {table} ORDER BY key").fetchall()  # noqa: S608 - one of our own names
    finally:
        connection.close()
    return tuple(load_record(kind, path, table, key, value) for key, value in stored)
