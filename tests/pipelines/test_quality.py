"""Quality pipelines, planned and run: everything real but Spark."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import Event

import pytest

from rocky.analysis.masks.copies import CopiedTables
from rocky.compiler.passes import compile_project
from rocky.errors import NothingSelected, RunRefused
from rocky.ledger.pipeline_state import load_counts
from rocky.ledger.writer import open_ledger
from rocky.pipelines.quality import QualityContext, plan_quality, run_quality
from rocky.plan.request import RunRequest
from rocky.project import load_project
from rocky.project.configuration.blocks import Adapter
from rocky.project.models import Target
from rocky.run.engine.sources import Sources
from rocky.run.materialize.strategy import materialize
from rocky.run.prepare.caller import Caller
from rocky.run.prepare.environment import Environment
from rocky.run.prepare.resources import RunResources
from rocky.run.prepare.session import RunSession
from rocky.store.delta.change import Change
from tests.pipelines.checks.bench import Bench
from tests.run.runs import WHO, verify

STATE = ".rocky-state.db"
ORDERS = "id bigint, status string"
ROWS = "(1, 'a'), (2, 'b'), (3, NULL), (NULL, 'a')"
NOT_NULL = 'assertions = [ { type = "not_null", column = "id" } ]\n'
QUARANTINE = f"{NOT_NULL}quarantine = {{ enabled = true }}\n"
NOTHING_MORE = RunRequest(pipeline="q")


def known(project):
    return CopiedTables(compile_project(project, jobs=1, cache=False))


class Quality:
    """A warehouse of tables that others made, and a pipeline over it that is run again and again."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.bench = Bench(root)
        self.now = datetime(2026, 1, 31, 12, tzinfo=UTC)

    def plan(self, checks, tables='{ catalog = "lake", schema = "acme" }'):
        self.now += timedelta(seconds=1)
        (self.root / "rocky.toml").write_text(
            f'[pipeline.q]\ntype = "quality"\ntables = [ {tables} ]\n'
            f"[pipeline.q.checks]\nenabled = true\n{checks}\n[resilience]\ninitial_backoff_ms = 1\n"
        )
        project = load_project(self.root, env={})
        assert () == project.diagnostics
        ground = QualityContext(known(project), self.bench.warehouse, self.root / STATE, self.now)
        return project, plan_quality("q", project.config.pipeline["q"], ground)

    def run(self, checks, *tables, meanwhile=lambda _: None, request=NOTHING_MORE):
        project, _ = self.plan(checks, *tables)
        bench = self.bench = Bench(self.root)
        bench.engine.before_write = meanwhile
        environment = Environment("4.1.4", "memory", {})
        with open_ledger(self.root / STATE) as ledger:
            around = RunResources(
                bench.warehouse,
                ledger,
                WHO,
                bench.open_engine,
                Sources(self.root, {}),
                lambda _: environment,
                environment,
                materialize,
                clock=lambda: self.now,
            )
            caller = Caller(self.root / STATE, WHO, {})
            opened = RunSession(project, Adapter(), around, caller, Event())
            pipeline = project.config.pipeline["q"]
            self.report = run_quality(opened, known(project), "q", pipeline, request)
        return self.report.run

    def rows(self, name):
        place = self.bench.warehouse.table(_target(name))
        self.bench.engine.views.bind_table("t", place, place.snapshot())
        return self.bench.engine.rows("SELECT * FROM t ORDER BY ALL", 1000)

    def version(self, name):
        return self.bench.warehouse.table(_target(name)).snapshot().version


def _target(name):
    return Target("lake", "acme", name)


@pytest.fixture
def quality(tmp_path):
    found = Quality(tmp_path)
    found.bench.table("lake.acme.orders", ORDERS, ROWS)
    return found


def strange(root):
    """What is wrong with the evidence, but that somebody else made the tables that are checked."""
    return {each.split(":")[0] for each in verify(root)} - {"foreign_commit"}


def told(report):
    return [(each.table, each.name, each.passed) for each in report.check_outcomes]


def test_every_table_of_a_schema_is_checked(quality):
    quality.bench.table("lake.acme.items", "id bigint", "(1)")
    quality.bench.table("lake.other.items", "id bigint", "(NULL)")
    report = quality.run(f"row_count = true\n{NOT_NULL}")

    assert [
        ("lake.acme.items", "row_count", True),
        ("lake.acme.items", "not_null:id", True),
        ("lake.acme.orders", "row_count", True),
        ("lake.acme.orders", "not_null:id", False),
    ] == told(report)
    assert 1 == report.exit_code


