"""What fails on its data or in its code, told at the author's own line and column."""

import pyarrow as pa
import pytest

import rocky
from rocky.cli.commands.test import render_tests
from rocky.cli.render.run import render_run
from tests.spark.projects import CONFIG, build, errors_of, write_files, write_rows

pytestmark = pytest.mark.spark

SOURCE = """\
[[source]]
name = "raw.people"
format = "parquet"
path = "data/people.parquet"
columns = [
  { name = "id", type = "bigint", nullable = false },
  { name = "age", type = "string" },
]
"""
SECRET = SOURCE.replace('type = "string"', 'type = "string", classification = "pii"')
SCHEMA = pa.schema([("id", pa.int64()), ("age", pa.string())])
ROWS = [{"id": 1, "age": "30"}, {"id": 2, "age": "old"}]
PYTHON = """\
inputs = { people = "raw.people" }
output = [ { name = "age", type = "int" } ]
"""
DAILY = """\
[strategy]
type = "time_interval"
time_column = "day"
granularity = "day"
first_partition = "2026-01-01"
"""
FILES = {
    # A name of two parts as a qualifier, characters beyond the plane, an alias that is added.
    "models/cast.sql": (
        "-- é𝔘\nSELECT\n  people.id,\n  CAST(raw.people.age AS INT) AS age\nFROM raw.people\n"
    ),
    # Behind front matter, after a variable whose value is longer than it.
    "models/front.sql": (
        "---toml\ntags = { a = 'b' }\n---\n"
        "SELECT id + @var(offset, 1000000000) AS n, age * 1 AS twice FROM raw.people\n"
    ),
    # The place is in the query of a model without a table.
    "models/open.sql": "SELECT id,\n  age > 18 AS adult FROM raw.people\n",
    "models/open.toml": '[strategy]\ntype = "view"\n',
    "models/reader.sql": "SELECT adult FROM open\n",
    # Which Spark wraps in an exception that pyspark does not know.
    "models/single.sql": "SELECT 1 AS a, (SELECT id FROM raw.people) AS b\n",
    # Of which Spark knows no place.
    "models/parsed.sql": "SELECT to_date(age, 'yyyy') AS d FROM raw.people\n",
    "models/daily.sql": (
        "SELECT DATE '2026-01-01' AS day, 1 AS x\nFROM raw.people\n"
        "WHERE DATE '2026-01-01' >= @start_date AND DATE '2026-01-01' < @end_date\n"
        "  AND CAST(age AS INT) > 0\n"
    ),
    "models/daily.toml": DAILY,
    "models/driver.py": (
        "def lookup(name):\n    return {}[name]\n\n\ndef model(people):\n    return lookup('ages')\n"
    ),
    "models/driver.toml": PYTHON,
    "models/worker.py": (
        "from pyspark.sql.functions import udf\n\n\ndef double(age):\n"
        "    return 2 * int(age)\n\n\ndef model(people):\n"
        "    return people.select(udf(double, 'int')('age').alias('age'))\n"
    ),
    "models/worker.toml": PYTHON,
    "models/frame.py": (
        "def model(people):\n    age = people.age.cast('int')\n"
        "    return people.select(age.alias('age'))\n"
    ),
    "models/frame.toml": PYTHON,
    "models/refused.py": "def model(people):\n    return people.selectExpr('agee AS age')\n",
    "models/refused.toml": PYTHON,
}
PLACES = {
    "cast": ("E046", "models/cast.sql:4:3", "CAST(raw.people.age AS INT)"),
    "front": ("E046", "models/front.sql:4:44", "age * 1"),
    "reader": ("E046", "models/open.sql:2:3", "age > 18"),
    "single": ("E046", "models/single.sql:1:16", "(SELECT id FROM raw.people)"),
    "parsed": ("E046", "models/parsed.sql", ""),
    "daily": ("E046", "models/daily.sql:4:7", "CAST(age AS INT)"),
    "driver": ("E047", "models/driver.py:2:5", "return {}[name]"),
    "worker": ("E047", "models/worker.py:5:16", "int(age)"),
    "frame": ("E046", "models/frame.py:2:5", "age = people.age.cast('int')"),
    "refused": ("E003", "models/refused.py:2:5", "return people.selectExpr('agee AS age')"),
}


