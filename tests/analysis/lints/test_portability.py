"""P001 is found where it matters, said once, allowed by name, and asked for by those who want it."""

import json
import re

import pytest

import rocky
from rocky.compiler.passes import compile_project
from rocky.diagnostics import Severity
from rocky.language.dialects.table import DIALECTS, Verdict, constructs_of, judge, portable_forms
from rocky.language.ir import Use
from rocky.project import load_project
from tests.compiler.projects import write

SOURCE = """[[source]]
name = "raw.t"
format = "parquet"
path = "t"
columns = [
  { name = "id", type = "bigint", nullable = false }, { name = "i", type = "int" },
  { name = "j", type = "int" }, { name = "x", type = "double" }, { name = "s", type = "string" },
  { name = "d", type = "date" }, { name = "t", type = "timestamp" },
  { name = "b", type = "boolean" }, { name = "p", type = "decimal(30,10)" },
  { name = "a", type = "array<int>" }, { name = "m", type = "map<string,int>" },
  { name = "r", type = "struct<f: int>" },
]
"""
PIPELINE = '[pipeline.p]\nmodels = "models/**"\n'


def project(root, sql, *, settings="", sidecar=None):
    """A project of one model `m` over `raw.t`."""
    files = {"rocky.toml": settings + PIPELINE, "sources/raw.toml": SOURCE, "models/m.sql": sql}
    write(root, files | ({"models/m.toml": sidecar} if sidecar else {}))
    return root


def targets(*names):
    return f"[portability]\ntargets = {json.dumps(names)}\n"


def found(root, **given):
    return [
        each
        for each in rocky.open(root).compile(**given).diagnostics
        if each.code in ("P001", "W022")
    ]


def names_in(root, expression, dialect, tail=""):
    """What of an expression is reported for an engine, by the text at the places."""
    text = f"SELECT {expression} AS v FROM raw.t{tail}\n"
    report = rocky.open(project(root, text)).compile(target_dialect=dialect)
    assert [] == [each.message for each in report.diagnostics if each.code != "P001"]
    return [text[each.span.start : each.span.end] for each in report.diagnostics]


# ------------------------------------------------------------------ what is found


@pytest.mark.parametrize(
    ("expression", "dialect", "places"),
    [
        ("nvl(i, 1)", "postgres", ["nvl"]),
        ("nvl(i, 1)", "snowflake", []),
        ("datediff(d, d)", "snowflake", ["datediff"]),
        ("datediff(DAY, d, d)", "databricks", []),
        ("trim('a', s)", "postgres", ["trim"]),
        ("trim(BOTH 'a' FROM s)", "postgres", []),
        ("position('a', s)", "trino", ["position"]),
        ("position('a' IN s)", "trino", []),
        ("i / j", "postgres", ["i / j"]),
        ("i / x", "postgres", []),
        ("i / j", "bigquery", []),
        ("p / 3", "duckdb", ["p / 3"]),
        ("p * p", "snowflake", ["p * p"]),
        ("p + 1", "snowflake", []),
        ("CAST(x AS INT)", "trino", ["CAST(x AS INT)"]),
        ("CAST(i AS BIGINT)", "trino", []),
        ("d - d", "duckdb", ["d - d"]),
        ("d + 1", "trino", ["d + 1"]),
        ("d + INTERVAL 1 DAY", "databricks", []),
        ("a[0]", "trino", ["a[0"]),
        ("a[0]", "snowflake", []),
        ("m['k']", "duckdb", []),
        ("r.f", "snowflake", ["r.f"]),
        ("r.f", "duckdb", []),
        ("i <=> j", "bigquery", ["<=>"]),
        ("i == j", "trino", ["=="]),
        ("i = j", "trino", []),
        ("i ^ j", "duckdb", ["^"]),
        ("s RLIKE 'a'", "snowflake", ["RLIKE"]),
        ('"a"', "duckdb", ['"a"']),
        ("'a'", "duckdb", []),
        (r"'a\tb'", "postgres", [r"'a\tb'"]),
        (r"'a\tb'", "snowflake", []),
        ("`s`", "bigquery", []),
        ("`s`", "trino", ["`s`"]),
        ("s = 1", "postgres", ["s = 1"]),
        ("try_cast(s AS INT)", "postgres", ["try_cast(s AS INT)"]),
        ("CAST(s AS TIMESTAMP)", "duckdb", ["CAST(s AS TIMESTAMP)"]),
        ("transform(a, y -> y + 1)", "postgres", ["transform", "->"]),
        ("transform(a, y -> y + 1)", "trino", []),
        ("count(*) FILTER (WHERE b)", "snowflake", ["FILTER"]),
        ("count(*) FILTER (WHERE b)", "duckdb", []),
        ("row_number() OVER (ORDER BY i)", "snowflake", ["i"]),
        ("row_number() OVER (ORDER BY i NULLS FIRST)", "snowflake", []),
        ("row_number() OVER (ORDER BY abs(i) DESC NULLS LAST, j NULLS FIRST)", "snowflake", []),
        ("row_number() OVER (ORDER BY id)", "snowflake", []),
        ("row_number() OVER (ORDER BY i DESC)", "duckdb", []),
        ("lag(i) IGNORE NULLS OVER (ORDER BY id)", "duckdb", ["IGNORE NULLS"]),
        ("lag(i) IGNORE NULLS OVER (ORDER BY id)", "trino", []),
        ("current_date", "duckdb", []),
        ("EXTRACT(YEAR FROM d)", "bigquery", []),
        ("listagg(s, ',') WITHIN GROUP (ORDER BY s)", "snowflake", []),
    ],
)
def test_a_use_is_reported_for_the_engines_that_read_it_otherwise(
    tmp_path, expression, dialect, places
):
    assert places == names_in(tmp_path, expression, dialect)


