"""Rows to look at, asked of Spark: values of every type, previews, and what the files answer too."""

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

import pytest

import rocky
from rocky.operations.rows.query import Relation, ask_rows, check_rows
from rocky.operations.workspace import compile_workspace
from tests.spark.projects import write_files

pytestmark = pytest.mark.spark

FILES = {
    "models/things.sql": """
SELECT
  i, CAST(i AS DECIMAL(12, 2)) / 4 AS d, s, flag, DATE '2026-05-30' + coalesce(i, 0) AS day, f
FROM VALUES (1, 'a', true, 1.5D), (2, 'B', false, double('NaN')), (3, NULL, NULL, NULL),
  (NULL, 'é', true, 0D), (-5, '', true, -1D) AS t(i, s, flag, f)
""",
    "models/seen.sql": """
SELECT
  timestamp '2026-05-30 11:00:00' AS at, timestamp_ntz '2026-05-30 11:00:00' AS clock,
  interval '1' day AS span, interval '14' month AS months, array(1, NULL) AS list,
  map('k', 1) AS pairs, named_struct('a', 1, 'b', 'x') AS both, X'00ff' AS bytes,
  parse_json('{"a": 1}') AS doc, i AS i, i AS same
FROM things WHERE i = 1
""",
    "models/seen.toml": 'strategy = "view"\n',
    "models/unbuilt.sql": "SELECT s, d, day FROM things WHERE day >= @start_date AND i > 1\n",
    "models/unbuilt.toml": '[strategy]\ntype = "time_interval"\ntime_column = "day"\ngranularity = "day"\n',
}


@pytest.fixture(scope="module")
def shop(tmp_path_factory, spark):
    """A project with one table; the session's zone is not that of the machine."""
    root = write_files(tmp_path_factory.mktemp("show"), FILES)
    opened = rocky.open(root, spark=spark)
    assert opened.run("things").exit_code == 0
    return opened


def test_values_of_a_view_are_those_of_their_types(shop):
    found = shop.show("seen")

    assert "is a view" == found.preview
    assert (
        (
            datetime(2026, 5, 30, 11, tzinfo=UTC),
            datetime(2026, 5, 30, 11),  # noqa: DTZ001
            timedelta(days=1),
            "INTERVAL '14' MONTH",
            [1, None],
            [("k", 1)],
            {"a": 1, "b": "x"},
            b"\x00\xff",
            '{"a":1}',
            1,
            1,
        ),
    ) == found.values


def test_an_unbuilt_model_is_its_query_of_all_time(shop):
    found = shop.show("unbuilt", columns=("s", "d"), where="d > 0.5 and s is null")

    assert ("has not been built", ({"s": None, "d": "0.750000"},)) == (found.preview, found.rows)


def test_a_query_is_answered(shop):
    found = shop.show(
        sql="SELECT s, count(*) OVER () AS n FROM things WHERE flag ORDER BY i", limit=1
    )

    assert ({"s": "é", "n": 3},) == found.rows


@pytest.mark.sampled
@pytest.mark.parametrize(
    "where",
    [
        "i = 1",
        "i <> 1",
        "i >= -5 and i < 3",
        "not (i = 1 or s = 'B')",
        "i in (1, 2) or s is null",
        "i not in (1, 2)",
        "s = ''",
        "s > 'a'",
        "s between 'A' and 'b'",
        "flag = true",
        "flag <> true",
        "d = 0.25",
        "d > 0",
        "d <= 0.50 or flag is null",
        "day > DATE '2026-05-31'",
        "day <= '2026-06-01'",
        "not (flag = true and i > 0)",
    ],
)
def test_files_and_spark_agree_on_which_rows_a_condition_keeps(shop, where):
    found = shop.show("things", where=where)
    table, compilation = found, compile_workspace(shop)
    relation = Relation("things", table.fields, table.fields, *_stored(shop))
    checked = check_rows(compilation, relation, where)
    answer = ask_rows(shop, compilation, checked, 10, None, relation)

    assert "files" == found.read_by
    # As texts: one NaN is not another.
    assert sorted(map(repr, answer.values)) == sorted(map(repr, found.values))


def _stored(shop):
    from rocky.store.warehouse import open_warehouse  # noqa: PLC0415 - only here

    project = compile_workspace(shop).project
    table = open_warehouse("warehouse", base=project.root).table(project.models["things"].target)
    return table, table.snapshot()


@pytest.mark.sampled
@pytest.mark.parametrize("where", ["f > 1", "f = double('NaN')", "i = 1.0", "s like '%a%'"])
def test_what_files_could_answer_otherwise_is_asked_of_spark(shop, where):
    assert "spark" == shop.show("things", where=where).read_by


def test_nothing_is_left_behind(shop, spark):
    shop.show("seen", where="i = 1")

    assert [] == [each.name for each in spark.catalog.listTables() if "rocky_show" in each.name]


def test_rows_have_python_values(shop):
    (row,) = shop.show("things", where="i = 2", columns=("d", "day")).values

    assert (Decimal("0.500000"), date(2026, 6, 1)) == row


def test_a_unit_test_of_a_model_with_intervals_is_of_all_time(tmp_path, spark):
    test = """
[[test]]
name = "all"
[[test.given]]
ref = "things"
rows = [{ i = 2, s = "x", day = 1999-01-01 }]
[test.expect]
rows = [{ s = "x", day = 1999-01-01 }]
"""
    root = write_files(
        tmp_path, {**FILES, "models/unbuilt.toml": FILES["models/unbuilt.toml"] + test}
    )

    assert (1, 0) == _counts(rocky.open(root, spark=spark).test("unbuilt", unit=True))


def _counts(report):
    return report.summary.passed, report.summary.failed
