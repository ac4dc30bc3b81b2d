import pytest

from tests.corpus.comparison import differences, refusal_problem
from tests.corpus.questions import Question, questions, recorded_answers

ACCEPTED = [question for question in questions() if not question.refused]
REFUSED = [question for question in questions() if question.refused]


@pytest.mark.parametrize("question", ACCEPTED, ids=lambda question: question.id)
def test_a_query_has_the_columns_spark_gives_it(question: Question) -> None:
    assert [] == differences(question.sql, recorded_answers()[question.id])


@pytest.mark.parametrize("question", REFUSED, ids=lambda question: question.id)
def test_a_query_spark_refuses_is_an_error_at_its_place(question: Question) -> None:
    assert refusal_problem(question, recorded_answers()[question.id]) is None


def test_every_query_has_a_name_of_its_own_and_an_answer() -> None:
    ids = [question.id for question in questions()]

    assert sorted(recorded_answers()) == sorted(ids)
