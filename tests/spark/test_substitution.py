"""`${...}` in SQL stays text: neither the environment nor settings of Spark's process reach a table."""

import pytest

import rocky
from rocky.spark.settings import SUBSTITUTION
from tests.spark.projects import build, errors_of, write_files

pytestmark = pytest.mark.spark

WRITTEN = ("${env:PATH}", "${system:java.version}", "${spark.app.name}", "${hiveconf:x}")


def model_of(texts) -> str:
    columns = ", ".join(f"'{text}' AS c{at}" for at, text in enumerate(texts))
    return f"SELECT {columns}"


def test_an_author_of_sql_cannot_read_the_environment_even_where_the_callers_session_lets_him(
    tmp_path, spark
):
    mine = spark.newSession()
    mine.conf.set(SUBSTITUTION, "true")
    # The attack works on the caller's own session: else this test would show nothing.
    assert WRITTEN[0] != mine.sql(model_of(WRITTEN)).first()[0]
    root = write_files(tmp_path, {"models/secrets.sql": model_of(WRITTEN)})

    assert {} == errors_of(build(root, mine))
    shown = rocky.open(root, spark=mine).show("secrets")

    assert [WRITTEN] == [tuple(row.values()) for row in shown.rows]
    assert "true" == mine.conf.get(SUBSTITUTION)


def test_python_code_that_switches_substitution_on_gets_the_next_query_refused(tmp_path, spark):
    root = write_files(
        tmp_path,
        {
            "models/ids.sql": "SELECT 1 AS id",
            "models/switch.py": (
                "def model(ids):\n"
                f"    ids.sparkSession.conf.set('{SUBSTITUTION}', 'true')\n"
                "    return ids\n"
            ),
            "models/switch.toml": 'output = [ { name = "id", type = "int" } ]\n',
            "models/secrets.sql": "SELECT id, '${env:PATH}' AS p FROM switch",
        },
    )

    failed = errors_of(build(root, spark))

    assert {"secrets"} == failed.keys()
    assert f"leave `{SUBSTITUTION}` switched off" in failed["secrets"]


def test_a_session_that_rocky_starts_replaces_nothing(spark):
    assert [("${env:PATH}",)] == [tuple(row) for row in spark.sql("SELECT '${env:PATH}'").collect()]
