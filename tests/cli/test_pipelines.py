"""Pipelines on the command line: which run, in which order, and what is said of them."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from rocky.run import opening
from tests.cli.test_schemas import check
from tests.pipelines.lakes import ORDERS, LakeProject, at
from tests.run.memory_engine import MemoryEngine

SILVER = """
[pipeline.silver]
models = "models/**"
depends_on = ["bronze"]
"""
SOURCE = f"""
[[source]]
name = "bronze.orders"
format = "delta"
path = "warehouse/{ORDERS.replace(".", "/")}"
columns = [ {{ name = "id", type = "bigint" }} ]
"""


@pytest.fixture
def lake(tmp_path: Path, rocky, monkeypatch) -> LakeProject:
    """A lake of one table, and an engine without a JVM in the place of Spark."""

    @contextmanager
    def open_memory(adapter, root, spark=None) -> Iterator[MemoryEngine]:
        yield MemoryEngine(root)

    monkeypatch.setattr(opening, "open_project_engine", open_memory)
    made = LakeProject(tmp_path)
    made.put([{"id": 1, "synced": at(1)}])
    return made


def test_a_run_without_a_name_runs_the_only_pipeline(rocky, lake):
    answer = rocky("run", "-o", "json")

    assert 0 == answer.code
    assert [] == check(answer.json, "run")
    assert "replication" == answer.json["pipeline_type"]
    assert 1 == answer.json["tables_copied"]


def test_a_run_with_nothing_new_says_so(rocky, lake):
    rocky("run")

    answer = rocky("run", "-o", "table")
    document = rocky("run").json

    assert "1 table unchanged since the last copy" in answer.out
    assert [] == check(document, "run")
    assert ["unchanged_since_last_copy"] == [each["reason"] for each in document["excluded_tables"]]


def test_every_pipeline_runs_after_those_it_depends_on(rocky, lake):
    config = lake.root / "rocky.toml"
    # Written first, to be run last.
    config.write_text(SILVER + config.read_text())
    (lake.root / "sources").mkdir()
    (lake.root / "sources/bronze.toml").write_text(SOURCE)
    (lake.root / "models").mkdir()
    (lake.root / "models/ids.sql").write_text("SELECT id FROM bronze.orders\n")

    answer = rocky("run", "--filter", "tenant=acme")
    both = rocky("run", "-o", "table")

    assert 0 == answer.code
    assert ["pipeline bronze", "pipeline silver"] == [
        line for line in both.out.splitlines() if line.startswith("pipeline ")
    ]


def test_a_pipeline_whose_input_failed_is_withheld(rocky, lake):
    config = lake.root / "rocky.toml"
    config.write_text(config.read_text() + SILVER)
    (lake.root / "models").mkdir()
    (lake.root / "models/one.sql").write_text("SELECT 1 AS one\n")
    for file in (lake.root / "lake").rglob("*.parquet"):
        file.write_bytes(b"no parquet")

    answer = rocky("run")

    assert 1 == answer.code
    assert [] == check(answer.json, "run")
    assert "Skipped" == answer.json["pipelines"][1]["status"]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("run --model one --filter tenant=acme", "`--filter` is for pipelines that copy tables"),
        ("run one --pipeline bronze", "has no models to select"),
        ("run --pipeline brnze", "no pipeline `brnze`"),
        ("run --resume run-1 --resume-latest", "exclude each other"),
        ("run --resume run-1", "no run `run-1` to resume"),
        ("run --filter tenant", "key=value"),
        ("drift --pipeline x", "no pipeline `x` that copies tables"),
    ],
)
def test_what_cannot_be_heeded_is_refused(rocky, lake, line, said):
    (lake.root / "models").mkdir()
    (lake.root / "models/one.sql").write_text("SELECT 1 AS one\n")

    answer = rocky(*line.split(), "-o", "table")

    assert 1 == answer.code
    assert said in answer.err


def test_a_key_runs_once_however_often_it_is_asked_for(rocky, lake):
    first = rocky("run", "--idempotency-key", "night-1").json

    again = rocky("run", "--idempotency-key", "night-1")

    assert 0 == again.code
    assert [] == check(again.json, "run")
    assert "SkippedIdempotent" == again.json["status"]
    assert first["run_id"] == again.json["skipped_by_run_id"]


def test_a_key_of_a_run_that_failed_may_be_used_again(rocky, lake):
    (file,) = (lake.root / "lake").rglob("*.parquet")
    good = file.read_bytes()
    file.write_bytes(b"no parquet")
    assert 1 == rocky("run", "--idempotency-key", "night-1").code
    file.write_bytes(good)

    answer = rocky("run", "--idempotency-key", "night-1")

    assert 0 == answer.code
    assert "Success" == answer.json["status"]


def test_a_plan_says_what_would_be_copied_and_writes_nothing(rocky, lake):
    answer = rocky("plan")

    assert [] == check(answer.json, "plan")
    assert [(ORDERS, "load")] == [
        (each["table"], each["decision"]) for each in answer.json["tables"]
    ]
    assert not (lake.root / "warehouse").exists()
    assert not lake.state.exists()


def test_drift_is_reported_and_nothing_is_changed(rocky, lake):
    rocky("run")
    lake.put([{"id": 2, "synced": at(2), "extra": "x"}])
    before = lake.state.read_bytes()

    answer = rocky("drift")

    assert 0 == answer.code
    assert [] == check(answer.json, "drift")
    (action,) = answer.json["pipelines"]["bronze"]["actions"]
    assert (ORDERS, "extra", "add") == (action["table"], action["column"], action["grade"])
    assert before == lake.state.read_bytes()
