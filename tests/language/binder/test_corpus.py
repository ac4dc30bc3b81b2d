import pytest

from rocky.compiler.kept_trees import KeptTrees
from rocky.compiler.model_records import body_of
from rocky.language.binder.query import BoundQuery, bind_text
from rocky.language.binder.usage import find_usage
from rocky.language.datatypes.text import parse_schema
from rocky.language.tables import Tables, tables_by_name
from tests.corpus.comparison import differences, refusal_problem
from tests.corpus.gaps import ACCEPTED_GAPS, REFUSED_GAPS, accepted_questions
from tests.corpus.questions import by_family, questions, recorded_answers, shop_tables

BY_ID = {question.id: question for question in questions()}
ACCEPTED = by_family(accepted_questions())
REFUSED = by_family(each for each in questions() if each.refused and each.id not in REFUSED_GAPS)


@pytest.mark.parametrize("family", ACCEPTED)
def test_a_query_has_the_columns_spark_gives_it(family: str) -> None:
    found = {
        each.name: differences(each.sql, recorded_answers()[each.id]) for each in ACCEPTED[family]
    }

    assert {} == {name: each for name, each in found.items() if each}


@pytest.mark.parametrize("family", REFUSED)
def test_a_query_spark_refuses_is_an_error_at_its_place(family: str) -> None:
    found = {
        each.name: refusal_problem(each, recorded_answers()[each.id]) for each in REFUSED[family]
    }

    assert {} == {name: each for name, each in found.items() if each is not None}


@pytest.mark.parametrize("name", sorted(ACCEPTED_GAPS))
def test_a_known_gap_in_what_is_accepted_is_still_one(name: str) -> None:
    assert [] != differences(BY_ID[name].sql, recorded_answers()[name])


@pytest.mark.parametrize("name", sorted(REFUSED_GAPS))
def test_a_known_gap_in_what_is_refused_is_still_one(name: str) -> None:
    assert refusal_problem(BY_ID[name], recorded_answers()[name]) is not None


@pytest.mark.sampled
@pytest.mark.parametrize("family", by_family(questions()))
def test_a_tree_that_was_bound_before_says_what_a_new_one_says(family: str) -> None:
    kept, tables = KeptTrees(), _tables()
    for each in by_family(questions())[family]:
        first = bind_text(each.sql, tables, parse=kept.parse)
        said = _said(first)

        again = bind_text(each.sql, tables, parse=kept.parse)

        assert again.parsed is first.parsed or first.parsed is None, each.id
        assert said == _said(again), each.id


def _tables() -> Tables:
    return tables_by_name({name: parse_schema(ddl) for name, ddl in shop_tables().items()})


def _said(bound: BoundQuery) -> tuple[object, ...]:
    columns = [(each.name, each.type, each.nullable) for each in bound.columns]
    return columns, bound.known, bound.diagnostics, body_of(bound), find_usage(bound)


def test_every_query_has_a_name_of_its_own_and_an_answer() -> None:
    ids = [question.id for question in questions()]

    assert sorted(recorded_answers()) == sorted(ids)
