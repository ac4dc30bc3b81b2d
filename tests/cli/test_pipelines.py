"""Pipelines on the command line: which run, in which order, and what is said of them."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from rocky.ledger import open_ledger
from rocky.ledger.idempotency import claim_key
from rocky.project.configuration.blocks import Idempotency
from rocky.run.engine import spark
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


LOADS = """
[pipeline.files]
type = "load"
source_dir = "files"
target = { catalog = "c", schema = "files" }

[pipeline.later]
type = "load"
source_dir = "later"
target = { catalog = "c", schema = "later" }
depends_on = ["files"]
"""
ALONE = """
[pipeline.alone]
type = "load"
source_dir = "later"
target = { catalog = "c", schema = "alone" }
"""
QUALITY = """
[pipeline.q]
type = "quality"
tables = [ { catalog = "c", schema = "files" } ]
checks = { enabled = true, row_count = true }
execution = { table_retries = 3 }
"""


@pytest.fixture
def lake(tmp_path: Path, rocky, monkeypatch) -> LakeProject:
    """A lake of one table, and an engine without a JVM in the place of Spark."""

    @contextmanager
    def open_memory(adapter, root, spark=None, functions=None) -> Iterator[MemoryEngine]:
        yield MemoryEngine(root)

    monkeypatch.setattr(spark, "open_project_engine", open_memory)
    made = LakeProject(tmp_path)
    made.put([{"id": 1, "synced": at(1)}])
    return made


def test_a_run_without_a_name_runs_the_only_pipeline(rocky, lake):
    answer = rocky("run", "-o", "json")

    assert 0 == answer.code
    assert [] == check(answer.json, "run")
    assert "replication" == answer.json["pipeline_type"]
    assert 1 == answer.json["tables_copied"]


@pytest.mark.slow
def test_a_run_with_nothing_new_says_so(rocky, lake):
    rocky("run")

    answer = rocky("run", "-o", "table")
    document = rocky("run").json

    assert "1 table unchanged since the last copy" in answer.out
    assert [] == check(document, "run")
    assert ["unchanged_since_last_copy"] == [each["reason"] for each in document["excluded_tables"]]


@pytest.mark.slow
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


def with_loads(lake: LakeProject, more: str = "") -> None:
    """Three pipelines: `bronze`, `files`, and `later`, which reads what `files` makes."""
    config = lake.root / "rocky.toml"
    config.write_text(config.read_text() + LOADS + more)
    for name in ("files", "later"):
        (lake.root / name).mkdir()
        (lake.root / name / "orders.csv").write_text("id\n1\n")


def ended(answer) -> dict[str, str]:
    assert [] == check(answer.json, "run")
    return {each["pipeline"]: each["status"] for each in answer.json["pipelines"]}


@pytest.mark.slow
def test_an_error_of_one_pipeline_is_reported_and_the_others_run(rocky, lake):
    with_loads(lake, ALONE)
    (lake.root / "files/orders.csv").unlink()
    (lake.root / "files").rmdir()

    answer = rocky("run")

    assert 2 == answer.code
    assert {
        "bronze": "Success",
        "files": "Failure",
        "later": "Skipped",
        "alone": "Success",
    } == ended(answer)
    error = answer.json["pipelines"][1]["error"]
    assert "SourceUnreadable" == error["kind"]
    assert f"error: pipeline `files`: {error['message']}" in answer.err
    assert "`later` was not run: it waits for pipeline `files`, which failed" in answer.err


@pytest.mark.slow
def test_a_key_of_several_pipelines_is_one_for_each(rocky, lake):
    with_loads(lake)
    first = rocky("run", "--idempotency-key", "night")
    again = rocky("run", "--idempotency-key", "night")
    by_name = rocky("run", "--pipeline", "files", "--idempotency-key", "night/files")

    assert {"bronze": "Success", "files": "Success", "later": "Success"} == ended(first)
    assert {"SkippedIdempotent"} == set(ended(again).values())
    assert "SkippedIdempotent" == by_name.json["status"]
    assert ["night/bronze", "night/files", "night/later"] == [
        each["idempotency_key"] for each in again.json["pipelines"]
    ]


@pytest.mark.slow
def test_under_the_same_key_only_what_did_not_succeed_runs_again(rocky, lake):
    with_loads(lake)
    csv = lake.root / "files/orders.csv"
    csv.unlink()
    csv.parent.rmdir()
    first = rocky("run", "--idempotency-key", "night")
    csv.parent.mkdir()
    csv.write_text("id\n1\n")
    again = rocky("run", "--idempotency-key", "night")

    assert {"bronze": "Success", "files": "Failure", "later": "Skipped"} == ended(first)
    assert 0 == again.code
    assert {"bronze": "SkippedIdempotent", "files": "Success", "later": "Success"} == ended(again)


def test_a_pipeline_waits_for_one_that_another_run_is_at_work_on(rocky, lake):
    with_loads(lake)
    with open_ledger(lake.state) as ledger, claim_key(ledger, "night/files", Idempotency()):
        answer = rocky("run", "--idempotency-key", "night")

    assert 0 == answer.code
    assert {"bronze": "Success", "files": "SkippedInFlight", "later": "Skipped"} == ended(answer)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (
            "run --full-refresh",
            "pipeline `q` only checks tables: it does not support `--full-refresh`",
        ),
        (
            "run --partition 2026-05-01",
            "`bronze` copies tables: it does not support a window of time",
        ),
        ("run --latest", "a window of time"),
        ("run --pipeline bronze --lookback 2", "a window of time"),
        ("run --pipeline files --missing", "a window of time"),
        ("run --force-rebuild", "`files` only loads files"),
        ("run --force-rebuild", "it does not support `--force-rebuild`"),
        ("run --filter tenant=acme --pipeline q", "it does not support `--filter`"),
    ],
)
def test_what_one_pipeline_cannot_heed_is_refused_before_the_first_begins(rocky, lake, line, said):
    with_loads(lake, QUALITY)

    answer = rocky(*line.split(), "-o", "table")

    assert 1 == answer.code
    assert said in answer.err
    assert not lake.state.exists()


def test_an_empty_key_is_refused(rocky, lake):
    with_loads(lake)

    assert "`--idempotency-key` is empty" in rocky("run", "--idempotency-key", " ").err


def test_settings_of_a_pipeline_that_its_run_would_not_heed_are_refused(rocky, lake):
    config = lake.root / "rocky.toml"
    quality = QUALITY.replace("{ table_retries", "{ fail_fast = true, table_retries")
    execution = "[pipeline.silver.execution]\ntable_retries = 7\n"
    config.write_text(config.read_text() + LOADS + quality + SILVER + execution)
    (lake.root / "files").mkdir()
    (lake.root / "later").mkdir()
    (lake.root / "models").mkdir()
    (lake.root / "models/one.sql").write_text("SELECT 1 AS one\n")

    answer = rocky("run")

    assert 1 == answer.code
    assert not lake.state.exists()
    for said in (
        "`fail_fast` is not supported: this pipeline handles its tables one at a time",
        "`execution` is not supported: `[resilience]` says how often a failed model is tried again",
    ):
        assert said in answer.err


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("run --model one --filter tenant=acme", "`--filter` is for pipelines that copy tables"),
        ("run one --pipeline bronze", "has no models to select"),
        ("run --pipeline brnze", "no pipeline `brnze`"),
        ("run --resume run-1 --resume-latest", "cannot be used together"),
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


@pytest.mark.slow
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


@pytest.mark.parametrize("command", ["run", "plan"])
def test_a_pipeline_that_is_not_there_is_named_with_the_nearest(rocky, lake, command):
    answer = rocky(command, "--pipeline", "bronz", "-o", "table")

    assert 1 == answer.code
    assert "no pipeline `bronz`; did you mean `bronze`?" in answer.err
    assert "no models" not in answer.err
