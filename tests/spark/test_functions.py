"""Declared functions of every kind: what Rocky says of a call is what Spark says, and runs make them."""

import shutil
import subprocess
import zipfile
from pathlib import Path

import pyspark
import pytest

import rocky
from rocky.errors import RockyError
from rocky.language.binder.query import bind_text
from rocky.language.tables import tables_by_name
from rocky.spark.analyser import analyse_project
from rocky.spark.frame import fields_of
from rocky.spark.functions import SessionFunctions
from tests.spark.projects import build, errors_of, write_files
from tests.spark.servers import ConnectServer

pytestmark = pytest.mark.spark

TEXT_PY = """\
import pandas as pd
import pyarrow as pa

from functions.parts import dash


def slug(text):
    return None if text is None else dash(text)


def plus(a, b=3):
    return a + b


class Words:
    def eval(self, text: str, separator: str = " "):
        for word in text.split(separator):
            yield word, len(word)


def doubled(value: pd.Series) -> pd.Series:
    return value * 2


def spread(value: pd.Series) -> float:
    return float(value.max() - value.min())


def same(value: pa.Array) -> pa.Array:
    return value


class Squares:
    def eval(self, upto: pa.Array):
        yield pa.table({"n": upto})
"""
FUNCTIONS = {
    "functions/parts.py": 'def dash(text):\n    return text.lower().replace(" ", "-")\n',
    "functions/text.py": TEXT_PY,
    "functions/net.sql": """\
-- what is left without tax
CREATE FUNCTION net(amount DECIMAL(12,2), rate DOUBLE DEFAULT 0.19)
RETURNS DECIMAL(12,2) COMMENT 'without tax' RETURN amount / (1 + rate)
""",
    "functions/plus_one.sql": "CREATE FUNCTION plus_one(x INT) RETURNS INT RETURN x + 1",
    "functions/plus_two.sql": "CREATE FUNCTION plus_two(x INT) RETURN plus_one(plus_one(x))",
    "functions/seven.sql": "CREATE FUNCTION seven() RETURNS INT RETURN 7",
    "functions/as_text.sql": "CREATE FUNCTION as_text(x INT) RETURNS STRING RETURN x + 1",
    "functions/chance.sql": "CREATE FUNCTION chance(x INT) RETURNS DOUBLE RETURN rand() * x",
    "functions/vague.sql": ("CREATE FUNCTION vague(x INT) RETURNS INT NOT DETERMINISTIC RETURN x"),
    "functions/below.sql": (
        "CREATE FUNCTION below(x INT) RETURNS BIGINT\n"
        "RETURN (SELECT count(*) FROM range(10) WHERE id < x)"
    ),
    "functions/first_x.sql": (
        "CREATE FUNCTION first_x(a STRUCT<x: INT, y: STRING>) RETURNS STRUCT<x: INT>\n"
        "RETURN named_struct('x', a.x)"
    ),
    "functions/each_plus.sql": (
        "CREATE FUNCTION each_plus(a ARRAY<INT>) RETURNS ARRAY<INT> RETURN transform(a, e -> e + 1)"
    ),
    "functions/up_to.sql": (
        "CREATE FUNCTION up_to(x INT) RETURNS TABLE(n BIGINT, label STRING)\n"
        "RETURN SELECT id, 'n' FROM range(3) WHERE id < x"
    ),
    "functions/pair.sql": "CREATE FUNCTION pair(x INT) RETURNS TABLE RETURN SELECT x AS a, 'b' AS b",
    "functions/code.toml": """\
[[function]]
name = "slug"
kind = "python"
module = "functions.text"
attribute = "slug"
parameters = [ { name = "text", type = "string" } ]
returns = "string"
deterministic = true

[[function]]
name = "plus"
kind = "python"
module = "functions.text"
attribute = "plus"
parameters = [ { name = "a", type = "bigint" }, { name = "b", type = "bigint", optional = true } ]
returns = "bigint"
deterministic = false

[[function]]
name = "words"
kind = "python"
module = "functions.text"
attribute = "Words"
parameters = [
  { name = "text", type = "string" },
  { name = "separator", type = "string", optional = true },
]
columns = [ { name = "word", type = "string", nullable = false }, { name = "size", type = "int" } ]
deterministic = true

[[function]]
name = "doubled"
kind = "pandas"
module = "functions.text"
attribute = "doubled"
parameters = [ { name = "value", type = "bigint" } ]
returns = "bigint"
deterministic = true

[[function]]
name = "spread"
kind = "pandas"
module = "functions.text"
attribute = "spread"
parameters = [ { name = "value", type = "bigint" } ]
returns = "double"
aggregate = true
deterministic = true

[[function]]
name = "same"
kind = "arrow"
module = "functions.text"
attribute = "same"
parameters = [ { name = "value", type = "bigint" } ]
returns = "bigint"
deterministic = true

[[function]]
name = "squares"
kind = "arrow"
module = "functions.text"
attribute = "Squares"
parameters = [ { name = "upto", type = "bigint" } ]
columns = [ { name = "n", type = "bigint" } ]
deterministic = true
""",
}
JAVA = """\
package tax;
import org.apache.spark.sql.api.java.UDF1;
public class Twice implements UDF1<Long, Long> {
  public Long call(Long value) { return value == null ? null : value * 2; }
}
"""
TWICE = """\
[[function]]
name = "twice"
kind = "java"
class = "tax.Twice"
jar = "lib/tax.jar"
parameters = [ { name = "value", type = "bigint" } ]
returns = "bigint"
deterministic = true
"""


