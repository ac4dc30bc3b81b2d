"""Plans of pipelines that copy, load, follow and check: kept, applied, refused like any other."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from rocky.pipelines import pipeline_run
from rocky.run.engine import spark
from tests.cli.test_schemas import check
from tests.pipelines.lakes import ORDERS, LakeProject, at
from tests.run.memory_engine import MemoryEngine

pytestmark = pytest.mark.slow

LOAD = """
[pipeline.files]
type = "load"
source_dir = "files"
target = { catalog = "c", schema = "files" }
"""
FOLLOW = """
[pipeline.history]
type = "snapshot"
unique_key = ["id"]
updated_at = "synced"
depends_on = ["bronze"]
source = { catalog = "acme_warehouse", schema = "staging__shopify", table = "orders" }
target = { catalog = "c", schema = "s", table = "orders_history" }
"""
CHECKS = """
[pipeline.q]
type = "quality"
tables = [ { catalog = "c", schema = "files" } ]
checks = { enabled = true, row_count = true }
depends_on = ["files"]
"""
MODELS = """
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
    @contextmanager
    def open_memory(adapter, root, spark=None, functions=None) -> Iterator[MemoryEngine]:
        yield MemoryEngine(root)

    monkeypatch.setattr(spark, "open_project_engine", open_memory)
    made = LakeProject(tmp_path)
    made.put([{"id": 1, "synced": at(1)}])
    (tmp_path / "files").mkdir()
    (tmp_path / "files/orders.csv").write_text("id\n1\n")
    return made


def add(lake: LakeProject, text: str) -> None:
    config = lake.root / "rocky.toml"
    config.write_text(config.read_text() + text)


def add_models(lake: LakeProject) -> None:
    add(lake, MODELS)
    for name, text in {
        "sources/bronze.toml": SOURCE,
        "models/ids.sql": "SELECT id FROM bronze.orders\n",
    }.items():
        path = lake.root / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)


def planned(rocky, *options: str):
    answer = rocky("plan", "-o", "json", *options)
    assert 0 == answer.code, answer.err
    assert [] == check(answer.json, "plan")
    return answer.json


def test_a_copy_is_planned_and_applied(rocky, lake):
    plan = planned(rocky)

    answer = rocky("apply", plan["plan_id"], "-o", "json")

    assert 0 == answer.code, answer.err
    assert [] == check(answer.json, "apply")
    assert 1 == answer.json["result"]["tables_copied"]
    assert [("copy", ORDERS)] == [(each["purpose"], each["target"]) for each in plan["statements"]]


def test_the_plan_of_a_copy_is_stable_and_needs_no_spark_when_nothing_is_new(rocky, lake):
    first, again = planned(rocky)["plan_id"], planned(rocky)["plan_id"]
    rocky("run")

    assert first == again != planned(rocky)["plan_id"]
    assert planned(rocky) == planned(rocky)


@pytest.mark.parametrize(
    ("table", "said"),
    [("orders", "inputs: "), ("customers", "is in the source now")],
)
def test_a_source_that_moved_refuses_the_copy(rocky, lake, table, said):
    plan_id = planned(rocky)["plan_id"]
    lake.put([{"id": 2, "synced": at(2)}], table, file="part-1.parquet")

    answer = rocky("apply", plan_id)

    assert 1 == answer.code
    assert said in answer.err
    assert not lake.state.exists()


def test_the_filter_of_a_plan_comes_back(rocky, lake):
    lake.put([{"id": 2, "synced": at(2)}], "customers")
    plan = planned(rocky, "--filter", "table=orders")

    answer = rocky("apply", plan["plan_id"], "-o", "json")

    assert [ORDERS.split(".")[-1]] == [
        each["asset_key"][-1] for each in answer.json["result"]["materializations"]
    ]


def test_what_a_run_has_copied_is_left_by_a_plan_that_resumes_it(rocky, lake):
    rocky("run")
    lake.put([{"id": 2, "synced": at(2)}], file="part-1.parquet")

    plan = planned(rocky, "--resume-latest")

    assert ["leave"] == [each["decision"] for each in plan["tables"]]
    assert 0 == rocky("apply", plan["plan_id"]).code


def test_a_table_that_moves_between_check_and_claim_refuses_the_copy(rocky, lake, monkeypatch):
    rocky("run")
    lake.put([{"id": 2, "synced": at(2)}], file="part-1.parquet")
    plan_id = planned(rocky)["plan_id"]
    run = pipeline_run.run_pipeline

    def run_late(compilation, name, request, caller):
        monkeypatch.setattr(pipeline_run, "run_pipeline", run)
        rocky("run")
        return run(compilation, name, request, caller)

    monkeypatch.setattr(pipeline_run, "run_pipeline", run_late)
    answer = rocky("apply", plan_id)

    assert 1 == answer.code
    assert "no longer holds, so nothing was run" in answer.err


