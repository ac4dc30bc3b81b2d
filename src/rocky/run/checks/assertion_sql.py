"""Assertions as SQL over a view, text in and text out.

The answer is a number of failing rows. Queries about single rows and about aggregates share their
`source`, so that all of one table's are answered by one scan; one about duplicates or about another
table has a source of its own. NULL never fails a row, except in `not_null`.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from rocky.language.datatypes.types import DOUBLE, STRING_KINDS, DataType
from rocky.language.names import quote_name, quote_text
from rocky.project.configuration.model import AssertionRecord
from rocky.run.engine.sql import literal, literals

Types = Mapping[str, DataType]
"""Column types by lower-case name."""


@dataclass(frozen=True, slots=True)
class AssertionSubject:
    """What an assertion is about: the view of its table, its columns, the view of `to_table`.

    `now` is the present moment; None leaves it to whoever runs the query, which two queries that
    must agree cannot do.
    """

    view: str
    types: Types
    to_view: str | None = None
    now: datetime | None = None

    def type_of(self, column: str | None) -> DataType | None:
        return self.types.get(column.lower()) if column is not None else None


@dataclass(frozen=True, slots=True)
class AssertionQuery:
    """`SELECT <failing> FROM <source>` is the number of failing rows.

    `observed` is an expression for what was seen, of questions about the whole table: those have no
    failing rows, only an answer that is wrong. `sample` is a query whose rows show what fails.
    """

    source: str
    failing: str
    observed: str | None = None
    sample: str | None = None


class Unanswerable(ValueError):
    """An assertion that cannot be put as a question; it counts as failed."""


def query_of(assertion: AssertionRecord, asked: AssertionSubject) -> AssertionQuery:
    """The question of an assertion. Raises Unanswerable, or UnwritableValue for a bad value."""
    build = _WHOLE_TABLE.get(assertion.type)
    if build is not None:
        return build(assertion, asked)
    fails = row_condition(assertion, asked)
    view = quote_name(asked.view)
    sample = f"SELECT * FROM {view} WHERE {fails}"  # noqa: S608 - names are quoted
    return AssertionQuery(view, f"count_if({fails})", None, sample)


def row_condition(assertion: AssertionRecord, asked: AssertionSubject) -> str:
    """The condition of a failing row, of a kind in `ABOUT_ROWS`. Raises as `question_of` does."""
    return _both(assertion.filter, _ROW_RULES[assertion.type](assertion, asked))


def scan_of(questions: Sequence[AssertionQuery]) -> str:
    """One query that answers questions of one source: failing and observed, for each in turn."""
    cells = [
        f"{cell} AS {name}{index}"
        for index, question in enumerate(questions)
        for name, cell in (
            ("failing", f"CAST({question.failing} AS BIGINT)"),
            ("observed", f"CAST({question.observed or 'NULL'} AS STRING)"),
        )
    ]
    return f"SELECT {', '.join(cells)} FROM {questions[0].source}"  # noqa: S608 - names are quoted


def _both(condition: str | None, wrong: str) -> str:
    # A trailing comment in the author's text must not swallow what follows.
    return f"(\n{condition}\n) AND ({wrong})" if condition else wrong


def _name(assertion: AssertionRecord) -> str:
    if assertion.column is None:
        raise Unanswerable(f"an assertion of type `{assertion.type}` needs `column`")
    return quote_name(assertion.column)


def _is_null(assertion: AssertionRecord, asked: AssertionSubject) -> str:  # noqa: ARG001 - a row rule
    return f"{_name(assertion)} IS NULL"


def _not_accepted(assertion: AssertionRecord, asked: AssertionSubject) -> str:
    column = _name(assertion)
    if not assertion.values:
        return f"{column} IS NOT NULL"
    listed = literals(assertion.values, asked.type_of(assertion.column))
    return f"{column} IS NOT NULL AND {column} NOT IN ({listed})"


def _not_true(assertion: AssertionRecord, asked: AssertionSubject) -> str:  # noqa: ARG001 - a row rule
    return f"NOT coalesce((\n{assertion.expression}\n), TRUE)"


def _out_of_range(assertion: AssertionRecord, asked: AssertionSubject) -> str:
    column, kind = _name(assertion), asked.type_of(assertion.column)
    bounds = [each for each in (assertion.min, assertion.max) if each is not None]
    if not bounds:
        raise Unanswerable("an assertion of type `in_range` needs `min` or `max`")
    ends = []
    value = column
    if kind is not None and kind.kind in STRING_KINDS and any(map(_is_number, bounds)):
        # As texts '100' lies below '5'. What is no number lies between no two of them.
        value, kind = f"try_cast({column} AS DOUBLE)", DOUBLE
        ends.append(f"{column} IS NOT NULL AND {value} IS NULL")
    if assertion.min is not None:
        ends.append(f"{value} < {literal(assertion.min, kind)}")
    if assertion.max is not None:
        ends.append(f"{value} > {literal(assertion.max, kind)}")
    return f"coalesce({' OR '.join(ends)}, FALSE)"


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _not_matching(assertion: AssertionRecord, asked: AssertionSubject) -> str:  # noqa: ARG001 - a row rule
    column = _name(assertion)
    matches = f"CAST({column} AS STRING) RLIKE {quote_text(assertion.pattern or '')}"
    return f"{column} IS NOT NULL AND NOT ({matches})"


_NOW: Final = {
    "date": "current_date()",
    "timestamp": "current_timestamp()",
    "timestamp_ntz": "localtimestamp()",
}


def _moment(assertion: AssertionRecord, asked: AssertionSubject) -> tuple[str, str]:
    """A column as a moment and the present one in the same type. A text is cast."""
    column, kind = _name(assertion), asked.type_of(assertion.column)
    if kind is not None and kind.kind in _NOW:
        return column, _present(kind.kind, asked.now)
    return f"CAST({column} AS TIMESTAMP)", _present("timestamp", asked.now)


def _present(kind: str, now: datetime | None) -> str:
    if now is None:
        return _NOW[kind]
    return f"CAST({quote_text(now.astimezone(UTC).isoformat())} AS {kind})"


def _in_future(assertion: AssertionRecord, asked: AssertionSubject) -> str:
    column, now = _moment(assertion, asked)
    return f"coalesce({column} > {now}, FALSE)"


def _too_young(assertion: AssertionRecord, asked: AssertionSubject) -> str:
    column, now = _moment(assertion, asked)
    return f"coalesce({column} >= {now} - INTERVAL '{assertion.days or 0}' DAY, FALSE)"


def _duplicates(
    keys: Sequence[str], assertion: AssertionRecord, asked: AssertionSubject
) -> AssertionQuery:
    """Rows whose key another row has too. A row with a NULL in its key is like no other."""
    names = [f"key{index}" for index in range(len(keys))]
    listed = ", ".join(f"(\n{key}\n) AS {name}" for key, name in zip(keys, names, strict=True))
    present = " AND ".join(f"{name} IS NOT NULL" for name in names)
    where = f" WHERE (\n{assertion.filter}\n)" if assertion.filter else ""
    rows = f"SELECT {listed} FROM {quote_name(asked.view)}{where}"  # noqa: S608 - names are quoted
    columns = ", ".join(names)
    groups = (
        f"SELECT {columns}, count(*) AS `rows` FROM ({rows}) WHERE {present}"  # noqa: S608 - ours
        f" GROUP BY {columns} HAVING count(*) > 1"
    )
    shown = ", ".join(
        f"{name} AS {quote_name(label)}"
        for name, label in zip(names, _labels(assertion), strict=True)
    )
    sample = f"SELECT {shown}, `rows` FROM ({groups}) ORDER BY `rows` DESC, {columns}"  # noqa: S608 - ours
    return AssertionQuery(f"({groups})", "coalesce(sum(`rows`), 0)", None, sample)


def _labels(assertion: AssertionRecord) -> list[str]:
    if assertion.columns:
        return list(assertion.columns)
    return [assertion.column or assertion.key_expr or "key"]


def _not_unique(assertion: AssertionRecord, asked: AssertionSubject) -> AssertionQuery:
    return _duplicates([_name(assertion)], assertion, asked)


def _expression_not_unique(assertion: AssertionRecord, asked: AssertionSubject) -> AssertionQuery:
    return _duplicates([assertion.key_expr or "NULL"], assertion, asked)


def _columns_not_unique(assertion: AssertionRecord, asked: AssertionSubject) -> AssertionQuery:
    if not assertion.columns:
        raise Unanswerable("an assertion of type `composite` needs `columns`")
    return _duplicates([quote_name(each) for each in assertion.columns], assertion, asked)


def _orphans(assertion: AssertionRecord, asked: AssertionSubject) -> AssertionQuery:
    """Rows whose value `to_table` does not have."""
    if asked.to_view is None or assertion.to_column is None:
        raise Unanswerable("an assertion of type `relationships` needs `to_table`, `to_column`")
    wanted = _both(assertion.filter, f"{_name(assertion)} IS NOT NULL")
    parents = quote_name(asked.to_view)
    same = f"parent.{quote_name(assertion.to_column)} = child.{_name(assertion)}"
    known = f"SELECT 1 FROM {parents} AS parent WHERE {same}"  # noqa: S608 - names are quoted
    rows = (
        f"SELECT * FROM {quote_name(asked.view)} AS child"  # noqa: S608 - names are quoted
        f" WHERE {wanted} AND NOT EXISTS ({known})"
    )
    return AssertionQuery(f"({rows})", "count(*)", None, rows)


def _row_count(assertion: AssertionRecord, asked: AssertionSubject) -> AssertionQuery:
    counted = f"count_if(\n{assertion.filter}\n)" if assertion.filter else "count(*)"
    ends = []
    if assertion.min is not None:
        ends.append(f"{counted} >= {literal(assertion.min, None)}")
    if assertion.max is not None:
        ends.append(f"{counted} <= {literal(assertion.max, None)}")
    if not ends:
        raise Unanswerable("an assertion of type `row_count_range` needs `min` or `max`")
    return _holds(" AND ".join(ends), counted, asked)


_COMPARISONS: Final = {
    "lt": "<",
    "lte": "<=",
    "gt": ">",
    "gte": ">=",
    "eq": "=",
    "ne": "<>",
    "==": "=",
    "!=": "<>",
}
"""Comparisons that SQL writes differently; the others are written as they are."""


def _aggregate(assertion: AssertionRecord, asked: AssertionSubject) -> AssertionQuery:
    """A fact about all rows. Over no rows most aggregates are NULL, which compares with nothing."""
    only = f" FILTER (WHERE\n{assertion.filter}\n)" if assertion.filter else ""
    found = f"{assertion.op}({_name(assertion)}){only}"
    # A sum or an average has a type of its own; a minimum has the column's.
    kind = asked.type_of(assertion.column) if assertion.op in ("min", "max") else None
    if kind is not None and kind.kind in STRING_KINDS and _is_number(assertion.value):
        raise Unanswerable(
            f"`{assertion.column}` is a text, and so is its {assertion.op}imum: as texts '100' lies"
            f" below '5'; write `value` as a text, or compare numbers with `in_range`"
        )
    value = literal(_as_number(assertion.value) if kind is None else assertion.value, kind)
    compare = _COMPARISONS.get(assertion.cmp or "=", assertion.cmp)
    return _holds(f"{found} {compare} {value}", found, asked)


def _as_number(value: float | str | None) -> float | int | str | None:
    """A number that was written as a text, as sums and counts are numbers."""
    if not isinstance(value, str):
        return value
    try:
        return int(value)
    except ValueError:
        return value


def _holds(condition: str, observed: str, asked: AssertionSubject) -> AssertionQuery:
    failing = f"CASE WHEN {condition} THEN 0 ELSE 1 END"
    return AssertionQuery(quote_name(asked.view), failing, observed)


_RowRule = Callable[[AssertionRecord, AssertionSubject], str]
_ROW_RULES: Final[Mapping[str, _RowRule]] = {
    "not_null": _is_null,
    "accepted_values": _not_accepted,
    "expression": _not_true,
    "in_range": _out_of_range,
    "regex_match": _not_matching,
    "not_in_future": _in_future,
    "older_than_n_days": _too_young,
}
_WHOLE_TABLE: Final[Mapping[str, Callable[[AssertionRecord, AssertionSubject], AssertionQuery]]] = {
    "unique": _not_unique,
    "unique_expr": _expression_not_unique,
    "composite": _columns_not_unique,
    "relationships": _orphans,
    "row_count_range": _row_count,
    "aggregate": _aggregate,
}
