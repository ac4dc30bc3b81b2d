"""Asking a live Spark about a query: its analyser only, no job is started."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from py4j import java_gateway, protocol
from pyspark.sql import SparkSession

from tests.corpus.questions import shop_tables


@contextmanager
def shop(spark: SparkSession) -> Iterator[None]:
    """The shop's tables, as empty temporary views with exactly the declared schemas."""
    types = spark._jvm.org.apache.spark.sql.types
    rows = spark._jvm.java.util.ArrayList()
    tables = shop_tables()
    # pyspark turns every refusal into a Python exception with its whole Java stack, which costs
    # ten times what the refusal does; inside the shop py4j's own exception is left as it is.
    converting = java_gateway.get_return_value
    java_gateway.get_return_value = protocol.get_return_value
    try:
        for name, ddl in tables.items():
            schema = types.StructType.fromDDL(ddl)
            spark._jsparkSession.createDataFrame(rows, schema).createOrReplaceTempView(name)
        yield
        for name in tables:
            spark.catalog.dropTempView(name)
    finally:
        java_gateway.get_return_value = converting


def spark_answer(spark: SparkSession, sql: str) -> Any:
    """Spark's answer in the form the corpus records; see `recorded_answers`."""
    try:
        schema = json.loads(spark._jsparkSession.sql(sql).schema().json())
    except protocol.Py4JJavaError as error:
        return _refusal(spark, error.java_exception)
    return [[field["name"], _type(field), field["nullable"]] for field in schema["fields"]]


def _type(field: dict[str, Any]) -> Any:
    """A column's type, with the collation that Spark's JSON keeps in the metadata."""
    collations = field.get("metadata", {}).get("__COLLATIONS", {})
    if field["type"] == "string" and field["name"] in collations:
        return f"string collate {collations[field['name']].split('.')[-1]}"
    return _plain(field["type"])


def _plain(value: Any) -> Any:
    """A type without metadata: comments and the like are no part of a type."""
    if isinstance(value, dict):
        return {key: _plain(part) for key, part in value.items() if key != "metadata"}
    if isinstance(value, list):
        return [_plain(part) for part in value]
    return value


def _refusal(spark: SparkSession, thrown: Any) -> dict[str, Any]:
    gateway = spark._sc._gateway
    if not java_gateway.is_instance_of(gateway, thrown, "org.apache.spark.SparkThrowable"):
        return {"condition": None}
    answer: dict[str, Any] = {"condition": thrown.getCondition()}
    for context in thrown.getQueryContext():
        if context.contextType().toString() == "SQL" and context.startIndex() >= 0:
            answer["start"], answer["stop"] = context.startIndex(), context.stopIndex()
            break
    return answer
