"""The SQL of checks is compiled as models are, and what is wrong is told at its place in the TOML."""

import pytest

from rocky.compiler.passes import compile_project
from rocky.diagnostics.diagnostic import Span
from rocky.project import load_project
from rocky.project.toml.parser import locate_keys
from rocky.project.toml.strings import place_inside
from tests.project.projects import finding, load

SOURCES = """
[[source]]
name = "raw.orders"
path = "data/orders"
format = "parquet"
columns = [
  { name = "id", type = "bigint", nullable = false },
  { name = "amount", type = "double" },
  { name = "note", type = "string" },
]
"""
FILES = {
    "sources/raw.toml": SOURCES,
    "models/orders.sql": "SELECT id, amount, note FROM raw.orders",
    "models/ids.sql": "SELECT id FROM orders",
    "macros/positive.sql": "CREATE MACRO positive(x EXPRESSION)\nRETURN @x > 0\n",
}


def told(root, **files) -> list[str]:
    project = load(root, FILES | files)
    found = compile_project(project, cache=False).diagnostics
    return [finding(project, each) for each in found]


def sidecar(root, text) -> list[str]:
    return told(root, **{"models/orders.toml": text})


def test_sql_that_is_right_is_quiet(tmp_path):
    assert [] == sidecar(
        tmp_path,
        """
[[tests]]
type = "expression"
expression = "amount > 0 AND note IS NOT NULL"
filter = "id % 2 = 0"
[[tests]]
type = "unique_expr"
key_expr = "concat(id, '-', note) -- of both"
[[tests]]
type = "expression"
expression = "@positive(amount)"
[[tests]]
type = "row_count_range"
min = 1
filter = "id IN (SELECT id FROM a_table_of_the_catalogue)"
""",
    )


def test_a_comment_in_a_call_hides_nothing_of_the_macro(tmp_path):
    assert [] == sidecar(
        tmp_path,
        '''
[[tests]]
type = "expression"
expression = """@positive(
  amount -- in euros
)"""
''',
    )


def test_a_wrong_cast_is_told_at_its_column_in_the_toml(tmp_path):
    assert [
        "E005 models/orders.toml:4:30 'CAST(id AS DATE)'"
        " a value of type `bigint` cannot be cast to `date`"
    ] == sidecar(
        tmp_path,
        '[[tests]]\ntype = "expression"\nname = "dated"\n'
        'expression = "amount > 0 AND CAST(id AS DATE) > current_date()"\n',
    )


@pytest.mark.parametrize(
    ("line", "place", "under"),
    [
        ('filter = "nope > 0"', "4:11", "nope"),
        ("filter = 'id > 0 AND nope > 0'", "4:22", "nope"),
        ('filter = """\n  id > 0\n  AND nope > 0"""', "6:7", "nope"),
        ("filter = '''nope\n> 0'''", "4:13", "nope"),
        (r'filter = "note <> \"\u00e9\" AND \u006eope > 0"', "4:34", r"\u006eope"),
        ('filter = """id > 0 \\\n    AND nope > 0"""', "5:9", "nope"),
    ],
    ids=["basic", "literal", "lines", "literal lines", "escapes", "joined lines"],
)
def test_a_place_is_found_whatever_the_text_is_written_with(tmp_path, line, place, under):
    text = f'[[tests]]\ntype = "not_null"\ncolumn = "id"\n{line}\n'

    assert [f"E003 models/orders.toml:{place} {under!r} no column `nope` in scope"] == sidecar(
        tmp_path, text
    )


def test_a_value_from_the_environment_is_told_as_a_whole_and_not_quoted(tmp_path):
    text = (
        '[[tests]]\ntype = "not_null"\ncolumn = "id"\nfilter = "id > 0 AND ${SECRET:-nope} > 0"\n'
    )

    assert [
        "E003 models/orders.toml:4:10 '\"id > 0 AND ${SECRET:-nope} > 0\"' this setting, with what"
        " the environment says in it, is not SQL that Spark would take"
    ] == sidecar(tmp_path, text)


@pytest.mark.parametrize(
    ("sql", "told_as"),
    [
        ("id > 0) OR (1 = 1", "E009 'id > 0) OR (1 = 1' this is not one expression"),
        ("id >", "E009 'id >' something is missing at the end of this expression"),
        ("id, amount", "E009 'id, amount' this is not one expression"),
        ("id + 1", "E005 'id + 1' the WHERE condition is `bigint`, not a boolean"),
        ("sum(id) > 1", "E007 'sum(id) > 1' an aggregate function cannot stand in WHERE"),
        ("lowwer(note) = 'a'", "E006 'lowwer(note)' no function `lowwer`"),
        ("orders.id > 1", "E003 'orders.id' no relation `orders` in scope, so no column `orders.id`"),
        ("@nobody(id)", "E071 '@nobody(id)' no macro `nobody`"),
        ("id > 0 AND @positive(nope)", "E003 'nope' no column `nope` in scope"),
    ],
)  # fmt: skip
def test_what_spark_would_refuse_is_an_error_before_anything_runs(tmp_path, sql, told_as):
    (found,) = sidecar(tmp_path, f'[[tests]]\ntype = "expression"\nexpression = "{sql}"\n')
    code, _, rest = found.partition(" ")

    assert told_as == f"{code} {rest.partition(' ')[2]}"


