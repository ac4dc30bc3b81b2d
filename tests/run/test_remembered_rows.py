"""What is remembered of tables, taken out or changed by somebody who can write the state file.

A row that is gone must not pass for one that never was: rows would be lost, or loaded twice, and
the run would write the row anew, so that nothing was left to be found.
"""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from rocky.run.prepare.resources import RunParameters
from tests.evidence.shops import audit
from tests.pipelines.loads.folders import ORDERS, LoadProject
from tests.run.runs import Shop, statuses, verify
from tests.run.test_marks import five_days, ids

pytestmark = pytest.mark.slow

PLAIN = "SELECT id, ts FROM raw.orders"
FULL = RunParameters(parallel=1, full_refresh=True)


def tamper(root: Path, *statements: str) -> None:
    with closing(sqlite3.connect(root / ".rocky-state.db")) as connection:
        for each in statements:
            connection.execute(each)
        connection.commit()


def found(root: Path) -> list[str]:
    """What Rocky finds, which the script finds too."""
    said = sorted({each.split(": ")[0] + " " + each.split(": ")[1] for each in verify(root)})
    script = sorted({" ".join(each.split(": ")[:2]) for each in audit(root).findings})
    assert said == script
    return said


def error_of(report) -> str:
    (outcome,) = report.outcomes
    return str(outcome.execution.error)


def keep_only_the_newest(shop: Shop) -> None:
    shop.write("data/orders.csv", "id,ts\n5,2026-05-05 00:00:00\n6,2026-05-06 00:00:00\n")


@pytest.mark.parametrize("strategy", ["incremental", "microbatch"])
@pytest.mark.parametrize("options", [None, FULL], ids=["plain", "full_refresh"])
def test_a_watermark_that_somebody_took_out_loses_no_rows_and_stays_found(
    tmp_path, strategy, options
):
    sql = {"sql": PLAIN} if strategy == "incremental" else {}
    shop = five_days(tmp_path, strategy, **sql)
    shop.run()
    tamper(tmp_path, "DELETE FROM watermarks")
    keep_only_the_newest(shop)
    before = found(tmp_path)

    report = shop.run(options=options)

    assert {"ev": "failed"} == statuses(report)
    assert "`spark_catalog.default.ev` in `watermarks` is gone" in error_of(report)
    assert [1, 2, 3, 4, 5] == ids(shop)
    assert ["record_missing watermarks spark_catalog.default.ev"] == before == found(tmp_path)


def test_a_watermark_that_somebody_changed_stops_the_model(tmp_path):
    shop = five_days(tmp_path, "incremental", PLAIN)
    shop.run()
    tamper(tmp_path, "UPDATE watermarks SET value = json_set(value, '$.last_value', '')")
    keep_only_the_newest(shop)

    report = shop.run()

    assert "in `watermarks` was changed" in error_of(report)
    assert [1, 2, 3, 4, 5] == ids(shop)
    assert ["record_changed watermarks spark_catalog.default.ev"] == found(tmp_path)


def test_a_watermark_that_somebody_put_in_stops_the_model(tmp_path):
    shop = five_days(tmp_path, "incremental", PLAIN)
    row = '{"last_value":"2026-05-04","table":"t","updated_at":"2026-01-31T12:00:00.000000Z"}'
    shop.run(before_write=fail)
    tamper(tmp_path, f"INSERT INTO watermarks VALUES ('spark_catalog.default.ev', '{row}')")

    report = shop.run()

    assert "in `watermarks` was put in" in error_of(report)
    assert ["record_unchained watermarks spark_catalog.default.ev"] == found(tmp_path)


def fail(_: str) -> None:
    raise OSError("no")


@pytest.mark.parametrize(
    ("table", "key", "value"),
    [
        ("partitions", "ev|2026-05-01", "{}"),
        ("grace_periods", "spark_catalog.default.ev|a", "{}"),
        ("loaded_files", "spark_catalog.default.ev|a", "{}"),
        ("check_history", "spark_catalog.default.ev", "[]"),
    ],
)
def test_whatever_else_is_remembered_of_a_table_is_compared_too(tmp_path, table, key, value):
    shop = five_days(tmp_path, "incremental", PLAIN)
    shop.run()
    tamper(tmp_path, f"INSERT INTO {table} VALUES ('{key}', '{value}')")
    keep_only_the_newest(shop)

    report = shop.run()

    assert f"the record `{key}` in `{table}` was put in" in error_of(report)
    assert [1, 2, 3, 4, 5] == ids(shop)


def test_files_whose_loading_somebody_took_out_are_not_loaded_again(tmp_path):
    project = LoadProject(tmp_path)
    project.put_text("one.csv", "id,country\n1,DE\n2,FR\n")
    project.run()
    tamper(tmp_path, "DELETE FROM loaded_files")

    for _ in range(2):
        with pytest.raises(Exception, match="in `loaded_files` is gone") as refused:
            project.run()
        assert "LedgerUnreadable" == type(refused.value).__name__

    assert [1, 2] == project.ids()
    (finding,) = found(tmp_path)
    assert finding.startswith(f"record_missing loaded_files {ORDERS}|")
