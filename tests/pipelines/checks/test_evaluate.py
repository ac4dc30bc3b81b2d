"""Every check of a pipeline, in both directions, and when it cannot be answered."""

from dataclasses import replace
from datetime import timedelta

import pytest

from rocky.errors import SparkUnavailable
from rocky.pipelines.checks.evaluation import CheckContext, run_pipeline_checks
from rocky.project.configuration.model import AssertionRecord
from rocky.project.configuration.pipelines import (
    Checks,
    CustomCheck,
    FreshnessCheck,
    NullRate,
    Overlap,
    Toggle,
)
from tests.pipelines.checks.bench import NOW, Bench, told, with_statistics

ORDERS = "id bigint, status string"
ROWS = "(1, 'a'), (2, 'b'), (3, NULL)"
EVENTS = "id bigint, at timestamp"


@pytest.fixture
def bench(tmp_path):
    return Bench(tmp_path)


@pytest.fixture
def orders(bench):
    return bench.table("lake.acme.orders", ORDERS, ROWS)


def test_a_copy_has_as_many_rows_as_its_source(bench, orders):
    same = replace(orders, source=bench.source(ORDERS, "id,status\n1,a\n2,b\n3,\n"))
    short = replace(orders, source=bench.source(ORDERS, "id,status\n1,a\n"))

    assert {"row_count": True} == told(bench.check(Checks(row_count=True), same))
    result = bench.check(Checks(row_count=True), short)
    assert [(False, "3", "1")] == [
        (each.passed, each.observed, each.expected) for each in result.outcomes
    ]
    assert result.failed


def test_only_rows_that_the_copy_could_see_are_counted(bench, orders):
    text = "id,status\n1,a\n2,b\n3,\n4,late\n"
    copy = replace(orders, source=bench.source(ORDERS, text, where="id <= 3 -- the bound"))

    assert {"row_count": True} == told(bench.check(Checks(row_count=True), copy))


def test_a_count_that_is_known_needs_no_spark(bench, orders):
    copy = replace(orders, source=bench.source(ORDERS, "id,status\n", rows=3))

    assert {"row_count": True} == told(bench.check(Checks(row_count=True), copy))
    assert 0 == bench.opened


def test_two_counts_that_cannot_be_read_are_not_equal(bench):
    empty = bench.table("lake.acme.orders", ORDERS)
    source = bench.source(ORDERS, "id,status\n", where="no_such_column > 1")
    (outcome,) = bench.check(Checks(row_count=True), replace(empty, source=source)).outcomes

    assert not outcome.passed
    assert outcome.error.startswith("the source could not be counted: ")


def test_a_table_that_is_no_copy_has_any_rows(bench, orders):
    empty = bench.table("lake.acme.empty", ORDERS)
    result = bench.check(Checks(row_count=True), orders, empty)

    assert [True, False] == [each.passed for each in result.outcomes]
    assert 0 == bench.opened


def test_a_warning_fails_nothing(bench):
    empty = bench.table("lake.acme.orders", ORDERS)
    result = bench.check(Checks(row_count=Toggle(severity="warning")), empty)

    assert {"row_count": False} == told(result)
    assert not result.failed


def test_without_fail_on_error_failures_are_only_told(bench):
    empty = bench.table("lake.acme.orders", ORDERS)
    result = bench.check(Checks(row_count=True, fail_on_error=False), empty)

    assert {"row_count": False} == told(result)
    assert not result.failed


def test_checks_that_are_not_enabled_ask_nothing(bench, orders):
    result = run_pipeline_checks(Checks(row_count=True), [orders], None, CheckContext(NOW))

    assert ((), (), {}) == (result.outcomes, result.anomalies, result.counts)


def test_columns_are_compared_without_case_and_without_rockys_own(bench):
    copy = bench.table(
        "lake.acme.orders",
        "ID bigint, status string, _loaded_by string, old string",
        "(1, 'a', 'x', NULL)",
        source=bench.source("id bigint, Status string", "id,Status\n1,a\n"),
        metadata_columns=("_LOADED_BY",),
        on_notice=("old",),
    )

    assert {"column_match": True} == told(bench.check(Checks(column_match=True), copy))


