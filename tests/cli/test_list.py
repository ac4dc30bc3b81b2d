from rocky.cli.console import ExitCode

FILES = {
    "models/a.sql": "SELECT order_id, amount FROM raw.orders\n",
    "models/b.sql": "SELECT a.order_id FROM a JOIN codes ON codes.code = a.order_id\n",
    "seeds/codes.csv": "code,label\n1,one\n",
}


def test_everything_is_listed_with_its_neighbours(rocky, write):
    write(FILES)
    document = rocky("list").json
    counts = {
        each["name"]: (each["kind"], each["columns"], each["upstream"], each["downstream"])
        for kind in ("models", "sources", "seeds")
        for each in document[kind]
    }

    assert {
        "a": ("model", 2, 1, 1),
        "b": ("model", 1, 2, 0),
        "raw.orders": ("source", 3, 0, 1),
        "codes": ("seed", 2, 0, 1),
    } == counts


def test_a_kind_lists_only_that(rocky, write):
    write(FILES)

    assert {"version", "command", "seeds"} == set(rocky("list", "seeds").json)
    assert ExitCode.FAILED == rocky("list", "tables").code


def test_the_table_has_a_row_each(rocky, write):
    write(FILES)
    rows = [line.split() for line in rocky("list", "-o", "table").out.splitlines()]

    assert ["NAME", "KIND", "COLUMNS", "UPSTREAM", "DOWNSTREAM", "FILE"] == rows[0]
    assert ["a", "model", "2", "1", "1", "models/a.sql"] in rows


def test_a_project_with_errors_is_listed_and_the_errors_are_mentioned(rocky, write):
    write({**FILES, "models/c.sql": "SELECT nope FROM a\n"})
    answer = rocky("list", "-o", "table")

    assert ExitCode.OK == answer.code
    assert "note: 1 error in the project; `rocky compile` shows them\n" == answer.err


def test_what_a_source_or_a_seed_is_about_is_said_as_it_is_written(rocky, write, monkeypatch):
    monkeypatch.setenv("ABOUT", "a secret")
    write({**FILES, "seeds/codes.toml": 'description = "codes of ${ABOUT}"\n'})
    (seed,) = rocky("list", "seeds").json["seeds"]
    (source,) = rocky("list", "sources").json["sources"]

    assert "codes of ${ABOUT}" == seed["description"]
    assert "description" not in source
