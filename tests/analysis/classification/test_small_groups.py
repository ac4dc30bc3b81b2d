"""Small groups: where an aggregate ends a tag over groups that may be of one, and where it does not."""

import pytest

from rocky.compiler.passes import compile_project
from tests.project.projects import finding, load

SALARIES = """
[[source]]
name = "raw.salaries"
columns = [
  { name = "person_id", type = "bigint" },
  { name = "email", type = "string", classification = "pii" },
  { name = "born", type = "date", classification = "pii" },
  { name = "salary", type = "decimal(10,2)", classification = "pii" },
  { name = "bonus", type = "decimal(10,2)" },
  { name = "country", type = "string" },
  { name = "badge", type = "string" },
]
"""
MASKED = '[mask]\npii = "redact"\n'
BY_PERSON = "SELECT person_id, avg(salary) AS pay FROM raw.salaries GROUP BY person_id"


def found_in(root, sql, config="", **files):
    named = {f"models/{name.replace('__', '.')}": text for name, text in files.items()}
    written = {"sources/raw.toml": SALARIES, "rocky.toml": MASKED + config, **named}
    if sql:
        written["models/m.sql"] = sql
    compilation = compile_project(load(root, written), cache=False, jobs=1)
    return [finding(compilation.project, each) for each in compilation.diagnostics]


def test_a_tag_that_ends_in_groups_of_a_key_is_told_at_the_call(tmp_path):
    assert found_in(tmp_path, BY_PERSON) == [
        "W005 models/m.sql:1:19 'avg(salary)' the tag `pii` of `raw.salaries.salary` ends here in groups that"
        " may have fewer than 5 rows: they are made by `person_id`, which is called like a key"
    ]


@pytest.mark.parametrize(
    ("sql", "why"),
    [
        ("SELECT sum(salary) AS s FROM raw.salaries GROUP BY email", "`email`, which has the tag"),
        ("SELECT sum(salary) AS s FROM raw.salaries GROUP BY lower(email)", "`email`, which has"),
        ("SELECT country, person_id, sum(salary) AS s FROM raw.salaries GROUP BY ALL", "key"),
        ("SELECT sum(salary) AS s FROM raw.salaries GROUP BY ROLLUP (country, person_id)", "key"),
        (f"SELECT pay FROM ({BY_PERSON})", "key"),
        (f"WITH a AS ({BY_PERSON}) SELECT max(pay) AS p FROM a", "key"),
        (f"SELECT p.country, (SELECT max(pay) FROM ({BY_PERSON})) AS m FROM raw.salaries p", "key"),
        (f"{BY_PERSON} HAVING count(*) >= 4", "key"),
        (f"{BY_PERSON} HAVING count(*) < 50", "key"),
        (f"{BY_PERSON} HAVING count(*) >= 5 OR max(bonus) > 3", "key"),
        (f"{BY_PERSON} HAVING sum(bonus) >= 5", "key"),
        ("SELECT count_if(salary > 9) AS n FROM raw.salaries GROUP BY person_id", "key"),
        ("SELECT count(nullif(salary, 9)) AS n FROM raw.salaries GROUP BY person_id", "key"),
        ("FROM raw.salaries |> AGGREGATE avg(salary) AS pay GROUP BY person_id", "key"),
        (
            "SELECT * FROM (SELECT person_id, country, salary FROM raw.salaries)"
            " PIVOT (sum(salary) FOR country IN ('a', 'b'))",
            "key",
        ),
    ],
)
def test_groups_that_may_be_small_are_told(tmp_path, sql, why):
    told = [each for each in found_in(tmp_path, sql) if each.startswith("W005")]

    if why is None:
        assert told == []
    else:
        assert len(told) == 1
        assert why in told[0]


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT country, avg(salary) AS pay FROM raw.salaries GROUP BY country",
        "SELECT avg(salary) AS pay FROM raw.salaries",
        "SELECT year(born) AS y, avg(bonus) AS pay FROM raw.salaries GROUP BY year(born)",
        "SELECT country, avg(salary) AS pay FROM raw.salaries GROUP BY country, year(born)",
        "SELECT person_id, avg(bonus) AS pay FROM raw.salaries GROUP BY person_id",
        "SELECT person_id, count(*) AS n FROM raw.salaries GROUP BY person_id",
        "SELECT person_id, count(DISTINCT email) AS n FROM raw.salaries GROUP BY person_id",
        "SELECT person_id % 10 AS part, avg(salary) AS pay FROM raw.salaries GROUP BY person_id % 10",
        f"{BY_PERSON} HAVING count(*) >= 5",
        f"{BY_PERSON} HAVING count(*) > 4 AND max(bonus) > 1",
        f"{BY_PERSON} HAVING 5 <= count(DISTINCT country)",
        f"{BY_PERSON} HAVING count(1) BETWEEN 5 AND 50",
        f"{BY_PERSON} HAVING (count(*) >= 10 OR count(country) = 7)",
        "SELECT person_id, count(*) AS n, avg(salary) AS pay FROM raw.salaries"
        " GROUP BY person_id HAVING n >= 5",
        "SELECT pay FROM (SELECT person_id, count(*) AS n, avg(salary) AS pay FROM raw.salaries"
        " GROUP BY person_id) WHERE n >= 5",
        "WITH a AS (SELECT person_id, count(*) AS n, avg(salary) AS pay FROM raw.salaries"
        " GROUP BY person_id), b AS (SELECT * FROM a) SELECT pay FROM b WHERE b.n > 4",
        "FROM raw.salaries |> AGGREGATE avg(salary) AS pay, count(*) AS n GROUP BY person_id"
        " |> WHERE n >= 5",
        # It is not in the result at all, or only where the tag is.
        f"SELECT 1 AS one FROM ({BY_PERSON})",
        "SELECT person_id, min(salary) AS low FROM raw.salaries GROUP BY person_id",
        # Numbers of large groups, by groups that may be small.
        "WITH a AS (SELECT country, avg(salary) AS pay FROM raw.salaries GROUP BY country)"
        " SELECT s.person_id, max(pay) AS p FROM raw.salaries s JOIN a USING (country) GROUP BY s.person_id",
    ],
)
def test_groups_that_are_large_enough_or_give_nothing_away_are_quiet(tmp_path, sql):
    assert [each for each in found_in(tmp_path, sql) if not each.startswith("W004")] == []


