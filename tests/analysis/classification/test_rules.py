"""What ends or lowers a tag, and that everything else keeps it."""

import pytest

from tests.analysis.classification.projects import classified, tags

PAIRS = """
[[source]]
name = "raw.pairs"
columns = [ { name = "id", type = "bigint" }, { name = "k", type = "string" } ]
"""
ORDER = {"rocky.toml": '[classifications]\norder = ["pii", "confidential", "internal"]\n'}
KEPT = [
    "upper(email)",
    "CASE WHEN email = 'x' THEN 1 ELSE 0 END",
    "if(email IS NULL, 1, 2)",
    "email LIKE '%.org'",
    "min(email)",
    "max(email)",
    "collect_set(email)",
    "any_value(email)",
    "mode(email)",
    "listagg(email)",
    "approx_percentile(length(email), 0.5)",
    "count(email) OVER (PARTITION BY id)",
    "sum(length(email)) OVER (ORDER BY id ROWS 1 PRECEDING)",
    "row_number() OVER (ORDER BY email)",
    "concat(min(email), CAST(count(email) AS STRING))",
    "count(email) + length(min(email))",
    "transform(array(email), x -> upper(x))",
    "aggregate(array(email), '', (a, x) -> a || x)",
    "filter(array(1, 2), x -> email = 'x')",
    "named_struct('a', email).a",
    "map('k', email)['k']",
    "(SELECT max(email) FROM raw.people)",
    "left(email, 1)",
    "mask(email, NULL, NULL, NULL)",
    "substr(email, 1, 2)",
    "date_trunc('month', CAST(email AS DATE))",
    "base64(CAST(email AS BINARY))",
]
ENDED = [
    "count(email)",
    "count(DISTINCT email)",
    "count_if(email = 'x')",
    "avg(length(email))",
    "sum(length(email)) / count(email)",
    "1",
    "count(*)",
]
LOWERED = [
    "sha2(email, 256)",
    "md5(CAST(email AS BINARY))",
    "mask(email)",
    "year(CAST(email AS DATE))",
    "date_trunc('YEAR', CAST(email AS DATE))",
    "extract(YEAR FROM CAST(email AS DATE))",
    "trunc(CAST(email AS DATE), 'yyyy')",
    "upper(sha2(email, 256))",
    "sha2(sha2(email, 256), 256)",
]


def tags_of(tmp_path, expression, files=ORDER):
    grouped = " GROUP BY ALL" if "over" not in expression.lower() else ""
    model = f"SELECT {expression} AS x FROM raw.people{grouped}"
    return tags(classified(tmp_path, {**files, "a.sql": model}), "a").get("x", set())


@pytest.mark.parametrize("expression", KEPT)
def test_what_is_not_in_the_table_keeps_a_tag(tmp_path, expression):
    assert tags_of(tmp_path, expression) == {"pii"}


@pytest.mark.parametrize("expression", ENDED)
def test_numbers_about_groups_end_a_tag(tmp_path, expression):
    assert tags_of(tmp_path, expression) == set()


@pytest.mark.parametrize("expression", LOWERED)
def test_hashes_and_years_lower_a_tag(tmp_path, expression):
    assert tags_of(tmp_path / "ordered", expression) == {"confidential"}
    assert tags_of(tmp_path / "unordered", expression, {}) == {"pii"}


def test_the_stronger_of_two_ways_holds(tmp_path):
    facts = classified(
        tmp_path,
        {
            **ORDER,
            "a.sql": "SELECT sha2(email, 256) AS h, concat(sha2(email, 256), email) AS both FROM raw.people",
            "b.sql": "SELECT id, email AS x FROM raw.people UNION SELECT id, sha2(email, 256) FROM raw.people",
            "c.sql": "WITH n AS (SELECT count(email) AS n, min(email) AS m FROM raw.people) SELECT n, m, n || m AS nm FROM n",
            "d.sql": "SELECT sha2(h, 256) AS h FROM a",
        },
    )

    assert tags(facts, "a") == {"h": {"confidential"}, "both": {"pii"}}
    assert tags(facts, "b") == {"x": {"pii"}}
    assert tags(facts, "c") == {"m": {"pii"}, "nm": {"pii"}}
    assert [each.tag for each in facts.ended("c")["n"]] == ["pii"]
    assert tags(facts, "d") == {"h": {"confidential"}}