def test_an_error_in_a_macro_of_a_test_has_its_line_too(tmp_path):
    project = load(
        tmp_path,
        FILES
        | {
            "models/orders.toml": '[[tests]]\ntype = "expression"\nexpression = "@positive(array(1))"'
        },
    )
    (found,) = compile_project(project, cache=False).diagnostics

    assert "E001 models/orders.toml:3:15 '@positive(array(1))'" in finding(project, found)
    assert "macros/positive.sql" in [label.path for label in found.labels]


def test_a_place_follows_an_edit_that_changes_no_value(tmp_path):
    text = '[[tests]]\ntype = "expression"\nexpression = "nope > 0"\n'
    load(tmp_path, FILES | {"models/orders.toml": text})
    compile_project(load_project(tmp_path, env={}, remember=True))
    (tmp_path / "models/orders.toml").write_text(f"# one line more\n{text}")
    project = load_project(tmp_path, env={}, remember=True)
    compilation = compile_project(project)

    assert ["E003 models/orders.toml:4:15 'nope' no column `nope` in scope"] == [
        finding(project, each) for each in compilation.diagnostics
    ]


def test_a_changed_column_is_met_by_the_tests_that_name_it(tmp_path):
    files = {"models/orders.toml": '[[tests]]\ntype = "expression"\nexpression = "amount > 0"\n'}
    assert [] == told(tmp_path, **files)

    files["models/orders.sql"] = "SELECT id, amount AS value, note FROM raw.orders"
    assert ["E003 models/orders.toml:3:15 'amount' no column `amount` in scope"] == told(
        tmp_path, **files
    )


def test_a_test_of_another_table_is_compiled_against_that(tmp_path):
    assert [
        "E002 models/ids.toml:4:12 '\"order\"' no model, source or seed `order`",
        "E041 models/ids.toml:10:13 '\"idd\"' `raw.orders` has no column `idd`",
        "E003 models/ids.toml:15:26 'nope' no column `nope` in scope",
    ] == told(
        tmp_path,
        **{
            "models/ids.toml": """\
[[tests]]
type = "relationships"
column = "id"
to_table = "order"
to_column = "id"
[[tests]]
type = "relationships"
column = "id"
to_table = "raw.orders"
to_column = "idd"

[[tests]]
type = "expression"
table = "orders"
expression = "id > 0 AND nope > 1"
"""
        },
    )


PIPELINE = """
[adapter]
type = "spark"
warehouse = "warehouse"

[pipeline.shop]
models = "models/**"
target = { catalog = "lake", schema = "shop" }

[pipeline.watch]
type = "quality"
tables = [{ catalog = "lake", schema = "shop", table = "orders" }, { catalog = "lake", schema = "x" }]

[pipeline.watch.checks]
enabled = true
custom = [
  { name = "a", sql = "SELECT count(*) FROM {table} WHERE @positive(amount)" },
  { name = "b", sql = "SELECT count(*) FROM {table} WHERE nope" },
  { name = "c", sql = "SELECT note FROM {table}" },
  { name = "d", sql = "DELETE FROM {table}" },
]
cross_source_overlap = { key_expr = "lowwer(note)" }

[[pipeline.watch.checks.assertions]]
type = "expression"
expression = "@positive(nope)"

[[pipeline.watch.checks.assertions]]
type = "expression"
table = "of_others"
expression = "whatever > 0 AND id >"

[[pipeline.watch.checks.assertions]]
type = "expression"
table = "of_others"
expression = "whatever > 0"
"""


def test_the_checks_of_pipelines_are_compiled_against_the_models_whose_tables_they_check(tmp_path):
    assert [
        "E003 rocky.toml:18:59 'nope' no column `nope` in scope",
        "E005 rocky.toml:19:24 'SELECT note FROM {table}'"
        " the first column of a check's query is a number, and this one is `string`",
        "E019 rocky.toml:20:24 'DELETE' this is not a query",
        "E006 rocky.toml:22:38 'lowwer(note)' no function `lowwer`",
        "E003 rocky.toml:26:25 'nope' no column `nope` in scope",
        "E009 rocky.toml:31:15 'whatever > 0 AND id >'"
        " something is missing at the end of this expression",
    ] == sorted(
        told(tmp_path, **{"rocky.toml": PIPELINE}), key=lambda each: int(each.split(":")[1])
    )


@pytest.mark.parametrize("text", ["a = 'x\ty'", 'a = "x\\ty"', 'a = """x\\\n  \ty"""', "a = 1"])
def test_a_part_of_a_value_never_lies_outside_of_it(text):
    value = locate_keys(text)["a",].value
    for start in range(5):
        for end in range(start, 6):
            found = place_inside(text, value, "x\ty", Span(start, end))

            assert value.start <= found.start <= found.end <= value.end


@pytest.mark.parametrize(
    "key", ["count(*)", "max(id) + 1", "row_number() OVER (ORDER BY id)", "id % count(*) OVER ()"]
)
def test_a_key_that_looks_at_many_rows_is_refused_since_it_would_always_be_unique(tmp_path, key):
    found = sidecar(tmp_path, f'[[tests]]\ntype = "unique_expr"\nkey_expr = "{key} -- k"\n')

    assert 1 == len(found)
    assert "a key is worked out from one row, and this looks at many" in found[0]


def test_a_key_may_hold_a_subquery_that_aggregates(tmp_path):
    key = "id - (SELECT max(id) FROM elsewhere)"
    assert [] == sidecar(tmp_path, f'[[tests]]\ntype = "unique_expr"\nkey_expr = "{key}"\n')
