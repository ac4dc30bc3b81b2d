"""The analyser: asking Spark what it makes of an expression, without running anything.

Spark resolves the items of a select list one by one and only afterwards stops at the first bad
one. So a list of hundreds of expressions is resolved at once and the bad ones are read off the
half-resolved plan; asking them one at a time costs five times as much.
"""

import json
from dataclasses import dataclass
from typing import Any

import py4j.java_gateway
import py4j.protocol
from py4j.protocol import Py4JJavaError
from pyspark.sql import SparkSession

from tools.function_catalogue.probes import view_schema

BATCH = 250


@dataclass(frozen=True, slots=True)
class Answer:
    """The type (as Spark's field JSON) and nullability Spark gives an expression."""

    field: dict[str, Any]

    @property
    def nullable(self) -> bool:
        return bool(self.field["nullable"])


@dataclass(frozen=True, slots=True)
class Complaint:
    """The condition and parameters of the error Spark raises for an expression."""

    condition: str
    parameters: dict[str, str]


class Analyser:
    """Spark's analyser over a view `probes` that has every probe as a column."""

    def __init__(self, spark: SparkSession) -> None:
        # pyspark's conversion of exceptions costs ten times the analysis of a bad query.
        py4j.java_gateway.get_return_value = py4j.protocol.get_return_value
        self.jvm: Any = spark.sparkContext._jvm  # noqa: SLF001 - no public way to the analyser
        self.session: Any = spark._jsparkSession  # noqa: SLF001 - no public way to the analyser
        spark.conf.set("spark.sql.timeType.enabled", "true")
        schema = self.jvm.org.apache.spark.sql.types.DataType.fromJson(json.dumps(view_schema()))
        frame = self.session.createDataFrame(self.jvm.java.util.ArrayList(), schema)
        frame.createOrReplaceTempView("probes")
        self.asked = 0

    def resolves(self, expressions: list[str]) -> list[bool]:
        """Whether each expression resolves. A later check may still refuse it."""
        found: list[bool] = []
        for at in range(0, len(expressions), BATCH):
            found += self._resolves(expressions[at : at + BATCH])
        return found

    def _resolves(self, expressions: list[str]) -> list[bool]:
        try:
            state = self.session.sessionState()
            plan = state.analyzer().execute(state.sqlParser().parsePlan(_select(expressions)))
            self.asked += len(expressions)
            return [not name.startswith("'") for name in plan.output().mkString(";").split(";")]
        except Py4JJavaError:
            if len(expressions) == 1:
                return [False]
        half = len(expressions) // 2
        return self._resolves(expressions[:half]) + self._resolves(expressions[half:])

    def answers(self, expressions: list[str]) -> list[Answer | None]:
        """What each expression gives, or None where Spark refuses it."""
        found: list[Answer | None] = []
        for at in range(0, len(expressions), BATCH):
            found += self._answers(expressions[at : at + BATCH])
        return found

    def _answers(self, expressions: list[str]) -> list[Answer | None]:
        if not expressions:
            return []
        try:
            schema = self.session.sql(_select(expressions)).schema().json()
            self.asked += len(expressions)
            return [Answer(field) for field in json.loads(schema)["fields"]]
        except Py4JJavaError:
            if len(expressions) == 1:
                return [None]
        half = len(expressions) // 2
        return self._answers(expressions[:half]) + self._answers(expressions[half:])

    def complaint(self, expression: str) -> Complaint | None:
        """What Spark says against an expression, or None when it takes it."""
        self.asked += 1
        try:
            self.session.sql(_select([expression]))
        except Py4JJavaError as error:
            cause = error.java_exception
            if not hasattr(cause, "getCondition") or not _is_spark(cause):
                return Complaint("INTERNAL_ERROR", {})
            return Complaint(str(cause.getCondition()), dict(cause.getMessageParameters()))
        return None

    def nature(self, expression: str) -> tuple[str, bool]:
        """The class Catalyst resolves a call to, and whether it is deterministic."""
        plan = self.session.sql(_select([expression])).queryExecution().analyzed()
        call = plan.expressions().head().child()
        return str(call.getClass().getSimpleName()), bool(call.deterministic())


def _is_spark(cause: Any) -> bool:
    return bool(cause.getClass().getName().startswith("org.apache.spark."))


def _select(expressions: list[str]) -> str:
    items = ", ".join(f"{text} AS r{at}" for at, text in enumerate(expressions))
    return f"SELECT {items} FROM probes"
