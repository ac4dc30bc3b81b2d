import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rocky
from rocky.compiler.check import CheckedQuery
from tests.corpus.questions import questions, shop_tables
from tests.properties.mutated_queries import mutated_query
from tests.properties.random_queries import random_query

QUERIES = [question.sql for question in questions()]
WORDS = sorted(
    {
        word
        for sql in QUERIES
        for word in sql.replace("(", " ( ").replace(")", " ) ").replace(",", " , ").split()
    }
)


def check(sql: str) -> CheckedQuery:
    return rocky.check_sql(sql, tables=shop_tables())


def assert_sound(sql: str) -> None:
    """Whatever the text, the answer is complete or says what is wrong, at places in the text."""
    checked = check(sql)
    for each in checked.diagnostics:
        assert each.message
        if each.span is not None:
            assert 0 <= each.span.start <= each.span.end <= len(sql)


@given(st.text(max_size=200))
@settings(max_examples=300)
def test_any_text_is_judged_and_nothing_is_raised(text: str) -> None:
    assert_sound(text)


@given(st.lists(st.sampled_from(WORDS), max_size=40))
@settings(max_examples=300)
def test_any_heap_of_sql_words_is_judged(words: list[str]) -> None:
    assert_sound(" ".join(words))


@given(st.sampled_from(QUERIES), st.data())
@settings(max_examples=400)
def test_a_query_with_a_word_missing_twice_or_elsewhere_is_judged(
    sql: str, data: st.DataObject
) -> None:
    words = sql.split(" ")
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(words) - 1))
        match data.draw(st.sampled_from(("drop", "double", "swap", "replace"))):
            case "drop":
                words[at : at + 1] = [""]
            case "double":
                words.insert(at, words[at])
            case "swap":
                other = data.draw(st.integers(0, len(words) - 1))
                words[at], words[other] = words[other], words[at]
            case "replace":
                words[at] = data.draw(st.sampled_from(WORDS))

    assert_sound(" ".join(words))


@given(st.sampled_from(QUERIES), st.data())
@settings(max_examples=400)
def test_a_query_cut_short_or_with_a_stray_character_is_judged(
    sql: str, data: st.DataObject
) -> None:
    at = data.draw(st.integers(0, len(sql)))
    stray = data.draw(
        st.sampled_from(
            ("", "'", "`", '"', "(", ")", ",", ";", "/*", "--", "\x00", "é", "|>", "{", "\\")
        )
    )
    rest = sql[at:] if data.draw(st.booleans()) else ""

    assert_sound(sql[:at] + stray + rest)


@given(st.integers(0, 100_000), st.floats(0, 0.5))
@settings(max_examples=200)
def test_a_random_query_is_typed_or_refused_with_a_reason(seed: int, mistakes: float) -> None:
    sql = random_query(seed, mistakes)
    assert_sound(sql)
    checked = check(sql)

    assert checked.complete or not checked.ok


@given(st.integers(0, 100_000))
@settings(max_examples=400)
def test_a_query_with_another_column_function_or_operator_is_judged(seed: int) -> None:
    sql = mutated_query(seed)
    assert_sound(sql)
    checked = check(sql)

    assert checked.complete or not checked.ok


@pytest.mark.parametrize(
    "sql",
    [
        "",
        " ",
        ";",
        ";;",
        "--",
        "/*",
        "'",
        "SELECT",
        "(" * 600,
        "SELECT " + "(" * 500 + "1" + ")" * 500 + " AS x",
        "SELECT " + " + ".join(["1"] * 3000) + " AS x",
        "SELECT " + "upper(" * 300 + "'a'" + ")" * 300 + " AS x",
        " UNION ALL ".join(["SELECT 1 AS x"] * 2000),
        "SELECT 1 AS " + "x" * 10_000,
        "SELECT * FROM " + ", ".join(f"calendar c{n}" for n in range(100)),
    ],
    ids=lambda sql: sql[:20] or "empty",
)
def test_extreme_texts_are_judged(sql: str) -> None:
    assert_sound(sql)


@pytest.mark.parametrize("depth", [50, 500])
def test_deep_nesting_is_typed(depth: int) -> None:
    checked = check("SELECT " + "(" * depth + "week" + ")" * depth + " AS x FROM calendar")

    assert ["int"] == [str(column.type) for column in checked.columns]