def people(root, files, source=SOURCE):
    # What plans of Python models would find before a run is to fail in one here.
    never = CONFIG + '\n[python]\nanalyse = "never"\n'
    write_files(root, {"rocky.toml": never, "sources/raw.toml": source, **files})
    write_rows(root / "data/people.parquet", SCHEMA, ROWS)
    return root


@pytest.fixture(scope="module")
def failed(tmp_path_factory, spark):
    """The report of a run in which every model fails in its own way."""
    root = people(tmp_path_factory.mktemp("people"), FILES)
    return rocky.open(root, spark=spark).run(window=rocky.Window(partition="2026-01-01")).run


@pytest.mark.parametrize("name", PLACES)
def test_a_failure_is_told_at_its_place(failed, name):
    (error,) = [each for each in failed.errors if each.model == name]
    (found,) = error.diagnostics
    span = found.span
    place = span.file if span.line is None else f"{span.file}:{span.line}:{span.col}"
    text = "" if span.start is None else failed.texts[span.file].text[span.start : span.end]

    assert PLACES[name] == (found.code, place, text)
    assert f"{place}: " in error.error


def test_what_is_printed_looks_as_a_compile_error_does(failed):
    assert """\
error[E046 value-refused]: the value 'old' of the type "STRING" cannot be cast to "INT" because it is malformed
 --> models/cast.sql:4:3
  |
4 |   CAST(raw.people.age AS INT) AS age
  |   ^^^^^^^^^^^^^^^^^^^^^^^^^^^
  = help: correct the value as per the syntax, or change its target type. Use `try_cast` to tolerate malformed input and return NULL instead
  = note: Spark: CAST_INVALID_INPUT
""" in render_run(failed)


def test_a_module_that_a_model_calls_is_named_below_its_own_line(tmp_path, spark):
    files = {
        "models/_rules.py": "def age_of(text):\n    raise LookupError(text)\n",
        "models/rules.py": (
            "import sys\nfrom pathlib import Path\n\n"
            "sys.path.insert(0, str(Path(__file__).parent))\nimport _rules\n\n\n"
            "def model(people):\n    return _rules.age_of('x')\n"
        ),
        "models/rules.toml": PYTHON,
    }
    (outcome,) = build(people(tmp_path, files), spark).outcomes

    assert ("LookupError: x", ("raised through `models/_rules.py:2`",)) == (
        outcome.finding.message,
        outcome.finding.notes,
    )


def test_values_of_classified_columns_are_not_told(tmp_path, spark):
    files = {
        "models/direct.sql": "SELECT CAST(age AS INT) AS age FROM raw.people\n",
        "models/kept.sql": "SELECT id, age AS x FROM raw.people\n",
        "models/derived.sql": "WITH a AS (SELECT x AS y FROM kept) SELECT CAST(y AS INT) AS y FROM a\n",
        "models/other.sql": "SELECT 1 / (id - 1) AS x FROM raw.people\n",
        "models/worker.py": FILES["models/worker.py"],
        "models/worker.toml": PYTHON,
    }
    root = people(tmp_path, files, SECRET)

    report = build(root, spark)

    hidden = "CAST_INVALID_INPUT: a value that the expression cannot take"
    told = errors_of(report)
    assert {
        "direct": f"models/direct.sql:1:8: {hidden}",
        "derived": f"models/derived.sql:1:44: {hidden}",
        "worker": "models/worker.py:5:16: ValueError was raised",
    } == {name: told[name] for name in ("direct", "derived", "worker")}
    assert "DIVIDE_BY_ZERO: Division by zero" in told["other"]
    notes = {each.step.name: each.finding.notes for each in report.outcomes if each.finding}
    assert ("the value is not shown: `raw.people.age` is classified",) == notes["derived"]
    log = (root / report.log).read_text()
    assert "may hold values of `raw.people.age`, classified" in log
    assert "what Spark printed" not in log


TESTED = """\
[[tests]]
type = "expression"
expression = "age = 'a' OR CAST(age AS INT) > 0"

[[test]]
name = "ages are numbers"

[[test.given]]
ref = "raw.people"
rows = [ { id = 1, age = "young" } ]

[test.expect]
rows = [ { old = true } ]
"""