@pytest.fixture(scope="module")
def jar(tmp_path_factory) -> Path:
    if shutil.which("javac") is None:
        pytest.skip("javac is needed to make a Java function")
    folder = tmp_path_factory.mktemp("java")
    (folder / "tax").mkdir()
    (folder / "tax/Twice.java").write_text(JAVA)
    classpath = str(Path(pyspark.__file__).parent / "jars" / "*")
    subprocess.run(
        ["javac", "-nowarn", "-proc:none", "-cp", classpath, "tax/Twice.java"],
        cwd=folder,
        check=True,
        capture_output=True,
    )
    subprocess.run(["jar", "cf", "tax.jar", "tax/Twice.class"], cwd=folder, check=True)
    return folder / "tax.jar"


@pytest.fixture(scope="module")
def project(tmp_path_factory, jar):
    """A project with a function of every kind and no models."""
    root = write_files(
        tmp_path_factory.mktemp("functions"), {**FUNCTIONS, "functions/java.toml": TWICE}
    )
    (root / "lib").mkdir()
    shutil.copy(jar, root / "lib/tax.jar")
    loaded = rocky.load_project(root, env={})
    assert {"E018"} >= {each.code.value for each in loaded.diagnostics}
    return loaded


@pytest.fixture(scope="module")
def session(project, spark):
    session = spark.newSession()
    functions = SessionFunctions(session, project.functions, project.root)
    functions.make_named(" ".join(project.functions))
    return session


