"""Rows that fail a test, and what a run tells of failures, hide what is classified."""

import json

import pytest

from rocky.operations.execution.run import run
from rocky.operations.execution.test import TestRequest as Asked
from rocky.operations.execution.test import test as run_tests
from rocky.operations.report import encode_report
from rocky.operations.rows.show import ShowRequest, show
from rocky.plan.request import RunRequest
from tests.operations.people import HIDDEN, leaks, open_people

TESTS = """
[[tests]]
type = "accepted_values"
column = "city"
values = ["Rome"]
[[tests]]
type = "unique_expr"
key_expr = "substr(login, 4)"
[[tests]]
type = "unique_expr"
key_expr = "city"
[[tests]]
type = "unique"
column = "city"
[[tests]]
type = "aggregate"
op = "max"
column = "login"
cmp = "eq"
value = "nobody"
[[tests]]
type = "aggregate"
op = "max"
column = "id"
cmp = "eq"
value = 9
[[tests]]
type = "expression"
expression = "CAST(login AS BIGINT) > 0"
"""


@pytest.fixture
def people(shop):
    open_people(shop)
    shop.write("models/logins.toml", TESTS)
    return shop


@pytest.mark.slow
def test_samples_and_answers_hide_what_the_model_inherited(people):
    run(people.workspace, RunRequest())
    found = run_tests(people.workspace, Asked(("logins",), data=True))
    values, key, city_key, unique, highest, highest_id, broken = found.data_tests

    assert (("id", "login", "city"), [HIDDEN] * 2) == (
        values.sample.columns,
        [row[1] for row in values.sample.rows],
    )
    assert {"Bonn"} == {row[2] for row in values.sample.rows}
    assert (HIDDEN, "3") == key.sample.rows[0]
    assert ("Bonn", "2") == city_key.sample.rows[0] == unique.sample.rows[0]
    assert (HIDDEN, "3") == (highest.observed, highest_id.observed)
    assert "`raw.people.email` is classified" in str(broken.finding or broken.error)
    assert not leaks(json.dumps(encode_report(found)))


@pytest.mark.slow
def test_a_unit_test_sees_only_rows_that_it_gives_and_so_no_value_of_a_person(people):
    given = '[[test]]\nname = "{0}"\n{1}[test.expect]\nrows = [ {{ id = 1, login = "made@up", city = "Bonn" }} ]\n'
    row = '[[test.given]]\nref = "stg_people"\nrows = [ { id = 2, email = "Other@up", city = "Rome" } ]\n'
    people.write("models/logins.toml", given.format("nothing", "") + given.format("one", row))
    run(people.workspace, RunRequest())
    found = run_tests(people.workspace, Asked(("logins",)))

    assert [False, False] == [each.passed for each in found.unit_tests]
    assert "other@up" in json.dumps(encode_report(found))
    assert not leaks(json.dumps(encode_report(found)))


@pytest.mark.slow
def test_tests_of_a_run_leave_no_value_in_the_ledger(people):
    run(people.workspace, RunRequest(test=True))

    for path in [people.root / ".rocky-state.db", *people.root.rglob(".rocky/**/*")]:
        assert not path.is_file() or not leaks(path.read_bytes().decode("latin-1")), path


@pytest.mark.slow
@pytest.mark.parametrize(
    ("model", "sidecar"),
    [
        ("SELECT id, CAST(login AS BIGINT) AS n FROM logins", ""),
        ("SELECT n FROM (SELECT CAST(upper(login) AS INT) AS n FROM logins) t", ""),
        (
            "SELECT login, id FROM logins UNION ALL SELECT login, id + 1 FROM logins",
            '[strategy]\ntype = "merge"\nunique_key = ["login"]\n',
        ),
    ],
)
def test_a_run_that_fails_on_a_value_tells_it_nowhere(people, model, sidecar):
    people.write("models/wrong.sql", model)
    people.write("models/wrong.toml", sidecar)

    found = run(people.workspace, RunRequest())

    told = json.dumps(encode_report(found))
    assert "is classified" in told
    assert not leaks(told)
    for path in people.root.rglob("*"):
        if path.suffix in (".log", ".db", ".json", ".db-wal") and path.is_file():
            assert not leaks(path.read_bytes().decode("latin-1")), path


QUALITY = """
[pipeline.watch]
type = "quality"
tables = [ { catalog = "spark_catalog", schema = "default", table = "logins" }, { source = "raw.people" } ]
[pipeline.watch.checks]
enabled = true
assertions = [
  { type = "accepted_values", column = "city", values = ["Rome"] },
  { type = "unique_expr", key_expr = "substr(login, 4)", table = "logins" },
  { type = "aggregate", op = "min", column = "login", cmp = "eq", value = "x", table = "logins" },
  { type = "expression", expression = "CAST(login AS BIGINT) > 0", table = "logins" },
]
quarantine = { enabled = true, mode = "split" }
"""


@pytest.mark.slow
def test_checks_of_a_pipeline_hide_what_a_table_or_a_source_has(people):
    run(people.workspace, RunRequest())
    people.append("rocky.toml", QUALITY)

    found = run(people.workspace, RunRequest(pipeline="watch"))

    told = json.dumps(encode_report(found))
    assert HIDDEN in told
    assert "is classified" in told
    assert not leaks(told)
    for path in people.root.rglob("*"):
        if path.suffix in (".log", ".db", ".db-wal"):
            assert not leaks(path.read_bytes().decode("latin-1")), path
    (expression,) = (each for each in QUALITY.splitlines() if "expression =" in each)
    settings = (people.root / "rocky.toml").read_text()
    people.write("rocky.toml", settings.replace(expression, ""))
    run(people.workspace, RunRequest(pipeline="watch"))
    quarantined = show(people.workspace, ShowRequest("spark_catalog.default.logins__quarantine"))
    assert HIDDEN == quarantined.rows[0]["login"]
