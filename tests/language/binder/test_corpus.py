import pytest

from tests.corpus.comparison import differences, refusal_problem
from tests.corpus.gaps import ACCEPTED_GAPS, REFUSED_GAPS, accepted_questions
from tests.corpus.questions import by_family, questions, recorded_answers

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


def test_every_query_has_a_name_of_its_own_and_an_answer() -> None:
    ids = [question.id for question in questions()]

    assert sorted(recorded_answers()) == sorted(ids)
