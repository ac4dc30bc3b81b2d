"""Every kind of assertion becomes SQL whose text can be read here."""

from datetime import UTC, date, datetime

import pytest

from rocky.language.datatypes.text import parse_type
from rocky.language.names import quote_name, quote_text
from rocky.project.configuration.model import AssertionRecord
from rocky.run.checks.assertion_sql import AssertionSubject, Unanswerable, query_of, scan_of
from rocky.run.engine.sql import UnwritableValue, literal

TYPES = {
    "id": parse_type("bigint"),
    "status": parse_type("string"),
    "day": parse_type("date"),
    "at": parse_type("timestamp"),
    "wall": parse_type("timestamp_ntz"),
    "amount": parse_type("decimal(12,2)"),
}
ASKED = AssertionSubject("v", TYPES, "parent_view")


def question(kind, **keys):
    return query_of(AssertionRecord(kind, **keys), ASKED)


def flat(sql):
    return " ".join(sql.split())


@pytest.mark.parametrize(
    ("assertion", "fails"),
    [
        (AssertionRecord("not_null", "id"), "`id` IS NULL"),
        (AssertionRecord("accepted_values", "status", values=("a", "it's", "back\\slash", 7)), r"`status` IS NOT NULL AND `status` NOT IN ('a', 'it\'s', 'back\\slash', '7')"),
        (AssertionRecord("accepted_values", "id", values=(1, 2)), "`id` IS NOT NULL AND `id` NOT IN (1, 2)"),
        (AssertionRecord("accepted_values", "day", values=("2026-01-31", date(2026, 2, 1))), "`day` IS NOT NULL AND `day` NOT IN (CAST('2026-01-31' AS date), CAST('2026-02-01' AS date))"),
        (AssertionRecord("accepted_values", "id"), "`id` IS NOT NULL"),
        (AssertionRecord("expression", expression="id > 0 -- why"), "NOT coalesce(( id > 0 -- why ), TRUE)"),
        (AssertionRecord("in_range", "amount", min=0.1, max=100.0), "coalesce(`amount` < 0.1 OR `amount` > 100, FALSE)"),
        (AssertionRecord("in_range", "day", min="2026-01-01"), "coalesce(`day` < CAST('2026-01-01' AS date), FALSE)"),
        (AssertionRecord("in_range", "status", min=1, max=5.5), "coalesce(`status` IS NOT NULL AND try_cast(`status` AS DOUBLE) IS NULL OR try_cast(`status` AS DOUBLE) < 1 OR try_cast(`status` AS DOUBLE) > 5.5, FALSE)"),
        (AssertionRecord("in_range", "status", min="a", max="f"), "coalesce(`status` < 'a' OR `status` > 'f', FALSE)"),
        (AssertionRecord("regex_match", "status", pattern=r"^\w+'$"), r"`status` IS NOT NULL AND NOT (CAST(`status` AS STRING) RLIKE '^\\w+\'$')"),
        (AssertionRecord("not_in_future", "at"), "coalesce(`at` > current_timestamp(), FALSE)"),
        (AssertionRecord("not_in_future", "day"), "coalesce(`day` > current_date(), FALSE)"),
        (AssertionRecord("not_in_future", "wall"), "coalesce(`wall` > localtimestamp(), FALSE)"),
        (AssertionRecord("not_in_future", "status"), "coalesce(CAST(`status` AS TIMESTAMP) > current_timestamp(), FALSE)"),
        (AssertionRecord("older_than_n_days", "day", days=3), "coalesce(`day` >= current_date() - INTERVAL '3' DAY, FALSE)"),
    ],
    ids=lambda each: each.type if isinstance(each, AssertionRecord) else "",
)  # fmt: skip
def test_a_rule_about_rows_counts_those_that_break_it(assertion, fails):
    found = query_of(assertion, ASKED)

    assert ("`v`", f"count_if({fails})") == (found.source, flat(found.failing))
    assert f"SELECT * FROM `v` WHERE {fails}" == flat(found.sample)


def test_a_filter_limits_the_rows_a_rule_is_about():
    found = question("not_null", column="id", filter="status = 'a' -- only these")

    assert "count_if(( status = 'a' -- only these ) AND (`id` IS NULL))" == flat(found.failing)
    assert "-- only these\n)" in found.failing


