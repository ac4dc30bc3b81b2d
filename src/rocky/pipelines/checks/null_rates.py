"""`null_rate`: the share of a column that is NULL, exact wherever that costs nothing more.

The table's log often knows the nulls of a column. Only a large table whose log does not is
sampled, always with the same seed. The rate of no rows is no rate: such a check fails.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from rocky.datatypes.types import StructField
from rocky.errors import RockyError
from rocky.ledger.pipeline_records import CheckOutcome
from rocky.pipelines.checks.asking import Asker
from rocky.pipelines.checks.log_answers import find_column, nulls_of
from rocky.pipelines.checks.tables import CheckedTable
from rocky.project.checks import NullRate
from rocky.run.failures import CAUGHT
from rocky.run.literals import quote_name

EXACT_UP_TO_ROWS: Final = 100_000
"""Tables up to this size are counted in full: a sample of them saves nothing and may be empty."""
_SEED: Final = 42
_ALL: Final = 100.0


@dataclass(frozen=True, slots=True)
class _Counted:
    """Nulls among the rows that were looked at."""

    nulls: int
    rows: int
    sampled: bool = False


def check_null_rates(table: CheckedTable, check: NullRate, asker: Asker) -> Iterator[CheckOutcome]:
    """For each column named, whether at most the threshold of its rows is NULL."""
    for name in check.columns:
        outcome = CheckOutcome(
            table.name,
            f"null_rate:{name}",
            "null_rate",
            passed=False,
            severity=check.severity,
            expected=f"at most {check.threshold:g}",
        )
        try:
            found = _count(table, name, check.sample_percent, asker)
        except CAUGHT as failure:
            yield replace(outcome, error=asker.explain(failure))
            continue
        rate = found.nulls / found.rows
        sampled = " of a sample" if found.sampled else ""
        yield replace(
            outcome,
            passed=rate <= check.threshold,
            observed=f"{rate:.6g} ({found.nulls} of {found.rows} rows{sampled})",
            failing_rows=None if found.sampled else found.nulls,
        )


def _count(table: CheckedTable, name: str, percent: float, asker: Asker) -> _Counted:
    """Raises RockyError when there is no rate, and what Spark raises."""
    column = find_column(table.snapshot, name)
    if column is None:
        raise RockyError(f"the table has no column `{name}`")
    rows = table.snapshot.rows
    if rows == 0:
        raise RockyError("the table has no rows, so that there is no rate")
    nulls = nulls_of(table.snapshot, column)
    if nulls is not None:
        return _Counted(nulls, rows)
    if percent < _ALL and rows > EXACT_UP_TO_ROWS:
        sample = _ask(
            table, column, asker, f" TABLESAMPLE ({percent:g} PERCENT) REPEATABLE ({_SEED})"
        )
        if sample.rows:
            return replace(sample, sampled=True)
    return _ask(table, column, asker, "")


def _ask(table: CheckedTable, column: StructField, asker: Asker, sample: str) -> _Counted:
    view = quote_name(asker.target_view(table))
    sql = (
        f"SELECT count_if({quote_name(column.name)} IS NULL) AS nulls, count(*) AS n"  # noqa: S608 - names are quoted
        f" FROM {view}{sample}"
    )
    row = asker.first_row(sql)
    if row is None or row[0] is None or row[1] is None:
        raise RockyError("Spark gave no answer")
    return _Counted(int(row[0]), int(row[1]))
