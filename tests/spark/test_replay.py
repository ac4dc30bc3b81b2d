"""Recorded runs built again on Spark, after the code changed and later runs replaced the tables."""

import shutil
from dataclasses import replace

import pytest
from benchmarks.twenty_models import MODELS

import rocky
from rocky.canonical import text_hash
from rocky.replay.recipe import recipe_of
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
    # Of each layer some: the tables that are not replaced have the newer ones below them.
    second = build(root, spark, "+fct_orders")
    assert ({}, 6) == (errors_of(second), len(second.outcomes))

    report = rebuild(root, spark, first.run_id)

    assert dict.fromkeys(sorted(MODELS), "bit_exact") == verdicts(report)
    assert 0 == report.exit_code
    assert {()} == {each.notes for each in report.models}
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
]
"""
LOOSE = "[store]\ncanonical = false\n"
PROJECT = {
    "sources/raw.toml": EVENTS,
    "models/ranked.sql": (
        "SELECT id, kind, row_number() OVER (PARTITION BY kind ORDER BY at, id) AS place"
        " FROM raw.events"
    ),
    "models/ranked.toml": LOOSE,
    "models/counted.sql": "SELECT kind, count(*) AS n FROM raw.events GROUP BY kind",
    "models/counted.toml": LOOSE,
    "models/appended.sql": "SELECT id, at, kind FROM raw.events",
    "models/appended.toml": '[strategy]\ntype = "incremental"\ntimestamp_column = "at"\n',
    "models/merged.sql": "SELECT id, max(at) AS at, max(kind) AS kind FROM raw.events GROUP BY id",
    "models/merged.toml": '[strategy]\ntype = "merge"\nunique_key = ["id"]\n',
    "models/kept.sql": "SELECT id, kind FROM merged",
    "models/kept.toml": '[strategy]\ntype = "snapshot"\nunique_key = ["id"]\n',
    "models/today.sql": (
        "SELECT coalesce(CAST(@start_date AS TIMESTAMP), CAST(@end_date AS TIMESTAMP),"
        " TIMESTAMP '1970-01-01') AS at, count(*) AS n FROM merged"
    ),
    "models/today.toml": (
        '[strategy]\ntype = "time_interval"\ntime_column = "at"\ngranularity = "day"\n'
    ),
    "models/coded.py": "def model(merged):\n    return merged.select('id').distinct()\n",
    "models/coded.toml": (
        'output = [ { name = "id", type = "bigint" } ]\n[skip]\ndeterministic = true\n'
    ),
    "models/stamped.sql": "SELECT id, current_timestamp() AS at FROM merged",
    "models/drawn.sql": "SELECT id, rand() AS draw FROM merged",
}
DAYS = (
    "1,2026-01-01 10:00:00,a\n2,2026-01-01 11:00:00,b\n3,2026-01-01 12:00:00,a\n",
    "2,2026-01-02 11:00:00,c\n4,2026-01-02 12:00:00,d\n",
    "5,2026-01-03 11:00:00,a\n",
)
EXACT = {"appended", "coded", "kept", "merged", "today"}


def test_tables_that_keep_rows_are_replayed_from_the_version_a_run_found(spark, tmp_path):
    root = write_files(tmp_path / "project", PROJECT)
    (root / "data/events").mkdir(parents=True)
    runs = []
    for number, rows in enumerate(DAYS):
        # Files are added, and those that a run has read stay as they were.
        (root / f"data/events/{number}.csv").write_text("id,at,kind\n" + rows)
        runs.append(build(root, spark, *(["merged", "appended"] if runs[1:] else [])))
    assert [{}] * 3 == [errors_of(each) for each in runs]
    for path in (root / "models").iterdir():
        path.unlink()
    (root / "models/other.sql").write_text("SELECT 1 AS n\n")

    report = rebuild(root, spark, runs[1].run_id)

    found = verdicts(report)
    assert dict.fromkeys(EXACT, "bit_exact") == {name: found[name] for name in EXACT}
    assert {found["ranked"], found["counted"]} <= {"bit_exact", "row_exact"}
    flagged = {each.model: each.reason for each in report.models if each.duration_ms is None}
    assert {"drawn", "stamped"} == set(flagged)
    assert all("volatile: " in reason for reason in flagged.values())
    assert 2 == report.exit_code

    # What decided which rows were copied is part of the text that is recorded and hashed.
    (appended,) = rocky.open(root).replay(runs[1].run_id, models=("appended",)).models
    text = appended.provenance.executed_sql
    low, high = "'2026-01-01 12:00:00'", "'2026-01-02 12:00:00'"
    assert text.startswith("SELECT `id`, `at`, `kind` FROM (\nSELECT id, at, kind FROM ")
    assert f"WHERE `at` > CAST({low} AS timestamp) AND `at` <= CAST({high} AS timestamp)" in text
    assert text_hash(text) == appended.execution.sql_hash


ODD = """
    SELECT id, map('n', id) AS pairs, array(CAST(id AS decimal(5,2))) AS list,
      named_struct('m', map(1, id)) AS inner, CAST('x' AS binary) AS bytes, double('NaN') AS odd
    FROM range(3)
"""


def test_rows_that_differ_are_shown_whatever_their_types_are(spark, tmp_path, monkeypatch):
    root = write_files(tmp_path / "project", {"models/odd.sql": ODD})
    run = build(root, spark)

    def other_recipe(record):
        recipe = recipe_of(record)
        return replace(recipe, query=recipe.query.replace("range(3)", "range(1, 4)"))

    monkeypatch.setattr("rocky.replay.candidates.recipe_of", other_recipe)

    (found,) = rebuild(root, spark, run.run_id).models

    assert "diverged" == found.verdict
    assert [0] == [row["id"] for row in found.differences.recorded]
    assert [3] == [row["id"] for row in found.differences.replayed]
    assert {"id", "pairs", "list", "inner", "bytes", "odd"} == set(found.differences.recorded[0])


def rebuild(root, spark, run_id: str):
    """The report of a run that is built again."""
    return rocky.open(root, spark=spark).replay(run_id, execute=True)


def verdicts(report) -> dict[str, str]:
    return {each.model: each.verdict.value for each in sorted(report.models, key=lambda m: m.model)}
