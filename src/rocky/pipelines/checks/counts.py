"""`row_count` and `column_match`: a copy against its source, as both are after the copy.

The copy's own count stands in its log. A count that cannot be read is a failed check, never zero:
two zeros would be equal.
"""

from collections.abc import Iterable
from dataclasses import replace

from rocky.ledger.pipeline_records import CheckOutcome
from rocky.pipelines.checks.asking import Asker
from rocky.pipelines.checks.tables import CheckedTable
from rocky.project.settings import CheckSeverity
from rocky.run.failures import CAUGHT


def check_row_count(table: CheckedTable, severity: CheckSeverity, asker: Asker) -> CheckOutcome:
    """A copy has as many rows as its source; a table that is no copy has any."""
    found = table.snapshot.rows
    outcome = CheckOutcome(
        table.name, "row_count", "row_count", passed=False, severity=severity, observed=str(found)
    )
    source = table.source
    if source is None:
        return replace(outcome, passed=found > 0, expected="more than 0")
    try:
        expected = source.rows
        if expected is None:
            expected = asker.count(asker.source_view(table), source.where)
    except CAUGHT as failure:
        return replace(outcome, error=f"the source could not be counted: {asker.explain(failure)}")
    return replace(outcome, passed=found == expected, expected=str(expected))


def check_columns(table: CheckedTable, severity: CheckSeverity) -> CheckOutcome:
    """A copy has the columns of its source, and no others but those that Rocky keeps there."""
    outcome = CheckOutcome(
        table.name, "column_match", "column_match", passed=False, severity=severity
    )
    if table.source is None:
        return replace(outcome, error="the table is no copy: it has no source to compare with")
    wanted = {each.name.lower(): each.name for each in table.source.source.columns}
    found = {each.name.lower(): each.name for each in table.snapshot.schema}
    own = {name.lower() for name in (*table.metadata_columns, *table.on_notice)}
    missing = [name for key, name in wanted.items() if key not in found]
    extra = [name for key, name in found.items() if key not in wanted and key not in own]
    said = [f"missing {_listed(missing)}"] if missing else []
    said += [f"extra {_listed(extra)}"] if extra else []
    return replace(
        outcome,
        passed=not said,
        observed="; ".join(said) or "the same columns",
        expected="the columns of the source",
    )


def _listed(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)
