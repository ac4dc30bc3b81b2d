"""`@var(name)` is replaced as text, and findings still point at what the author wrote."""

import pytest

from rocky.compiler.passes import compile_project
from rocky.diagnostics.diagnostic import Span
from rocky.project import load_project
from rocky.project.model_text import fill_variables, find_variables
from tests.project.projects import finding, findings, load


@pytest.mark.parametrize(
    ("sql", "filled"),
    [
        ("SELECT @var(a)", "SELECT 1"),
        ("SELECT @VAR ( a )", "SELECT 1"),
        ("SELECT '@var(a)', \"@var(a)\", `@var(a)`", "SELECT '1', \"1\", `1`"),
        ("SELECT @var(a, 2), @var(b, 2)", "SELECT 1, 2"),
        ("SELECT @var(b, f('(', \")\", (1)))", "SELECT f('(', \")\", (1))"),
        ("SELECT @var(b,)", "SELECT "),
        ("SELECT 1 -- @var(zzz)\n/* @var(zzz) */, @var(a)", "SELECT 1 -- @var(zzz)\n/* @var(zzz) */, 1"),
        ("SELECT '-- no comment', @var(a)", "SELECT '-- no comment', 1"),
        ("SELECT 'it\\'s', @var(a)", "SELECT 'it\\'s', 1"),
        (r"SELECT r'\', '-- text', @var(a), r'@var(a)\'", r"SELECT r'\', '-- text', 1, r'1\'"),
        ("SELECT /* a /* b */ @var(zzz) */ @var(a)", "SELECT /* a /* b */ @var(zzz) */ 1"),
        ("SELECT 'it''s @var(a)'", "SELECT 'it''s 1'"),
        ("SELECT @variable, @start_date", "SELECT @variable, @start_date"),
    ],
)  # fmt: skip
def test_a_variable_becomes_its_value(sql, filled):
    found, missing = fill_variables(sql, {"a": "1"})

    assert filled == found.text
    assert [] == missing


def test_a_value_is_not_looked_into_again():
    found, _ = fill_variables("SELECT @var(a)", {"a": "@var(a)"})

    assert "SELECT @var(a)" == found.text


@pytest.mark.parametrize("sql", ["@var()", "@var(1)", "@var(a b)", "@var(a", "@var(, 1)"])
def test_what_is_not_written_as_a_variable_has_no_name(sql):
    assert [("", None)] == [each[:2] for each in find_variables(f"SELECT {sql}")]


@pytest.mark.parametrize("value", ["", "x", "12345678901234567890"])
def test_a_span_of_the_filled_query_leads_back_to_what_was_written(value):
    sql = "SELECT aa, @var(v), bb, @var(v), cc FROM t"
    filled, _ = fill_variables(sql, {"v": value})
    for word in ("aa", "bb", "cc", "FROM", "SELECT"):
        start = filled.text.index(word)
        span = filled.written(Span(start, start + len(word)))

        assert word == sql[span.start : span.end]
    if value:
        start = filled.text.index(value)
        span = filled.written(
            Span(start + 1, start + len(value)) if len(value) > 1 else Span(start, start + 1)
        )
        assert "@var(v)" == sql[span.start : span.end]


FILES = {"models/m.sql": "---toml\ntags = { a = 'b' }\n---\nSELECT @var(n) AS n,\n  nope FROM (SELECT @var(n) AS n)\n"}  # fmt: skip


def compiled(root, variables):
    return compile_project(load_project(root, env={}, remember=True, variables=variables))


def test_findings_behind_a_variable_are_placed_in_the_file(tmp_path):
    load(tmp_path, FILES)
    compilation = compiled(tmp_path, {"n": "1 + 1 + 1 + 1"})
    (found,) = compilation.diagnostics

    assert "E003 models/m.sql:5:3 'nope' no column `nope` in scope" == finding(
        compilation.project, found
    )


def test_a_variable_without_a_value_blocks_its_model_only(tmp_path):
    files = {"models/m.sql": "SELECT @var(n) AS n", "models/reader.sql": "SELECT n FROM m", "models/other.sql": "SELECT 1 AS one"}  # fmt: skip
    project = load(tmp_path, files)
    compilation = compile_project(project, cache=False)

    assert ["E028 models/m.sql:1:8 '@var(n)' the variable `n` has no value"] == findings(project)
    assert 1 == len(compilation.diagnostics)
    assert {"other", "reader"} == set(compilation.models)


def test_another_value_compiles_anew_although_no_file_changed(tmp_path):
    load(tmp_path, {"models/m.sql": "SELECT @var(n, 1) AS n", "models/r.sql": "SELECT n FROM m"})
    types = [
        (
            compilation.models["m"].columns[0].type.text,
            compilation.models["r"].columns[0].type.text,
            compilation.statistics.bound,
        )
        for compilation in (
            compiled(tmp_path, variables) for variables in ({}, {}, {"n": "'x'"}, {"n": "'x'"}, {})
        )
    ]

    assert [
        ("int", "int", 2),
        ("int", "int", 0),
        ("string", "string", 2),
        ("string", "string", 0),
        ("int", "int", 2),
    ] == types


def test_the_project_knows_which_variables_are_asked_for(tmp_path):
    project = load(
        tmp_path, {"models/m.sql": "SELECT @var(n, 1) AS n, '@var(m, 2)' AS m -- @var(no)"}
    )

    assert {"n", "m"} == project.variables