@pytest.mark.parametrize(
    ("sql", "dialect", "name"),
    [
        ("SELECT q FROM raw.t LATERAL VIEW explode(a) e AS q", "duckdb", "LATERAL VIEW"),
        ("SELECT i, count(*) AS n FROM raw.t GROUP BY ALL", "trino", "GROUP BY ALL"),
        ("SELECT * EXCEPT (a) FROM raw.t", "trino", "* EXCEPT ("),
        ("SELECT i AS k, k + 1 AS l FROM raw.t", "bigquery", "k"),
        ("SELECT id FROM raw.t ORDER BY i LIMIT 1", "postgres", "i"),
        ("SELECT id FROM raw.t ORDER BY id LIMIT 1 OFFSET 2", "trino", "LIMIT 1 OFFSET"),
        ("SELECT t.id FROM raw.t LEFT SEMI JOIN raw.t AS u ON t.id = u.id", "trino", "SEMI"),
        ("SELECT id FROM raw.t DISTRIBUTE BY id", "snowflake", "DISTRIBUTE BY"),
        ("FROM raw.t |> SELECT id", "postgres", "|>"),
    ],
)
def test_a_clause_is_reported_at_its_place(tmp_path, sql, dialect, name):
    report = found(project(tmp_path, sql + "\n"), target_dialect=dialect)

    assert name in [sql[each.span.start : each.span.end] for each in report]


def test_pipes_are_reported_once_a_query_and_never_for_the_steps_of_a_rocky_model(tmp_path):
    root = project(tmp_path, "FROM raw.t |> WHERE id > 1 |> SELECT id\n")
    write(root, {"models/steps.rocky": "from raw.t\nwhere id > 1\nselect { id }\n"})
    report = found(root, target_dialect="duckdb")

    assert [("m", "DuckDB does not have `|>`")] == [(each.model, each.message) for each in report]


def test_an_order_that_decides_nothing_is_not_reported(tmp_path):
    assert [] == found(
        project(tmp_path, "SELECT id FROM raw.t ORDER BY i\n"), target_dialect="trino"
    )


def test_several_engines_are_one_finding_with_a_note_for_each(tmp_path):
    settings = targets("postgres", "snowflake", "bigquery")
    (one,) = found(project(tmp_path, "SELECT i / j AS v FROM raw.t\n", settings=settings))

    assert "`/` of two integers is not portable to PostgreSQL and Snowflake" == one.message
    assert ["PostgreSQL", "Snowflake"] == [note.split(":")[0] for note in one.notes]


