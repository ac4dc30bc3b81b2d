from dataclasses import replace

import pytest

from rocky.language.datatypes.types import BIGINT, UNKNOWN, StructField, decimal
from tests.project.projects import findings, helps, load

ORDERS = """\
[[source]]
name = "raw.Orders"
format = "csv"
path = "data/${DAY:-today}.csv"
options = { header = true, sep = ";", maxColumns = 10 }
columns = [
  { name = "order_id", type = "bigint", nullable = false },
  { name = "amount", type = "decimal(18,2)" },
]
"""


def test_a_source_has_typed_columns_and_their_places(tmp_path):
    project = load(tmp_path, {"sources/raw.toml": ORDERS})
    source = project.sources["raw.orders"]
    text = project.texts[source.file].text

    assert [] == findings(project)
    assert ("raw.Orders", "csv", "data/today.csv") == (source.name, source.format, source.path)
    assert {"header": "true", "sep": ";", "maxColumns": "10"} == source.options
    assert [("order_id", BIGINT, False), ("amount", decimal(18, 2), True)] == [
        (field.name, field.type, field.nullable) for field in source.columns
    ]
    assert '"raw.Orders"' == text[slice(*source.place)]
    assert ['"order_id"', '"amount"'] == [text[slice(*place)] for place in source.column_places]


def source(rest: str) -> str:
    return f'[[source]]\nname = "s"\n{rest}\n'


COLUMNS = 'columns = [ { name = "a", type = "int" } ]'


@pytest.mark.parametrize(
    ("text", "expected", "help_text"),
    [
        (source('columns = [ { name = "a", type = "bigintt" } ]'), "3:35 ", None),
        (source('columns = [ { name = "a", type = "int64" } ]'), "3:35 ", "Spark calls it `bigint`"),
        (source('columns = [ { name = "a", type = "array<strin>" } ]'), "3:41 'strin>' ", None),
        (source('columns = [ { name = "a", type = "decimal(40,2)" } ]'), "3:3", None),
        (source('columns = [ { name = "a", type = 5 } ]'), "3:34 '5' `type` must be a text such as `bigint`", "write the type in quotes"),
        (source('columns = [ { name = "a" } ]'), "3:13 '{ name = \"a\" }' missing key `type`", None),
        (source('columns = [ { type = "int" } ]'), "3:13 '{ type = \"int\" }' missing key `name`", None),
        (source('columns = [ { name = "a", type = "int", nulable = true } ]'), "3:41 'nulable' unknown key `nulable`", "did you mean `nullable`?"),
        (source('columns = [ { name = "a", type = "int" }, { name = "A", type = "int" } ]'), "3:52 '\"A\"' column `A` is declared twice", None),
        (source('columns = "a int"'), "3:11 '\"a int\"' `columns` must be a list, not a text", None),
        (source(""), "1:1 '[[source]]' source `s` declares no `columns`", 'list them: `columns = [ { name = "id", type = "bigint" } ]`, or let `rocky discover --write` do it'),
        (source(f'{COLUMNS}\nformat = "cvs"\npath = "x"'), "4:10 '\"cvs\"' `cvs` is not one of", "did you mean `csv`?"),
        (source(f'{COLUMNS}\nformat = "csv"'), "4:10 '\"csv\"' a source of format `csv` needs `path`", None),
        (source(f'{COLUMNS}\npth = "x"'), "4:1 'pth' unknown key `pth`", "did you mean `path`?"),
        (f"[[source]]\n{COLUMNS}", "1:1 '[[source]]' missing key `name`", None),
        (f'[[source]]\nname = "a.b.c.d"\n{COLUMNS}', "2:8 '\"a.b.c.d\"' a source's name is `table`, `schema.table` or `catalog.schema.table`", None),
        (f'[[source]]\nname = "a..b"\n{COLUMNS}', "2:8 ", None),
        (f'[source]\nname = "a"\n{COLUMNS}', "1:1 '[source]' `source` must be written `[[source]]`, not a table", None),
        (f'[[sources]]\nname = "a"\n{COLUMNS}', "1:3 'sources' unknown key `sources`", "did you mean `source`?"),
        ('[[source]]\nname = "a', "2:9 'a' not valid TOML: unterminated string at the end of the file", "close the text with its quote"),
    ],
)  # fmt: skip
def test_a_bad_source_is_reported_at_its_own_place(tmp_path, text, expected, help_text):
    project = load(tmp_path, {"sources/s.toml": text})

    assert 1 == len(findings(project)), findings(project)
    assert findings(project)[0].startswith(f"E017 sources/s.toml:{expected}")
    assert help_text is None or [help_text] == helps(project)


def test_a_column_of_an_unreadable_type_is_there_with_an_unknown_type(tmp_path):
    text = source(
        'columns = [ { name = "a", type = "bigintt", nullable = false }, { name = "b", type = "bigint" } ]'
    )
    project = load(tmp_path, {"sources/s.toml": text})

    assert [("a", UNKNOWN), ("b", BIGINT)] == [
        (field.name, field.type) for field in project.sources["s"].columns
    ]


def test_a_second_source_of_one_name_is_reported_with_the_first(tmp_path):
    files = {
        "sources/a.toml": source(COLUMNS),
        "sources/deep/b.toml": source(COLUMNS).replace('"s"', '"S"'),
    }
    project = load(tmp_path, files)

    assert ["E017 sources/deep/b.toml:2:8 '\"S\"' source `S` is declared twice"] == findings(
        project
    )
    assert ["sources/a.toml"] == [label.path for label in project.diagnostics[0].labels]
    assert "sources/a.toml" == project.sources["s"].file


def test_a_broken_source_file_leaves_the_others_and_its_names(tmp_path):
    broken = '[[source]]\nname = "raw.a"\nx = \n[[source]]\ncolumns = [{ name = "no" }]\nname = \'raw.B\'\n'
    files = {"sources/a.toml": broken, "sources/b.toml": source(COLUMNS), "sources/notes.md": "x"}
    project = load(tmp_path, files)

    assert ["E017 sources/a.toml:3:4 ' ' not valid TOML: invalid value"] == findings(project)
    assert {"raw.a": 0, "raw.b": 0, "s": 1} == {
        key: len(source.columns) for key, source in project.sources.items()
    }


def test_columns_that_were_discovered_stand_in_no_file(tmp_path):
    files = {
        "rocky.toml": '[compile]\nundeclared = "unknown"\n',
        "sources/raw.toml": '[[source]]\nname = "raw.orders"\n',
    }
    source = load(tmp_path, files).sources["raw.orders"]
    found = replace(source, columns=(StructField("id", BIGINT, False),), discovered_ms=1)

    assert ((), (None,)) == (source.column_places, found.column_places)
