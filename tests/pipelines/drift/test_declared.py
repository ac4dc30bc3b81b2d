"""Declared sources against live ones: findings at the lines of the declarations."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from rocky.language.datatypes.types import STRING, StructField
from rocky.pipelines.drift.live import compare_declared
from tests.project.projects import finding, load
from tests.run.memory_engine import MemoryEngine

SOURCES = """\
[[source]]
name = "raw.orders"
format = "parquet"
path = "data/orders"
columns = [
  { name = "id", type = "int" },
  { name = "status", type = "string" },
  { name = "amount", type = "double" },
]
"""


@pytest.fixture
def compare(tmp_path):
    """Compare the declaration with a file of these columns; None leaves the folder away."""

    def compared(columns=None, sources=SOURCES):
        project = load(tmp_path, {"sources/raw.toml": sources})
        if columns is not None:
            (tmp_path / "data/orders").mkdir(parents=True)
            pq.write_table(pa.table(columns), tmp_path / "data/orders/part.parquet")
        found = compare_declared(project, MemoryEngine(tmp_path).describe)
        return [f"{each.severity.value} {finding(project, each)}" for each in found]

    return compared


def test_a_source_that_is_what_was_declared_has_no_findings(compare):
    columns = {
        "ID": pa.array([1], pa.int32()),
        "status": ["x"],
        "amount": pa.array([1.0], pa.float32()),
    }

    assert [] == compare(columns)


def test_missing_and_retyped_columns_are_errors_and_new_ones_a_warning(compare):
    columns = {"id": pa.array([1], pa.int64()), "statuss": ["x"], "amount": [1.0]}

    assert [
        "warning W026 sources/raw.toml:2:8 '\"raw.orders\"' source `raw.orders` has a column"
        " `statuss` of type `string` that is not declared",
        "error E043 sources/raw.toml:6:12 '\"id\"' column `id` of source `raw.orders` is declared"
        " `int`, and it is `bigint`",
        "error E042 sources/raw.toml:7:12 '\"status\"' source `raw.orders` has no column `status`",
    ] == compare(columns)


def test_a_source_that_cannot_be_read_is_an_error_and_never_silence(compare):
    assert [
        "error E044 sources/raw.toml:2:8 '\"raw.orders\"' source `raw.orders` (declared in"
        " `sources/raw.toml`): there is no data at `data/orders`"
    ] == compare()


def test_what_spark_guessed_from_a_csv_is_only_a_warning(compare, tmp_path):
    (tmp_path / "data/orders").mkdir(parents=True)
    (tmp_path / "data/orders/part.csv").write_text("id,status,amount\nx,open,7\n")

    assert [
        "warning E043 sources/raw.toml:6:12 '\"id\"' column `id` of source `raw.orders` is declared"
        " `int`, and its values look like `string`"
    ] == compare(sources=SOURCES.replace("parquet", "csv"))


def test_columns_of_a_csv_in_another_order_are_an_error(tmp_path):
    sources = SOURCES.replace("parquet", "csv").replace("data/orders", "orders.csv")
    project = load(tmp_path, {"sources/raw.toml": sources})
    live = [StructField(name, STRING, True) for name in ("id", "amount", "status")]
    found = compare_declared(project, lambda _: tuple(live))

    (wrong,) = [each for each in found if "read by position" in each.message]
    assert (
        "column 2 of source `raw.orders` is `amount`, and `status` is declared there: a CSV is read"
        " by position"
    ) == wrong.message
    assert "sources/raw.toml" == wrong.path