def test_a_failed_check_that_is_not_to_fail_the_run_ends_well(quality):
    report = quality.run(f"fail_on_error = false\n{NOT_NULL}")

    assert ([("lake.acme.orders", "not_null:id", False)], 0) == (told(report), report.exit_code)


def test_a_name_means_its_table_whatever_its_case(quality):
    named = '{ catalog = "LAKE", schema = "Acme", table = "ORDERS" }'

    assert [("lake.acme.orders", "row_count", True)] == told(quality.run("row_count = true", named))


def test_a_pipeline_without_any_table_is_refused(quality):
    (quality.root / "warehouse/lake/acme/stray").mkdir()
    for wanted in (
        '{ catalog = "lake", schema = "nope" }',
        '{ catalog = "lake", schema = "acme", table = "oders" }',
        '{ catalog = "lake", schema = "acme", table = "stray" }',
        "",
    ):
        with pytest.raises(NothingSelected, match="pipeline `q` has no table to check"):
            quality.plan("row_count = true", wanted)


def test_a_table_that_is_not_there_fails_alone(quality):
    wanted = '{ catalog = "lake", schema = "acme", table = "oders" }, { catalog = "lake", schema = "acme" }'
    report = quality.run("row_count = true", wanted)

    assert [("lake.acme.orders", "row_count", True)] == told(report)
    assert {"lake.acme.oders": "there is no table `lake.acme.oders`"} == dict(report.failed_sources)
    assert 0 != report.exit_code


def test_a_log_that_cannot_be_read_is_not_an_absent_table(quality):
    quality.bench.table("lake.acme.items", "id bigint", "(1)")
    (log,) = (quality.root / "warehouse/lake/acme/items/_delta_log").glob("*.json")
    log.write_text("{")
    quality.bench = Bench(quality.root)
    _, planned = quality.plan("row_count = true")

    assert ["lake.acme.items"] == list(planned.notes.failed)
    assert ["lake.acme.orders"] == [each.name for each in planned.tables]


@pytest.mark.slow
def test_counts_are_compared_from_run_to_run(quality):
    for _ in range(3):
        assert () == quality.run("row_count = true").anomalies
    quality.bench.table("lake.acme.orders", ORDERS, "(1, 'a')")
    (found,) = quality.run("row_count = true").anomalies

    assert ("lake.acme.orders", "drop", 1, 4.0) == (
        found.table,
        found.kind,
        found.current_count,
        found.baseline_avg,
    )
    counts = load_counts(quality.root / STATE, ["lake.acme.orders"])["lake.acme.orders"]
    assert [4, 4, 4, 1] == [each.count for each in counts]
    assert set() == strange(quality.root)


def test_checks_of_counts_alone_start_no_spark(quality):
    quality.run("row_count = true")

    assert 0 == quality.bench.opened


@pytest.mark.slow
def test_rows_that_break_an_assertion_are_split_off(quality):
    report = quality.run(QUARANTINE)

    assert 0 != report.exit_code
    assert [(None, "a", True)] == quality.rows("orders__quarantine")
    assert [(1, "a"), (2, "b"), (3, None)] == quality.rows("orders__valid")
    assert set() == strange(quality.root)


@pytest.mark.slow
def test_tables_of_quarantine_are_not_checked_themselves(quality):
    quality.run(QUARANTINE)

    assert [("lake.acme.orders", "not_null:id", False)] == told(quality.run(QUARANTINE))


@pytest.mark.slow
def test_a_split_of_what_has_not_changed_writes_nothing(quality):
    quality.run(QUARANTINE)
    before = quality.version("orders__valid")
    quality.run(QUARANTINE)

    assert before == quality.version("orders__valid")


@pytest.mark.slow
def test_a_tagged_table_is_its_own_and_stays_the_same(quality):
    tag = f'{NOT_NULL}quarantine = {{ enabled = true, mode = "tag" }}\n'
    expected = [
        (1, "a", False, False),
        (2, "b", False, False),
        (3, None, False, False),
        (None, "a", True, True),
    ]

    for _ in range(2):
        quality.run(tag)
        assert expected == quality.rows("orders")
    assert set() == strange(quality.root)


def test_rows_that_come_while_a_table_is_tagged_are_kept(quality):
    tag = f'{NOT_NULL}quarantine = {{ enabled = true, mode = "tag" }}\n'
    others = Bench(quality.root)

    def write_too(_):
        if others.warehouse.table(_target("orders")).snapshot().version == 0:
            others.table("lake.acme.orders", ORDERS, "(9, 'new')")

    report = quality.run(tag, meanwhile=write_too)

    (outcome,) = report.outcomes
    assert "since it was checked; run again" in outcome.execution.error
    assert [(9, "new")] == quality.rows("orders")