def test_a_count_that_only_one_reader_of_a_cte_looks_at_is_not_enough(tmp_path):
    grouped = (
        "SELECT person_id, count(*) AS n, avg(salary) AS pay FROM raw.salaries GROUP BY person_id"
    )
    read = "SELECT pay FROM a WHERE n >= 5"

    assert found_in(tmp_path / "all", f"WITH a AS ({grouped}) {read} UNION ALL {read}") == []
    assert found_in(tmp_path / "one", f"WITH a AS ({grouped}) {read} UNION ALL SELECT pay FROM a")


def test_a_column_that_is_declared_unique_is_a_key_also_where_it_is_passed_on(tmp_path):
    passed = "SELECT badge AS holder, salary FROM staff"
    grouped = "SELECT holder, avg(salary) AS pay FROM passed GROUP BY holder"
    files = {"staff__sql": "SELECT badge, salary FROM raw.salaries", "passed__sql": passed}

    assert found_in(tmp_path / "a", grouped, **files) == []
    for name, said in (
        ("test", '[[tests]]\ntype = "unique"\ncolumn = "badge"\n'),
        ("merge", '[strategy]\ntype = "merge"\nunique_key = ["badge"]\n'),
    ):
        (told,) = found_in(tmp_path / name, grouped, **files, staff__toml=said)
        assert told.endswith("made by `holder`, which is unique in `staff`")


def test_the_number_of_rows_is_a_setting_and_tags_that_may_be_clear_are_not_asked_about(tmp_path):
    three = f"{BY_PERSON} HAVING count(*) >= 3"

    assert found_in(tmp_path / "3", three, "[classifications]\nsmall_groups = 3\n") == []
    assert (
        "than 4 rows" in found_in(tmp_path / "4", three, "[classifications]\nsmall_groups = 4\n")[0]
    )
    assert found_in(tmp_path / "0", BY_PERSON, "[classifications]\nsmall_groups = 0\n") == []
    clear = '[classifications]\nallow_unmasked = ["pii"]\n'
    assert found_in(tmp_path / "clear", BY_PERSON, clear) == []
    (wrong,) = found_in(tmp_path / "less", None, "[classifications]\nsmall_groups = -1\n")
    assert wrong.startswith("E018 rocky.toml:4:")


def test_a_comment_may_allow_it(tmp_path):
    assert found_in(tmp_path, f"{BY_PERSON} -- rocky: allow(small-groups)") == []