def test_columns_that_are_missing_or_extra_are_named(bench):
    source = bench.source("id bigint, email string", "id,email\n")
    copy = bench.table("lake.acme.orders", ORDERS, ROWS, source=source)
    (outcome,) = bench.check(Checks(column_match=True), copy).outcomes

    assert (False, "missing `email`; extra `status`") == (outcome.passed, outcome.observed)


def events(bench, *ages, name="lake.acme.events", **keys):
    moments = (NOW - timedelta(seconds=age) for age in ages)
    rows = ", ".join(f"({i}, TIMESTAMP '{at:%Y-%m-%d %H:%M:%S}')" for i, at in enumerate(moments))
    return bench.table(name, EVENTS, rows, timestamp_column="at", **keys)


def test_a_table_is_fresh_up_to_its_threshold(bench):
    checks = Checks(freshness=FreshnessCheck(60))

    assert {"freshness": True} == told(bench.check(checks, events(bench, 500, 60)))
    (outcome,) = bench.check(checks, events(bench, 500, 61)).outcomes
    assert (False, "61 s old", "at most 1 min old") == (
        outcome.passed,
        outcome.observed,
        outcome.expected,
    )


@pytest.mark.parametrize(
    ("age", "allowed", "observed", "expected"),
    [
        (27_547_679, 86_400, "318 days old", "at most 1 day old"),
        (27_547_679, 172_800, "318 days old", "at most 2 days old"),
        (90_000, 7_200, "25 h old", "at most 2 h old"),
        (7_199, 3_600, "119 min old", "at most 1 h old"),
        (200_000, 100_000, "2 days old", "at most 100000 s old"),
        # What is just too old is not told as what is allowed.
        (172_801, 172_800, "172801 s old", "at most 2 days old"),
        (180_001, 172_800, "50 h old", "at most 2 days old"),
    ],
)
def test_an_age_is_told_in_days_and_hours(bench, age, allowed, observed, expected):
    checks = Checks(freshness=FreshnessCheck(allowed))
    (outcome,) = bench.check(checks, events(bench, age)).outcomes

    assert (False, observed, expected) == (outcome.passed, outcome.observed, outcome.expected)


def test_a_table_without_rows_is_not_fresh(bench):
    result = bench.check(Checks(freshness=FreshnessCheck(60)), events(bench))

    assert {"freshness": "no row has a timestamp"} == told(result)


def test_rows_from_the_future_are_named_and_do_not_make_a_table_fresh(bench):
    (outcome,) = bench.check(
        Checks(freshness=FreshnessCheck(60)), events(bench, 500, -86_400)
    ).outcomes

    assert (False, "8 min old; 1 with a timestamp in the future") == (
        outcome.passed,
        outcome.observed,
    )


def test_a_clock_that_is_a_little_ahead_is_the_present(bench):
    (outcome,) = bench.check(Checks(freshness=FreshnessCheck(60)), events(bench, -30)).outcomes

    assert (True, "0 s old") == (outcome.passed, outcome.observed)


def test_each_table_has_a_timestamp_column_of_its_own(bench):
    table = replace(events(bench, 5), timestamp_column="synced_at")

    assert {"freshness": "the table has no column `synced_at`"} == told(
        bench.check(Checks(freshness=FreshnessCheck(60)), table)
    )


@pytest.mark.parametrize(
    ("overrides", "passed"),
    [
        ({"acme": 1000}, True),
        ({"ACME": 1000}, True),
        ({"src__acme": 1000}, True),
        ({"a*": 1000}, True),
        ({"a*": 1000, "acme": 10}, False),
        ({"a*": 1000, "*": 10}, True),
    ],
)
def test_a_schema_can_have_a_threshold_of_its_own(bench, overrides, passed):
    table = events(bench, 500, source_schema="src__acme")
    checks = Checks(freshness=FreshnessCheck(60, overrides))

    assert {"freshness": passed} == told(bench.check(checks, table))


def test_an_override_of_no_schema_has_failed(bench):
    checks = Checks(freshness=FreshnessCheck(600, {"acne": 1000, "other": 5}))
    result = bench.check(checks, events(bench, 5), known=("lake.other.events",))

    assert [True, False] == [each.passed for each in result.outcomes]
    assert "the override `acne` names no schema of the pipeline" == result.outcomes[1].error


