"""The recorded answers of special functions are what a live Spark answers today."""

import json

import py4j.java_gateway
import pytest
from py4j.protocol import Py4JJavaError, get_return_value
from pyspark.sql.types import StructType

from rocky.language.datatypes.text import fields_from_json
from tests.language.functions.special_cases import answer, load_cases, operand

pytestmark = [pytest.mark.spark, pytest.mark.slow]


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


def ask(session, call):
    try:
        schema = session.sql(f"SELECT {call} AS result FROM special_cases").schema().json()
    except Py4JJavaError as refusal:
        return f"refused {refusal.java_exception.getCondition()}"
    field = fields_from_json(json.loads(schema))[0]
    return answer((field.type, field.nullable))


@pytest.mark.parametrize("function", sorted(load_cases()["calls"]))
def test_spark_still_gives_the_recorded_answers(table, function):
    name, _, over = function.partition(" ")
    window = " OVER (ORDER BY i)" if over else ""
    calls = {
        f"{name}({', '.join(args)}){window}": result
        for args, result in load_cases()["calls"][function]
    }

    actual = {call: ask(table, call) for call in calls}

    assert calls == actual
