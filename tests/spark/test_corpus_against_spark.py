import pytest

from tests.corpus.asking import shop, spark_answer
from tests.corpus.questions import questions, recorded_answers

pytestmark = pytest.mark.spark

FAMILIES = sorted({question.family for question in questions()})


@pytest.fixture(scope="module")
def shop_spark(spark):
    with shop(spark):
        yield spark


@pytest.mark.parametrize("family", FAMILIES)
def test_the_recorded_answers_are_what_spark_says(shop_spark, family: str) -> None:
    asked = [question for question in questions() if question.family == family]
    answers = {each.id: spark_answer(shop_spark, each.sql) for each in asked}

    assert {each.id: recorded_answers()[each.id] for each in asked} == answers
