"""What a run will ask of Spark, told before Spark starts."""

from pathlib import Path

import pytest

from rocky.compiler.passes import compile_project
from rocky.plan.selectors import select_models
from rocky.plan.steps import plan_steps
from rocky.project import load_project
from rocky.run.engine.sources import Sources
from rocky.run.prepare import workload
from rocky.run.prepare.workload import foresee_work
from rocky.spark.warmup import SMALL_BYTES, UNKNOWN_WORK, Work
from rocky.store.warehouse import open_warehouse
from tests.run.runs import Shop

PYTHON = "def model(stg_orders):\n    return stg_orders\n"
PYTHON_COLUMNS = '[[columns]]\nname = "id"\ntype = "bigint"\n'


@pytest.fixture
def shop(tmp_path):
    return Shop(tmp_path)


def foreseen(root: Path, *selectors: str) -> Work:
    project = load_project(root, env={})
    compilation = compile_project(project, jobs=1, cache=False)
    plan = plan_steps(compilation, select_models(compilation, selectors))
    warehouse = open_warehouse("warehouse", base=root)
    return foresee_work(plan, plan.steps, warehouse, Sources(root))


def test_a_few_models_over_little_data_are_small_work(shop):
    assert Work(is_small=True) == foreseen(shop.root)


@pytest.mark.parametrize("name", ["data/orders.csv", "seeds/countries.csv"])
def test_a_large_file_is_not(shop, name):
    path = shop.root / name
    header, *rest = path.read_text().splitlines()
    path.write_text("\n".join([header, *rest, *[f"4,{'x' * 1000}"] * (SMALL_BYTES // 1000)]))

    assert not foreseen(shop.root).is_small


@pytest.mark.slow
def test_nor_is_a_table_that_is_read_or_kept(shop, monkeypatch):
    shop.run()
    (shop.root / "data/orders.csv").write_text("id,country\n1,DE\n")
    monkeypatch.setattr(workload, "SMALL_BYTES", 100)

    assert not foreseen(shop.root, "report").is_small


@pytest.mark.parametrize(
    "query",
    [
        "SELECT id FROM range(1000000000)",
        "SELECT explode(sequence(1, 100000000)) AS id",
        "SELECT a.id FROM stg_orders a\nCROSS  JOIN stg_orders b",
    ],
)
def test_nor_is_a_query_that_makes_many_rows_of_few(shop, query):
    shop.write("models/alone.sql", query)

    assert not foreseen(shop.root).is_small


def test_what_a_macro_stands_for_is_looked_at(shop):
    shop.write("macros/many.sql", "CREATE MACRO many(n LITERAL)\nRETURN sequence(1, @n)\n")
    shop.write("models/alone.sql", "SELECT explode(@many(100000000)) AS id")

    assert not foreseen(shop.root, "alone").is_small


def test_of_a_file_that_was_edited_meanwhile_nothing_is_known(shop):
    compilation = compile_project(load_project(shop.root, env={}), jobs=1, cache=False)
    plan = plan_steps(compilation, select_models(compilation, ()))
    # As in a project that came from the cache: texts are read when somebody asks.
    plan.project.models["alone"]._text = None
    shop.write("models/alone.sql", "SELECT 2 AS two")
    warehouse = open_warehouse("warehouse", base=shop.root)

    assert UNKNOWN_WORK == foresee_work(plan, plan.steps, warehouse, Sources(shop.root))


def test_nor_is_a_source_that_only_spark_can_reach(shop):
    shop.write(
        "sources/far.toml",
        '[[source]]\nname = "raw.far"\nformat = "jdbc"\n'
        'columns = [ { name = "id", type = "bigint" } ]\n',
    )
    shop.write("models/alone.sql", "SELECT id FROM raw.far")

    assert not foreseen(shop.root).is_small
    assert foreseen(shop.root, "stg_orders").is_small


def test_nor_is_a_model_in_python(shop):
    shop.write("models/free.py", PYTHON)
    shop.write("models/free.toml", PYTHON_COLUMNS)

    assert not foreseen(shop.root, "free").is_small


def test_nor_are_more_models_than_a_few(shop, monkeypatch):
    monkeypatch.setattr(workload, "SMALL_STEPS", 3)

    assert not foreseen(shop.root).is_small
    assert foreseen(shop.root, "alone").is_small


def test_a_function_that_changes_case_is_seen(shop):
    shop.write("models/alone.sql", "SELECT upper (country) AS c FROM stg_orders")

    assert foreseen(shop.root).changes_case
    assert not foreseen(shop.root, "report").changes_case


@pytest.mark.slow
def test_whoever_starts_spark_is_told(shop):
    seen = []
    shop.on_open = lambda: seen.append(shop.expected.work)
    shop.run()

    assert [Work(is_small=True)] == seen


@pytest.mark.slow
def test_where_spark_had_to_start_first_nothing_is_known(shop):
    shop.environment = None
    seen = []
    shop.on_open = lambda: seen.append(shop.expected.work)
    shop.run()

    assert [UNKNOWN_WORK] == seen
