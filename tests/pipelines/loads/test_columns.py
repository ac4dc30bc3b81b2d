"""Columns of files and tables: what grows is taken, anything else fails and loads nothing."""

import pyarrow as pa
import pytest

from tests.pipelines.lakes import statuses
from tests.pipelines.loads.folders import ORDERS, LoadProject, errors
from tests.run.runs import verify, write

CONTRACT = 'contract = "promises/orders.toml"'


def types(project: LoadProject) -> dict[str, str]:
    return {each.name: each.type.text for each in project.snapshot(ORDERS).schema}


@pytest.mark.slow
def test_a_new_column_is_added_and_is_null_in_the_rows_before(tmp_path):
    project = LoadProject(tmp_path)
    project.put_text("one.csv", "id,country\n1,DE\n")
    project.run()
    project.put_text("two.csv", "country,id,city\nFR,2,Paris\n")

    report = project.run()

    assert [
        {"id": 1, "country": "DE", "city": None},
        {"id": 2, "country": "FR", "city": "Paris"},
    ] == sorted(project.rows(ORDERS), key=lambda row: row["id"])
    (drift,) = report.run.outcomes[0].execution.drift
    assert ("city", "add") == (drift.column, drift.grade)
    assert [] == verify(tmp_path)


def test_files_of_one_load_may_differ_in_the_columns_the_table_does_not_have(tmp_path):
    project = LoadProject(tmp_path)
    project.put_text("one.csv", "id,city\n1,Rome\n")
    project.put_text("two.csv", "id,zip\n2,75001\n")

    project.run()

    assert {"id": "bigint", "city": "string", "zip": "bigint"} == types(project)
    assert [1, 2] == project.ids()


def test_a_type_widens_with_its_rows(tmp_path):
    project = LoadProject(tmp_path)
    project.put_parquet("one.parquet", [{"id": 1}], id=pa.int32())
    project.run()
    project.put_parquet("two.parquet", [{"id": 2**40}], id=pa.int64())

    project.run()

    assert {"id": "bigint"} == types(project)
    assert [1, 2**40] == project.ids()
    assert [] == verify(tmp_path)


@pytest.mark.slow
def test_a_narrower_type_is_cast_to_that_of_the_table(tmp_path):
    project = LoadProject(tmp_path)
    project.put_parquet("one.parquet", [{"id": 1}], id=pa.int64())
    project.put_parquet("two.parquet", [{"id": 2}], id=pa.int32())
    project.run()
    project.put_parquet("three.parquet", [{"id": 3}], id=pa.int16())

    project.run()

    assert {"id": "bigint"} == types(project)
    assert [1, 2, 3] == project.ids()


@pytest.mark.slow
def test_text_is_read_as_the_types_of_the_table(tmp_path):
    project = LoadProject(tmp_path)
    project.put_text("one.csv", "id,code\n1,A7\n")
    project.run()
    project.put_text("two.csv", "id,code\n2,007\n")

    project.run()

    assert {"id": "bigint", "code": "string"} == types(project)
    assert {"A7", "007"} == {row["code"] for row in project.rows(ORDERS)}


@pytest.mark.slow
def test_text_that_is_not_of_the_tables_type_fails_and_nothing_is_loaded(tmp_path):
    project = LoadProject(tmp_path)
    project.put_text("one.csv", "id\n1\n")
    project.run()
    project.put_text("good.csv", "id\n2\n")
    project.put_text("bad.csv", "id\nthree\n")

    report = project.run()

    assert {ORDERS: "failed"} == statuses(report)
    assert [1] == project.ids()
    (tmp_path / "in/bad.csv").unlink()
    project.run()
    assert [1, 2] == project.ids()
    assert [] == verify(tmp_path)


@pytest.mark.parametrize(
    ("rows", "kind", "said"),
    [
        ([{"id": "x"}], pa.string(), "column `id` is `string` in `in/two.parquet`"),
        ([{"other": 1}], None, "`in/two.parquet` does not have `id`, which the table has"),
    ],
)
def test_columns_that_do_not_fit_fail_before_anything_is_read(tmp_path, rows, kind, said):
    project = LoadProject(tmp_path)
    project.put_parquet("one.parquet", [{"id": 1}])
    project.run()
    project.put_parquet("two.parquet", rows, **({"id": kind} if kind else {}))

    report = project.run()

    assert said in str(errors(report)[ORDERS])
    assert [1] == project.ids()
    assert 1 == project.versions()


def test_a_key_that_json_leaves_out_is_a_null(tmp_path):
    project = LoadProject(tmp_path)
    project.put_text("one.jsonl", '{"id": 1, "city": "Rome"}\n')
    project.run()
    project.put_text("two.jsonl", '{"id": 2}\n')

    project.run()

    assert [(1, "Rome"), (2, None)] == sorted(
        (row["id"], row["city"]) for row in project.rows(ORDERS)
    )


@pytest.mark.parametrize(
    ("header", "said"),
    [("id,ID\n1,2\n", "names column `ID` twice"), ("id,\n1,2\n", "a column without a name")],
)
def test_a_header_that_names_no_columns_fails(tmp_path, header, said):
    project = LoadProject(tmp_path)
    project.put_text("one.csv", header)

    report = project.run()

    assert said in str(errors(report)[ORDERS])


def test_a_contract_that_the_columns_break_loads_nothing(tmp_path):
    promised = '[[columns]]\nname = "city"\ntype = "string"\n[rules]\nrequired = ["city"]\n'
    write(tmp_path, {"promises/orders.toml": promised})
    project = LoadProject(tmp_path, CONTRACT)
    project.put_text("one.csv", "id\n1\n")

    report = project.run()

    assert {ORDERS: "failed"} == statuses(report)
    assert "city" in str(errors(report)[ORDERS])
    assert not (tmp_path / "warehouse/raw/files/orders/_delta_log").exists()


@pytest.mark.slow
def test_a_row_that_breaks_the_contract_loads_nothing(tmp_path):
    promised = '[[columns]]\nname = "id"\ntype = "bigint"\nnullable = false\n'
    write(tmp_path, {"promises/orders.toml": promised})
    project = LoadProject(tmp_path, CONTRACT)
    project.put_text("one.csv", "id,city\n1,Rome\n")
    project.run()
    project.put_text("two.csv", "id,city\n2,Oslo\n,Bonn\n")

    report = project.run()

    assert "`id`" in str(errors(report)[ORDERS])
    assert [1] == project.ids()
    assert not project.snapshot(ORDERS).schema[0].nullable
    assert [] == verify(tmp_path)


def test_the_types_of_a_contract_are_those_of_text(tmp_path):
    promised = '[[columns]]\nname = "id"\ntype = "string"\n'
    write(tmp_path, {"promises/orders.toml": promised})
    project = LoadProject(tmp_path, CONTRACT)
    project.put_text("one.csv", "id\n007\n")

    project.run()

    assert ["007"] == project.ids()