def test_files_are_planned_and_a_file_that_comes_later_refuses_the_load(rocky, lake):
    add(lake, LOAD)
    plan = planned(rocky, "--pipeline", "files")
    (table,) = plan["tables"]
    assert ("c.files.orders", "load", 1) == (
        table["table"], table["decision"], table["files_to_load"],
    )  # fmt: skip
    (lake.root / "files/orders.csv").write_text("id\n1\n2\n")

    late = rocky("apply", plan["plan_id"])
    again = planned(rocky, "--pipeline", "files")
    done = rocky("apply", again["plan_id"], "-o", "json")

    assert "inputs: the files of `c.files.orders` are others" in late.err
    assert (0, 1) == (done.code, done.json["result"]["tables_copied"])
    assert ["leave"] == [
        each["decision"] for each in planned(rocky, "--pipeline", "files")["tables"]
    ]


def test_a_history_is_planned_and_applied(rocky, lake):
    rocky("run")
    add(lake, FOLLOW)

    plan = planned(rocky, "--pipeline", "history")
    answer = rocky("apply", plan["plan_id"], "-o", "json")
    again = planned(rocky, "--pipeline", "history")

    assert 0 == answer.code, answer.err
    assert ["load"] == [each["decision"] for each in plan["tables"]]
    assert ["merge"] == [each["decision"] for each in again["tables"]]
    assert ("none", []) == (again["breaking_verdict"], again["schema_changes"])


def test_checks_are_planned_and_applied(rocky, lake):
    add(lake, LOAD + CHECKS)
    rocky("run", "--pipeline", "files")

    plan = planned(rocky, "--pipeline", "q")
    answer = rocky("apply", plan["plan_id"])

    assert [("c.files.orders", "check")] == [
        (each["table"], each["decision"]) for each in plan["tables"]
    ]
    assert 0 == answer.code, answer.err


def test_one_plan_covers_all_pipelines_and_is_applied_in_their_order(rocky, lake):
    add_models(lake)
    rocky("run")
    lake.put([{"id": 2, "synced": at(2)}], file="part-1.parquet")
    plan = planned(rocky)

    answer = rocky("apply", plan["plan_id"], "-o", "json")

    assert ["bronze", "silver"] == [each["pipeline"] for each in plan["pipelines"]]
    assert 0 == answer.code, answer.err
    assert [] == check(answer.json, "apply")
    # What the first has copied is new to the second, and was expected to be.
    assert [("bronze", 1), ("silver", 1)] == [
        (each["pipeline"], each["tables_copied"]) for each in answer.json["result"]["pipelines"]
    ]


@pytest.mark.parametrize("name", ["bronze", "files", "history", "q", "silver"])
def test_a_budget_that_is_an_error_fails_the_run_of_every_type_of_pipeline(rocky, lake, name):
    add(lake, LOAD + FOLLOW + CHECKS)
    add_models(lake)
    for each in ("bronze", "files"):
        if each != name:
            assert 0 == rocky("run", "--pipeline", each).code
    # A run that only checks reads nothing that anybody measures, but it takes its time.
    limit = "max_duration_ms = 0" if name == "q" else "max_bytes_scanned = 10"
    add(lake, f'[budget]\n{limit}\non_breach = "error"\n')

    answer = rocky("run", "--pipeline", name, "-o", "json")

    assert 1 == answer.code
    assert f"error[E027]: the run exceeded `{limit.partition(' ')[0]}`" in answer.err
    assert ["E027"] == [each["code"] for each in answer.json["budget_breaches"]]


def test_what_a_run_that_only_checks_has_read_is_said_not_to_be_checked(rocky, lake):
    add(lake, LOAD + CHECKS)
    rocky("run", "--pipeline", "files")
    add(lake, '[budget]\nmax_bytes_scanned = 10\non_breach = "error"\n')

    answer = rocky("run", "--pipeline", "q")

    assert 0 == answer.code
    assert "note: `max_bytes_scanned` of the run was not checked" in answer.err


def test_checks_are_applied_once_by_a_plan_and_again_by_the_next(rocky, lake):
    add(lake, LOAD + CHECKS)
    rocky("run", "--pipeline", "files")
    plan = planned(rocky, "--pipeline", "q")["plan_id"]

    first, second = rocky("apply", plan), rocky("apply", plan)

    assert (0, 1) == (first.code, second.code)
    assert "was already applied by `run-" in second.err
    assert 0 == rocky("apply", planned(rocky, "--pipeline", "q")["plan_id"]).code
