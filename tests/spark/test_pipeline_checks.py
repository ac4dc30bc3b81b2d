"""The queries of pipeline checks, asked of Spark itself: each means there what it means elsewhere."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

import rocky
from rocky.pipelines.checks.evaluation import CheckContext, run_pipeline_checks
from rocky.pipelines.checks.quarantine import QuarantineInput, plan_quarantine
from rocky.pipelines.report import CheckedTable
from rocky.project.configuration.model import AssertionRecord
from rocky.project.configuration.pipelines import (
    Checks,
    CustomCheck,
    FreshnessCheck,
    NullRate,
    Overlap,
    Quarantine,
)
from rocky.project.models import Target
from rocky.run.engine.spark import SparkEngine
from rocky.spark.connection import adopt_session
from rocky.spark.interface import Layout
from rocky.store.delta.change import Change
from rocky.store.warehouse import open_warehouse
from tests.pipelines.checks.bench import columns_of

pytestmark = pytest.mark.spark

NOW = datetime(2026, 1, 31, 12, tzinfo=UTC)
COLUMNS = columns_of("id bigint, status string, at timestamp, day date, code string")
ROWS = """SELECT * FROM VALUES
  (1L, 'a', TIMESTAMP '2026-01-31 11:59:00', DATE '2026-01-31', 'x1'),
  (2L, 'b', TIMESTAMP '2026-02-28 00:00:00', DATE '2026-02-01', 'y'),
  (3L, NULL, NULL, NULL, NULL)
AS t(id, status, at, day, code)"""


def write_table(engine, warehouse, schema, sql):
    target = Target("lake", schema, "orders")
    table = warehouse.table(target)
    written = engine.write(engine.frame(sql), table, Layout(), COLUMNS, frozenset())
    snapshot = table.commit(Change("REPLACE", None, COLUMNS, (), written.files)).snapshot
    return CheckedTable(target, table, snapshot, timestamp_column="at")


def test_every_question_of_a_pipeline_is_answered_by_spark(spark, tmp_path, monkeypatch):
    monkeypatch.setattr("rocky.pipelines.checks.counts.EXACT_UP_TO_ROWS", 1)
    engine = SparkEngine(adopt_session(spark), tmp_path)
    warehouse = open_warehouse("warehouse", base=tmp_path)
    acme = write_table(engine, warehouse, "acme", ROWS)
    beta = write_table(engine, warehouse, "beta", f"{ROWS} WHERE id = 1")
    # Without statistics in the log it is Spark that is asked.
    bare = replace(
        acme.snapshot,
        files=tuple(replace(each, stats='{"numRecords": 3}') for each in acme.snapshot.files),
    )
    checks = Checks(
        enabled=True,
        freshness=FreshnessCheck(60),
        null_rate=NullRate(("status",), 1.0, sample_percent=99.0),
        custom=(
            CustomCheck("sum", "SELECT sum(id) FROM {table} -- all;", 6),
            CustomCheck("drop", "DROP TABLE {table}"),
        ),
        assertions=(
            AssertionRecord("regex_match", "code", pattern="^x\\d$"),
            AssertionRecord("not_in_future", "at"),
        ),
        cross_source_overlap=Overlap(key_expr="concat(status, '!') -- key"),
    )
    tables = [replace(acme, snapshot=bare), beta]
    result = run_pipeline_checks(checks, tables, lambda: engine, CheckContext(NOW))
    found = {(each.table, each.name): each for each in result.outcomes}

    fresh = found["lake.acme.orders", "freshness"]
    assert (True, "60 s old; 1 with a timestamp in the future") == (fresh.passed, fresh.observed)
    assert found["lake.acme.orders", "null_rate:status"].passed
    assert "rows of a sample)" in (found["lake.acme.orders", "null_rate:status"].observed or "")
    assert found["lake.acme.orders", "sum"].passed
    assert found["lake.acme.orders", "drop"].error
    assert 1 == found["lake.acme.orders", "regex_match:code"].failing_rows
    overlap = found["orders", "cross_source_overlap:orders"]
    assert (False, 1) == (overlap.passed, overlap.failing_rows)
    assert (("a!", "2", "lake.acme.orders", "lake.beta.orders"),) == result.samples[
        "orders", overlap.name
    ].rows


def test_what_the_log_says_of_a_table_is_what_spark_finds(spark, tmp_path):
    engine = SparkEngine(adopt_session(spark), tmp_path)
    table = write_table(
        engine, open_warehouse("warehouse", base=tmp_path), "acme", f"{ROWS} WHERE id <> 2"
    )
    checks = Checks(
        enabled=True, freshness=FreshnessCheck(60), null_rate=NullRate(("status",), 0.5)
    )
    result = run_pipeline_checks(checks, [table], None, CheckContext(NOW))

    assert [(True, "60 s old"), (True, "0.5 (1 of 2 rows)")] == [
        (each.passed, each.observed) for each in result.outcomes
    ]


def test_spark_splits_rows_as_the_assertions_say(spark, tmp_path):
    engine = SparkEngine(adopt_session(spark), tmp_path)
    table = write_table(engine, open_warehouse("warehouse", base=tmp_path), "acme", ROWS)
    engine.views.bind_table("split_me", table.table, table.snapshot)
    assertions = (
        AssertionRecord("not_null", "status", filter="id > 0 -- always"),
        AssertionRecord("not_in_future", "at"),
        AssertionRecord("not_in_future", "day"),
        AssertionRecord("older_than_n_days", "at", days=0),
        AssertionRecord("regex_match", "code", pattern="^x\\d$"),
        AssertionRecord("expression", expression="id < 3"),
    )
    given = QuarantineInput(table.target, COLUMNS, "`split_me`")
    aside, valid = plan_quarantine(given, assertions, Quarantine(enabled=True), NOW)
    bad = sorted(row[0:1] + row[5:] for row in engine.rows(engine.frame(aside.sql), 9))
    good = [row[0] for row in engine.rows(engine.frame(valid.sql), 9)]
    engine.views.unbind(["split_me"])

    assert [
        (2, False, True, True, True, True, False),
        (3, True, False, False, False, False, True),
    ] == bad
    assert [1] == good


def test_a_table_of_sparks_own_catalogue_is_checked(spark, tmp_path):
    spark.sql("CREATE OR REPLACE TEMP VIEW there AS SELECT * FROM VALUES (1), (NULL) AS t(id)")
    (tmp_path / "rocky.toml").write_text(
        '[pipeline.q]\ntype = "quality"\n'
        'tables = [ { spark_table = "there" }, { spark_table = "nowhere.at.all" } ]\n'
        "[pipeline.q.checks]\nenabled = true\nrow_count = true\n"
        'assertions = [ { type = "not_null", column = "id" } ]\n'
    )
    report = rocky.open(tmp_path, spark=spark).run(pipeline="q").run
    spark.catalog.dropTempView("there")

    assert [
        ("there", "row_count", True),
        ("there", "not_null:id", False),
        ("nowhere.at.all", "readable", False),
    ] == [(each.table, each.name, each.passed) for each in report.run.result.check_outcomes]
    assert 1 == report.exit_code