CALLS = (
    *(
        "net(10.0)",
        "net(10, 0.2)",
        "net('10')",
        "net(amount => 10)",
        "net(rate => 0.1, amount => 10)",
    ),
    *(
        "net(10, rate => 0.1)",
        "net(true)",
        "plus_one(1)",
        "plus_one(cast(NULL AS INT))",
        "plus_one('3')",
    ),
    *(
        "plus_one(3L)",
        "plus_one(2.5)",
        "plus_one(NULL)",
        "PLUS_ONE(1)",
        "`plus_one`(1)",
        "plus_two(1)",
    ),
    *(
        "plus_two('3')",
        "seven()",
        "as_text(1)",
        "as_text(NULL)",
        "chance(2)",
        "vague(1)",
        "below(3)",
    ),
    *("first_x(named_struct('x', 1, 'y', 'b'))", "first_x(named_struct('a', 1, 'b', 'b'))"),
    *(
        "each_plus(array(1))",
        "each_plus(array('1'))",
        "each_plus(array(1, NULL))",
        "each_plus(NULL)",
    ),
    *(
        "slug('A')",
        "slug(NULL)",
        "slug(text => 'A')",
        "plus(1L)",
        "plus(1, 2)",
        "plus(b => 4L, a => 1L)",
    ),
    *("doubled(1L)", "same(1L)", "twice(1L)", "coalesce(slug('a'), 'b')", "upper(slug('a'))"),
    *("slug(upper('a'))", "transform(array(1), e -> e + plus_one(1))"),
)
QUERIES = (
    "SELECT plus_one(id) AS x FROM range(2)",
    "SELECT sum(plus_one(cast(id AS INT))) AS x FROM range(3)",
    "SELECT plus_one(cast(sum(id) AS INT)) AS x FROM range(3)",
    "SELECT plus_one(cast(id AS INT)) AS x FROM range(3) GROUP BY plus_one(cast(id AS INT))",
    "SELECT slug(cast(id AS STRING)) AS x, count(*) AS n FROM range(3) GROUP BY id",
    "SELECT spread(id) AS x FROM range(3)",
    "SELECT id % 2 AS k, spread(id) + 1 AS x FROM range(3) GROUP BY id % 2",
    "SELECT id FROM range(5) GROUP BY id HAVING spread(id) > 2",
    "SELECT spread(id) OVER () AS x FROM range(3)",
    "SELECT max(slug(cast(id AS STRING))) AS x FROM range(3)",
    "SELECT * FROM up_to(2)",
    "SELECT * FROM up_to('2') AS t(a, b)",
    "SELECT * FROM pair(1)",
    "SELECT * FROM pair(NULL)",
    "SELECT r.id, u.* FROM range(3) AS r, LATERAL up_to(cast(r.id AS INT)) AS u",
    "SELECT * FROM words('a b')",
    "SELECT * FROM words('a,b', separator => ',')",
    "SELECT w.word FROM (SELECT 'a b' AS t) AS s, LATERAL words(s.t) AS w",
    "SELECT * FROM squares(3L)",
    "SELECT CASE WHEN slug('a') = 'a' THEN plus_one(1) END AS x",
)
REFUSED = (
    "SELECT spread(id) FILTER (WHERE id > 1) AS x FROM range(3)",
    "SELECT plus_one(1) FILTER (WHERE true) AS x",
    "SELECT slug('a') FILTER (WHERE true) AS x",
    *("SELECT net() AS x", "SELECT net(1, 2, 3) AS x", "SELECT net(foo => 1) AS x"),
    *("SELECT net(10, amount => 3) AS x", "SELECT net(DATE'2020-01-01') AS x"),
    *(
        "SELECT plus_one(array(1)) AS x",
        "SELECT plus_one(DISTINCT 1) AS x",
        "SELECT plus_one(1) OVER () AS x",
    ),
    *("SELECT slug('a') OVER () AS x", "SELECT slug(DISTINCT 'a') AS x", "SELECT up_to(1) AS x"),
    *("SELECT * FROM plus_one(1)", "SELECT transform(array('a'), e -> slug(e)) AS x"),
    *("SELECT transform(array(1), e -> plus_one(e)) AS x",),
    *(
        "SELECT sum(chance(1)) AS x",
        "SELECT max(plus(1L)) AS x",
        "SELECT sum(spread(id)) AS x FROM range(3)",
    ),
    *("SELECT twice() AS x", "SELECT twice(1L, 2L) AS x", "SELECT no_such(1) AS x"),
    *("SELECT id, spread(id) AS x FROM range(3)", "SELECT default.plus_one(1) AS x"),
    *("SELECT plus_one(id) AS x, count(*) AS n FROM range(3)", "SELECT words('a') AS x"),
)


def tables_of(project):
    return tables_by_name({}, [each.signature for each in project.functions.values()])


def test_spark_gives_every_call_the_type_and_the_nullability_that_rocky_gives_it(project, session):
    wrong = {}
    for sql in (*(f"SELECT {call} AS x" for call in CALLS), *QUERIES):
        bound = bind_text(sql, tables_of(project))
        ours = [(each.name, each.type, each.nullable) for each in bound.columns]
        theirs = [(each.name, each.type, each.nullable) for each in fields_of(session.sql(sql))]
        found = [each.message for each in bound.diagnostics]
        if found or ours != theirs:
            wrong[sql] = (found, ours, theirs)

    assert {} == wrong


def test_a_call_whose_name_is_made_up_is_called_as_spark_calls_it(project, session):
    wrong = {}
    for call in (
        "net(10.0)",
        "PLUS_ONE(1)",
        "slug('A')",
        "slug(text => 'A')",
        "plus_one(x => 1)",
        "net(amount => 10)",
    ):
        bound = bind_text(f"SELECT {call}", tables_of(project))
        ours, theirs = bound.columns[0].name, session.sql(f"SELECT {call}").columns[0]
        if ours != theirs:
            wrong[call] = (ours, theirs)

    assert {} == wrong


def test_what_spark_refuses_rocky_refuses_with_its_condition(project, session):
    wrong = {}
    for sql in REFUSED:
        bound = bind_text(sql, tables_of(project))
        ours = [each.condition for each in bound.diagnostics]
        try:
            session.sql(sql)
            theirs = "taken"
        except pyspark.errors.PySparkException as refusal:
            theirs = refusal.getCondition()
        if ours != [theirs]:
            wrong[sql] = (ours, theirs)

    assert {} == wrong


