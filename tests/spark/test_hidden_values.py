"""Runs that fail on classified values in many ways: no address is said or kept anywhere."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import rocky as rocky_api
from rocky.errors import RockyError
from rocky.operations.report import encode_report
from tests.spark.projects import write_files

pytestmark = [pytest.mark.spark, pytest.mark.slow]

ADDRESSES = [f"{name}.planted@secret.example" for name in ("ada", "bob", "cyd", "dan")]
MARK = "planted"
SOURCE = """\
[[source]]
name = "raw.people"
format = "csv"
path = "data/people.csv"
columns = [
  { name = "id", type = "bigint" },
  { name = "email", type = "string", classification = "pii" },
  { name = "city", type = "string" },
]
"""
PYTHON = """\
def model(logins):
    (first,) = logins.select("login").limit(1).collect()
    raise ValueError(f"cannot use {first['login']}")
"""
QUERYING = """\
def model(logins):
    (first,) = logins.select("login").limit(1).collect()
    return logins.sparkSession.sql(f"SELECT {first['login']} AS n")
"""
WORKING = """\
from pyspark.sql.functions import udf


def number(login):
    return int(login)


def model(logins):
    return logins.select(udf(number, "int")("login").alias("n"))
"""
DECLARED = 'inputs = { logins = "logins" }\noutput = [ { name = "n", type = "int" } ]\n'
WRONG = {
    "pretends": "SELECT CAST(raise_error(concat('Connection refused ', login)) AS INT) AS e FROM logins",
    "casts": "SELECT CAST(login AS INT) AS n FROM logins",
    "dates": "SELECT to_date(login, 'yyyy-MM-dd') AS d FROM logins",
    "raises": "SELECT CAST(raise_error(login) AS STRING) AS e FROM logins",
    "asserts": "SELECT CAST(assert_true(id < 0, concat('no ', login)) AS INT) AS e FROM logins",
    "maps": "SELECT map(login, 1, login, 2) AS m FROM logins",
    "filters": "SELECT id FROM logins WHERE CAST(substr(login, 2) AS BIGINT) > 1",
    "nested": "WITH t AS (SELECT concat(login, city) AS x FROM logins) SELECT CAST(x AS DATE) AS d FROM t",
    "elements": "SELECT CAST(element_at(array(login), 1) AS DOUBLE) AS d FROM logins",
    "counted": "SELECT count(CAST(login AS DECIMAL(9, 2))) AS n FROM logins",
    "merged": "SELECT login, id FROM logins UNION ALL SELECT login, id + 1 FROM logins",
}
FILES = {
    "rocky.toml": '[pipeline.shop]\nmodels = "models/**"\n[resilience]\ntransient_max_retries = 0\n',
    "sources/raw.toml": SOURCE,
    "data/people.csv": "id,email,city\n"
    + "".join(f"{index},{each},Bonn\n" for index, each in enumerate(ADDRESSES)),
    "models/stg_people.sql": "SELECT id, email, city FROM raw.people\n",
    "models/logins.sql": "SELECT id, lower(email) AS login, city FROM stg_people\n",
    "models/logins.toml": (
        '[[tests]]\ntype = "accepted_values"\ncolumn = "city"\nvalues = ["Rome"]\n'
        '[[tests]]\ntype = "unique_expr"\nkey_expr = "substr(login, 4)"\n'
        '[[tests]]\ntype = "aggregate"\nop = "min"\ncolumn = "login"\ncmp = "eq"\nvalue = "x"\n'
        '[[tests]]\ntype = "expression"\nexpression = "CAST(login AS BIGINT) > 0"\n'
        '[[tests]]\ntype = "regex_match"\ncolumn = "login"\npattern = "^z"\n'
    ),
    **{f"models/{name}.sql": f"{sql}\n" for name, sql in WRONG.items()},
    "models/merged.toml": '[strategy]\ntype = "merge"\nunique_key = ["login"]\n',
    "models/code.py": PYTHON,
    "models/code.toml": DECLARED,
    "models/query.py": QUERYING,
    "models/query.toml": DECLARED,
    "models/worker.py": WORKING,
    "models/worker.toml": DECLARED,
}


def rocky(root: Path, *words: str) -> str:
    """What a command says, on both streams; none of it is an address."""
    env = {**os.environ, "NO_COLOR": "1"}
    line = [sys.executable, "-c", "from rocky.cli.app import main; main()", *words]
    done = subprocess.run(line, cwd=root, capture_output=True, text=True, env=env, check=False)
    said = done.stdout + done.stderr
    assert MARK not in said.lower(), (words, said)
    return said


def kept(root: Path):
    """Every file beside the data itself: tables hold what they are made of."""
    for path in root.rglob("*"):
        inside = path.relative_to(root).parts
        if path.is_file() and inside[0] not in ("data", "warehouse"):
            yield path


@pytest.fixture(scope="module")
def failed(tmp_path_factory):
    """A shop of which everything below `logins` has failed on an address, and what was said."""
    root = write_files(tmp_path_factory.mktemp("hidden"), FILES)
    return root, rocky(root, "run", "-o", "json")


def test_no_failure_of_a_run_tells_a_value(failed):
    root, said = failed
    report, _ = json.JSONDecoder().raw_decode(said[said.index("{") :])
    errors = {each["model"]: each["error"] for each in report["errors"]}

    assert {*WRONG, "code", "query", "worker"} == set(errors)
    for path in kept(root):
        assert MARK not in path.read_bytes().decode("latin-1").lower(), path
    assert said.count("is classified") >= len(errors)
    rocky(root, "history", "latest")
    rocky(root, "logs")


def test_tests_rows_and_pages_tell_no_value(failed, spark):
    root, _ = failed
    workspace = rocky_api.open(root, spark=spark)
    every = (
        "SELECT collect_set(login) AS every, struct(max(login) AS l) AS s,"
        " map(1, first(login)) AS m, city FROM logins GROUP BY city"
    )

    tests = workspace.test("logins", data=True)
    shown = workspace.show(sql=every)
    with pytest.raises(RockyError, match="is classified") as caught:
        workspace.show(sql="SELECT CAST(login AS INT) AS n FROM logins")
    with pytest.raises(RockyError, match="is classified") as raised:
        workspace.show("code")

    assert ("(hidden: pii)",) * 3 + ("Bonn",) == shown.values[0]
    assert 5 == sum(not each.passed for each in tests.data_tests)
    assert "(hidden: pii)" in rocky(root, "show", "logins")
    told = repr((encode_report(tests), encode_report(shown), caught.value, raised.value))
    assert MARK not in told.lower()
    rocky(root, "docs")
    for path in kept(root):
        assert MARK not in path.read_bytes().decode("latin-1").lower(), path


def test_a_frame_has_null_in_place_of_what_is_hidden(failed, spark):
    root, _ = failed
    workspace = rocky_api.open(root, spark=spark)
    sql = "SELECT id, upper(login) AS e, city AS e FROM logins ORDER BY id"

    table = workspace.table("logins")
    query = workspace.sql(sql)

    assert ["id", "login", "city"] == table.columns
    assert {None} == {row["login"] for row in table.collect()}
    assert ["id", "e", "e"] == query.columns
    assert (0, None, "Bonn") == tuple(query.collect()[0])
    assert ["bigint", "string", "string"] == [kind for _, kind in query.dtypes]
