import pytest

from rocky.project.seed_types import infer_types
from tests.project.projects import findings, helps, load


def columns(project, name="s"):
    return {
        field.name: f"{field.type}{'' if field.nullable else ' not null'}"
        for field in project.seeds[name].columns
    }


def test_a_seed_has_the_columns_of_its_header(tmp_path):
    text = "id,rate,day,at,ok,name\n1,1.5,2024-02-29,2024-02-29 10:00:00,true,x\n2,,,,,\n"
    project = load(tmp_path, {"seeds/s.csv": text})

    assert [] == findings(project)
    assert {
        "id": "bigint",
        "rate": "double",
        "day": "date",
        "at": "timestamp",
        "ok": "boolean",
        "name": "string",
    } == columns(project)
    seed = project.seeds["s"]
    assert ["id", "rate"] == [text[slice(*place)] for place in seed.column_places[:2]]


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        ([], "string"),
        (["", ""], "string"),
        (["1", "-2", "+3", "007", ""], "bigint"),
        (["9223372036854775807"], "bigint"),
        (["9223372036854775808"], "string"),
        (["00000000000000000000001"], "bigint"),
        (["1", "2.0"], "double"),
        (["1e5", ".5", "5.", "NaN", "-Inf"], "double"),
        (["1", "99999999999999999999"], "string"),
        (["1", "x"], "string"),
        (["1", "true"], "string"),
        (["true", "FALSE"], "boolean"),
        (["2024-02-29"], "date"),
        (["2023-02-29"], "string"),
        (["2024-2-9"], "string"),
        (["2024-02-29", "2024-02-29T10:00"], "timestamp"),
        (["2024-02-29 10:00:00.123456Z", "2024-02-29 10:00:00+02:00"], "timestamp"),
        (["2024-02-29 25:00"], "string"),
        ([" 1"], "string"),
        (["1_000"], "string"),
        (["\u0661"], "string"),
    ],
)
def test_the_type_of_a_column_follows_from_its_cells(cells, expected):
    assert expected == str(infer_types(cells))


def test_a_sidecar_declares_some_columns_and_the_rest_is_inferred(tmp_path):
    sidecar = 'columns = [ { name = "Price", type = "decimal(10,2)", nullable = false } ]\n[target]\nschema = "ref"\n'
    project = load(
        tmp_path,
        {"seeds/s.csv": "id;price\n1;2.50\n", "seeds/s.toml": f'delimiter = ";"\n{sidecar}'},
    )

    assert [] == findings(project)
    assert {"id": "bigint", "Price": "decimal(10,2) not null"} == columns(project)
    assert "ref" == project.seeds["s"].target.schema


def test_quoted_cells_may_hold_delimiters_and_line_ends(tmp_path):
    project = load(tmp_path, {"seeds/s.csv": 'a,"b ""x"""\r\n1,"p,\r\nq"\r\n'})

    assert [] == findings(project)
    assert {"a": "bigint", 'b "x"': "string"} == columns(project)


def test_a_seed_with_only_a_header_is_a_table_without_rows(tmp_path):
    project = load(tmp_path, {"seeds/s.csv": "a,b"})

    assert [] == findings(project)
    assert {"a": "string", "b": "string"} == columns(project)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", " seed `seeds/s.csv` is empty"),
        ("\n1,2\n", " seed `seeds/s.csv` is empty"),
        ("a,b\n1,2\n1\n", ":3:1 '1' line 3 of seed `seeds/s.csv` has 1 cells, the header has 2"),
        ('a,b\n"x\ny",2\n1,2,3\n', ":4:1 '1,2,3' line 4 of seed `seeds/s.csv` has 3 cells, the header has 2"),
        ("a,b,A\n1,2,3\n", ":1:1 'a,b,A' column `A` is twice in the header"),
        ("a,,c\n1,2,3\n", ":1:1 'a,,c' column 2 of seed `seeds/s.csv` has no name"),
        ('a,b\n1,"x\n', ":2:1 '1,\"x' `seeds/s.csv` is not readable as CSV: unexpected end of data"),
        (b"a\n\xff\n", ":2:1 '\ufffd' `seeds/s.csv` is not UTF-8: byte 0xff at offset 2, line 2"),
    ],
)  # fmt: skip
def test_an_unusable_seed_is_reported_at_its_line(tmp_path, text, expected):
    project = load(tmp_path, {"seeds/s.csv": text, "seeds/t.csv": "x\n1\n"})

    assert [f"E017 seeds/s.csv{expected}"] == findings(project)
    assert {"s": 0, "t": 1} == {key: len(seed.columns) for key, seed in project.seeds.items()}


@pytest.mark.parametrize(
    ("sidecar", "expected", "help_text"),
    [
        ('columns = [ { name = "idd", type = "int" } ]', "1:22 '\"idd\"' the seed has no column `idd`", "did you mean `id`?"),
        ('columns = [ { name = "id", type = "itn" } ]', "1:36 'itn' ", None),
        ('colums = []', "1:1 'colums' unknown key `colums`", "did you mean `columns`?"),
        ('delimiter = "||"', "1:13 '\"||\"' `delimiter` must be one character", None),
    ],
)  # fmt: skip
def test_a_bad_seed_sidecar_is_reported_at_its_own_place(tmp_path, sidecar, expected, help_text):
    project = load(tmp_path, {"seeds/s.csv": "id\n1\n", "seeds/s.toml": sidecar})

    assert 1 == len(findings(project)), findings(project)
    assert findings(project)[0].startswith(f"E017 seeds/s.toml:{expected}")
    assert help_text is None or [help_text] == helps(project)
    assert {"s"} == project.seeds.keys()


def test_a_seed_sidecar_without_a_seed_is_reported(tmp_path):
    project = load(tmp_path, {"seeds/rates.csv": "a\n1\n", "seeds/rate.toml": ""})

    assert [
        "E017 seeds/rate.toml the sidecar `seeds/rate.toml` has no seed `rate.csv` beside it"
    ] == findings(project)
    assert ["did you mean `rates.csv`?"] == helps(project)


def test_two_seeds_of_one_name_are_reported(tmp_path):
    project = load(tmp_path, {"seeds/a/x.csv": "a\n1\n", "seeds/b/X.csv": "a\n1\n"})

    assert ["E017 seeds/b/X.csv there are two seeds called `X`"] == findings(project)
