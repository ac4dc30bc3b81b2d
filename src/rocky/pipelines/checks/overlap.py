"""`cross_source_overlap`: keys that more than one of the tables of one name have.

Copies of one table from several sources should not share keys: a row that two tenants have was
synced to the wrong one, or twice. A key with a NULL in it is like no other.
"""

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from typing import Final

from rocky.language.names import quote_name, quote_text
from rocky.ledger.pipeline_records import CheckOutcome
from rocky.pipelines.checks.answers import TableQueries
from rocky.pipelines.checks.assertions import KeepSample
from rocky.pipelines.report import CheckedTable, Sample
from rocky.project.configuration.pipelines import Overlap
from rocky.run.checks.outcomes import sample_rows
from rocky.run.engine.failures import STEP_ERRORS

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
    keep(outcome.table, outcome.name, Sample(columns, rows))
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
