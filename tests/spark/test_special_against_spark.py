"""The recorded answers of special functions are what a live Spark answers today."""

import json

import py4j.java_gateway
import pytest
from py4j.protocol import Py4JJavaError, get_return_value
from pyspark.sql.types import StructType

from rocky.language.datatypes.text import fields_from_json
from tests.language.functions.special_cases import answer, load_cases, operand

pytestmark = [pytest.mark.spark, pytest.mark.slow, pytest.mark.sampled]


@pytest.fixture(scope="module")
def table(spark):
    """Spark's own session, with an empty table that has every column the cases name."""
    columns = [
        {"name": text, "type": stored["type"], "nullable": stored["nullable"], "metadata": {}}
        for text, stored in load_cases()["operands"].items()
        if operand(text).name is not None
    ]
    schema = StructType.fromJson({"type": "struct", "fields": columns})
    # Spark 4.1 knows TIME and refuses it until told otherwise.
    spark.conf.set("spark.sql.timeType.enabled", "true")
    spark.createDataFrame([], schema).createOrReplaceTempView("special_cases")
    with pytest.MonkeyPatch.context() as patch:
        # A refusal turned into a Python exception costs ten times the question.
        patch.setattr(py4j.java_gateway, "get_return_value", get_return_value)
        yield spark._jsparkSession
    spark.conf.unset("spark.sql.timeType.enabled")


def ask(session, calls):
    """What Spark answers to each call: asked in one query, or one by one where it refuses that."""
    selected = ", ".join(f"{call} AS r{place}" for place, call in enumerate(calls))
    try:
        schema = session.sql(f"SELECT {selected} FROM special_cases").schema().json()
    except Py4JJavaError as refusal:
        if len(calls) == 1:
            return {calls[0]: f"refused {refusal.java_exception.getCondition()}"}
        return {call: told for each in calls for call, told in ask(session, [each]).items()}
    fields = fields_from_json(json.loads(schema))
    return {
        call: answer((field.type, field.nullable))
        for call, field in zip(calls, fields, strict=True)
    }


@pytest.mark.parametrize("function", sorted(load_cases()["calls"]))
def test_spark_still_gives_the_recorded_answers(table, function):
    name, _, over = function.partition(" ")
    window = " OVER (ORDER BY i)" if over else ""
    calls = {
        f"{name}({', '.join(args)}){window}": result
        for args, result in load_cases()["calls"][function]
    }

    accepted = [call for call, result in calls.items() if not result.startswith("refused ")]
    alone = [[call] for call in calls if call not in accepted]

    actual = {}
    for asked in [accepted, *alone] if accepted else alone:
        actual |= ask(table, asked)

    assert calls == actual
