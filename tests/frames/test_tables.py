"""Frames in other people's tests and jobs: `rocky.check`, the fixture `tables`, `check-python FILE`."""

import subprocess
import sys
import tomllib
from importlib import import_module
from pathlib import Path

import pytest

import rocky
from rocky.errors import InvalidRequest, InvalidSchema
from rocky.frames.table_schemas import read_schemas
from rocky.operations.check.check_python import CheckPythonRequest, check_python
from rocky.operations.workspace import Workspace

SCHEMAS = """
[tables]
orders = "order_id bigint not null, customer_id bigint, amount decimal(12,2)"

[tables."raw.customers"]
customer_id = "bigint not null"
name = "string"
"""
JOBS = """
from pyspark.sql import DataFrame, functions as F

from common import doubled


def enrich(orders: DataFrame, customers_df) -> DataFrame:
    return doubled(orders.join(customers_df, "customer_id"))


def misspelt(orders) -> DataFrame:
    return orders.select(F.col("amuont"))


def through_session(spark, least=3) -> DataFrame:
    return spark.table("raw.customers").filter(F.col("customer_id") > least).select("name")


def looks(orders) -> "DataFrame":
    return orders.limit(orders.count())


def number(orders):
    return 1
"""
SKIPPING = """
from pyspark.sql import DataFrame, SparkSession

spark = SparkSession.builder.appName("job").config("spark.sql.shuffle.partitions", 8).getOrCreate()


def clean(df: DataFrame) -> DataFrame:
    return df.distinct()


def of_day(orders: DataFrame, day: str) -> DataFrame:
    return orders.filter(orders.order_id == day)


def first(orders: DataFrame, count: int = 3) -> DataFrame:
    return orders.limit(count).select("order_id")


def named() -> DataFrame:
    return spark.table("raw.customers").select("name")
"""
COMMON = """
from pyspark.sql import functions as F


def doubled(frame):
    return frame.withColumn("twice", F.col("amount") * 2)
"""
TESTS = """
from pyspark.sql import functions as F
import rocky


def test_columns(tables):
    orders = tables.orders
    found = tables.check(orders.groupBy("customer_id").agg(F.sum("amount").alias("total")))
    assert found.schema == "customer_id BIGINT, total DECIMAL(22,2)"
    assert rocky.check(orders).columns[0].name == "order_id"


def test_shown(tables):
    assert tables.check(tables.orders.select("amuont")).errors == ()


def test_taken(tables):
    tables.ordrs


def test_mistake(tables):
    assert [each.code for each in tables.check(tables.orders.select("amuont")).errors] == ["E003"]
"""


@pytest.fixture
def jobs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "jobs"
    folder.mkdir()
    (folder / "pipeline.py").write_text(JOBS)
    (folder / "common.py").write_text(COMMON)
    (tmp_path / "schemas.toml").write_text(SCHEMAS)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def checked(*targets: str, schemas: str = "schemas.toml"):
    return check_python(Workspace(), CheckPythonRequest(targets, schemas=Path(schemas)))


def test_a_frame_is_checked_by_the_tables_it_is_made_of() -> None:
    with rocky.Frames({"orders": "id bigint not null"}) as tables:
        assert "id BIGINT NOT NULL" == rocky.check(tables.orders).schema

    with pytest.raises(InvalidRequest, match=r"no frame of `rocky\.Frames`"):
        rocky.check(1)


