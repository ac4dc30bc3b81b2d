"""Checks by counting: `row_count`, `column_match`, `null_rate`, anomalies, `cross_source_overlap`.

A copy is held against its source as both are after the copy. A count that cannot be read is a
failed check, never zero: two zeros would be equal; and the rate of no rows is no rate. The count of
this run is never part of its own baseline: a truncated table would pull the average down with it.
Copies of one table from several sources should not share keys: a row that two tenants have was
synced to the wrong one, or twice. A key with a NULL in it is like no other.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Final

from rocky.analysis.disclosure import shown
from rocky.errors import RockyError
from rocky.language.datatypes.types import StructField
from rocky.language.names import quote_name, quote_text
from rocky.ledger.pipeline_records import AnomalyRecord, CheckOutcome, RowCount
from rocky.pipelines.checks.answers import TableQueries, count_nulls, find_column
from rocky.pipelines.checks.assertions import KeepSample
from rocky.pipelines.report import CheckedTable, Sample
from rocky.project.configuration.model import CheckSeverity
from rocky.project.configuration.pipelines import Checks, NullRate, Overlap
from rocky.run.checks.outcomes import sample_rows
from rocky.run.engine.failures import STEP_ERRORS


def check_row_count(
    table: CheckedTable, severity: CheckSeverity, asker: TableQueries
) -> CheckOutcome:
    """A copy has as many rows as its source; a table that is no copy has any."""
    found = table.rows
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
    except STEP_ERRORS as failure:
        return replace(outcome, error=f"the source could not be counted: {asker.explain(failure)}")
    return replace(outcome, passed=found == expected, expected=str(expected))


def check_columns(table: CheckedTable, severity: CheckSeverity) -> CheckOutcome:
    """A copy has the columns of its source, and no others but those that Rocky keeps there."""
    outcome = CheckOutcome(
        table.name, "column_match", "column_match", passed=False, severity=severity
    )
    if table.source is None:
        return replace(outcome, error="the table is not a copy: it has no source to compare with")
    wanted = {each.name.lower(): each.name for each in table.source.source.columns}
    found = {each.name.lower(): each.name for each in table.columns}
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


BASELINE_RUNS: Final = 10
"""How many of the newest earlier counts are averaged."""
_PERCENT: Final = 100.0


def find_anomaly(
    table: str, history: Sequence[RowCount], count: int, checks: Checks
) -> AnomalyRecord | None:
    """What is odd about a count, given the counts before this run, oldest first."""
    earlier = [each.count for each in history]
    if not earlier:
        return None
    baseline = baseline_of(earlier)
    deviation = deviation_of(count, baseline)
    kind, reason = None, ""
    if checks.anomaly_threshold_pct and deviation > checks.anomaly_threshold_pct:
        kind = "drop" if count < baseline else "spike"
        reason = (
            f"{count} rows, {deviation:.0f} % {'below' if kind == 'drop' else 'above'} the average"
            f" of {baseline:.0f} over the last {_in_runs(min(len(earlier), BASELINE_RUNS))}"
        )
    elif is_flat(earlier, count, checks.flat_line_runs):
        kind = "flat"
        reason = (
            f"{count} rows, as for {_in_runs(flat_for(earlier, count))}, after it had been growing"
        )
    if kind is None:
        return None
    return AnomalyRecord(
        table, kind, count, baseline, deviation, reason, severity=checks.anomaly_severity
    )


def baseline_of(earlier: Sequence[int]) -> float:
    """The average of the newest earlier counts, of which there is at least one."""
    newest = earlier[-BASELINE_RUNS:]
    return sum(newest) / len(newest)


def deviation_of(count: int, baseline: float) -> float:
    """How far a count is from its baseline, in per cent of it."""
    if baseline == 0:
        return _PERCENT if count else 0.0
    return abs(count - baseline) / baseline * _PERCENT


def is_flat(earlier: Sequence[int], count: int, runs: int) -> bool:
    """Whether a table that grew before has not changed its count for this many runs."""
    still = flat_for(earlier, count)
    grew = any(after > before for before, after in pairwise(earlier))
    return runs > 0 and still >= runs and grew


def flat_for(earlier: Sequence[int], count: int) -> int:
    """The number of newest runs, this one included, that did not change the count."""
    still = 0
    for each in reversed(earlier):
        if each != count:
            break
        still += 1
    return still


def _in_runs(count: int) -> str:
    return f"{count} {'run' if count == 1 else 'runs'}"


EXACT_UP_TO_ROWS: Final = 100_000
"""Tables up to this size are counted in full: a sample of them saves nothing and may be empty."""
_SAMPLE_SEED: Final = 42
_ALL_PER_CENT: Final = 100.0


@dataclass(frozen=True, slots=True)
class _NullCount:
    """Nulls among the rows that were looked at."""

    nulls: int
    rows: int
    sampled: bool = False


def check_null_rates(
    table: CheckedTable, check: NullRate, asker: TableQueries
) -> Iterator[CheckOutcome]:
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
            found = _count_column_nulls(table, name, check.sample_percent, asker)
        except STEP_ERRORS as failure:
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


def _count_column_nulls(
    table: CheckedTable, name: str, percent: float, asker: TableQueries
) -> _NullCount:
    """Raises RockyError when there is no rate, and what Spark raises."""
    column = find_column(table, name)
    if column is None:
        raise RockyError(f"the table has no column `{name}`")
    rows = table.rows
    if rows == 0:
        raise RockyError("the table has no rows, so that there is no rate")
    nulls = count_nulls(table.snapshot, column)
    if nulls is not None:
        return _NullCount(nulls, rows)
    if percent < _ALL_PER_CENT and rows > EXACT_UP_TO_ROWS:
        sample = _query_nulls(
            table, column, asker, f" TABLESAMPLE ({percent:g} PERCENT) REPEATABLE ({_SAMPLE_SEED})"
        )
        if sample.rows:
            return replace(sample, sampled=True)
    return _query_nulls(table, column, asker, "")


def _query_nulls(
    table: CheckedTable, column: StructField, asker: TableQueries, sample: str
) -> _NullCount:
    view = quote_name(asker.target_view(table))
    sql = (
        f"SELECT count_if({quote_name(column.name)} IS NULL) AS nulls, count(*) AS n"  # noqa: S608 - names are quoted
        f" FROM {view}{sample}"
    )
    row = asker.first_row(sql)
    if row is None or row[0] is None or row[1] is None:
        raise RockyError("Spark gave no answer")
    return _NullCount(int(row[0]), int(row[1]))


_NEEDED: Final = 2


def check_overlap(
    tables: Sequence[CheckedTable], check: Overlap, asker: TableQueries, keep: KeepSample
) -> Iterator[CheckOutcome]:
    """For each group of siblings, how many keys more than one of them has."""
    groups = [group for group in siblings(tables) if len(group) >= _NEEDED]
    for group in groups:
        first = group[0]
        label = ".".join(part for part in (first.source_type, first.target.table) if part)
        outcome = _outcome(f"cross_source_overlap:{label}", first.target.table, check)
        try:
            yield _judged(outcome, group, check, asker, keep)
        except STEP_ERRORS as failure:
            yield replace(outcome, error=asker.explain(failure))


def without_siblings(full_names: Collection[str], check: Overlap) -> Iterator[CheckOutcome]:
    """A failed check when no two tables of the pipeline have one name: nothing could overlap."""
    names = Counter(name.lower().rpartition(".")[2] for name in full_names)
    if max(names.values(), default=0) < _NEEDED:
        why = "no two tables of the pipeline have the same name, so nothing can overlap"
        yield _outcome("cross_source_overlap", "", check, error=why)


def siblings(tables: Sequence[CheckedTable]) -> list[list[CheckedTable]]:
    """The tables by name and type of their source, in the order of the first of each."""
    groups: dict[tuple[str, str], list[CheckedTable]] = {}
    for table in tables:
        key = (table.source_type.lower(), table.target.table.lower())
        groups.setdefault(key, []).append(table)
    return list(groups.values())


def overlap_query(views: Sequence[tuple[str, str]], check: Overlap) -> str:
    """A query for the shared keys with the names of the tables that have them.

    `views` are the tables as pairs of a view and a name.
    """
    written = [quote_name(key) for key in check.keys] or [f"(\n{check.key_expr}\n)"]
    names = [f"key{index}" for index in range(len(written))]
    cells = ", ".join(f"{key} AS {name}" for key, name in zip(written, names, strict=True))
    keys = ", ".join(names)
    present = " AND ".join(f"{name} IS NOT NULL" for name in names)
    seen = " UNION ALL ".join(
        f"SELECT DISTINCT {cells}, {quote_text(name)} AS sibling FROM {quote_name(view)}"  # noqa: S608 - names are quoted
        for view, name in views
    )
    return (
        f"SELECT {keys}, count(*) AS siblings, min(sibling) AS one, max(sibling) AS another"  # noqa: S608 - our own names
        f" FROM ({seen}) AS seen WHERE {present} GROUP BY {keys} HAVING count(*) > 1"
    )


def _judged(
    outcome: CheckOutcome,
    group: Sequence[CheckedTable],
    check: Overlap,
    asker: TableQueries,
    keep: KeepSample,
) -> CheckOutcome:
    shared = overlap_query([(asker.target_view(each), each.name) for each in group], check)
    row = asker.first_row(f"SELECT count(*) AS n FROM ({shared}) AS shared")  # noqa: S608 - our own query
    if row is None or row[0] is None:
        return replace(outcome, error="Spark gave no answer")
    found = int(row[0])
    outcome = replace(
        outcome,
        passed=found <= check.max_overlap_rows,
        observed=f"{found} shared keys in {len(group)} tables",
        failing_rows=found,
    )
    if not found:
        return outcome
    engine = asker.engine()
    keys = ", ".join(f"key{index}" for index in range(len(check.keys) or 1))
    try:
        frame = engine.frame(f"{shared} ORDER BY {keys}")
        columns, rows = sample_rows(engine, frame, "rocky_shared_keys", check.sample)
    except STEP_ERRORS as failure:
        # The answer stands; only its illustration is missing.
        return replace(outcome, error=f"no sample: {asker.explain(failure)}")
    # What was said of one of the tables holds for the keys of all.
    asked = check.keys or ("",)
    secrets = tuple(one for each in group for key in asked for one in asker.secrets_of(each, key))
    said = tuple(
        tuple(shown(cell, secrets) if name.startswith("key") else cell for name, cell in each)
        for each in (zip(columns, row, strict=True) for row in rows)
    )
    keep(outcome.table, outcome.name, Sample(columns, said))
    return outcome


def _outcome(name: str, table: str, check: Overlap, error: str | None = None) -> CheckOutcome:
    return CheckOutcome(
        table,
        name,
        "cross_source_overlap",
        passed=False,
        severity=check.severity,
        expected=f"at most {check.max_overlap_rows} shared keys",
        error=error,
    )
