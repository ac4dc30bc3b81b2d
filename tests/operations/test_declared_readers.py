"""Who may read each table, by what is declared alone."""

from rocky.operations.governance.declared_readers import declared_readers
from tests.operations.projects import open_project

GRANTED = """
[governance.catalog]
kind = "unity"
url = "https://unity.shop.example"
token = "${UNITY_TOKEN}"

[role.analysts]
members = ["ann@example.com"]

[[grant]]
on = "spark_catalog.default.open"
to = ["analysts"]
privileges = ["SELECT"]
"""
MODELS = {"models/open.sql": "SELECT 1 AS a", "models/closed.sql": "SELECT 2 AS b"}


def test_readers_are_those_that_grants_declare_and_no_catalogue_is_asked(tmp_path):
    given = open_project(
        tmp_path, {"rocky.toml": '[pipeline.shop]\nmodels = "models/**"\n' + GRANTED, **MODELS}
    )

    found = declared_readers(given)

    assert "unity" == found.catalogue
    readers = {
        each.table.rpartition(".")[2]: [one.principal for one in each.readers]
        for each in found.tables
    }
    assert {"open": ["ann@example.com"], "closed": []} == readers
    assert {"analysts": ("ann@example.com",)} == found.roles


def test_without_a_catalogue_nobody_is_declared(tmp_path):
    given = open_project(
        tmp_path, {"rocky.toml": '[pipeline.shop]\nmodels = "models/**"\n', **MODELS}
    )

    found = declared_readers(given)

    assert found.catalogue is None
    assert [()] * 2 == [each.readers for each in found.tables]
