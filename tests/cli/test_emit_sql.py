import json

import duckdb

from rocky.cli.console import ExitCode

SQL = "-- kept\nSELECT  order_id   FROM raw.orders -- tail"
MATTER = '---toml\nintent = "x"\n---\n'
FILES = {"models/a.sql": MATTER + SQL, "models/b.sql": "SELECT order_id FROM a\n"}


def test_the_sql_is_the_authors_text_without_front_matter(rocky, write):
    write(FILES)

    assert SQL == rocky("-o", "table", "emit-sql", "a").out


def test_all_models_come_in_the_order_they_would_run(rocky, write):
    write(FILES)
    out = rocky("-o", "table", "emit-sql").out

    assert out.index("-- a: models/a.sql") < out.index("-- b: models/b.sql")
    assert f"{SQL}\n;\n" in out


def test_a_file_each_can_be_written(rocky, write):
    root = write(FILES)
    answer = rocky("-o", "table", "emit-sql", "--out", "sql")

    assert SQL == (root / "sql" / "a.sql").read_text()
    assert "2 files written to sql\n" == answer.out


def test_the_models_themselves_are_not_written_over(rocky, write):
    root = write(FILES)
    answer = rocky("-o", "table", "emit-sql", "--out", "models")

    assert ExitCode.FAILED == answer.code
    assert "choose another folder" in answer.err
    assert MATTER + SQL == (root / "models" / "a.sql").read_text()


def test_what_would_not_run_is_not_printed(rocky, write):
    write({**FILES, "models/c.sql": "SELECT nope FROM a\n"})
    broken, healthy = rocky("-o", "table", "emit-sql", "c"), rocky("-o", "table", "emit-sql", "a")

    assert (ExitCode.FAILED, "") == (broken.code, broken.out)
    assert "no column `nope`" in broken.err
    assert (ExitCode.OK, SQL) == (healthy.code, healthy.out)


FUNCTIONS = {
    "functions/four.sql": "CREATE FUNCTION four(x INT) RETURN a_twice(a_twice(x)) -- twice twice",
    "functions/a_twice.sql": "CREATE FUNCTION a_twice(x INT) RETURNS INT RETURN x * 2",
    "functions/idle.sql": "CREATE FUNCTION idle() RETURN 1",
    "functions/code.toml": (
        '[[function]]\nname = "slug"\nkind = "python"\nmodule = "functions.text"\n'
        'attribute = "slug"\nparameters = [ { name = "text", type = "string" } ]\n'
        'returns = "string"\n[[function]]\nname = "there"\nkind = "catalog"\nreturns = "int"\n'
    ),
    "functions/text.py": "def slug(text):\n    return text\n",
    "models/fours.sql": "SELECT four(1) AS a, there() AS b\n",
    "models/slugs.sql": "SELECT slug('x') AS a, a_twice(2) AS b\n",
}
TWICE = "CREATE OR REPLACE TEMPORARY FUNCTION `a_twice`(`x` int) RETURNS int RETURN x * 2\n;\n\n"
FOUR = "CREATE OR REPLACE TEMPORARY FUNCTION `four`(`x` int) RETURN a_twice(a_twice(x))"


def test_the_functions_that_a_model_needs_are_made_before_it_in_the_order_of_need(rocky, write):
    root = write({**FILES, **FUNCTIONS})
    out = rocky("-o", "table", "emit-sql", "fours").out
    rocky("emit-sql", "--out", "sql")

    assert out.startswith(TWICE + FOUR)
    assert out.endswith("\n;\n\nSELECT four(1) AS a, there() AS b\n")
    assert "idle" not in out
    assert out == (root / "sql/fours.sql").read_text()


def test_functions_of_many_models_are_made_once_and_what_no_sql_makes_is_named(rocky, write):
    write({**FILES, **FUNCTIONS})
    out = rocky("-o", "table", "emit-sql").out

    assert 1 == out.count(TWICE.rstrip()) == out.count(FOUR)
    assert "-- needs the function slug, which no SQL makes: it is python\n" in out
    assert out.index(TWICE.rstrip()) < out.index(FOUR) < out.index("-- a: models/a.sql")


def test_another_engine_is_not_given_functions_of_spark(rocky, write):
    write({**FILES, **FUNCTIONS})

    assert "TEMPORARY FUNCTION" not in rocky("emit-sql", "fours", "--dialect", "duckdb").out


# ------------------------------------------------------------------ another engine's

TALLY = """SELECT
  nvl(status, 'none') AS status,
  collect_list(order_id) AS orders,
  xxhash64(status) AS bucket
FROM raw.orders
GROUP BY status
"""


def test_another_engine_gets_its_names_and_comments_say_what_is_not_exact(rocky, write):
    write({"models/tally.sql": TALLY})
    answer = rocky("-o", "table", "emit-sql", "tally", "--dialect", "duckdb")
    first, *marks = [line for line in answer.out.splitlines() if line.startswith("--")]

    assert "-- DuckDB SQL from models/tally.sql" == first
    assert ["line 3: `collect_list`", "line 4: `xxhash64`"] == [
        mark.removeprefix("-- not exact, ").partition(" is ")[0] for mark in marks
    ]
    assert "COALESCE(status, 'none')" in answer.out
    assert "1 model not exact" in answer.err


def test_what_is_exact_has_no_such_comment_and_runs_there(rocky, write):
    write(
        {
            "models/tally.sql": 'SELECT nvl(status, "none") AS s FROM raw.orders ORDER BY status LIMIT 2\n'
        }
    )
    answer = rocky("-o", "table", "emit-sql", "tally", "--dialect", "duckdb")
    with duckdb.connect() as connection:
        connection.execute(
            "CREATE SCHEMA raw; CREATE TABLE raw.orders AS FROM (VALUES ('b'), (NULL), ('a')) v(status)"
        )
        rows = connection.execute(answer.out).fetchall()

    assert "not exact" not in answer.out + answer.err
    assert [("none",), ("a",)] == rows


def test_databricks_gets_the_authors_text(rocky, write):
    write({"models/tally.sql": TALLY})
    answer = rocky("-o", "table", "emit-sql", "tally", "--dialect", "databricks")

    assert f"-- Databricks SQL from models/tally.sql\n{TALLY}" == answer.out


def test_a_query_that_cannot_be_rewritten_is_left_and_says_so(rocky, write):
    write({"models/odd.sql": "FROM raw.orders |> SELECT order_id |> SET order_id = 1\n"})
    answer = rocky("-o", "table", "emit-sql", "odd", "--dialect", "trino")

    assert "-- not exact, line 1: " in answer.out


def test_the_files_and_the_json_say_it_too(rocky, write):
    root = write({"models/tally.sql": TALLY})
    answer = rocky("-o", "json", "emit-sql", "--dialect", "trino", "--out", "sql")
    report = json.loads(answer.out)

    assert "trino" == report["dialect"]
    assert [("collect_list", 3), ("xxhash64", 4)] == [
        (each["name"], each["line"]) for each in report["models"][0]["inexact"]
    ]
    assert (
        (root / "sql" / "tally.sql").read_text().startswith("-- Trino SQL from models/tally.sql\n")
    )


def test_sparks_own_sql_is_never_inexact(rocky, write):
    write({"models/tally.sql": TALLY})
    report = json.loads(rocky("-o", "json", "emit-sql").out)

    assert ("spark", []) == (report["dialect"], report["models"][0]["inexact"])
