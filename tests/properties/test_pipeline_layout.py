"""Whatever pipeline people write, its layout means the same, has its comments, and stays as it is."""

import re

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rocky.language.binder.logic.normal_form import normal_hash
from rocky.language.binder.query import bind_text
from rocky.language.datatypes.text import parse_schema
from rocky.language.dsl.layout import lay_out
from rocky.language.dsl.lowering import lower_text
from rocky.language.dsl.mapped_text import MappedText
from rocky.language.dsl.tokens import WORDS, Problem
from rocky.language.syntax.parser import SyntaxProblem
from rocky.language.syntax.tidy_sql import tidy_sql
from rocky.language.tables import tables_by_name
from tests.corpus.questions import questions, shop_tables
from tests.properties.random_pipelines import pipelines

COMMENT = re.compile(r"'[^'\n]*'|\"[^\"\n]*\"|(--[^\n]*)")
TABLES = tables_by_name({name: parse_schema(ddl) for name, ddl in shop_tables().items()})
QUERIES = [each.sql for each in questions() if not each.refused]


def comments(text: str) -> list[str]:
    return [found[1].rstrip() for found in COMMENT.finditer(text) if found[1]]


def sql_of(text: str) -> str:
    lowered = lower_text(text)
    assert isinstance(lowered, MappedText), lowered
    return lowered.text


@given(pipelines())
@settings(max_examples=150, suppress_health_check=list(HealthCheck), deadline=None)
def test_a_layout_means_the_same_keeps_comments_and_is_its_own_layout(text: str) -> None:
    laid_out = lay_out(text)

    assert isinstance(laid_out, str), laid_out
    assert sql_of(text) == sql_of(laid_out)
    assert comments(text) == comments(laid_out)
    assert laid_out == lay_out(laid_out)
    assert all(line == line.rstrip() for line in laid_out.splitlines())
    assert laid_out.endswith("\n")
    assert not laid_out.endswith("\n\n")
    assert "\n\n\n" not in laid_out


@given(pipelines())
@settings(max_examples=100, suppress_health_check=list(HealthCheck), deadline=None)
def test_every_piece_of_the_sql_leads_into_the_text(text: str) -> None:
    lowered = lower_text(text)
    assert isinstance(lowered, MappedText), lowered
    at = 0
    for piece in lowered.pieces:
        assert at == piece.start
        at = piece.end
        if piece.written is not None:
            assert 0 <= piece.written.start < piece.written.end <= len(text)
        if piece.written is not None and piece.copied:
            made = lowered.text[piece.start : piece.end]
            assert made == text[piece.written.start : piece.written.end]
    assert at == len(lowered.text)


WORDLIKE = st.sampled_from(
    (*sorted(WORDS), "a", "b.c", "1", "'x'", "(", ")", "{", "}", "[", "]", ",", ":", ".", "..", "=", "==", "!=", "=>",
     "->", "|", "||", "-", "*", "@x", "@2025-01-01", "_", "--c\n", "`q`", "filter", "rows", "desc", "nulls", "count(", "cast(")
)  # fmt: skip


@given(st.one_of(st.text(max_size=40), st.lists(WORDLIKE, max_size=12).map(" ".join)))
@settings(max_examples=300, deadline=None)
def test_any_text_is_a_pipeline_or_a_problem_in_it(text: str) -> None:
    check_any(text)
    check_any(f"from t {text}")


@given(pipelines(), st.data())
@settings(max_examples=100, suppress_health_check=list(HealthCheck), deadline=None)
def test_a_pipeline_without_a_part_of_it_is_one_or_a_problem(
    text: str, data: st.DataObject
) -> None:
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, min(start + 20, len(text))))

    check_any(text[:start] + text[end:])


def check_any(text: str) -> None:
    lowered = lower_text(text)
    if isinstance(lowered, Problem):
        assert 0 <= lowered.span.start <= lowered.span.end <= len(text)
        assert isinstance(lay_out(text), str | Problem)
    else:
        laid_out = lay_out(text)
        assert isinstance(laid_out, str)
        assert lowered.text == sql_of(laid_out)


def hash_of(sql: str) -> bytes | None:
    bound = bind_text(sql, TABLES)
    if bound.parsed is None or bound.binding is None:
        return None
    return normal_hash(bound.parsed, bound.binding)


@pytest.mark.slow
def test_tidy_sql_has_the_hash_and_the_columns_of_the_query(sample):
    for sql in (QUERIES[each] for each in sample(range(len(QUERIES)))):
        if (wanted := hash_of(sql)) is None:
            continue
        tidy = tidy_sql(sql.lower() if hash_of(sql.lower()) == wanted else sql)
        assert not isinstance(tidy, SyntaxProblem), sql
        again = tidy_sql(tidy.text)
        assert not isinstance(again, SyntaxProblem)

        assert tidy.text == again.text
        assert wanted == hash_of(tidy.text), tidy.text
