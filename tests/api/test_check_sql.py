"""`rocky.check_sql`: the smallest way in, and what it says about bad arguments."""

import pytest

import rocky
from rocky.errors import RockyError


def test_a_query_over_ddl_has_spark_types_and_nullability():
    result = rocky.check_sql(
        "SELECT id, upper(name) AS name FROM t", tables={"t": "id BIGINT NOT NULL, name STRING"}
    )

    assert [("id", "bigint", False), ("name", "string", True)] == [
        (column.name, str(column.type), column.nullable) for column in result.columns
    ]
    assert () == result.diagnostics


def test_a_table_may_be_given_as_spark_schema_json():
    schema = {
        "type": "struct",
        "fields": [{"name": "x", "type": "decimal(10,2)", "nullable": False, "metadata": {}}],
    }
    result = rocky.check_sql("SELECT x * 2 AS y FROM t", tables={"t": schema})

    assert ["decimal(12,2)"] == [str(column.type) for column in result.columns]


def test_a_finding_has_code_condition_and_offsets_into_the_text():
    sql = "SELECT nmae FROM t"
    (found,) = rocky.check_sql(sql, tables={"t": "name STRING"}).diagnostics

    assert "E003" == found.code
    assert "error" == found.severity
    assert "UNRESOLVED_COLUMN.WITH_SUGGESTION" == found.condition
    assert "nmae" == sql[found.span.start : found.span.end]
    assert "there is a column `name`" == found.help


@pytest.mark.parametrize(
    ("tables", "said"),
    [
        ({"t": "id BIGNT"}, "table `t`: `bignt` is not a Spark type"),
        ({"t": 5}, "table `t`: columns are a DDL text"),
        ({"t": None}, "table `t`: columns are a DDL text"),
        ({"t": {"type": "struct"}}, "table `t`: not Spark's schema JSON"),
    ],
)
def test_a_table_that_cannot_be_read_is_an_error_that_names_it(tables, said):
    with pytest.raises(RockyError, match=said):
        rocky.check_sql("SELECT 1", tables=tables)
