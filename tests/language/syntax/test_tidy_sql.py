"""SQL made tidy is the same query, and what cannot be proved to be stays as it is."""

import pytest

from rocky.language.syntax.parser import SyntaxProblem
from rocky.language.syntax.tidy_sql import same_pieces, tidy_sql

TIDY = [
    ("select a  \n\n\n\nfrom t  ", "SELECT a\n\nFROM t\n"),
    ("select a -- why  \r\nfrom t\r\n", "SELECT a -- why\nFROM t\n"),
    ("\n\nselect 'select  \n\n\n x' from t", "SELECT 'select  \n\n\n x' FROM t\n"),
    ("select /*+ broadcast(t) */ a /* and\n\n\n /* or */ */ from t", "SELECT /*+ broadcast(t) */ a /* and\n\n\n /* or */ */ FROM t\n"),
    ("select a as `from`, t.`left` from t", "SELECT a AS `from`, t.`left` FROM t\n"),
    ("select count(*) as n from t where a is not null and b in (1, 2)", "SELECT count(*) AS n FROM t WHERE a IS NOT NULL AND b IN (1, 2)\n"),
    # Words that are names here: the tree would be another, so none is changed.
    ("select 1 as left from t", "select 1 as left from t\n"),
    ("select left(a, 2) as x from t", "select left(a, 2) as x from t\n"),
    # The letters of these are part of what they give.
    ("select to_json(struct(a)) as j from t", "select to_json(struct(a)) as j from t\n"),
    # A text with variables is no query before they have values.
    ("select @var(a) \n\n\nfrom t", "select @var(a)\n\nfrom t\n"),
]  # fmt: skip


@pytest.mark.parametrize(("sql", "expected"), TIDY)
def test_a_query_becomes_tidy_and_stays_so(sql, expected):
    tidy = tidy_sql(sql)

    assert not isinstance(tidy, SyntaxProblem)
    assert expected == tidy.text
    assert same_pieces(sql, tidy.text)
    assert tidy == tidy_sql(tidy.text)


def test_what_is_no_query_is_a_problem_at_its_place():
    problem = tidy_sql("select a from (select 1")

    assert isinstance(problem, SyntaxProblem)


@pytest.mark.parametrize(
    "other", ["select b from t", "select a from t -- x", "select 'A' from t", "select A from t"]
)
def test_another_query_has_other_pieces(other):
    assert not same_pieces("select a from t", other)