def test_what_spark_calls_deterministic_is_what_rocky_may_reuse(project, session):
    wrong = {}
    for call in ("net(1)", "plus_two(1)", "chance(1)", "vague(1)", "slug('a')", "plus(1L)"):
        bound = bind_text(f"SELECT {call} AS x", tables_of(project))
        frame = session.sql(f"SELECT {call} AS x")
        theirs = frame._jdf.queryExecution().analyzed().deterministic()
        if theirs == bool(bound.binding.volatile):
            wrong[call] = (sorted(bound.binding.volatile), theirs)

    assert {} == wrong


MODELS = {
    "sources/raw.toml": """\
[[source]]
name = "raw.orders"
format = "csv"
path = "orders.csv"
options = { header = "true" }
columns = [
  { name = "id", type = "bigint" },
  { name = "amount", type = "decimal(12,2)" },
  { name = "name", type = "string" },
]
""",
    "orders.csv": "id,amount,name\n1,10.00,Ann Lee\n2,20.50,Bob\n",
    "models/values.sql": (
        "SELECT id, net(amount) AS net, net(amount, rate => 0.2) AS other, plus_two(1) AS three,\n"
        "  slug(name) AS slug, doubled(id) AS doubled, same(id) AS same, twice(id) AS twice\n"
        "FROM raw.orders"
    ),
    "models/rows.sql": (
        "SELECT o.id, w.word, w.size, u.n FROM raw.orders AS o, LATERAL words(o.name) AS w,\n"
        "  LATERAL up_to(w.size) AS u"
    ),
    "models/one.sql": "SELECT spread(id) AS spread FROM raw.orders",
    "models/unused.sql": "SELECT 1 AS x",
}


@pytest.fixture
def shop(tmp_path, jar):
    root = write_files(tmp_path, {**FUNCTIONS, **MODELS, "functions/java.toml": TWICE})
    (root / "lib").mkdir()
    shutil.copy(jar, root / "lib/tax.jar")
    return root


def shown(root: Path, spark, model: str) -> list[tuple]:
    report = rocky.open(root, spark=spark).show(model)
    return sorted(tuple(map(str, row.values())) for row in report.rows)


def decisions(report) -> dict[str, str]:
    return {each.step.name: str(each.execution.decision) for each in report.outcomes}


@pytest.mark.slow
def test_a_run_makes_functions_of_every_kind_and_builds_again_only_what_calls_a_changed_one(
    shop, spark
):
    first = build(shop, spark)

    assert {} == errors_of(first)
    assert [
        ("1", "8.40", "8.33", "3", "ann-lee", "2", "1", "2"),
        ("2", "17.23", "17.08", "3", "bob", "4", "2", "4"),
    ] == shown(shop, spark, "values")
    assert [("1.0",)] == shown(shop, spark, "one")
    assert 9 == len(shown(shop, spark, "rows"))
    assert analyse_project(
        rocky.compile_project(rocky.load_project(shop, env={})), session=spark
    ).agrees
    # Nothing of it is left in the session that was handed in.
    names = {each.name for each in spark.catalog.listFunctions()}
    assert not names & {"net", "slug", "words", "spread", "twice"}
    assert {"reuse"} == set(decisions(build(shop, spark)).values())

    (shop / "functions/parts.py").write_text("def dash(text):\n    return text.upper()\n")
    changed = build(shop, spark)
    assert {} == errors_of(changed)
    # `words`, `spread` and `slug` are of one module, whose imports count.
    assert "reuse" == decisions(changed)["unused"]
    assert "build" == decisions(changed)["values"]
    assert "ANN LEE" == shown(shop, spark, "values")[0][4]

    text = (shop / "functions/plus_one.sql").read_text()
    (shop / "functions/plus_one.sql").write_text(text.replace("x + 1", "x + 10"))
    again = build(shop, spark)
    assert {"values": "build", "rows": "reuse", "one": "reuse", "unused": "reuse"} == decisions(
        again
    )
    assert "21" == shown(shop, spark, "values")[0][3]
    (shop / "functions/plus_one.sql").write_text(
        "-- only a comment\n" + text.replace("x + 1", "x  + 10")
    )
    assert {"reuse"} == set(decisions(build(shop, spark)).values())