def test_the_log_answers_how_fresh_a_table_is(bench):
    high = {"at": "2026-01-31T11:59:00.000Z"}
    table = with_statistics(events(bench, 500), maxValues=high, nullCount={"at": 0})
    (outcome,) = bench.check(Checks(freshness=FreshnessCheck(60)), table).outcomes

    assert (True, "60 s old") == (outcome.passed, outcome.observed)
    assert 0 == bench.opened


def test_a_log_that_knows_of_the_future_does_not_answer(bench):
    high = {"at": "2026-02-28T11:59:00.000Z"}
    table = with_statistics(events(bench, 500), maxValues=high, nullCount={"at": 0})
    (outcome,) = bench.check(Checks(freshness=FreshnessCheck(600)), table).outcomes

    assert (True, "8 min old", 1) == (outcome.passed, outcome.observed, bench.opened)


@pytest.mark.parametrize(("threshold", "passed"), [(0.34, True), (0.33, False), (0.0, False)])
def test_a_share_of_nulls_is_allowed(bench, orders, threshold, passed):
    checks = Checks(null_rate=NullRate(("status",), threshold))

    assert {"null_rate:status": passed} == told(bench.check(checks, orders))


def test_a_column_that_is_not_there_has_failed_and_hides_no_other(bench, orders):
    checks = Checks(null_rate=NullRate(("nope", "ID"), 0.0))

    assert {"null_rate:nope": "the table has no column `nope`", "null_rate:ID": True} == told(
        bench.check(checks, orders)
    )


def test_the_null_rate_of_no_rows_has_failed(bench):
    empty = bench.table("lake.acme.orders", ORDERS)
    result = bench.check(Checks(null_rate=NullRate(("id",), 1.0)), empty)

    assert {"null_rate:id": "the table has no rows, so that there is no rate"} == told(result)


def test_the_log_answers_how_many_nulls_there_are(bench, orders):
    table = with_statistics(orders, nullCount={"status": 1})
    (outcome,) = bench.check(Checks(null_rate=NullRate(("status",), 0.5)), table).outcomes

    assert (True, "0.333333 (1 of 3 rows)", 0) == (outcome.passed, outcome.observed, bench.opened)


def test_a_large_table_is_sampled_always_alike(bench, orders, monkeypatch):
    monkeypatch.setattr("rocky.pipelines.checks.counts.EXACT_UP_TO_ROWS", 1)
    bench.check(Checks(null_rate=NullRate(("status",), 0.5)), orders)

    assert [
        sql
        for sql in bench.engine.queries
        if sql.endswith("TABLESAMPLE (10 PERCENT) REPEATABLE (42)")
    ]


def custom(sql, threshold=0, name="c"):
    return Checks(custom=(CustomCheck(name, sql, threshold),))


@pytest.mark.parametrize(
    ("sql", "threshold", "told_so"),
    [
        ("SELECT count(*) FROM {table} WHERE id > 9", 0, True),
        ("SELECT count(*) FROM {table} WHERE id > 2", 0, False),
        ("SELECT count(*) FROM {table}", 3, True),
        ("SELECT count(*) FROM {table}", 2, False),
        ("SELECT 0.5 -- half;", 0, False),
        ("SELECT count(*) FROM {table};", 3, True),
        ("SELECT NULL", 9, "the first cell of the answer is not a number but NULL"),
        ("SELECT 'none'", 9, "the first cell of the answer is not a number but 'none'"),
        ("SELECT true", 9, "the first cell of the answer is not a number but True"),
        ("SELECT CAST('nan' AS DOUBLE)", 9, "the first cell of the answer is not a number but nan"),
        ("SELECT id FROM {table} WHERE FALSE", 9, "the query gave no row"),
        (
            "SELECT count(*) FROM {source}",
            9,
            "`lake.acme.orders` is not a copy: it has no source to compare with",
        ),
    ],
)
def test_a_custom_query_counts_bad_rows(bench, orders, sql, threshold, told_so):
    assert {"c": told_so} == told(bench.check(custom(sql, threshold), orders))