def test_schemas_are_texts_or_tables_of_types(tmp_path: Path) -> None:
    path = tmp_path / "schemas.toml"
    path.write_text(SCHEMAS)

    found = read_schemas(path)
    assert ["orders", "raw.customers"] == list(found)
    assert ["customer_id", "name"] == [each.name for each in found["raw.customers"]]
    assert [False, True] == [each.nullable for each in found["raw.customers"]]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "has one table"),
        ("[tables]\n[other]\n", "there is `other`"),
        ("[tables]\na = 1\n", "the columns of `a`"),
        ("[tables]\na = 'id bigintt'\n", "bigintt"),
        ("[tables]\nraw.orders = { id = 'int' }\n", "in quotes"),
        ("[tables\n", "cannot be read"),
    ],
)
def test_a_file_of_schemas_that_is_wrong_is_refused(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "schemas.toml"
    path.write_text(text)

    with pytest.raises(InvalidSchema, match=said):
        read_schemas(path)


@pytest.mark.slow
def test_functions_of_files_are_checked_without_a_project(jobs: Path) -> None:
    report = checked("jobs/*.py")

    said = {each.name.split("::")[1]: each for each in report.models}
    assert ["enrich", "misspelt", "through_session", "looks"] == list(said)
    assert ["customer_id", "order_id", "amount", "name", "twice"] == [
        each.name for each in said["enrich"].columns
    ]
    assert ["name"] == [each.name for each in said["through_session"].columns]
    assert report.has_errors
    errors = [each for each in report.found if each.severity == "error"]
    assert [("E003", "jobs/pipeline.py")] == [(each.code, each.path) for each in errors]
    assert "looks" in next(each.message for each in report.found if each.severity != "error")


@pytest.mark.parametrize(
    ("target", "said"),
    [
        ("jobs/*.py::enrish", "there is `enrich`"),
        ("nowhere/*.py::f", "no file"),
        ("jobs/common.py", "name one"),
        ("jobs/common.py::doubled", "no table for the parameter `frame`"),
        ("jobs/skipping.py::clean", "no table for the parameter `df`"),
        ("jobs/skipping.py::of_day", "no value for the parameter `day`"),
        ("jobs/only.py", "nothing is checked: no table for the parameter `df`"),
    ],
)
def test_a_function_that_cannot_be_called_is_said_before_anything_runs(
    jobs: Path, target: str, said: str
) -> None:
    (jobs / "jobs/skipping.py").write_text(SKIPPING)
    (jobs / "jobs/only.py").write_text(SKIPPING[: SKIPPING.index("def of_day")])
    with pytest.raises(InvalidRequest, match=said):
        checked(target)


@pytest.mark.slow
def test_a_function_of_a_file_without_a_table_is_skipped_and_the_rest_is_checked(
    jobs: Path,
) -> None:
    (jobs / "jobs/skipping.py").write_text(SKIPPING)
    report = checked("jobs/skipping.py")

    assert [("first", ["order_id"]), ("named", ["name"])] == [
        (each.name.split("::")[1], [column.name for column in each.columns])
        for each in report.models
    ]
    assert ("jobs/skipping.py::clean", "jobs/skipping.py::of_day") == report.skipped
    assert not report.has_errors
    assert [
        ("W025", "df: DataFrame", "name it after a table, such as `orders` or `orders_df`,"),
        ("W025", "day: str", "give it a default"),
    ] == [
        (
            each.code,
            SKIPPING[slice(*each.span or ())],
            (each.help or "").partition(" or declare")[0],
        )
        for each in report.found
    ]


@pytest.mark.slow
def test_the_plugin_gives_tables_of_the_file_that_pytest_is_told(jobs: Path) -> None:
    (jobs / "pytest.ini").write_text("[pytest]\nrocky_frames = schemas.toml\n")
    (jobs / "test_jobs.py").write_text(TESTS)
    command = [sys.executable, "-m", "pytest", "-q", "test_jobs.py"]
    done = subprocess.run(command, cwd=jobs, capture_output=True, text=True, check=False)

    assert "2 failed, 2 passed" in done.stdout, done.stdout + done.stderr
    at = TESTS[: TESTS.index('"amuont"')].count("\n") + 1
    assert f"test_jobs.py:{at}:46: E003 no column `amuont` in scope" in done.stdout
    assert "help: there is a column `amount`" in done.stdout
    assert "Diagnostic(" not in done.stdout
    assert "AttributeError: no table `ordrs`; did you mean `orders`?" in done.stdout


def test_the_package_gives_pytest_its_plugin() -> None:
    root = Path(__file__).resolve().parents[2]
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]

    named = project["entry-points"]["pytest11"]
    assert {"rocky_frames": "rocky.pytest_frames"} == named
    assert hasattr(import_module(named["rocky_frames"]), "tables")