def test_what_is_not_known_is_a_warning_and_never_silent(tmp_path):
    settings = '[compile]\nundeclared = "unknown"\n' + targets("duckdb")
    (one,) = found(
        project(tmp_path, "SELECT our_own_score(i) AS v FROM raw.t\n", settings=settings)
    )

    assert (Severity.WARNING, True) == (one.severity, "is not known" in one.message)


def test_a_function_that_the_project_declares_is_not_known_elsewhere(tmp_path):
    root = project(tmp_path, "SELECT doubled(i) AS v FROM raw.t\n")
    write(
        root, {"functions/doubled.sql": "CREATE FUNCTION doubled(n INT) RETURNS INT RETURN n * 2\n"}
    )
    (one,) = found(root, target_dialect="databricks")

    assert "whether `doubled` means the same on Databricks is not known" == one.message


def test_the_level_can_be_changed(tmp_path):
    settings = '[lints]\nP001 = "warn"\n' + targets("duckdb")
    root = project(tmp_path, "SELECT nvl(i, 1) AS v FROM raw.t\n", settings=settings)

    assert [Severity.WARNING] == [each.severity for each in found(root)]
    assert not rocky.open(root).compile().has_errors


def test_a_variable_moves_no_place(tmp_path):
    text = "SELECT @var(one, 1) AS a, nvl(i, 1) AS v FROM raw.t\n"
    report = found(project(tmp_path, text), target_dialect="duckdb")

    assert ["nvl"] == [text[each.span.start : each.span.end] for each in report]


def test_a_use_in_a_macro_is_told_at_the_call_and_at_its_line(tmp_path):
    text = "SELECT @filled(i) AS v FROM raw.t\n"
    root = project(tmp_path, text)
    macro = "CREATE MACRO filled(value EXPRESSION)\nRETURN nvl(@value, 0)\n"
    write(root, {"macros/filled.sql": macro})
    (one,) = found(root, target_dialect="duckdb")
    label = one.labels[0].span

    assert "@filled(i)" == text[one.span.start : one.span.end]
    assert ("macros/filled.sql", 2) == (label.file, label.line)


# ------------------------------------------------------------------ what is allowed


def test_a_name_is_allowed_in_the_project_in_a_model_and_in_any_case(tmp_path):
    text = "SELECT nvl(i, 1) AS v, i / j AS w FROM raw.t\n"
    everywhere = targets("postgres") + 'allow = ["NVL"]\n'
    root = project(tmp_path, text, settings=everywhere)
    assert ["i / j"] == [text[each.span.start : each.span.end] for each in found(root)]

    project(
        tmp_path, text, settings=everywhere, sidecar='portability.allow = ["integer-division"]\n'
    )
    assert [] == found(root)


@pytest.mark.parametrize("place", ["rocky.toml", "models/m.toml"])
def test_a_name_that_is_neither_a_function_nor_a_form_is_refused(tmp_path, place):
    block = '[portability]\nallow = ["integer-divison"]\n'
    root = project(
        tmp_path,
        "SELECT id FROM raw.t\n",
        settings=block if place == "rocky.toml" else "",
        sidecar=block if place != "rocky.toml" else None,
    )
    (one,) = (each for each in rocky.open(root).compile().diagnostics)

    assert (place, "did you mean `integer-division`?") == (one.span.file, one.help)


def test_a_comment_allows_and_is_not_called_unused_where_nobody_looks(tmp_path):
    text = "SELECT nvl(i, 1) AS v -- rocky: allow(dialect-divergence)\nFROM raw.t\n"
    root = project(tmp_path, text)

    assert [] == found(root)
    assert [] == found(root, target_dialect="postgres")
    assert ["W022"] == [each.code for each in found(root, target_dialect="snowflake")]


# ------------------------------------------------------------------ who asks


def test_the_option_takes_the_place_of_the_settings(tmp_path):
    root = project(tmp_path, "SELECT nvl(i, 1) AS v FROM raw.t\n", settings=targets("duckdb"))

    assert [] == found(root, target_dialect="snowflake")
    assert 1 == len(found(root))


