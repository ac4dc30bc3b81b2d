"""`rocky build` on Spark: tests in the order of the graph, and what a failing one keeps back."""

import pytest

import rocky
from rocky.ledger.run_records import ModelStatus, RunStatus
from tests.spark.projects import write_files

pytestmark = pytest.mark.spark

FILES = {
    "rocky.toml": '[pipeline.shop]\nmodels = "models/**"\n',
    "models/orders.sql": "SELECT * FROM VALUES (1, 10), (2, -5) AS t(id, amount)\n",
    "models/totals.sql": "SELECT sum(amount) AS total FROM orders\n",
    "models/other.sql": "SELECT 1 AS one\n",
}
POSITIVE = '[[tests]]\ntype = "expression"\nexpression = "amount > {least}"\nseverity = "{how}"\n'
UNIT = """
[[test]]
name = "sums"
[[test.given]]
ref = "orders"
rows = [{ id = 1, amount = 2 }, { id = 2, amount = 3 }]
[test.expect]
rows = [{ total = %d }]
"""


def statuses(run):
    return {each.step.name: each.execution.status for each in run.result.outcomes}


@pytest.fixture
def shop(tmp_path, spark):
    def run(files, **options):
        write_files(tmp_path, {**FILES, **files})
        return rocky.open(tmp_path, spark=spark).build(**options).run

    return run


def test_readers_of_a_table_that_fails_its_test_are_not_built(shop):
    run = shop({"models/orders.toml": POSITIVE.format(least=0, how="error")})

    assert RunStatus.PARTIAL_FAILURE is run.status
    assert 2 == run.exit_code
    assert {
        "orders": ModelStatus.SUCCESS,
        "other": ModelStatus.SUCCESS,
        "totals": ModelStatus.SKIPPED,
    } == statuses(run)
    (withheld,) = run.contained
    assert ("totals", ("orders",)) == (withheld.model, withheld.blocked_by)
    (reason,) = [each.reason for each in run.model_decisions if each.model == "totals"]
    assert "waits for `orders`, whose tests failed" == reason
    (found,) = run.tests.data_tests
    assert (False, 1) == (found.passed, found.failing_rows)


def test_a_table_that_is_reused_is_tested_again_and_holds_its_readers(shop):
    first = shop({})
    again = shop({"models/orders.toml": POSITIVE.format(least=0, how="error")})
    changed = shop(
        {
            "models/orders.toml": POSITIVE.format(least=0, how="error"),
            "models/totals.sql": "SELECT max(amount) AS total FROM orders\n",
        }
    )

    assert 0 == first.exit_code
    assert {ModelStatus.REUSED} == set(statuses(again).values())
    assert RunStatus.PARTIAL_FAILURE is again.status
    assert ModelStatus.SKIPPED is statuses(changed)["totals"]


def test_a_warning_holds_nobody(shop):
    run = shop({"models/orders.toml": POSITIVE.format(least=0, how="warning")})

    assert RunStatus.SUCCESS is run.status
    assert (1, 0) == (run.tests.summary.warnings, run.tests.summary.failed)
    assert {ModelStatus.SUCCESS} == set(statuses(run).values())


def test_a_model_that_fails_its_unit_test_is_not_built(shop):
    failing = shop({"models/totals.toml": UNIT % 6})
    mended = shop({"models/totals.toml": UNIT % 5})

    assert ModelStatus.FAILED is statuses(failing)["totals"]
    (error,) = failing.errors
    assert ("test_failed", "unit test `sums` failed: nothing was built") == (
        error.failure_kind,
        error.error,
    )
    assert 0 == mended.exit_code
    assert [True] == [each.passed for each in mended.tests.unit_tests]


def test_outcomes_are_in_the_record_of_the_run(shop, tmp_path):
    run = shop({"models/orders.toml": POSITIVE.format(least=0, how="error")})

    recorded = next(
        each for each in rocky.open(tmp_path).history().runs if each.run_id == run.run_id
    )
    assert [("spark_catalog.default.orders", "expression", False)] == [
        (each.table, each.kind, each.passed) for each in recorded.check_outcomes
    ]


AGED = """
[[source]]
name = "raw.orders"
format = "csv"
path = "data/orders.csv"
options = { header = true }
columns = [ { name = "id", type = "bigint" }, { name = "loaded_at", type = "timestamp" } ]
freshness = { time_column = "loaded_at", error_after = "%s" }
"""


def test_readers_of_a_stale_source_are_not_built(shop):
    files = {
        "sources/raw.toml": AGED % "1 day",
        "data/orders.csv": "id,loaded_at\n1,2020-01-01 00:00:00\n",
        "models/orders.sql": "SELECT id, id AS amount FROM raw.orders\n",
    }
    stale = shop(files)
    fresh = shop({"sources/raw.toml": AGED % "2000 weeks"})

    assert (2, 0) == (stale.exit_code, fresh.exit_code)
    assert {
        "orders": ModelStatus.SKIPPED,
        "totals": ModelStatus.SKIPPED,
        "other": ModelStatus.SUCCESS,
    } == statuses(stale)
    assert ModelStatus.SUCCESS is statuses(fresh)["totals"]
    (found,) = stale.tests.data_tests
    assert ("raw.orders", "source", "error", "at most 1 day old") == (
        found.model,
        found.subject,
        found.severity,
        found.expected,
    )
    assert found.observed.endswith(" days old")


def test_tests_look_at_the_age_of_sources(tmp_path, spark):
    write_files(
        tmp_path,
        {
            **FILES,
            "sources/raw.toml": AGED % "1 day",
            "data/orders.csv": "id,loaded_at\n1,2020-01-01 00:00:00\n",
        },
    )
    workspace = rocky.open(tmp_path, spark=spark)

    (found,) = workspace.test().data_tests
    assert ("raw.orders", False) == (found.model, found.passed)
    assert () == workspace.test("other").data_tests
    assert () == workspace.test(unit=True).data_tests
