"""A slip in a key, a type or an item of a list: one report, which names what was meant."""

import pytest

from tests.project.projects import findings, helps, load

COLUMNS = 'columns = [ { name = "a", type = "int" } ]\n'


@pytest.mark.parametrize(
    ("source", "message", "meant"),
    [
        (f'nmae = "raw.x"\n{COLUMNS}', "unknown key `nmae` in item 1 of `source`", "name"),
        (
            'name = "x"\ncolumn = [ { name = "a", type = "int" } ]\n',
            "unknown key `column` in item 1 of `source`",
            "columns",
        ),
        (
            f'name = "x"\nformat = "csv"\npaht = "x.csv"\n{COLUMNS}',
            "unknown key `paht` in item 1 of `source`",
            "path",
        ),
        (
            'name = "x"\ncolumns = [ { name = "a", tpye = "int" } ]\n',
            "unknown key `tpye` in item 1 of `columns`",
            "type",
        ),
    ],
)
def test_a_misspelt_key_is_not_also_a_missing_one(tmp_path, source, message, meant):
    project = load(tmp_path, {"sources/s.toml": f"[[source]]\n{source}"})

    assert [message] == [found.message for found in project.diagnostics]
    assert [f"did you mean `{meant}`?"] == helps(project)


def test_a_key_that_is_missing_beside_an_unknown_one_is_still_reported(tmp_path):
    source = '[[source]]\nzzzzzz = 1\ncolumns = [ { name = "a", type = "int" } ]\n'
    project = load(tmp_path, {"sources/s.toml": source})

    assert ["unknown key `zzzzzz` in item 1 of `source`", "missing key `name`"] == [
        found.message for found in project.diagnostics
    ]


@pytest.mark.parametrize(
    ("written", "hint"),
    [
        ("bigin", "did you mean `bigint`?"),
        ("array<strng>", "did you mean `string`?"),
        ("struct<a:int,b:timestmp>", "did you mean `timestamp`?"),
        ("array<int64>", "Spark calls it `bigint`"),
        ("int64", "Spark calls it `bigint`"),
        ("varchar", "Spark calls it `string`"),
        ("whatever", None),
    ],
)
def test_a_type_that_spark_does_not_know_comes_with_the_nearest_name(tmp_path, written, hint):
    source = f'[[source]]\nname = "x"\ncolumns = [ {{ name = "a", type = "{written}" }} ]\n'
    contract = f'[[columns]]\nname = "one"\ntype = "{written}"\n'
    seed = f'columns = [ {{ name = "a", type = "{written}" }} ]\n'
    project = load(
        tmp_path,
        {
            "sources/s.toml": source,
            "contracts/m.contract.toml": contract,
            "seeds/t.csv": "a\n1\n",
            "seeds/t.toml": seed,
        },
    )

    assert [hint] * 3 == helps(project)


def test_an_item_of_a_list_is_named_by_its_place(tmp_path):
    project = load(
        tmp_path, {"models/m.sql": "SELECT 1 AS one", "models/m.toml": 'depends_on = ["m", 7]\n'}
    )

    assert [
        "E017 models/m.toml:1:20 '7' item 2 of `depends_on` must be a text, not a whole number"
    ] == findings(project)