def test_a_test_that_cannot_be_run_is_told_at_its_place(tmp_path, spark):
    files = {
        "models/tested.sql": "SELECT id, age, age > 18 AS old FROM raw.people WHERE id = 1\n",
        "models/tested.toml": TESTED,
    }
    root = people(tmp_path, files)
    write_rows(root / "data/people.parquet", SCHEMA, [{"id": 1, "age": "30"}])
    workspace = rocky.open(root, spark=spark)
    assert 0 == workspace.run().exit_code
    changed = TESTED.replace("CAST(age AS INT)", "CAST(age || 'x' AS INT)")
    (root / "models/tested.toml").write_text(changed)

    report = workspace.test()

    (unit,), (data,) = report.unit_tests, report.data_tests
    assert "models/tested.sql:1:17: CAST_INVALID_INPUT" in unit.error
    assert "models/tested.toml:3:28: CAST_INVALID_INPUT" in data.error
    assert ("E046", "E046") == (unit.diagnostics[0].code, data.diagnostics[0].code)
    assert "  |                            ^^^^^^^^^^^^^^^^^^^^^^^" in render_tests(
        report, quiet=True
    )


def test_the_unit_test_of_a_model_of_intervals_runs(tmp_path, spark):
    sidecar = f"""{DAILY}
[[test]]
name = "all days"

[test.expect]
rows = []
"""
    sql = "SELECT DATE '2026-01-01' AS day, age FROM raw.people WHERE DATE '2026-01-01' >= @start_date AND DATE '2026-01-01' < @end_date\n"
    root = people(tmp_path, {"models/daily.sql": sql, "models/daily.toml": sidecar})

    (unit,) = rocky.open(root, spark=spark).test().unit_tests

    assert (None, True) == (unit.error, unit.passed)


def test_nothing_of_sparks_trace_is_on_standard_error(failed, capfd, tmp_path, spark):
    build(
        people(
            tmp_path, {"models/frame.py": FILES["models/frame.py"], "models/frame.toml": PYTHON}
        ),
        spark,
    )

    assert "" == capfd.readouterr().err


FILES_READ = """\
[[source]]
name = "raw.orders"
format = "csv"
path = "data/orders.csv"
columns = [ { name = "id", type = "bigint" }, { name = "amount", type = "decimal(9,2)" } ]

[[source]]
name = "raw.events"
format = "json"
path = "data/events-*.json"
columns = [ { name = "id", type = "bigint", classification = "pii" } ]
"""


def test_a_file_that_does_not_hold_what_is_declared_is_told_at_its_source(tmp_path, spark):
    files = {
        "sources/raw.toml": FILES_READ,
        "data/orders.csv": "id,amount\n1,2.5\n77,lots\n",
        "data/events-1.json": '{"id": 1}\n{"id": "secret"}\n',
        "models/orders.sql": "SELECT id, amount FROM raw.orders\n",
        "models/events.sql": "SELECT id FROM raw.events\n",
    }

    report = build(write_files(tmp_path, files), spark)

    told = errors_of(report)
    found = {each.step.name: each.finding for each in report.outcomes}
    assert told["orders"].startswith(
        "sources/raw.toml:4:8: source `raw.orders` cannot be read as it is declared:"
        " Encountered error while reading file data/orders.csv."
    )
    assert ("the record that was met: `[77,null]`",) == found["orders"].notes
    assert told["events"] == (
        "sources/raw.toml:10:8: source `raw.events` cannot be read as it is declared:"
        " a file does not hold what is declared"
    )
    assert {"E044"} == {each.code for each in found.values()}


def test_a_cell_that_only_spark_can_judge_is_told_at_its_seed(tmp_path, spark):
    files = {
        "seeds/s.csv": "t\n2026-01-01 00:00:00 Nowhere/Land\n",
        "seeds/s.toml": 'columns = [ { name = "t", type = "timestamp" } ]\n',
        "models/m.sql": "SELECT t FROM s\n",
    }

    report = build(write_files(tmp_path, files), spark)

    assert errors_of(report)["s"].startswith("seeds/s.csv: The value '2026-01-01 00:00:00 Nowhere")