@pytest.mark.slow
def test_a_replay_gives_the_same_bytes_and_refuses_once_a_function_is_another(shop, spark):
    assert {} == errors_of(build(shop, spark))
    workspace = rocky.open(shop, spark=spark)

    report = workspace.replay("latest", execute=True, models="values")
    assert ["bit_exact"] == [str(each.verdict) for each in report.models]

    path = shop / "functions/net.sql"
    path.write_text(path.read_text().replace("1 + rate", "2 + rate"))
    refused = rocky.open(shop, spark=spark).replay("latest", execute=True, models="values")
    assert ["non_replayable"] == [str(each.verdict) for each in refused.models]
    assert "it calls the function `net`, which is not what it was" in refused.models[0].reason


def test_code_that_raises_fails_its_model_at_its_line_and_no_other(tmp_path, spark):
    root = write_files(
        tmp_path,
        {
            "functions/code.toml": """\
[[function]]
name = "broken"
kind = "python"
module = "functions.broken"
attribute = "broken"
parameters = [ { name = "x", type = "int" } ]
returns = "int"
""",
            "functions/broken.py": "LIMIT = 1 / 0\n\n\ndef broken(x):\n    return x\n",
            "models/a.sql": "SELECT broken(1) AS x",
            "models/b.sql": "SELECT 1 AS x",
        },
    )

    errors = errors_of(build(root, spark))

    assert ["a"] == list(errors)
    assert "function `broken`: `functions/broken.py` line 1 raised ZeroDivisionError" in errors["a"]


def test_hints_that_say_another_part_than_the_declaration_are_refused(tmp_path, spark):
    code = FUNCTIONS["functions/code.toml"].replace("aggregate = true\n", "")
    root = write_files(
        tmp_path,
        {**FUNCTIONS, "functions/code.toml": code, "models/a.sql": "SELECT spread(1L) AS x"},
    )

    assert "`aggregate = true`" in errors_of(build(root, spark))["a"]


def test_a_python_model_and_queries_of_a_notebook_see_the_functions(shop, spark):
    (shop / "models/frames.py").write_text(
        "def model(orders):\n    return orders.selectExpr('id', 'slug(name) AS s')\n"
    )
    (shop / "models/frames.toml").write_text(
        'inputs = { orders = "raw.orders" }\n'
        'output = [ { name = "id", type = "bigint" }, { name = "s", type = "string" } ]\n'
        "[skip]\ndeterministic = true\n"
    )
    assert {} == errors_of(build(shop, spark, "frames"))

    (shop / "functions/parts.py").write_text("def dash(text):\n    return text.upper()\n")
    assert {"frames": "build"} == decisions(build(shop, spark, "frames"))
    mine = spark.newSession()
    frame = rocky.open(shop, spark=mine).sql("SELECT slug(s) AS s, net(10) AS n FROM frames")
    assert ["ANN LEE", "BOB"] == sorted(row.s for row in frame.collect())


def test_an_undeclared_function_of_the_session_is_called_where_the_project_takes_it(
    tmp_path, spark
):
    mine = spark.newSession()
    mine.sql("CREATE TEMPORARY FUNCTION of_the_session(x INT) RETURNS INT RETURN x + 1")
    files = {"models/a.sql": "SELECT of_the_session(1) AS x"}
    root = write_files(tmp_path, files)
    with pytest.raises(RockyError, match="E006"):
        build(root, mine)

    config = (root / "rocky.toml").read_text()
    (root / "rocky.toml").write_text(config + '\n[compile]\nundeclared = "unknown"\n')
    assert {} == errors_of(build(root, mine))


def test_what_code_raises_for_a_row_is_told_with_its_line(tmp_path, spark):
    root = write_files(
        tmp_path,
        {
            "functions/code.toml": PICKY,
            "functions/picky.py": (
                "def picky(x):\n    if x == 2:\n        raise ValueError('two')\n    return x\n"
            ),
            "models/a.sql": "SELECT picky(cast(id AS INT)) AS x FROM range(3)",
        },
    )

    (failed,) = build(root, spark).outcomes

    assert "E047" == failed.finding.code.value
    assert ("raised through `functions/picky.py:3`",) == failed.finding.notes


PICKY = """\
[[function]]
name = "picky"
kind = "python"
module = "functions.picky"
attribute = "picky"
parameters = [ { name = "x", type = "int" } ]
returns = "int"
nullable = false
deterministic = true
"""


def test_a_null_from_code_that_is_declared_never_to_give_one_is_not_written(tmp_path, spark):
    root = write_files(
        tmp_path,
        {
            "functions/code.toml": PICKY,
            "functions/picky.py": "def picky(x):\n    return x or None\n",
            "models/a.sql": "SELECT picky(cast(id AS INT)) AS x FROM range(1, 3)",
        },
    )
    assert (
        not rocky.compile_project(rocky.load_project(root, env={})).models["a"].columns[0].nullable
    )
    assert {} == errors_of(build(root, spark))

    (root / "models/a.sql").write_text("SELECT picky(cast(id AS INT)) AS x FROM range(3)")
    assert "null" in errors_of(build(root, spark))["a"]


