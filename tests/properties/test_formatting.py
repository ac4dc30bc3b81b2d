import random
import re
from collections.abc import Callable

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from rocky.language.binder.logic.normal_form import normal_hash
from rocky.language.binder.query import bind_text
from rocky.language.datatypes.text import parse_schema
from rocky.language.tables import tables_by_name
from tests.corpus.questions import questions, shop_tables
from tests.properties.pieces import pieces_of
from tests.properties.random_queries import random_query

TABLES = tables_by_name({name: parse_schema(ddl) for name, ddl in shop_tables().items()})
# Comments may nest, and a regular expression cannot count.
QUERIES = [each.sql for each in questions() if not each.refused and "/* nested" not in each.sql]
GAPS = st.sampled_from((" ", "\n", "\t", "  \n ", " /* aside */ ", " -- aside\n", "\r\n"))

ALIAS = re.compile(r"t\d+")
# Where names become values, their letters count: beside these functions, and in `variant:path`.
NAMES_ARE_VALUES = re.compile(
    r"(?i)to_json|to_xml|to_variant_object|typeof|schema_of_variant|^(?!.*struct\s*<).*[\w)\]]:\w",
    re.DOTALL,
)


def hash_of(sql: str) -> bytes | None:
    """The hash of a query's normal form, or None for a text that is no SQL."""
    bound = bind_text(sql, TABLES)
    if bound.parsed is None or bound.binding is None:
        return None
    return normal_hash(bound.parsed, bound.binding)


def with_piece(sql: str, kind: str, change: Callable[[str], str], data: st.DataObject) -> str:
    """The query with one piece of a kind changed."""
    pieces = pieces_of(sql)
    places = [
        at for at, (found, text) in enumerate(pieces) if found == kind and change(text) != text
    ]
    assume(places)
    place = data.draw(st.sampled_from(places))
    return "".join(change(text) if at == place else text for at, (_, text) in enumerate(pieces))


queries = st.one_of(st.sampled_from(QUERIES), st.integers(0, 5000).map(random_query))


@given(queries, st.data())
@settings(max_examples=300)
def test_white_space_and_comments_do_not_change_the_hash(sql: str, data: st.DataObject) -> None:
    written = "".join(
        data.draw(GAPS) if kind in ("space", "comment") else text for kind, text in pieces_of(sql)
    )

    assert hash_of(sql) == hash_of(written)


@given(queries, st.randoms(use_true_random=False))
@settings(max_examples=300)
def test_the_case_of_keywords_and_names_does_not_change_the_hash(
    sql: str, chance: random.Random
) -> None:
    pieces = pieces_of(sql)
    assume(not NAMES_ARE_VALUES.search("".join(text for kind, text in pieces if kind != "string")))
    written = "".join(
        chance.choice((text.upper(), text.lower(), text.swapcase())) if kind == "word" else text
        for kind, text in pieces
    )

    assert hash_of(sql) == hash_of(written)


@given(st.integers(0, 5000), st.text("abcxyz", min_size=1, max_size=4))
@settings(max_examples=200)
def test_the_names_of_internal_aliases_do_not_change_the_hash(seed: int, name: str) -> None:
    sql = random_query(seed)
    # The generator calls every table alias and CTE t<number>, and nothing else.
    renamed = re.sub(r"\bt(\d+)\b", rf"{name}_\1", sql)

    assert hash_of(sql) == hash_of(renamed)


@given(queries, st.data())
@settings(max_examples=200)
def test_another_string_changes_the_hash(sql: str, data: st.DataObject) -> None:
    changed = with_piece(sql, "string", lambda text: f"{text[:-1]}q{text[-1]}", data)
    found = hash_of(changed)
    assume(found is not None)

    assert hash_of(sql) != found


@given(queries, st.data())
@settings(max_examples=200)
def test_another_number_changes_the_hash(sql: str, data: st.DataObject) -> None:
    found = hash_of(with_piece(sql, "number", lambda text: f"7{text}", data))
    assume(found is not None)

    assert hash_of(sql) != found


@given(st.integers(0, 5000), st.data())
@settings(max_examples=200)
def test_another_name_or_keyword_changes_the_hash(seed: int, data: st.DataObject) -> None:
    sql = random_query(seed)
    changed = with_piece(
        sql, "word", lambda text: text if ALIAS.fullmatch(text) else f"{text}x", data
    )
    found = hash_of(changed)
    assume(found is not None)

    assert hash_of(sql) != found


