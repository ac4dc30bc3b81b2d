"""A backfill by Spark itself: days through a table between them, a kill, and times of other zones."""

import os
import signal
import subprocess
import sys
import time
from datetime import UTC, datetime

import pyarrow as pa
import pytest
from deltalake import DeltaTable

import rocky
from tests.run.runs import verify
from tests.spark.projects import table_folder, write_files, write_rows
from tests.spark.scripts import OWN_SPARK

pytestmark = pytest.mark.spark

SOURCE = """\
[[source]]
name = "raw.events"
format = "parquet"
path = "data"
columns = [
  { name = "id", type = "bigint", nullable = false },
  { name = "at", type = "timestamp", nullable = false },
]
"""
INTERVAL = """\
[strategy]
type = "time_interval"
time_column = "at"
granularity = "day"
first_partition = "2026-01-01"
"""
WHERE = "WHERE at >= @start_date AND at < @end_date"
FILES = {
    "sources/raw.toml": SOURCE,
    "models/daily.sql": f"SELECT id, at FROM raw.events {WHERE}",
    "models/daily.toml": INTERVAL,
    "models/middle.sql": "SELECT id * 10 AS id, at FROM daily",
    "models/late.sql": f"SELECT id, at FROM middle {WHERE}",
    "models/late.toml": INTERVAL,
}
TYPES = pa.schema(
    [
        pa.field("id", pa.int64(), nullable=False),
        pa.field("at", pa.timestamp("us", "UTC"), nullable=False),
    ]
)


def write_events(root, name, *times):
    rows = [
        {"id": number, "at": datetime.fromisoformat(each).replace(tzinfo=UTC)}
        for number, each in enumerate(times, 1)
    ]
    write_rows(root / f"data/{name}.parquet", TYPES, rows)


def rows_of(root, name):
    found = DeltaTable(table_folder(root, name)).to_pyarrow_table().to_pylist()
    return sorted((each["at"].replace(tzinfo=None).isoformat(" "), each["id"]) for each in found)


@pytest.mark.parametrize("zone", ["Pacific/Auckland", "America/Los_Angeles"])
def test_days_are_of_utc_whatever_the_zone_of_the_session(tmp_path, spark, zone):
    # The first and the last moment of a day, and those beside it.
    times = ["2026-01-01 23:59:59.999999", "2026-01-02 00:00:00", "2026-01-02 23:59:59.999999"]
    write_events(tmp_path, "first", *times, "2026-01-03 00:00:00")
    before = spark.conf.get("spark.sql.session.timeZone")
    spark.conf.set("spark.sql.session.timeZone", zone)
    try:
        project = rocky.open(write_files(tmp_path, FILES), spark=spark)
        one = project.backfill("daily", start="2026-01-02", end="2026-01-02", downstream=True)

        assert 0 == one.exit_code
        expected = [("2026-01-02 00:00:00", 20), ("2026-01-02 23:59:59.999999", 30)]
        assert expected == rows_of(tmp_path, "late")

        more = project.backfill("daily", start="2026-01-01", end="2026-01-03", downstream=True)
    finally:
        spark.conf.set("spark.sql.session.timeZone", before)
    daily = {each.interval: each.status for each in more.intervals if each.model == "daily"}
    assert ["computed", "done", "computed"] == [daily[key] for key in sorted(daily)]
    assert 4 == len(rows_of(tmp_path, "daily")) == len(rows_of(tmp_path, "late"))
    verify(tmp_path)


def test_days_that_overlap_take_the_place_of_those_that_are_there(tmp_path, spark):
    write_events(tmp_path, "first", "2026-01-01 10:00:00", "2026-01-02 10:00:00")
    project = rocky.open(write_files(tmp_path, FILES), spark=spark)
    project.backfill("daily", start="2026-01-01", end="2026-01-02", downstream=True)
    write_events(tmp_path, "more", "2026-01-02 11:00:00", "2026-01-03 10:00:00")

    again = project.backfill(
        "daily", start="2026-01-02", end="2026-01-03", downstream=True, force=True
    )

    assert 0 == again.exit_code
    assert ["10:00:00", "10:00:00", "11:00:00", "10:00:00"] == [
        at.split()[1] for at, _ in rows_of(tmp_path, "late")
    ]
    assert 3 + 1 == len(rows_of(tmp_path, "daily"))


@pytest.mark.slow
@pytest.mark.sampled(OWN_SPARK)
def test_a_backfill_that_was_killed_goes_on_with_the_rest(tmp_path):
    write_events(tmp_path, "first", *(f"2026-01-{day:02d} 10:00:00" for day in range(1, 29)))
    root = write_files(tmp_path, FILES)
    code = "from rocky.cli.app import main; main()"
    command = [sys.executable, "-c", code, "backfill", "daily", "-c", str(root), "-o", "json"]
    command += ["--from", "2026-01-01", "--to", "2026-01-28", "--downstream"]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True
    )
    log = table_folder(root, "daily") / "_delta_log"
    ends = time.monotonic() + 120
    while len(list(log.glob("*.json"))) < 18 and time.monotonic() < ends:
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()

    report = rocky.open(root).backfill(
        "daily", start="2026-01-01", end="2026-01-28", downstream=True
    )

    assert 0 == report.exit_code
    daily = [each.status for each in report.intervals if each.model == "daily"]
    # The run of sixteen batches that had ended is not done again.
    assert ["done"] * 16 == daily[:16]
    assert "computed" in daily
    assert 28 == len(rows_of(root, "daily")) == len(rows_of(root, "late"))
    verify(root)
