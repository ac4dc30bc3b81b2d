"""Rows that are compared, of branches and of replays, and tests on pages hide what is classified."""

import json

import pytest

from rocky.operations.branch.diff import DiffRequest, diff
from rocky.operations.branch.lifecycle import CreateRequest, create
from rocky.operations.execution.run import run
from rocky.operations.page.catalog import CatalogRequest, catalog
from rocky.operations.report import encode_report
from rocky.plan.request import RunRequest
from tests.operations.people import HIDDEN, leaks, open_people


@pytest.fixture
def people(shop):
    open_people(shop)
    return shop


@pytest.mark.slow
def test_the_sample_of_a_branch_diff_hides_keys_and_values(people):
    people.write("models/logins.toml", '[[tests]]\ntype = "unique"\ncolumn = "login"\n')
    people.write(
        "models/logins.sql",
        "SELECT login, login AS again, city FROM (SELECT lower(email) AS login, city FROM stg_people)",
    )
    run(people.workspace, RunRequest())
    create(people.workspace, CreateRequest("dev"))
    people.write(
        "models/logins.sql",
        "SELECT login, login || '!' AS again, upper(city) AS city FROM (SELECT lower(email) AS login, city FROM stg_people)",
    )
    run(people.workspace.on_branch("dev"), RunRequest())

    found = diff(people.workspace, DiffRequest("dev"))

    (table,) = found.tables
    row = table.sample[0]
    assert {"login": HIDDEN} == row.key
    assert (HIDDEN, HIDDEN) == (row.columns["again"].before, row.columns["again"].after)
    assert row.columns["city"].after in ("BONN", "ROME")
    assert not leaks(json.dumps(encode_report(found)))


def test_rules_of_tests_on_inherited_columns_do_not_quote_their_values(people):
    people.write(
        "models/logins.toml",
        '[[tests]]\ntype = "accepted_values"\ncolumn = "login"\nvalues = ["ada@secret.example"]\n'
        '[[tests]]\ntype = "accepted_values"\ncolumn = "city"\nvalues = ["Bonn"]\n',
    )

    found = catalog(people.workspace, CatalogRequest(("logins",)))

    assert ["(not shown: the column is classified)", "one of 'Bonn'"] == [
        each.rule for each in found.tables[0].tests
    ]


def test_a_rule_on_another_tables_column_is_hidden_by_what_that_column_is(people):
    people.write("models/cities.sql", "SELECT 'Bonn' AS login")
    people.write(
        "models/cities.toml",
        '[[tests]]\ntype = "accepted_values"\ntable = "logins"\ncolumn = "login"\n'
        'values = ["ada@secret.example"]\n'
        '[[tests]]\ntype = "accepted_values"\ncolumn = "login"\nvalues = ["Bonn"]\n',
    )

    found = catalog(people.workspace, CatalogRequest(("cities",)))

    assert ["(not shown: the column is classified)", "one of 'Bonn'"] == [
        each.rule for each in found.tables[0].tests
    ]
