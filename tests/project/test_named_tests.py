"""Tests that are named in `rocky.toml`, and those of sidecars and checks that begin from them."""

import pytest

from rocky.compiler.passes import compile_project
from rocky.project import load_project
from tests.project.projects import finding, findings, load

CONFIG = """
[adapter]
type = "spark"
warehouse = "warehouse"

[pipeline.shop]
models = "models/**"

[test.positive]
type = "expression"
description = "nothing is given away"
expression = "@above(amount, 0)"
severity = "warning"

[test.known]
type = "accepted_values"
values = ["new", "paid"]
"""
FILES = {
    "rocky.toml": CONFIG,
    "macros/above.sql": "CREATE MACRO above(x EXPRESSION, y LITERAL) RETURN @x > @y\n",
    "models/orders.sql": "SELECT 1 AS id, 2.5 AS amount, 'new' AS status",
}


def sidecar(root, text, config=CONFIG):
    return load(root, FILES | {"rocky.toml": config, "models/orders.toml": text})


def test_a_test_has_all_that_the_named_one_says_and_its_own_keys_win(tmp_path):
    project = sidecar(
        tmp_path,
        "[[tests]]\nuse = 'positive'\n"
        "[[tests]]\nuse = 'positive'\nname = 'strictly'\nseverity = 'error'\nfilter = 'id > 1'\n"
        "[[tests]]\nuse = 'known'\ncolumn = 'status'\n",
    )
    positive, strictly, known = project.models["orders"].tests

    assert [] == findings(project)
    assert ("positive", "warning", "(amount > 0)", "nothing is given away") == (
        positive.name,
        positive.severity,
        positive.expression,
        positive.description,
    )
    assert ("strictly", "error", "id > 1") == (strictly.name, strictly.severity, strictly.filter)
    assert ("known", "status", ("new", "paid")) == (known.name, known.column, known.values)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            "[[tests]]\nuse = 'positiv'\n",
            "E017 models/orders.toml:2:7 \"'positiv'\" there is no test `positiv`",
        ),
        (
            "[[tests]]\nuse = 'positive'\ntype = 'unique'\ncolumn = 'id'\n",
            "E017 models/orders.toml:3:8 \"'unique'\" `positive` is a test of type `expression`",
        ),
        (
            "[[tests]]\nuse = 'known'\n",
            "E017 models/orders.toml:1:1 '[[tests]]'"
            " an assertion of type `accepted_values` needs `column`",
        ),
        (
            "[[tests]]\nuse = 'known'\ncolumn = 'status'\npattern = 'x'\n",
            "E017 models/orders.toml:4:1 'pattern' unknown key `pattern` in item 1 of `tests`",
        ),
    ],
)
def test_what_does_not_fit_the_named_test_is_told_once(tmp_path, text, told):
    assert [told] == findings(sidecar(tmp_path, text))


@pytest.mark.parametrize(
    ("config", "told"),
    [
        ("[test.a]\ntype = 'uniqe'", "`uniqe`"),
        ("[test.a]\ntype = 'unique'\nuse = 'positive'", "a named test does not begin from another"),
        ("[test.a]\ntype = 'unique'\ncolum = 'id'", "unknown key `colum`"),
        ("test = 1", ""),
    ],
)
def test_a_named_test_that_is_none_is_told_in_the_settings(tmp_path, config, told):
    (found,) = findings(
        sidecar(tmp_path, "", f"{config}\n" if "=" in config[:6] else CONFIG + config)
    )

    assert found.startswith("E018 rocky.toml:")
    assert told in found


def test_sql_of_a_named_test_is_told_where_it_is_used_and_where_it_is_written(tmp_path):
    project = load(
        tmp_path,
        FILES
        | {
            "models/orders.sql": "SELECT 1 AS id",
            "models/orders.toml": "[[tests]]\nuse = 'positive'\n",
        },
    )
    (found,) = compile_project(project, cache=False).diagnostics
    (label,) = found.labels

    assert "E003 models/orders.toml:2:7 \"'positive'\" no column `amount` in scope" == finding(
        project, found
    )
    assert ("rocky.toml", "in the test `positive`") == (label.path, label.message)
    assert "amount" == CONFIG[slice(*label.span)]


def test_a_changed_named_test_is_seen_by_a_project_that_is_remembered(tmp_path):
    sidecar(tmp_path, "[[tests]]\nuse = 'positive'\n")
    for _ in range(2):
        assert () == compile_project(load_project(tmp_path, env={}, remember=True)).diagnostics
    (tmp_path / "rocky.toml").write_text(CONFIG.replace("amount", "amont"))

    (found,) = compile_project(load_project(tmp_path, env={}, remember=True)).diagnostics
    assert "no column `amont` in scope" == found.message


def test_checks_of_pipelines_begin_from_named_tests_too(tmp_path):
    config = f"""{CONFIG}
[pipeline.watch]
type = "quality"
tables = [{{ catalog = "spark_catalog", schema = "default" }}]
[pipeline.watch.checks]
enabled = true
assertions = [
  {{ use = "positive", table = "orders" }},
  {{ use = "known", column = "status" }},
  {{ use = "nobody" }},
]
"""
    project = sidecar(tmp_path, "", config)
    positive, known, _ = project.config.pipeline["watch"].checks.assertions

    assert ("(amount > 0)", "orders") == (positive.expression, positive.table)
    assert ("status", ("new", "paid")) == (known.column, known.values)
    assert [
        "E018 rocky.toml:27:11 '\"nobody\"' there is no test `nobody`",
    ] == findings(project)


def test_sql_of_a_named_test_in_a_check_is_told_at_both_places(tmp_path):
    config = f"""{CONFIG}
[pipeline.watch]
type = "quality"
tables = [{{ catalog = "spark_catalog", schema = "default" }}]
[pipeline.watch.checks]
enabled = true
assertions = [{{ use = "positive" }}]
"""
    files = FILES | {"rocky.toml": config, "models/orders.sql": "SELECT 1 AS id"}
    project = load(tmp_path, files)
    (found,) = compile_project(project, cache=False).diagnostics
    (label,) = found.labels

    assert "E003 rocky.toml:24:23 '\"positive\"' no column `amount` in scope" == finding(
        project, found
    )
    assert "amount" == config[slice(*label.span)]
