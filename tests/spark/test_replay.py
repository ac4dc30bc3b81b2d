"""Recorded runs built again on Spark, after the code changed and later runs replaced the tables."""

import shutil

import pytest
from benchmarks.twenty_models import MODELS

import rocky
from tests.spark.projects import build, errors_of, write_files

pytestmark = pytest.mark.spark

HALVED = {
    "stg_orders": MODELS["stg_orders"] + " WHERE order_id % 2 = 0",
    "stg_items": MODELS["stg_items"] + " WHERE order_id % 2 = 0",
    "stg_customers": MODELS["stg_customers"] + " WHERE customer_id % 3 <> 0",
}


def test_twenty_models_are_replayed_byte_for_byte_after_they_were_edited(twenty, spark, tmp_path):
    before, first = twenty
    root = tmp_path / "moved"
    shutil.copytree(before, root)
    for name, sql in HALVED.items():
        (root / "models" / f"{name}.sql").write_text(sql)
    (root / "models" / "rpt_stale.sql").unlink()
    second = build(root, spark)
    assert {} == errors_of(second)

    report = rocky.replay_run(root, first.run_id, spark=spark)

    assert dict.fromkeys(sorted(MODELS), "bit_exact") == verdicts(report)
    assert 0 == report.exit_code
    assert ["moved"] == [path.name for path in tmp_path.iterdir()]
    assert [] == [path.name for path in root.iterdir() if "replay" in path.name]


EVENTS = """\
[[source]]
name = "raw.events"
format = "csv"
path = "data/events"
columns = [
  { name = "id", type = "bigint" },
  { name = "at", type = "timestamp" },
  { name = "kind", type = "string" },
  { name = "weight", type = "double" },
]
"""
ALL = "SELECT id, at, kind, weight FROM raw.events\n"
LOOSE = "[store]\ncanonical = false\n"

PROJECT = {
    "sources/raw.toml": EVENTS,
    "models/whole.sql": "SELECT kind, count(*) AS n, max(at) AS last FROM raw.events GROUP BY kind",
    "models/whole.toml": LOOSE,
    "models/ranked.sql": (
        "SELECT id, kind, row_number() OVER (PARTITION BY kind ORDER BY at, id) AS place"
        " FROM raw.events"
    ),
    "models/ranked.toml": LOOSE,
    "models/appended.sql": ALL,
    "models/appended.toml": '[strategy]\ntype = "incremental"\ntimestamp_column = "at"\n',
    "models/merged.sql": ALL,
    "models/merged.toml": '[strategy]\ntype = "merge"\nunique_key = ["id"]\n',
    "models/kept.sql": "SELECT id, kind FROM raw.events",
    "models/kept.toml": '[strategy]\ntype = "snapshot"\nunique_key = ["id"]\n',
    "models/parts.sql": ALL,
    "models/parts.toml": '[strategy]\ntype = "delete_insert"\npartition_by = ["kind"]\n',
    "models/today.sql": "SELECT CAST(@start_date AS TIMESTAMP) AS at, count(*) AS n FROM merged\n",
    "models/today.toml": (
        '[strategy]\ntype = "time_interval"\ntime_column = "at"\ngranularity = "day"\n'
    ),
    "models/coded.py": "def model(merged):\n    return merged.select('id').distinct()\n",
    "models/coded.toml": (
        'columns = [ { name = "id", type = "bigint" } ]\n[skip]\ndeterministic = true\n'
    ),
    "models/stamped.sql": "SELECT id, current_timestamp() AS at FROM merged",
    "models/drawn.sql": "SELECT id, rand() AS draw FROM merged",
}
DAYS = (
    "1,2026-01-01 10:00:00,a,0.5\n2,2026-01-01 11:00:00,b,1.5\n3,2026-01-01 12:00:00,a,2.5\n",
    "2,2026-01-02 11:00:00,c,9.5\n4,2026-01-02 12:00:00,d,0.25\n",
    "5,2026-01-03 11:00:00,a,0.125\n",
)
EXACT = {"appended", "coded", "kept", "merged", "parts", "today"}
LOOSELY_EXACT = {"ranked", "whole"}
FLAGGED = {"drawn", "stamped"}


def test_tables_that_keep_rows_are_replayed_from_the_version_a_run_found(spark, tmp_path):
    root = write_files(tmp_path / "project", PROJECT)
    (root / "data/events").mkdir(parents=True)
    runs = []
    for number, rows in enumerate(DAYS):
        # Files are added, and those that a run has read stay as they were.
        (root / f"data/events/{number}.csv").write_text("id,at,kind,weight\n" + rows)
        runs.append(build(root, spark))
    assert [{}] * 3 == [errors_of(each) for each in runs]
    for path in (root / "models").iterdir():
        path.unlink()
    (root / "models/other.sql").write_text("SELECT 1 AS n\n")

    report = rocky.replay_run(root, runs[1].run_id, spark=spark)

    found = verdicts(report)
    assert dict.fromkeys(EXACT, "bit_exact") == {name: found[name] for name in EXACT}
    assert {found[name] for name in LOOSELY_EXACT} <= {"bit_exact", "row_exact"}
    assert dict.fromkeys(FLAGGED, "non_replayable") == {name: found[name] for name in FLAGGED}
    reasons = {each.model: each.reason for each in report.models}
    assert all("volatile: " in reasons[name] for name in FLAGGED)
    assert 2 == report.exit_code


def verdicts(report) -> dict[str, str]:
    return {each.model: each.verdict.value for each in sorted(report.models, key=lambda m: m.model)}
