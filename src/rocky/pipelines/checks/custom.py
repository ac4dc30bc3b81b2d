"""`custom`: a query of the user's whose first cell is a number of bad rows.

It passes when that number is at most the threshold. Anything that is no number, also NULL and an
answer without rows, is a failed check.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from decimal import Decimal
from math import isnan
from typing import Final

from rocky.ledger.pipeline_records import CheckOutcome
from rocky.pipelines.checks.asking import Asker
from rocky.pipelines.checks.tables import CheckedTable
from rocky.project.checks import SOURCE_PLACE, TABLE_PLACE, CustomCheck
from rocky.run.failures import CAUGHT
from rocky.run.literals import quote_name

_SHOWN: Final = 40
"""So much of a cell that is no number: it may be anything."""


def check_custom(
    table: CheckedTable, checks: Sequence[CustomCheck], asker: Asker
) -> Iterator[CheckOutcome]:
    """Each query over one table."""
    for check in checks:
        outcome = CheckOutcome(
            table.name,
            check.name,
            "custom",
            passed=False,
            severity=check.severity,
            expected=f"at most {check.threshold}",
        )
        try:
            row = asker.first_row(_query(table, check, asker))
        except CAUGHT as failure:
            yield replace(outcome, error=asker.explain(failure))
            continue
        yield _judged(outcome, row, check.threshold)


def _judged(outcome: CheckOutcome, row: Sequence[object] | None, threshold: int) -> CheckOutcome:
    if not row:
        return replace(outcome, error="the query gave no row")
    cell = row[0]
    if isinstance(cell, bool) or not isinstance(cell, int | float | Decimal) or isnan(cell):
        shown = "NULL" if cell is None else repr(cell)[:_SHOWN]
        return replace(outcome, error=f"the first cell of the answer is no number but {shown}")
    return replace(outcome, passed=cell <= threshold, observed=str(cell))


def _query(table: CheckedTable, check: CustomCheck, asker: Asker) -> str:
    sql = check.sql.strip().removesuffix(";")
    if TABLE_PLACE in sql:
        sql = sql.replace(TABLE_PLACE, quote_name(asker.target_view(table)))
    if SOURCE_PLACE in sql:
        sql = sql.replace(SOURCE_PLACE, quote_name(asker.source_view(table)))
    # Inside brackets only a query can stand: a check never changes anything.
    return f"SELECT * FROM (\n{sql}\n)"  # noqa: S608 - the user's own query