def test_a_function_of_the_catalogue_is_called_as_it_is_declared(tmp_path, spark):
    spark.sql("CREATE FUNCTION default.half_of(x DOUBLE) RETURNS DOUBLE RETURN x / 2")
    try:
        root = write_files(
            tmp_path,
            {
                "functions/catalogue.toml": """\
[[function]]
name = "default.half_of"
kind = "catalog"
parameters = [ { name = "x", type = "double" } ]
returns = "double"
deterministic = true
""",
                "models/a.sql": "SELECT default.half_of(3) AS x",
            },
        )
        assert {} == errors_of(build(root, spark))
        assert [("1.5",)] == shown(root, spark, "a")
        assert {"a": "reuse"} == decisions(build(root, spark))
        compilation = rocky.compile_project(rocky.load_project(root, env={}))
        (skipped,) = analyse_project(compilation, session=spark).skipped
        assert "it calls `default.half_of`, which is in a catalogue that is not asked" == skipped[1]
    finally:
        spark.sql("DROP FUNCTION default.half_of")


@pytest.mark.slow
def test_tests_plans_and_branches_see_functions(shop, spark):
    (shop / "models/values.toml").write_text(
        """\
[[test]]
name = "tax is taken off"

[[test.given]]
ref = "raw.orders"
rows = [ { id = 1, amount = 119.00, name = "A B" } ]

[test.expect]
rows = [ { id = 1, net = 100.00, slug = "a-b", twice = 2 } ]

[[tests]]
type = "expression"
expression = "plus_one(cast(id AS INT)) > 1"
"""
    )
    workspace = rocky.open(shop, spark=spark)
    assert {} == errors_of(build(shop, spark, "values"))
    assert workspace.test("values").passed
    plan = workspace.plan("values", full_refresh=True)

    path = shop / "functions/plus_one.sql"
    text = path.read_text()
    path.write_text(text.replace("x + 1", "x + 10"))
    with pytest.raises(RockyError, match="values"):
        rocky.open(shop, spark=spark).apply(plan.plan_id)

    branch = rocky.open(shop, spark=spark).branch("try")
    branch.create()
    branch.workspace.run("values")
    assert "21" == str(branch.workspace.show("values").rows[0]["three"])
    assert "3" == shown(shop, spark, "values")[0][3]


def test_functions_that_spark_has_and_models_call_are_discovered_and_declared(tmp_path, spark):
    mine = spark.newSession()
    mine.sql(
        "CREATE TEMPORARY FUNCTION taxed(a DECIMAL(12,2), r DOUBLE DEFAULT 0.19) RETURN a * (1 + r)"
    )
    mine.sql(
        "CREATE TEMPORARY FUNCTION both(x INT) RETURNS TABLE (a INT, b STRING) RETURN SELECT x, 'b'"
    )
    mine.udf.register("coded", lambda x: x, "string")
    root = write_files(
        tmp_path,
        {
            "models/a.sql": "SELECT taxed(10) AS x, coded('a') AS y",
            "models/b.sql": "SELECT a, b FROM both(1)",
            "models/c.sql": "SELECT no_such_function(1) AS x",
        },
    )
    (root / "rocky.toml").write_text((root / "rocky.toml").read_text() + UNKNOWN)

    found = rocky.open(root, spark=mine).discover(write=True)

    assert [
        ("both", "undeclared", "both(x int) -> table(a int, b string)"),
        ("coded", "untold", None),
        ("taxed", "undeclared", "taxed(a decimal(12,2), r double = ...) -> double"),
    ] == [(each.name, each.status, each.signature) for each in found.functions]
    assert ("functions/catalogue.toml",) == found.written
    models = rocky.compile_project(rocky.load_project(root, env={})).models
    assert ["double", "unknown"] == [str(each.type) for each in models["a"].columns]
    assert ["int", "string"] == [str(each.type) for each in models["b"].columns]
    again = rocky.open(root, spark=mine).discover()
    assert ["coded"] == [each.name for each in again.functions]
    assert {} == errors_of(build(root, mine, "a", "b"))


UNKNOWN = '\n[compile]\nundeclared = "unknown"\n'


