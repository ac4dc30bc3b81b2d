"""What a project that has just moved in shows: no walls of warnings, no riddles about types."""

import pytest

from tests.compiler.projects import write

SETTINGS = '[compile]\nundeclared = "unknown"\n\n[pipeline.shop]\nmodels = "models/**"\n'


def stars(count):
    """Models that end in a star, each with a reader."""
    models = {f"models/m{n}.sql": "SELECT * FROM raw.orders\n" for n in range(count)}
    return models | {f"models/r{n}.sql": f"SELECT id FROM m{n}\n" for n in range(count)}


def orders(columns):
    return {"sources/raw.toml": f'[[source]]\nname = "raw.orders"\nformat = "table"\n{columns}'}


TYPED = orders('columns = [ { name = "id", type = "int" } ]\n')


def test_many_stars_are_one_counted_warning(rocky, tmp_path):
    write(tmp_path, {"rocky.toml": SETTINGS, **TYPED, **stars(5)})
    answer = rocky("compile", "-o", "table")

    assert 1 == answer.out.count("[P002")
    assert (
        "warning[P002 select-star]: 5 models end in `SELECT *` and have readers, so their columns"
        " change whenever their inputs do: `m0`, `m1`, `m2` and 2 more"
    ) in answer.out
    assert "`rocky compile --format concise` lists them all" in answer.out
    assert "5 warnings in 10 models" in answer.out
    assert 5 == rocky("compile", "--format", "concise").out.count("P002")
    assert "list the columns: `id`" in rocky("compile", "--model", "m3", "-o", "table").out
    assert 5 == len(rocky("compile").json["diagnostics"])


def test_a_model_that_is_named_as_an_argument_is_told_how(rocky, tmp_path):
    write(tmp_path, {"rocky.toml": SETTINGS, **TYPED, **stars(1)})
    answer = rocky("compile", "m0", "-o", "table")

    assert 1 == answer.code
    assert (
        "unexpected extra argument (m0); a model is named so: `rocky compile --model m0`"
        in answer.err
    )


def test_a_few_stars_are_shown_at_their_lines(rocky, tmp_path):
    write(tmp_path, {"rocky.toml": SETTINGS, **TYPED, **stars(3)})

    assert 3 == rocky("compile", "-o", "table").out.count("P002")


def test_stars_that_are_errors_are_never_counted_together(rocky, tmp_path):
    settings = SETTINGS + '\n[lints]\nP002 = "error"\n'
    write(tmp_path, {"rocky.toml": settings, **TYPED, **stars(5)})

    assert 5 == rocky("compile", "-o", "table").out.count("error[P002")


def test_the_columns_to_write_are_those_of_the_query(rocky, tmp_path):
    history = {
        "models/history.sql": "SELECT * FROM raw.orders\n",
        "models/history.toml": '[strategy]\ntype = "snapshot"\nunique_key = ["id"]\n',
        "models/reader.sql": "SELECT id, valid_to FROM history\n",
    }
    write(tmp_path, {"rocky.toml": SETTINGS, **TYPED, **history})

    assert "help: list the columns: `id`\n" in rocky("compile", "-o", "table").out


@pytest.mark.parametrize("names", [(), ("--model", "m0")])
def test_unknown_types_say_why_and_where_all_are_listed(rocky, tmp_path, names):
    models = {
        "models/m0.sql": "SELECT id, 1 AS one FROM raw.orders\n",
        "models/x.sql": "SELECT 1 AS a\n",
    }
    write(tmp_path, {"rocky.toml": SETTINGS, **orders(""), **models})
    lines = rocky("compile", *names, "-o", "table").out.splitlines()

    assert [
        "1 column of unknown type:",
        "     1  tables of unknown columns",
        "        `rocky catalog` lists every column with its type",
    ] == lines[1:4]
    assert "  id      unknown" in rocky("catalog", "-o", "table").out.splitlines()
