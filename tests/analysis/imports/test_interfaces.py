"""Interface files that cannot be believed, and why."""

import json

import pytest

from rocky.diagnostics import Diagnostic
from rocky.project.interfaces import Interface, content_hash, decode_interface

COLUMN = {"name": "id", "type": "bigint", "nullable": False}
TABLE = {"name": "t", "target": "a.b.t", "columns": [COLUMN]}

DEEP = "array<" * 2000 + "int" + ">" * 2000
ODD = {
    "type": "struct",
    "fields": [{"name": "a", "type": "int", "nullable": True, "metadata": 3}],
}


def text_of(**changes: object) -> str:
    content = {"interface_version": 1, "project": "p", "tables": [TABLE], "reads": [], **changes}
    return json.dumps({**content, "interface_hash": content_hash(content)})


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (text_of(tables=[{**TABLE, "columns": [COLUMN, {**COLUMN, "name": "ID"}]}]), "twice"),
        (text_of(tables=[TABLE, {**TABLE, "target": "A.B.T"}]), "there twice"),
        (text_of(tables=[{**TABLE, "target": "b.t"}]), "`b.t` is not `catalog.schema.table`"),
        (text_of(tables=[{**TABLE, "columns": []}]), "has no columns"),
        (text_of(tables=[{**TABLE, "columns": [{**COLUMN, "type": "bigit"}]}]), "`type`: "),
        (
            text_of(tables=[{**TABLE, "columns": [{**COLUMN, "type": {"a": 1}}]}]),
            "`type` is neither",
        ),
        (text_of(tables=[{**TABLE, "columns": [{**COLUMN, "type": 1}]}]), "`type` is neither"),
        (text_of(tables=[{**TABLE, "columns": [{"name": "id"}]}]), "missing key `type`"),
        (text_of(tables=[{**TABLE, "sql": "SELECT 1"}]), "unknown key `sql`"),
        (
            text_of(tables=[{**TABLE, "columns": [{**COLUMN, "type": DEEP}]}]),
            "`type` nests types too deeply",
        ),
        (
            text_of(tables=[{**TABLE, "columns": [{**COLUMN, "type": ODD}]}]),
            "`type` is neither",
        ),
        (text_of(tables=[TABLE, {**TABLE, "target": "a.c.t"}]), "two tables are called `t`"),
        (text_of(tables={}), "must be a list"),
        (text_of(project=1), "must be a text"),
        (text_of(interface_version=0), "is not an interface"),
        ('{"interface_version": 1}', "not as it was published"),
        ("[" * 100_000, "nests values too deeply"),
    ],
)
def test_a_file_that_says_what_cannot_be_is_refused(text, expected):
    found = decode_interface("x.json", text)

    assert isinstance(found, Diagnostic)
    assert ("E017", True) == (found.code, expected in found.message), found.message


def test_a_newer_form_is_refused_before_anything_else_of_it_is_read():
    found = decode_interface("x.json", '{"interface_version": 2, "whatever": []}')

    assert isinstance(found, Diagnostic)
    assert "E034" == found.code


def test_types_as_deep_as_anybody_nests_them_are_read():
    kind = "array<" * 60 + "struct<a:map<string,int>>" + ">" * 60
    found = decode_interface(
        "x.json", text_of(tables=[{**TABLE, "columns": [COLUMN | {"type": kind}]}])
    )

    assert isinstance(found, Interface)
    assert kind == str(found.tables[0].columns[0].type)
