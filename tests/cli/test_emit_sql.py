from rocky.cli.console import ExitCode

SQL = "-- kept\nSELECT  order_id   FROM raw.orders -- tail"
MATTER = '---toml\nintent = "x"\n---\n'
FILES = {"models/a.sql": MATTER + SQL, "models/b.sql": "SELECT order_id FROM a\n"}


def test_the_sql_is_the_authors_text_without_front_matter(rocky, write):
    write(FILES)

    assert SQL == rocky("-o", "table", "emit-sql", "a").out


def test_all_models_come_in_the_order_they_would_run(rocky, write):
    write(FILES)
    out = rocky("-o", "table", "emit-sql").out

    assert out.index("-- a: models/a.sql") < out.index("-- b: models/b.sql")
    assert f"{SQL}\n;\n" in out


def test_a_file_each_can_be_written(rocky, write):
    root = write(FILES)
    answer = rocky("-o", "table", "emit-sql", "--out", "sql")

    assert SQL == (root / "sql" / "a.sql").read_text()
    assert "2 files written to sql\n" == answer.out


def test_the_models_themselves_are_not_written_over(rocky, write):
    root = write(FILES)
    answer = rocky("-o", "table", "emit-sql", "--out", "models")

    assert ExitCode.FAILED == answer.code
    assert "choose another folder" in answer.err
    assert MATTER + SQL == (root / "models" / "a.sql").read_text()


def test_what_would_not_run_is_not_printed(rocky, write):
    write({**FILES, "models/c.sql": "SELECT nope FROM a\n"})
    broken, healthy = rocky("-o", "table", "emit-sql", "c"), rocky("-o", "table", "emit-sql", "a")

    assert (ExitCode.FAILED, "") == (broken.code, broken.out)
    assert "no column `nope`" in broken.err
    assert (ExitCode.OK, SQL) == (healthy.code, healthy.out)