@pytest.mark.parametrize(
    ("keys", "grouped"),
    [
        ({"kind": "unique", "column": "id"}, "SELECT ( `id` ) AS key0 FROM `v`"),
        ({"kind": "unique_expr", "key_expr": "lower(status)"}, "SELECT ( lower(status) ) AS key0 FROM `v`"),
        ({"kind": "composite", "columns": ("id", "day"), "filter": "id > 0"}, "SELECT ( `id` ) AS key0, ( `day` ) AS key1 FROM `v` WHERE ( id > 0 )"),
    ],
)  # fmt: skip
def test_duplicates_are_counted_by_key_and_rows_without_a_key_are_left_out(keys, grouped):
    kind = keys.pop("kind")
    found = question(kind, **keys)
    names = ["key0", "key1"][: 2 if kind == "composite" else 1]
    present = " AND ".join(f"{name} IS NOT NULL" for name in names)

    assert (
        f"(SELECT {', '.join(names)}, count(*) AS `rows` FROM ({grouped}) WHERE {present}"
        f" GROUP BY {', '.join(names)} HAVING count(*) > 1)"
    ) == flat(found.source)
    assert "coalesce(sum(`rows`), 0)" == found.failing


def test_a_relationship_counts_values_the_other_table_does_not_have():
    found = question("relationships", column="id", to_table="parents", to_column="key")

    assert (
        "(SELECT * FROM `v` AS child WHERE `id` IS NOT NULL AND NOT EXISTS"
        " (SELECT 1 FROM `parent_view` AS parent WHERE parent.`key` = child.`id`))"
    ) == flat(found.source)
    assert "count(*)" == found.failing


@pytest.mark.parametrize(
    ("assertion", "observed", "holds"),
    [
        (AssertionRecord("row_count_range", min=1.0, max=10.0), "count(*)", "count(*) >= 1 AND count(*) <= 10"),
        (AssertionRecord("row_count_range", min=1.0, filter="id > 0"), "count_if( id > 0 )", "count_if( id > 0 ) >= 1"),
        (AssertionRecord("aggregate", "amount", op="sum", cmp="gte", value=0.5), "sum(`amount`)", "sum(`amount`) >= 0.5"),
        (AssertionRecord("aggregate", "day", op="max", cmp="!=", value="2026-01-01"), "max(`day`)", "max(`day`) <> CAST('2026-01-01' AS date)"),
        (AssertionRecord("aggregate", "id", op="count", cmp="<", value="9007199254740993", filter="id > 0"), "count(`id`) FILTER (WHERE id > 0 )", "count(`id`) FILTER (WHERE id > 0 ) < 9007199254740993"),
    ],
)  # fmt: skip
def test_a_rule_about_the_whole_table_says_what_was_observed(assertion, observed, holds):
    found = query_of(assertion, ASKED)

    assert ("`v`", observed) == (found.source, flat(found.observed))
    assert f"CASE WHEN {holds} THEN 0 ELSE 1 END" == flat(found.failing)


def test_questions_of_one_table_are_one_scan():
    both = [question("not_null", column="id"), question("row_count_range", min=1.0)]

    assert (
        "SELECT CAST(count_if(`id` IS NULL) AS BIGINT) AS failing0, CAST(NULL AS STRING) AS observed0,"
        " CAST(CASE WHEN count(*) >= 1 THEN 0 ELSE 1 END AS BIGINT) AS failing1,"
        " CAST(count(*) AS STRING) AS observed1 FROM `v`"
    ) == scan_of(both)


def test_the_greatest_text_is_not_compared_with_a_number():
    with pytest.raises(Unanswerable, match="`status` is a text, and so is its maximum"):
        question("aggregate", column="status", op="max", cmp="<=", value=5)


@pytest.mark.parametrize("kind", ["in_range", "row_count_range"])
def test_a_range_without_ends_cannot_be_asked(kind):
    with pytest.raises(Unanswerable):
        question(kind, column="id")


def test_names_and_texts_cannot_end_their_quotes():
    assert "`a``b`" == quote_name("a`b")
    assert r"'\'; DROP TABLE t; --\\'" == quote_text("'; DROP TABLE t; --\\")


@pytest.mark.parametrize(
    ("value", "kind", "sql"),
    [
        (True, "boolean", "TRUE"),
        (1.0, "int", "1"),
        (1e300, "double", "1e+300"),
        (float("inf"), "double", "CAST('inf' AS DOUBLE)"),
        ("x", None, "'x'"),
        ("1", "bigint", "CAST('1' AS bigint)"),
        (True, "string", "'true'"),
        (0.5, "string", "'0.5'"),
        (datetime(2026, 1, 1, tzinfo=UTC), "timestamp", "CAST('2026-01-01T00:00:00+00:00' AS timestamp)"),
        (datetime.fromisoformat("2026-01-01"), None, "CAST('2026-01-01T00:00:00' AS TIMESTAMP_NTZ)"),
    ],
)  # fmt: skip
def test_a_value_is_written_in_the_type_of_its_column(value, kind, sql):
    assert sql == literal(value, parse_type(kind) if kind else None)


def test_a_list_has_no_text():
    with pytest.raises(UnwritableValue):
        literal([1], None)