def test_a_jar_that_a_running_spark_cannot_load_anew_fails_its_model(shop, spark):
    assert {} == errors_of(build(shop, spark, "values"))
    with zipfile.ZipFile(shop / "lib/tax.jar", "a") as jar:
        jar.writestr("tax/more.txt", "another jar")

    errors = errors_of(build(shop, spark, "values"))

    assert "is another than when this Spark loaded `tax.Twice`" in errors["values"]


def test_verifying_with_spark_runs_no_code_of_a_function(tmp_path, spark):
    root = write_files(
        tmp_path,
        {
            "functions/code.toml": PICKY.replace("nullable = false\n", ""),
            "functions/picky.py": f"open({str(tmp_path / 'ran')!r}, 'w')\n\n\ndef picky(x):\n    return x\n",
            "models/a.sql": "SELECT picky(1) AS x",
        },
    )

    compilation = rocky.compile_project(rocky.load_project(root, env={}))

    assert analyse_project(compilation, session=spark).agrees
    assert not (tmp_path / "ran").exists()


@pytest.mark.slow
@pytest.mark.server
@pytest.mark.exhaustive
def test_functions_of_every_kind_are_made_through_spark_connect(
    shop, tmp_path_factory, monkeypatch
):
    for name in ("grpc_proxy", "https_proxy", "http_proxy", "HTTPS_PROXY", "HTTP_PROXY"):
        monkeypatch.delenv(name, raising=False)
    server = ConnectServer(tmp_path_factory.mktemp("server"))
    try:
        config = (shop / "rocky.toml").read_text()
        remote = f'type = "spark"\nremote = "{server.address}"'
        (shop / "rocky.toml").write_text(config.replace('type = "spark"', remote, 1))

        assert {} == errors_of(build(shop, None))
        (row, _) = shown(shop, None, "values")
        assert ("1", "8.40", "8.33", "3", "ann-lee", "2", "1", "2") == row
    finally:
        server.kill()


def test_emitted_sql_runs_in_a_session_that_knows_nothing_of_the_project(tmp_path, spark):
    write_files(
        tmp_path,
        {
            "rocky.toml": '[pipeline.p]\nmodels = "models/**"\n',
            "functions/b.sql": "CREATE FUNCTION b(x INT) RETURN a(a(x)) -- a comment at the end",
            "functions/a.sql": "CREATE FUNCTION a(x INT DEFAULT 3) RETURNS INT RETURN x * 2",
            "functions/c.sql": (
                "CREATE FUNCTION c(n INT) RETURNS TABLE (i INT) RETURN SELECT explode(sequence(1, n))"
            ),
            "models/m.sql": "SELECT i, b(i) AS four, a() AS six FROM c(2)\n",
        },
    )
    report = rocky.open(tmp_path).emit_sql("m", out=tmp_path / "sql")
    *made, query = (tmp_path / "sql/m.sql").read_text().split("\n;\n")
    bare = spark.newSession()
    for each in made:
        bare.sql(each)

    assert ["a", "b", "c"] == [each.name for each in report.models[0].functions]
    assert [(1, 4, 6), (2, 8, 6)] == [tuple(row) for row in bare.sql(query).collect()]


def declared(kind, gives, code):
    return {
        "functions/given.py": code,
        "functions/given.toml": (
            f'[[function]]\nname = "given"\nkind = "{kind}"\nmodule = "functions.given"\n'
            'attribute = "given"\nparameters = [{ name = "x", type = "int" }]\n'
            f"{gives}\n"
        ),
    }


@pytest.mark.parametrize(
    ("gives", "result", "python"),
    [
        ("int", "'a'", "str"),
        ("double", "x", "int"),
        ("int", "2 ** 40", "int"),
        ("decimal(10,2)", "1.5", "float"),
        ("array<double>", "[1.0, x]", "list"),
    ],
)
def test_a_result_that_spark_would_make_null_fails_the_model(
    tmp_path, spark, gives, result, python
):
    # Without a check every row of these would be null, or another number.
    code = f"def given(x):\n    return {result}\n"
    files = declared("python", f'returns = "{gives}"', code)
    write_files(tmp_path, {**files, "models/m.sql": "SELECT given(1) AS r\n"})
    (said,) = errors_of(build(tmp_path, spark)).values()

    assert f"`given` is declared to give `{gives}`, and gave a Python `{python}`" in said