@given(st.integers(0, 5000), st.data())
@settings(max_examples=200)
def test_another_operator_changes_the_hash(seed: int, data: st.DataObject) -> None:
    sql = random_query(seed)
    others = {"+": "-", "-": "+", "*": "+", "/": "*", "=": "<", "<": ">"}
    changed = with_piece(sql, "mark", lambda text: others.get(text, text), data)
    found = hash_of(changed)
    assume(found is not None)

    assert hash_of(sql) != found


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("SELECT a.name FROM staff a JOIN staff b", "SELECT b.name FROM staff a JOIN staff b"),
        ("SELECT 'a' AS x", "SELECT 'A' AS x"),
        ("SELECT '1' AS x", "SELECT 1 AS x"),
        ("SELECT 1 AS x", "SELECT 1.0 AS x"),
        ("SELECT 1 AS x", "SELECT 1 AS y"),
        ("SELECT 'name' FROM staff", "SELECT name FROM staff"),
        ("SELECT name FROM staff", "SELECT DISTINCT name FROM staff"),
        ("SELECT name FROM staff ORDER BY 1", "SELECT name FROM staff ORDER BY 1 DESC"),
        ("SELECT name FROM staff LIMIT 1", "SELECT name FROM staff LIMIT 2"),
        ("SELECT 1 AS x UNION SELECT 2", "SELECT 1 AS x UNION ALL SELECT 2"),
        (
            "SELECT a.day FROM calendar a LEFT JOIN staff b ON a.day = b.hired",
            "SELECT a.day FROM calendar a JOIN staff b ON a.day = b.hired",
        ),
        (
            "WITH a AS (SELECT 1 AS x), b AS (SELECT 2 AS x) SELECT x FROM a",
            "WITH a AS (SELECT 1 AS x), b AS (SELECT 2 AS x) SELECT x FROM b",
        ),
        (
            "SELECT week FROM calendar",
            "WITH calendar AS (SELECT 1 AS week) SELECT week FROM calendar",
        ),
        ("SELECT a.week FROM calendar a", "SELECT a.quarter FROM calendar a"),
        (
            "SELECT week - (month - quarter) AS x FROM calendar",
            "SELECT (week - month) - quarter AS x FROM calendar",
        ),
        ("SELECT count(*) AS n FROM staff", "SELECT count(name) AS n FROM staff"),
        ("SELECT 'a b' AS x", "SELECT 'a  b' AS x"),
        ("SELECT 'a /* b */' AS x", "SELECT 'a ' AS x"),
        ("SELECT /* 1 */ 2 AS x", "SELECT /* 2 */ 1 AS x"),
        ("SELECT `x y`.name FROM staff `x y`", "SELECT `x y`.department FROM staff `x y`"),
        ("SELECT x -> 1 FROM staff", "SELECT x FROM staff"),
    ],
)
def test_queries_that_mean_something_else_have_another_hash(one: str, other: str) -> None:
    assert hash_of(one) != hash_of(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("SELECT a.name FROM staff a", "SELECT b.name FROM staff b"),
        ("SELECT a.name FROM staff a", "SELECT `odd one`.name FROM staff `odd one`"),
        ("WITH a AS (SELECT 1 AS x) SELECT x FROM a", "WITH b AS (SELECT 1 AS x) SELECT x FROM b"),
        ("SELECT a.* FROM staff a", "SELECT b.* FROM staff b"),
        (
            "SELECT a.name, b.name AS boss FROM staff a JOIN staff b ON a.manager_id = b.employee_id",
            "SELECT e.name, m.name AS boss FROM staff e JOIN staff m ON e.manager_id = m.employee_id",
        ),
        ("select NAME from STAFF", "SELECT name FROM staff"),
        ("SELECT name FROM staff;", "SELECT name FROM staff"),
        ("SELECT name FROM staff -- people", "SELECT name FROM staff"),
        ("SELECT t.week FROM calendar t", "SELECT week.week FROM calendar week"),
    ],
)
def test_queries_that_differ_in_cosmetics_have_one_hash(one: str, other: str) -> None:
    assert hash_of(one) == hash_of(other)