@pytest.mark.parametrize("setting", ["configuration", "partition_columns"])
def test_a_table_that_its_writer_could_not_go_on_with_is_not_tagged(quality, setting):
    table = quality.bench.table("lake.acme.items", "id bigint", "(1)")
    marked = {"rocky.watermark": '{"column": "id", "type": "bigint", "value": "1"}'}
    partitions = ("id",) if setting == "partition_columns" else ()
    change = Change("REPLACE", None, table.snapshot.schema, partitions, (), properties=marked)
    table.table.commit(change)
    tag = f'{NOT_NULL}quarantine = {{ enabled = true, mode = "tag" }}\n'
    _, planned = quality.plan(tag)

    assert ["lake.acme.orders"] == [each.target.full_name for each in planned.models]
    assert "a table cannot be tagged when" in planned.notes.failed["lake.acme.items"]


@pytest.mark.slow
def test_an_assertion_that_does_not_compile_refuses_its_table_alone(quality):
    quality.bench.table("lake.acme.items", "id bigint", "(1), (NULL)")
    checks = (
        'assertions = [ { type = "not_null", column = "id" },'
        ' { type = "expression", expression = "nope > 1", table = "orders" } ]\n'
        "quarantine = { enabled = true }\n"
    )
    report = quality.run(checks)

    assert ["lake.acme.orders"] == list(report.failed_sources)
    assert [(1,)] == quality.rows("items__valid")
    assert None is quality.bench.warehouse.table(_target("orders__valid")).snapshot()


def test_an_assertion_that_is_another_each_time_splits_nothing(quality):
    checks = (
        'assertions = [ { type = "expression", expression = "rand() > 0.5" } ]\n'
        "quarantine = { enabled = true }\n"
    )
    _, planned = quality.plan(checks)

    assert () == planned.models
    assert "could end up in both tables or in none" in planned.notes.failed["lake.acme.orders"]


def test_a_table_of_somebody_else_is_not_overwritten(quality):
    (quality.root / "models").mkdir()
    (quality.root / "models/m.sql").write_text("SELECT 1 AS one")
    (quality.root / "models/m.toml").write_text(
        '[target]\ncatalog = "lake"\nschema = "acme"\ntable = "orders__valid"\n'
    )
    project, planned = quality.plan(QUARANTINE)

    assert ["m"] == list(project.models)
    assert () == planned.models
    assert "is a table of model `m`" in planned.notes.failed["lake.acme.orders"]


@pytest.mark.parametrize(
    "request_",
    [
        RunRequest(select=("m",)),
        RunRequest(filters=("tenant=acme",)),
        RunRequest(resume="latest"),
        RunRequest(full_refresh=True),
    ],
)
def test_what_checking_cannot_heed_is_refused(quality, request_):
    with pytest.raises(RunRefused, match="pipeline `q` only checks tables: it does not support"):
        quality.run("row_count = true", request=request_)


def test_rows_that_fail_are_shown_and_not_recorded(quality):
    quality.run(NOT_NULL)
    sample = quality.report.checks.samples["lake.acme.orders", "not_null:id"]

    assert ((None, "a"),) == sample.rows


SOURCES = """
[[source]]
name = "raw.orders"
format = "csv"
path = "orders.csv"
columns = [
  { name = "id", type = "bigint" },
  { name = "customer", type = "bigint" },
  { name = "loaded_at", type = "timestamp" },
]
freshness = { time_column = "loaded_at", warn_after = "6 hours", error_after = "1 day" }

[[source]]
name = "raw.customers"
format = "csv"
path = "customers.csv"
columns = [ { name = "id", type = "bigint" } ]
"""
SOURCE = '{ source = "Raw.Orders" }'
PARENTS = (
    'assertions = [ { type = "relationships", column = "customer", to_table = "customers",'
    ' to_column = "id" } ]\n'
)


@pytest.fixture
def sourced(quality):
    files = {
        "sources/raw.toml": SOURCES,
        "orders.csv": "id,customer,loaded_at\n1,7,2026-01-31 01:00:00\n,8,2026-01-30 13:00:00\n",
        "customers.csv": "id\n7\n",
    }
    for name, text in files.items():
        (quality.root / name).parent.mkdir(exist_ok=True)
        (quality.root / name).write_text(text)
    return quality


