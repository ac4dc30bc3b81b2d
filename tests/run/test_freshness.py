"""Freshness of sources and models in a run with tests. It is 12:00 on the 31st of January."""

import pytest

from rocky.cli.live import describe_ending
from rocky.ledger.run_records import RunStatus
from rocky.run.prepare.resources import RunParameters
from tests.run.runs import Shop, reasons, statuses

TESTED = RunParameters(parallel=1, test=True)
SOURCE = """
[[source]]
name = "raw.orders"
format = "csv"
path = "data/orders.csv"
columns = [ { name = "id", type = "bigint" }, { name = "loaded_at", type = "timestamp" } ]
freshness = { time_column = "loaded_at", warn_after = "6 hours", error_after = "1 day" }
"""
FILES = {
    "rocky.toml": '[pipeline.shop]\nmodels = "models/**"\n',
    "sources/raw.toml": SOURCE,
    "models/stg_orders.sql": "SELECT id, loaded_at FROM raw.orders",
    "models/large.sql": "SELECT id FROM stg_orders WHERE id > 1",
    "models/by_country.sql": "SELECT count(*) AS n FROM large",
    "models/report.sql": "SELECT max(n) AS most FROM by_country",
}


def orders(*moments):
    return "id,loaded_at\n" + "".join(f"{index},{at}\n" for index, at in enumerate(moments, 1))


@pytest.fixture
def shop(tmp_path):
    return Shop(tmp_path, {**FILES, "data/orders.csv": orders("2026-01-31 11:00:00")})


@pytest.mark.slow
def test_a_fresh_source_is_read(shop):
    report = shop.run(options=TESTED)

    assert RunStatus.SUCCESS is report.status
    (found,) = report.tests.assertions
    assert ("raw.orders", "source", True) == (found.model, found.subject, found.passed)
    assert ("60 min old", "at most 6 h old") == (found.observed, found.expected)


@pytest.mark.slow
def test_a_source_past_its_first_limit_is_a_warning_and_is_read(shop):
    shop.write("data/orders.csv", orders("2026-01-31 05:00:00"))
    report = shop.run(options=TESTED)

    assert RunStatus.SUCCESS is report.status
    (found,) = report.tests.assertions
    assert ("warning", "7 h old", "at most 6 h old") == (
        found.severity,
        found.observed,
        found.expected,
    )


def test_readers_of_a_stale_source_are_not_built_and_others_are(shop):
    shop.write("data/orders.csv", orders("2026-01-28 12:00:00", "2026-01-20 12:00:00"))
    report = shop.run(options=TESTED)

    assert RunStatus.PARTIAL_FAILURE is report.status
    assert 2 == report.exit_code
    assert {
        "stg_orders": "skipped",
        "large": "skipped",
        "by_country": "skipped",
        "report": "skipped",
        "alone": "success",
    } == statuses(report)
    # Without its age: the reason is told to whoever may see no value of a table.
    stale = "waits for source `raw.orders`, which is stale"
    assert {stale} == {why for name, why in reasons(report).items() if name != "alone"}
    held = next(each for each in report.outcomes if each.step.name == "stg_orders")
    assert f"held back  stg_orders  {stale}" == describe_ending(held)
    assert shop.snapshot("stg_orders") is None
    (recorded,) = [each for each in report.check_outcomes if each.kind == "freshness"]
    assert ("raw.orders", False, "error", "3 days old", "at most 1 day old") == (
        recorded.table,
        recorded.passed,
        recorded.severity,
        recorded.observed,
        recorded.expected,
    )


@pytest.mark.slow
def test_a_run_without_tests_looks_at_no_age(shop):
    shop.write("data/orders.csv", orders("2020-01-01 00:00:00"))

    assert RunStatus.SUCCESS is shop.run().status


@pytest.mark.slow
def test_a_source_that_stays_as_it_is_grows_stale_and_what_read_it_is_kept(shop):
    shop.run(options=TESTED)
    shop.write("sources/raw.toml", SOURCE.replace("6 hours", "1 minute").replace("1 day", "1 hour"))
    shop.write("models/report.sql", "SELECT min(n) AS most FROM by_country")
    report = shop.run(options=TESTED)

    assert RunStatus.PARTIAL_FAILURE is report.status
    assert {"stg_orders": "reused", "report": "skipped"} == {
        name: statuses(report)[name] for name in ("stg_orders", "report")
    }


def test_a_row_of_the_future_makes_nothing_fresh(shop):
    shop.write("data/orders.csv", orders("2026-01-28 12:00:00", "2031-01-01 00:00:00"))
    report = shop.run(options=TESTED)

    (found,) = report.tests.assertions
    assert "3 days old; 1 with a timestamp in the future" == found.observed
    assert "skipped" == statuses(report)["stg_orders"]


def test_a_source_without_a_row_is_not_fresh(shop):
    shop.write("data/orders.csv", "id,loaded_at\n")
    report = shop.run(options=TESTED)

    (found,) = report.tests.assertions
    assert "no row has a timestamp" == found.error
    assert "skipped" == statuses(report)["stg_orders"]
    unknown = "waits for source `raw.orders`, which is not known to be fresh"
    assert unknown == reasons(report)["stg_orders"]


def test_a_model_is_built_and_its_readers_wait_for_it_to_be_fresh(shop):
    shop.write("sources/raw.toml", SOURCE.split("freshness", maxsplit=1)[0])
    shop.write(
        "models/stg_orders.toml",
        'freshness = { time_column = "loaded_at", max_lag_seconds = 60 }\n',
    )
    report = shop.run(options=TESTED)

    assert RunStatus.PARTIAL_FAILURE is report.status
    assert ("success", "skipped") == (statuses(report)["stg_orders"], statuses(report)["report"])
    (found,) = report.tests.assertions
    assert ("stg_orders", "model", "error") == (found.model, found.subject, found.severity)
    assert "at most 1 min old" == found.expected
    assert "waits for `stg_orders`, whose tests failed" == reasons(report)["by_country"]


@pytest.mark.slow
def test_a_source_is_looked_at_once_for_all_its_readers(shop):
    shop.write("models/second.sql", "SELECT id FROM raw.orders")
    report = shop.run(options=TESTED)

    assert 1 == len(report.tests.assertions)