def test_a_declared_function_does_what_its_body_does(tmp_path):
    facts = classified(
        tmp_path,
        {
            **ORDER,
            "functions/pseudo.sql": "CREATE FUNCTION pseudo(x STRING) RETURNS STRING RETURN sha2(x, 256)",
            "functions/loud.sql": "CREATE FUNCTION loud(x STRING) RETURNS STRING RETURN upper(x)",
            "a.sql": "SELECT pseudo(email) AS p, loud(email) AS l FROM raw.people",
        },
    )

    assert tags(facts, "a") == {"p": {"confidential"}, "l": {"pii"}}


@pytest.mark.parametrize(
    ("select", "expected"),
    [
        ("address", {"pii@street"}),
        ("address.street", {"pii"}),
        ("address.city", set()),
        ("upper(address.city)", set()),
        ("to_json(address)", {"pii"}),
        ("named_struct('a', address).a.city", {"pii"}),
        ("coalesce(address, address).city", {"pii"}),
        ("concat(address.city, address.street)", {"pii"}),
    ],
)
def test_a_field_has_a_tag_of_its_own(tmp_path, select, expected):
    assert tags_of(tmp_path, select) == expected


def test_fields_are_followed_through_relations(tmp_path):
    facts = classified(
        tmp_path,
        {
            "a.sql": "WITH c AS (SELECT address AS a FROM raw.people) SELECT a, a.city, a.street FROM c",
            "b.sql": "SELECT a.city, a.street AS s FROM a",
            "c.sql": "SELECT address.* FROM raw.people",
            "d.sql": "SELECT a.town FROM (SELECT named_struct('road', 'x', 'town', 'y') AS a UNION ALL SELECT address FROM raw.people)",
            "e.sql": "SELECT a.city FROM (SELECT address AS a FROM raw.people UNION ALL SELECT address FROM raw.people)",
        },
    )

    assert tags(facts, "a") == {"a": {"pii@street"}, "street": {"pii"}}
    assert tags(facts, "b") == {"s": {"pii"}}
    assert tags(facts, "c") == {"street": {"pii"}}
    assert tags(facts, "d") == {"town": {"pii"}}
    assert tags(facts, "e") == {}


def test_a_recursion_carries_what_its_steps_bring(tmp_path):
    step = "SELECT id, '' FROM raw.people UNION ALL SELECT r.id, p.email FROM r JOIN raw.people p USING (id)"
    moving = "SELECT '' AS a, '' AS b, email AS c FROM raw.people UNION ALL SELECT b, c, c FROM r"
    facts = classified(
        tmp_path,
        {
            "a.sql": f"WITH RECURSIVE r(id, e) AS ({step}) SELECT e FROM r",
            "b.sql": f"WITH RECURSIVE r AS ({moving}) SELECT a FROM r",
        },
    )

    assert tags(facts, "a") == {"e": {"pii"}}
    assert tags(facts, "b") == {"a": {"pii"}}


@pytest.mark.parametrize(
    "expression",
    [
        "EXISTS (SELECT 1 FROM raw.people AS p WHERE p.email = o.k)",
        "CASE WHEN NOT EXISTS (SELECT 1 FROM raw.people AS p WHERE p.email = o.k) THEN 1 END",
        "(SELECT count(*) FROM raw.people AS p WHERE p.email = o.k)",
        "(SELECT max('yes') FROM raw.people AS p WHERE p.email = o.k)",
        "o.k IN (SELECT email FROM raw.people)",
    ],
)
def test_a_value_that_a_condition_on_tagged_values_decides_has_the_tag(tmp_path, expression):
    files = {
        "sources/pairs.toml": PAIRS,
        "a.sql": f"SELECT o.id, {expression} AS x FROM raw.pairs AS o",
    }

    assert tags(classified(tmp_path, files), "a") == {"x": {"pii"}}


@pytest.mark.parametrize(
    "query",
    [
        "SELECT named_struct('city', 'c', 'street', 's') AS x"
        " UNION ALL SELECT address FROM raw.people",
        "WITH RECURSIVE r(x, n) AS (SELECT named_struct('city', 'c', 'street', 's'), 1"
        " UNION ALL SELECT p.address, r.n + 1 FROM r JOIN raw.people AS p ON p.id = r.n"
        " WHERE r.n < 3) SELECT x FROM r",
    ],
)
def test_fields_that_get_other_names_by_their_places_are_all_tagged(tmp_path, query):
    assert tags(classified(tmp_path, {"a.sql": query}), "a") == {"x": {"pii"}}