@pytest.mark.parametrize(
    "sql", ["SELECT nope FROM {table}", "SELEC", "DROP TABLE {table}", "SELECT 1; SELECT 2"]
)
def test_a_custom_query_that_cannot_be_run_has_failed(bench, orders, sql):
    (outcome,) = bench.check(custom(sql, 99), orders).outcomes

    assert not outcome.passed
    assert outcome.error


def test_a_custom_query_can_read_the_source_too(bench, orders):
    copy = replace(orders, source=bench.source(ORDERS, "id,status\n1,a\n7,x\n"))
    sql = "SELECT count(*) FROM {source} WHERE id NOT IN (SELECT id FROM {table})"

    assert {"c": False} == told(bench.check(custom(sql), copy))


def test_an_assertion_without_a_table_is_about_every_table(bench, orders):
    other = bench.table("lake.acme.items", "id bigint", "(1), (NULL)")
    checks = Checks(assertions=(AssertionRecord("not_null", "id"),))
    result = bench.check(checks, orders, other)

    assert [("lake.acme.orders", True, 0), ("lake.acme.items", False, 1)] == [
        (each.table, each.passed, each.failing_rows) for each in result.outcomes
    ]
    assert ((None,),) == result.samples["lake.acme.items", "not_null:id"].rows


@pytest.mark.parametrize(
    ("name", "tables"),
    [
        ("orders", ["lake.acme.orders", "lake.beta.orders"]),
        ("ACME.Orders", ["lake.acme.orders"]),
        ("`lake`.beta.orders", ["lake.beta.orders"]),
    ],
)
def test_an_assertion_is_about_the_tables_its_name_means(bench, orders, name, tables):
    other = bench.table("lake.beta.orders", ORDERS, ROWS)
    items = bench.table("lake.acme.back_orders", ORDERS, ROWS)
    checks = Checks(assertions=(AssertionRecord("not_null", "id", table=name),))

    assert tables == [each.table for each in bench.check(checks, orders, other, items).outcomes]


def test_an_assertion_that_names_no_table_has_failed(bench, orders):
    checks = Checks(
        assertions=(
            AssertionRecord("not_null", "id", table="oders"),
            AssertionRecord("not_null", "id", table="beta.orders"),
        )
    )
    result = bench.check(checks, orders, known=("lake.beta.orders",))

    assert [("oders", False, "`oders` names no table of the pipeline")] == [
        (each.table, each.passed, each.error) for each in result.outcomes
    ]
    assert result.failed


def test_a_relationship_is_with_the_table_in_the_same_schema(bench):
    tables = [
        bench.table("lake.acme.orders", "customer bigint", "(1), (2)"),
        bench.table("lake.acme.customers", "id bigint", "(1), (2)"),
        bench.table("lake.beta.orders", "customer bigint", "(1), (2)"),
        bench.table("lake.beta.customers", "id bigint", "(1)"),
    ]
    bench.table("lake.shared.customers", "id bigint", "(2)")
    relationship = AssertionRecord(
        "relationships", "customer", table="orders", to_table="customers", to_column="id"
    )
    shared = relationship._replace(to_table="shared.customers", name="shared")
    gone = relationship._replace(to_table="nobody", name="gone")
    result = bench.check(Checks(assertions=(relationship, shared, gone)), *tables)

    assert [0, 1, None, 1, 1, None] == [each.failing_rows for each in result.outcomes]
    assert "there is no table `lake.acme.nobody`" == result.outcomes[2].error


def siblings(bench, *rows):
    names = ("acme", "beta", "gamma")
    return [
        bench.table(f"lake.{name}.orders", ORDERS, each, source_type="shop")
        for name, each in zip(names, rows, strict=False)
    ]


def test_keys_of_several_siblings_are_counted_once(bench):
    tables = siblings(
        bench,
        "(1, 'a'), (1, 'b'), (2, 'a'), (NULL, 'a')",
        "(1, 'a'), (NULL, 'a')",
        "(1, 'x'), (3, 'x')",
    )
    result = bench.check(Checks(cross_source_overlap=Overlap(("id",))), *tables)
    (outcome,) = result.outcomes

    assert ("cross_source_overlap:shop.orders", False, 1) == (
        outcome.name,
        outcome.passed,
        outcome.failing_rows,
    )
    assert (("1", "3", "lake.acme.orders", "lake.gamma.orders"),) == result.samples[
        "orders", outcome.name
    ].rows


