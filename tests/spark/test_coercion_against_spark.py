"""A sample of the recorded answers, asked of a live Spark again."""

import json
import random

import py4j.java_gateway
import pytest
from py4j.protocol import Py4JJavaError, get_return_value

from rocky.language.datatypes.text import fields_from_json, type_to_json
from tests.language.datatypes.answers import BINARY, SET_OPERATIONS, recorded_answers

pytestmark = pytest.mark.spark

ASKED = 20
"""Questions for each operator; the whole table was compared when it was recorded."""


@pytest.fixture(scope="module")
def columns(spark):
    """A view with a nullable (`c0`) and a not null (`n0`) column of every recorded type."""
    fields = [{"name": "b", "type": "boolean", "nullable": True, "metadata": {}}]
    for index, each in enumerate(recorded_answers().types):
        spelled = type_to_json(each)
        for prefix, nullable in (("c", True), ("n", each.kind == "void")):
            fields.append(
                {"name": f"{prefix}{index}", "type": spelled, "nullable": nullable, "metadata": {}}
            )
    schema = json.dumps({"type": "struct", "fields": fields})
    before = spark.conf.get("spark.sql.timeType.enabled")
    spark.conf.set("spark.sql.timeType.enabled", "true")
    jvm = spark._jvm
    parsed = jvm.org.apache.spark.sql.types.DataType.fromJson(schema)
    empty = spark._jsparkSession.createDataFrame(jvm.java.util.ArrayList(), parsed)
    empty.createOrReplaceTempView("coercion_columns")
    # Most questions are refused, and pyspark's own conversion of a refusal costs 60 ms.
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(py4j.java_gateway, "get_return_value", get_return_value)
        yield "coercion_columns"
    spark.catalog.dropTempView("coercion_columns")
    spark.conf.set("spark.sql.timeType.enabled", before)


def ask(spark, query):
    """The analysed types and nullabilities, or the condition of the refusal."""
    try:
        schema = json.loads(spark._jsparkSession.sql(query).schema().json())
    except Py4JJavaError as refusal:
        return refusal.java_exception.getCondition()
    fields = fields_from_json(schema)
    return fields[0].type, "".join("01"[field.nullable] for field in fields)


def query_of(name, view, left, right):
    if name in SET_OPERATIONS:
        return (
            f"SELECT n{left} AS w, n{left} AS x, c{left} AS y, c{left} AS z FROM {view} "
            f"{SET_OPERATIONS[name]} SELECT n{right}, c{right}, n{right}, c{right} FROM {view}"
        )
    asked = ", ".join(
        f"{BINARY[name].format(l=f'{a}{left}', r=f'{b}{right}')} AS {a}{b}"
        for a, b in ("nn", "nc", "cn", "cc")
    )
    return f"SELECT {asked} FROM {view}"


@pytest.mark.sampled
@pytest.mark.parametrize("name", [*BINARY, *SET_OPERATIONS])
def test_spark_still_answers_as_recorded(spark, columns, name):
    answers = recorded_answers()
    recorded = answers.about("operators", name)
    count = len(answers.types)
    for index in random.Random(name).sample(range(count * count), ASKED):
        left, right = divmod(index, count)
        query = query_of(name, columns, left, right)

        assert recorded[index] == ask(spark, query), query
