import pytest

from rocky.analysis.contracts.findings import fallback_for
from rocky.compiler.check import check_sql
from rocky.language.datatypes.text import parse_type


@pytest.mark.parametrize(
    "name",
    [
        "boolean", "tinyint", "smallint", "int", "bigint", "float", "double", "decimal(5,2)",
        "decimal(5,0)", "decimal(2,2)", "decimal(38,38)", "string", "binary", "date", "timestamp",
        "timestamp_ntz", "array<string>", "map<string,int>",
    ],
)  # fmt: skip
def test_a_coalesce_with_the_fallback_keeps_the_type_and_is_never_null(name):
    given = parse_type(name)
    checked = check_sql(
        f"SELECT coalesce(x, {fallback_for(given)}) AS x FROM t", {"t": f"x {name}"}
    )

    assert () == checked.diagnostics
    assert [(given, False)] == [(column.type, column.nullable) for column in checked.columns]