@pytest.mark.parametrize(
    ("check", "passed"),
    [
        (Overlap(("id",), max_overlap_rows=1), True),
        (Overlap(("id", "status")), True),
        (Overlap(key_expr="id % 10 -- last"), False),
        (Overlap(("id",), severity="warning"), False),
    ],
)
def test_overlap_is_of_the_keys_that_are_set(bench, check, passed):
    tables = siblings(bench, "(1, 'a'), (2, 'a')", "(1, 'b'), (3, 'b')")

    assert [passed] == [
        each.passed for each in bench.check(Checks(cross_source_overlap=check), *tables).outcomes
    ]


def test_a_key_that_is_not_there_has_failed(bench):
    tables = siblings(bench, ROWS, ROWS)
    (outcome,) = bench.check(Checks(cross_source_overlap=Overlap(("nope",))), *tables).outcomes

    assert not outcome.passed
    assert outcome.error


def test_overlap_of_tables_that_have_no_siblings_has_failed(bench, orders):
    checks = Checks(cross_source_overlap=Overlap(("id",)))

    assert ["no two tables of the pipeline have the same name, so nothing can overlap"] == [
        each.error for each in bench.check(checks, orders).outcomes
    ]
    assert () == bench.check(checks, orders, known=("lake.beta.orders",)).outcomes


def test_spark_that_cannot_be_opened_fails_what_needs_it_and_nothing_else(bench, orders):
    tries = []

    def refuse():
        tries.append(1)
        raise SparkUnavailable("no Java")

    checks = Checks(
        enabled=True,
        row_count=True,
        custom=(CustomCheck("c", "SELECT 0"), CustomCheck("d", "SELECT 0")),
        assertions=(AssertionRecord("not_null", "id"),),
    )
    result = run_pipeline_checks(checks, [orders], refuse, CheckContext(NOW))

    assert {"row_count": True, "c": "no Java", "d": "no Java", "not_null:id": "no Java"} == told(
        result
    )
    assert [1] == tries


def test_views_are_gone_when_the_checks_are_done(bench, orders):
    bench.check(custom("SELECT count(*) FROM {table}"), orders)

    assert [] == bench.engine.views.bound


def test_counts_are_those_of_the_log(bench, orders):
    result = bench.check(Checks(), orders)

    assert {"lake.acme.orders": (3, NOW)} == {
        key: (each.count, each.timestamp) for key, each in result.counts.items()
    }
    assert 0 == bench.opened


def test_an_unchanged_table_is_not_compared_with_its_source_again(bench, orders):
    checks = Checks(
        row_count=True,
        column_match=True,
        custom=(CustomCheck("c", "SELECT count(*) FROM {source}"),),
        null_rate=NullRate(("id",), 0.0),
    )

    assert {"null_rate:id": True} == told(bench.check(checks, replace(orders, unchanged=True)))


@pytest.mark.parametrize(
    ("assertion", "passed", "opened"),
    [
        (AssertionRecord("not_null", "ID"), True, 0),
        (AssertionRecord("not_null", "id", filter="id > 1"), True, 1),
        (AssertionRecord("not_null", "status"), False, 1),
        (AssertionRecord("row_count_range", min=3, max=3), True, 0),
        (AssertionRecord("row_count_range", min=4), False, 0),
        (AssertionRecord("row_count_range", max=2.5), False, 0),
        (AssertionRecord("row_count_range", max=1, filter="id > 2"), True, 1),
    ],
)
def test_the_log_answers_assertions_that_it_can(bench, orders, assertion, passed, opened):
    table = with_statistics(orders, nullCount={"id": 0, "status": 1})
    checks = Checks(assertions=(assertion,))

    assert [passed] == [each.passed for each in bench.check(checks, table).outcomes]
    assert opened == bench.opened


def test_answers_of_the_log_stand_in_the_order_of_the_settings(bench, orders):
    table = with_statistics(orders, nullCount={"id": 0})
    kinds = ("unique", "not_null", "unique", "row_count_range", "unique")
    checks = Checks(assertions=tuple(AssertionRecord(each, "id", min=1) for each in kinds))

    assert list(kinds) == [each.kind for each in bench.check(checks, table).outcomes]