def test_a_declared_source_is_checked_like_a_table(sourced):
    report = sourced.run(
        f'row_count = true\nnull_rate = {{ columns = ["id"], threshold = 0.1 }}\n{NOT_NULL}', SOURCE
    )

    assert [
        ("raw.orders", "row_count", True),
        ("raw.orders", "freshness", False),
        ("raw.orders", "null_rate:id", False),
        ("raw.orders", "not_null:id", False),
    ] == told(report)
    found = {each.name: each for each in report.check_outcomes}
    assert "0.5 (1 of 2 rows)" == found["null_rate:id"].observed
    assert 1 == found["not_null:id"].failing_rows
    # What the source says of itself is a warning here: it fails no run.
    assert ("warning", "11 h old", "at most 6 h old") == (
        found["freshness"].severity,
        found["freshness"].observed,
        found["freshness"].expected,
    )
    assert 2 == load_counts(sourced.root / STATE, ["raw.orders"])["raw.orders"][-1].count


def test_the_freshness_of_the_pipeline_is_in_place_of_that_of_the_source(sourced):
    checks = 'freshness = { threshold_seconds = 60, timestamp_column = "loaded_at" }'
    report = sourced.run(checks, SOURCE)

    (found,) = report.check_outcomes
    assert ("error", "at most 1 min old") == (found.severity, found.expected)


def test_rows_of_a_source_relate_to_another_source(sourced):
    report = sourced.run(PARENTS, SOURCE)

    found = {each.name: each for each in report.check_outcomes}
    assert 1 == found["relationships:customer"].failing_rows


def test_a_source_and_a_table_are_checked_together(sourced):
    report = sourced.run("row_count = true", f'{SOURCE}, {{ catalog = "lake", schema = "acme" }}')

    assert ["raw.orders", "raw.orders", "lake.acme.orders"] == [
        each.table for each in report.check_outcomes
    ]


def test_a_source_that_cannot_be_read_is_a_failed_check(sourced):
    (sourced.root / "orders.csv").unlink()
    report = sourced.run("row_count = true", SOURCE)

    (found,) = report.check_outcomes
    assert ("raw.orders", "readable", False) == (found.table, found.name, found.passed)
    assert 1 == report.exit_code


def test_rows_of_a_source_are_not_put_into_quarantine(sourced):
    report = sourced.run(QUARANTINE, SOURCE)

    assert "it is not a table of the warehouse" in report.failed_sources["raw.orders"]
    assert ("raw.orders", "not_null:id", False) in told(report)


def test_a_source_that_nobody_declares_is_an_error_at_its_line(sourced):
    (sourced.root / "rocky.toml").write_text(
        '[pipeline.q]\ntype = "quality"\ntables = [ { source = "raw.oders" } ]\n'
        "[pipeline.q.checks]\nenabled = true\nrow_count = true\n"
    )
    project = load_project(sourced.root, env={})

    (found,) = project.diagnostics
    assert "no source `raw.oders` is declared" == found.message
    assert "did you mean `raw.orders`?" == found.help
    assert 3 == project.texts["rocky.toml"].line_of(found.span.start)
    at = sourced.root / STATE
    ground = QualityContext(known(project), sourced.bench.warehouse, at, sourced.now)
    with pytest.raises(NothingSelected, match=r"no source `raw.oders` is declared"):
        plan_quality("q", project.config.pipeline["q"], ground)


def test_the_sql_of_checks_is_compiled_with_the_columns_of_the_source(sourced):
    sourced.plan(
        'custom = [ { name = "c", sql = "SELECT count(*) FROM {table} WHERE idd = 1" } ]', SOURCE
    )
    compilation = compile_project(load_project(sourced.root, env={}), cache=False)

    (found,) = compilation.diagnostics
    assert "idd" in found.message


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ('{ source = "a", table = "b" }', "`source` names the whole table, and `table` another"),
        ('{ source = "a", spark_table = "b" }', "`source` names the whole table"),
        ('{ catalog = "a" }', "missing key `schema`"),
        ("{ }", "missing key `catalog`"),
        ('{ source = "a..b" }', "this is not the name of a table"),
    ],
)
def test_an_entry_names_one_table(tmp_path, entry, message):
    (tmp_path / "rocky.toml").write_text(
        f'[pipeline.q]\ntype = "quality"\ntables = [ {entry} ]\n'
        "[pipeline.q.checks]\nenabled = true\nrow_count = true\n"
    )

    (found,) = load_project(tmp_path, env={}).diagnostics
    assert message in found.message
