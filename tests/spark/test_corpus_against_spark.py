import pytest

from tests.corpus.asking import shop, spark_answer
from tests.corpus.comparison import differences, is_refused
from tests.corpus.questions import questions, recorded_answers
from tests.properties.mutated_queries import mutated_query
from tests.properties.random_queries import random_query

pytestmark = [pytest.mark.spark, pytest.mark.sampled]

QUERIES, PARTS = 400, 3
SPARK_FAULTS = ("INTERNAL_ERROR", None)
"""What Spark throws when it runs into a fault of its own: no judgement of the query."""

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


@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("make", [random_query, mutated_query], ids=lambda make: make.__name__)
def test_rocky_and_spark_agree_on_queries_nobody_wrote(shop_spark, make, part) -> None:
    disagreements = []
    for seed in range(part, QUERIES, PARTS):
        sql = make(seed)
        answer = spark_answer(shop_spark, sql)
        if isinstance(answer, dict) and answer["condition"] in SPARK_FAULTS:
            continue
        if isinstance(answer, dict):
            problem = [] if is_refused(sql) else [f"accepted, Spark says {answer['condition']}"]
        else:
            problem = differences(sql, answer)
        if problem:
            disagreements.append((seed, sql, problem))

    assert [] == disagreements
