"""Which columns downstream a change of a copied column reaches."""

import pytest

from rocky.compiler.passes import compile_project
from rocky.pipelines.drift.projection import find_reached_columns
from rocky.project.models import Target
from tests.project.projects import load

COPY = Target("acme", "staging", "orders")
MODELS = {
    "models/paid.sql": "SELECT id, amount AS paid FROM raw.orders WHERE status = 'paid'",
    "models/total.sql": "SELECT sum(paid) AS total FROM paid",
    "models/other.sql": "SELECT 1 AS one",
}


def source(how: str) -> str:
    return (
        f'[[source]]\nname = "raw.orders"\n{how}\ncolumns = [ {{ name = "id", type = "bigint" }},'
        ' { name = "amount", type = "double" }, { name = "status", type = "string" } ]\n'
    )


@pytest.fixture
def reached(tmp_path):
    def found(column, how='format = "table"\ntable = "acme.staging.orders"', folder=None):
        project = load(tmp_path, {**MODELS, "sources/raw.toml": source(how)})
        compilation = compile_project(project, jobs=1, cache=False)
        return find_reached_columns(compilation, COPY, column, folder)

    return found


def test_columns_downstream_are_found_through_every_model(reached):
    assert ("paid.paid", "total.total") == reached("AMOUNT")


def test_a_column_that_decides_rows_reaches_the_whole_model(reached):
    assert ("paid.*",) == reached("status")


def test_a_copy_that_is_read_by_its_folder_is_found(reached, tmp_path):
    how = 'format = "delta"\npath = "warehouse/acme/staging/orders"'
    folder = f"file://{tmp_path}/warehouse/acme/staging/orders"

    assert ("paid.paid", "total.total") == reached("amount", how, folder)
    assert () == reached("amount", how, folder + "2")


def test_a_copy_that_nobody_reads_reaches_nothing(reached):
    assert () == reached("amount", 'format = "table"\ntable = "other.staging.orders"')