def test_only_a_compile_asks(tmp_path):
    root = project(tmp_path, "SELECT nvl(i, 1) AS v FROM raw.t\n", settings=targets("duckdb"))

    assert () == compile_project(load_project(root, env={})).diagnostics
    assert 1 == rocky.open(root).ci().exit_code
    assert ["m"] == [each.name for each in rocky.open(root).emit_sql(dialect="duckdb").models]


def test_a_compile_with_a_cache_says_the_same_for_other_engines(tmp_path):
    root = project(tmp_path, "SELECT nvl(i, 1) AS v, i / j AS w FROM raw.t\n")
    first = {each: found(root, target_dialect=each, cache=False) for each in DIALECTS}
    rocky.open(root).compile()
    again = {each: found(root, target_dialect=each) for each in DIALECTS}

    assert first == again
    assert 0 == rocky.open(root).compile(target_dialect="trino").summary.bound


# ------------------------------------------------------------------ what help promises

VALUES = {
    "value": "i", "text": "s", "condition": "b", "a": "i", "b": "j", "c": "j", "n": "2",
    "date": "d", "time": "t", "field": "YEAR", "'text'": "'text'",
}  # fmt: skip
TEXTS = {"concat", "ilike-operator", "like-quantified"}
CLAUSES = {"group-by-all", "order-by-all", "star-except", "lateral-alias", "natural-join"}


def filled(name, form):
    """A portable form with columns of `raw.t` for its placeholders."""
    words = VALUES | ({"a": "s", "b": "s", "c": "s"} if name in TEXTS else {})
    if name == "date":
        words["value"] = "s"
    if name.startswith("null-order"):
        return f"row_number() OVER (ORDER BY {form.replace('a ', 'i ')})"
    parts = [words.get(each, each) for each in re.split(r"('\w*'|\w+)", form)]
    return "".join(parts)


def test_every_portable_form_is_read_alike_by_the_engines_it_is_offered_for(tmp_path):
    wrong = {}
    forms = {name: form for name, form in portable_forms().items() if name not in CLAUSES}
    models = {
        f"models/f{at}.sql": f"SELECT {filled(name, form)} AS v FROM raw.t\n"
        for at, (name, form) in enumerate(forms.items())
    }
    write(tmp_path, {"rocky.toml": PIPELINE, "sources/raw.toml": SOURCE, **models})
    for dialect in DIALECTS:
        offered = {
            f"f{at}": name
            for at, name in enumerate(forms)
            if _fact(name, dialect).verdict is not Verdict.SAME
        }
        report = rocky.open(tmp_path).compile(target_dialect=dialect)
        assert not [each.message for each in report.diagnostics if each.code != "P001"]
        for each in report.diagnostics:
            if each.model in offered:
                wrong[dialect, offered[each.model]] = each.message

    assert {} == wrong


def _fact(name, dialect):
    forms = constructs_of(dialect)
    return forms[name] if name in forms else judge(Use(name, 1, 0, 0), dialect)


def test_the_body_of_a_sql_function_is_judged_in_its_file(tmp_path):
    root = project(tmp_path, "SELECT 1 AS a", settings=targets("duckdb"))
    days = (
        "CREATE FUNCTION days(d DATE, n INT) RETURNS INT\nRETURN datediff(d, DATE '2026-01-01') + n"
    )
    more = (
        '[[function]]\nname = "more"\nkind = "sql"\nparameters = [{ name = "x", type = "int" }]\n'
        'returns = "int"\nbody = "SELECT nvl(x, 2)"\n'
    )
    write(root, {"functions/days.sql": days, "functions/more.toml": more})

    assert [
        ("functions/days.sql", 2, 8, "DuckDB reads `datediff` otherwise"),
        ("functions/more.toml", 6, 16, "`nvl` is not a function of DuckDB"),
    ] == [
        (each.span.file, each.span.line, each.span.col, each.message.partition(":")[0])
        for each in found(root)
    ]
    write(root, {"rocky.toml": targets("duckdb") + "allow = ['nvl', 'datediff']\n" + PIPELINE})
    assert [] == found(root)
