"""The settings of the parser library are ours only in our own parsers."""

import sys
from typing import Any

import sqlglot
from sqlglot import exp
from sqlglot.parsers.spark import SparkParser

from rocky.language.syntax.dialect import tokenize
from rocky.language.syntax.parser import ParsedQuery, parse_query

QUERY = "SELECT nvl(a, 1) AS b, CAST(c AS INT) AS d FROM t"


def test_a_function_keeps_the_name_it_was_written_with():
    parsed = parse_query(QUERY)

    assert isinstance(parsed, ParsedQuery)
    assert ["nvl"] == [each.name for each in parsed.tree.find_all(exp.Anonymous)]


def test_the_library_is_as_it_was_while_a_query_is_parsed():
    seen = []

    def look(frame: Any, event: str, _: Any) -> None:
        if event == "call" and frame.f_code.co_name == "parse_cast":
            tree = sqlglot.parse_one("SELECT nvl(a, 1)", read="spark")
            seen.append((SparkParser.FUNCTIONS is before, tree.find(exp.Coalesce) is not None))

    before = SparkParser.FUNCTIONS
    sys.setprofile(look)
    try:
        parse_query(QUERY)
    finally:
        sys.setprofile(None)

    assert [(True, True)] == seen


def test_the_tokens_of_a_text_are_held_by_nobody_but_who_asked_for_them():
    tokens = tokenize("SELECT 1")
    ours_alone: list[Any] = []

    assert sys.getrefcount(ours_alone) == sys.getrefcount(tokens)