def test_a_row_that_spark_would_make_null_fails_the_model(tmp_path, spark):
    code = "class given:\n    def eval(self, x: int):\n        yield 'a', x\n"
    files = declared("python", "columns = [{ name = 'a', type = 'int' }]", code)
    wrong = {**files, "models/m.sql": "SELECT a FROM given(3)\n"}
    write_files(tmp_path, wrong)
    (said,) = errors_of(build(tmp_path, spark)).values()

    assert "`given` is declared to give `struct<a:int>`, and gave a Python `tuple`" in said


def test_a_module_that_ends_the_process_fails_the_model_alone(tmp_path, spark):
    code = "import sys\n\nsys.exit(3)\n\n\ndef given(x):\n    return 1\n"
    files = declared("python", 'returns = "int"', code)
    write_files(tmp_path, {**files, "models/m.sql": "SELECT given(1) AS r\n"})
    (said,) = errors_of(build(tmp_path, spark)).values()

    assert "`functions/given.py` line 3 raised SystemExit: 3" in said


COLUMNS_PY = """\
from decimal import Decimal

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc


def same_number(value: pd.Series) -> pd.Series:
    return value


def furthest(value: pd.Series) -> float:
    return float(value.max())


def pair(value: pd.Series) -> pd.Series:
    return value.map(lambda each: [each, 1.5])


def is_odd(value: pd.Series) -> pd.Series:
    return value


def raised(value: pa.Array) -> pa.Array:
    return pc.multiply(value, pa.scalar(Decimal("1.005")))
"""
CHANGED = [
    ("same_number", "pandas", "bigint", "bigint", "a `value` with nulls and numbers above 2^53"),
    ("furthest", "pandas", "bigint", "double", "a `value` with nulls and numbers above 2^53"),
    ("pair", "pandas", "int", "array<int>", "`array<int>`, and gave a fraction inside of one"),
    ("is_odd", "pandas", "int", "boolean", "`boolean`, and gave a pandas column of `float64`"),
    (
        "raised",
        "arrow",
        "decimal(10,2)",
        "decimal(10,2)",
        "`decimal(10,2)`, and gave an Arrow array of `decimal128(15, 5)` that does not fit",
    ),
]


def test_a_column_whose_values_would_change_fails_the_model_and_names_the_function(tmp_path, spark):
    declared = "".join(
        f'[[function]]\nname = "{name}"\nkind = "{kind}"\nmodule = "functions.columns"\n'
        f'attribute = "{name}"\nparameters = [ {{ name = "value", type = "{taken}" }} ]\n'
        f'returns = "{given}"\ndeterministic = true\n'
        + ("aggregate = true\n" if name == "furthest" else "")
        for name, kind, taken, given, _ in CHANGED
    )
    given = "VALUES (3, 9007199254740993L, 2.55), (NULL, NULL, NULL) AS t(i, b, d)"
    columns = {"int": "i", "bigint": "b", "decimal(10,2)": "CAST(d AS DECIMAL(10,2))"}
    models = {
        f"models/m_{name}.sql": f"SELECT {name}({columns[taken]}) AS made FROM {given}"
        for name, _, taken, _, _ in CHANGED
    }
    models["models/fine.sql"] = (
        "SELECT same_number(id) AS n, is_odd(CAST(id % 2 AS INT)) AS odd FROM range(3)"
    )
    functions = {"functions/columns.toml": declared, "functions/columns.py": COLUMNS_PY}
    errors = errors_of(build(write_files(tmp_path, functions | models), spark))

    assert {f"m_{name}" for name, *_ in CHANGED} == set(errors)
    for name, *_, said in CHANGED:
        assert f"function `{name}`" in errors[f"m_{name}"]
        assert said in errors[f"m_{name}"]


def test_a_python_model_finds_shared_code_beside_it_and_takes_it_to_executors(tmp_path, spark):
    code = "from pyspark.sql import functions as F\n\nfrom _rules import next_one\n\n\n"
    code += "def model(numbers):\n    following = F.udf(next_one, 'bigint')\n"
    files = {
        "rules/_steps.py": "STEP = 2\n",
        "models/_rules.py": "from rules._steps import STEP\n\n\ndef next_one(n):\n    return n + STEP\n",
        "models/numbers.sql": "SELECT id FROM range(3)",
        "models/coded.py": f"{code}    return numbers.select(following('id').alias('n'))\n",
        "models/coded.toml": 'output = [ { name = "n", type = "bigint" } ]\n',
    }
    root = write_files(tmp_path, files)

    assert {} == errors_of(build(root, spark))
    assert [2, 3, 4] == sorted(row["n"] for row in rocky.open(root).show("coded").rows)
