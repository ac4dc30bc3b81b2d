"""Key columns that a sidecar adds are columns like any other."""

import pytest

from rocky.compiler.passes import compile_project
from rocky.project import load_project
from tests.project.projects import finding, findings, load

SQL = "-- orders\nSELECT 1 AS id, CAST(NULL AS STRING) AS code -- ; the end\n;\n"
KEY = "[[surrogate_key]]\nname = 'order_key'\ncolumns = ['id', 'code']\n"
FILES = {"models/orders.sql": SQL, "models/orders.toml": KEY}


def compiled(root, files):
    project = load(root, FILES | files)
    return project, compile_project(project, cache=False)


@pytest.mark.parametrize(
    "sql",
    [
        SQL,
        "SELECT 1 AS id, 'a' AS code",
        "WITH a AS (SELECT 1 AS id) SELECT id, 'x' AS code FROM a ORDER BY id",
        "SELECT 1 AS id, 'a' AS code UNION ALL SELECT 2, 'b'",
        "SELECT @one() AS id, '@var(code, x)' AS code",
    ],
)
def test_a_key_is_a_text_that_is_never_null(tmp_path, sql):
    files = {"models/orders.sql": sql, "macros/one.sql": "CREATE MACRO one() RETURN 1"}
    _, compilation = compiled(tmp_path, files)
    columns = compilation.models["orders"].columns

    assert () == compilation.diagnostics
    assert ["id", "code", "order_key"] == [each.name for each in columns]
    assert ("string", False) == (str(columns[2].type), columns[2].nullable)


def test_its_lineage_is_that_of_its_columns(tmp_path):
    files = {
        "models/a.sql": "SELECT 1 AS id, 2 AS other, 'x' AS code",
        "models/orders.sql": "SELECT id, other, code FROM a",
    }
    _, compilation = compiled(tmp_path, files)
    (key,) = [each for each in compilation.models["orders"].columns if each.name == "order_key"]

    assert {"id", "code"} == {edge.column for edge in key.edges}


def test_readers_contracts_and_tests_see_it(tmp_path):
    _, compilation = compiled(
        tmp_path,
        {
            "models/reader.sql": "SELECT upper(order_key) AS k FROM orders",
            "models/orders.toml": KEY + "[[tests]]\ntype = 'unique'\ncolumn = 'order_key'\n",
        },
    )

    assert () == compilation.diagnostics


def test_a_column_that_is_not_there_is_told_at_the_setting(tmp_path):
    project, compilation = compiled(tmp_path, {"models/orders.toml": KEY.replace("code", "cod")})
    (found,) = compilation.diagnostics
    (label,) = found.labels

    assert "E003 models/orders.sql:2:1 'SELECT' no column `cod` in scope" == finding(project, found)
    assert ("models/orders.toml", "'cod'") == (
        label.path,
        project.texts[label.path].text[slice(*label.span)],
    )


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        ("array('a, b')", "array<string>"),
        ("map('a', 1)", "map<string,int>"),
        ("named_struct('a', CAST(NULL AS STRING))", "struct<a:string>"),
        ("parse_json('1')", "variant"),
    ],
)
def test_a_nested_column_is_refused_at_the_setting(tmp_path, value, kind):
    sql = f"SELECT 1 AS id, {value} AS code"
    project, compilation = compiled(tmp_path, {"models/orders.sql": sql})
    (found,) = compilation.diagnostics

    assert (
        f"E005 models/orders.toml:3:18 \"'code'\" the key column `code` is `{kind}`:"
        " different values of it are written as the same text" == finding(project, found)
    )
    assert found.help is not None
    assert "`to_json(code) AS code_text`" in found.help


def test_a_column_whose_text_changes_with_the_time_zone_is_refused(tmp_path):
    sql = "SELECT 1 AS id, TIMESTAMP '2026-01-01 00:00:00' AS code"
    project, compilation = compiled(tmp_path, {"models/orders.sql": sql})
    (found,) = compilation.diagnostics

    assert (
        "E005 models/orders.toml:3:18 \"'code'\" the key column `code` is `timestamp`: its text,"
        " and with it the key, would change with the session's time zone" == finding(project, found)
    )
    assert found.help is not None
    assert "`unix_micros(code) AS code_micros`" in found.help


@pytest.mark.parametrize(
    "value", ["unix_micros(now())", "TIMESTAMP_NTZ '2026-01-01 00:00:00'", "DATE '2026-01-01'"]
)
def test_a_time_whose_text_is_one_makes_a_key(tmp_path, value):
    _, compilation = compiled(tmp_path, {"models/orders.sql": f"SELECT 1 AS id, {value} AS code"})

    assert () == compilation.diagnostics


def test_a_value_has_its_length_in_bytes_before_it(tmp_path):
    # In characters, X'F0' and X'7C313A31' would be written as X'F07C343A' and X'31' are.
    project, _ = compiled(tmp_path, {})

    assert "octet_length(CAST(`id` AS STRING)), ':'" in project.models["orders"].sql
    assert "char_length" not in project.models["orders"].sql


@pytest.mark.parametrize("value", ["array('a, b')", "named_struct('a', 1)", "parse_json('1')"])
def test_what_is_made_of_a_nested_column_makes_a_key(tmp_path, value):
    sql = f"SELECT 1 AS id, to_json({value}) AS code"
    _, compilation = compiled(tmp_path, {"models/orders.sql": sql})

    assert () == compilation.diagnostics


def test_a_finding_in_the_query_stays_where_it_is(tmp_path):
    project, compilation = compiled(tmp_path, {"models/orders.sql": SQL.replace("1 AS", "nope AS")})

    assert ["E003 models/orders.sql:2:8 'nope' no column `nope` in scope"] == [
        finding(project, each) for each in compilation.diagnostics
    ]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[[surrogate_key]]\nname = 'k'\ncolumns = []\n", "a key is made of one column at least"),
        ("[[surrogate_key]]\nname = ''\ncolumns = ['id']\n", "a key has a name"),
        ("[[surrogate_key]]\ncolumns = ['id']\n", "missing key `name`"),
        ("[[surrogate_key]]\nname = 'k'\ncolums = ['id']\n", "unknown key `colums`"),
    ],
)
def test_what_is_no_key_is_told(tmp_path, text, told):
    project, _ = compiled(tmp_path, {"models/orders.toml": text})

    assert told in findings(project)[0]


def test_a_remembered_project_has_the_same_query(tmp_path):
    load(tmp_path, FILES)
    first = load_project(tmp_path, env={}, remember=True).models["orders"].sql

    assert first == load_project(tmp_path, env={}, remember=True).models["orders"].sql
    assert "order_key" in first
