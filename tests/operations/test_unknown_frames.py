"""A frame whose columns nobody can know is unknown in a compile too, said once, and no error."""

import pytest

from rocky.analysis.lineage import ColumnRef, Lineage
from rocky.operations.check.check_python import CheckPythonRequest, check_python
from rocky.operations.workspace import compile_workspace
from tests.operations.projects import open_project
from tests.project.projects import finding

SOURCE = """
[[source]]
name = "raw.orders"
columns = [
  { name = "id", type = "bigint", nullable = false },
  { name = "amount", type = "decimal(12,2)" },
  { name = "status", type = "string" },
]
"""
HEAD = "from pyspark.sql import functions as F\n\n\ndef model(orders):\n    read = orders.sparkSession.read\n"
INPUTS = 'inputs = { orders = "raw.orders" }\n'
DECLARED = INPUTS + 'output = [ { name = "id", type = "bigint" } ]\n'
UNKNOWN = {
    "joined": "    return orders.join(read.parquet('x'), 'id')\n",
    "declared": "    return orders.join(read.parquet('x'), 'id').select('id')\n",
    "chosen": "    return orders.join(read.parquet('x'), 'id').select(orders['id'], 'more')\n",
    "pivoted": "    wide = orders.groupBy('id').pivot('status').sum('amount')\n"
    "    return wide.join(orders, 'id').select('id', 'paid')\n",
    "united": "    return orders.unionByName(read.parquet('x'))\n",
    "filled": "    return read.json('x').fillna(0).dropDuplicates(['id']).drop('id')\n",
    "viewed": "    read.json('x').createOrReplaceTempView('seen')\n"
    "    return orders.sparkSession.sql('SELECT id FROM seen')\n",
    "nameless": "    return orders.select('id', orders.metadataColumn('_m'))\n",
}
WRONG = {
    "misspelt": "    both = orders.join(orders.select('id'), 'idd')\n"
    "    return both.select(F.upper('status').alias('status'))\n",
    "differing": "    both = orders.unionByName(orders.select('id'))\n"
    "    return both.select('id', 'other')\n",
    "renamed": "    return orders.toDF('a').join(orders, 'id').select('id')\n",
    "taken": "    return orders.select('id', F.upper(orders['stauts']))\n",
}


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory):
    files = {
        "sources/raw.toml": SOURCE,
        "rocky.toml": '[pipeline.shop]\nmodels = "models/**"\n',
        "models/reader.sql": "SELECT id, more FROM chosen\n",
    }
    for name, text in (UNKNOWN | WRONG).items():
        files[f"models/{name}.py"] = HEAD + text
        files[f"models/{name}.toml"] = DECLARED if name == "declared" else INPUTS
    return open_project(tmp_path_factory.mktemp("unknown"), files)


@pytest.fixture(scope="module")
def compiled(workspace):
    return compile_workspace(workspace, asker="person")


@pytest.fixture(scope="module")
def checked(workspace, compiled):
    assert compiled.models
    return check_python(workspace, CheckPythonRequest())


def findings(found, project, name: str) -> list[str]:
    return [finding(project, each) for each in found if each.model == name]


@pytest.mark.slow
@pytest.mark.parametrize("name", UNKNOWN)
def test_a_frame_of_unknown_columns_is_said_once_and_is_no_error(compiled, checked, name) -> None:
    (only,) = findings(compiled.diagnostics, compiled.project, name)
    (again,) = findings(checked.found, checked.project, name)

    assert only.startswith(f"W025 models/{name}.py:"), only
    assert again.startswith(f"W025 models/{name}.py:"), again


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("misspelt", "E003 models/misspelt.py:6:45 \"'idd'\""),
        ("differing", "E003 models/differing.py:6:19 \"unionByName(orders.select('id'))\""),
        ("renamed", "E040 models/renamed.py:6:19 \"toDF('a')\""),
        ("taken", "E003 models/taken.py:6:47 \"'stauts'\""),
    ],
)
def test_what_follows_from_a_mistake_is_not_reported_beside_it(
    compiled, checked, name, expected
) -> None:
    found = findings(compiled.diagnostics, compiled.project, name)

    assert [True] == [each.startswith(expected) for each in found], found
    assert [True] == [
        each.startswith(expected) for each in findings(checked.found, checked.project, name)
    ]


@pytest.mark.slow
def test_no_column_is_called_by_the_name_of_what_stands_for_an_unknown(compiled, checked) -> None:
    names = {
        name: [each.name for each in compiled.models[name].columns]
        for name in ("taken", "chosen", "nameless")
    }

    assert {"taken": ["id", "upper(stauts)"], "chosen": ["id", "more"], "nameless": []} == names
    assert [] == [
        column.name
        for model in checked.models
        for column in model.columns
        if "not_lowered" in column.name
    ]
    assert "not_lowered" not in " ".join(each.message for each in compiled.diagnostics)


@pytest.mark.slow
def test_a_column_of_a_frame_of_unknown_columns_may_be_made_of_all_that_is_read(compiled) -> None:
    lineage = Lineage(dict(compiled.models), {"raw.orders": ["id", "amount", "status"]})
    trace = lineage.trace(ColumnRef("reader", "more"), "upstream")
    reached = {each.column for each in trace.reached if each.table == "raw.orders"}

    assert {"id", "amount", "status"} == reached


@pytest.mark.slow
def test_what_a_declared_output_says_of_an_unknown_frame_is_believed(compiled) -> None:
    (column,) = compiled.models["declared"].columns

    assert ("id", "bigint") == (column.name, column.type.text)
