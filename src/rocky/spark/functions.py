"""Declared functions in a session: made there when a query first names them.

A query that names none pays nothing, and code that is not needed is not imported. What a module of
the project defines is sent to executors by value, so no path of theirs has to lead to it.
"""

import re
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from threading import Lock
from typing import Any, Final

from blake3 import blake3
from pyspark.sql import types as s
from pyspark.sql.functions import arrow_udf, arrow_udtf, pandas_udf, udf, udtf
from pyspark.util import PythonEvalType

from rocky.errors import ModelFailed
from rocky.language.datatypes.text import field_to_json
from rocky.language.datatypes.types import DataType, StructField
from rocky.language.names import quote_text
from rocky.project.functions import ProjectFunction
from rocky.project.temporary_functions import create_statement, in_order_of_need
from rocky.spark.column_results import arrays_held_to_type, series_held_to_type
from rocky.spark.connection import is_classic
from rocky.spark.failures import SPARK_ERRORS, classify_failure
from rocky.spark.function_modules import code_of
from rocky.spark.function_results import held_to_type, rows_held_to_type
from rocky.spark.settings import refuse_substitution

_WORD: Final = re.compile(r"\w+")
_AGGREGATES: Final = frozenset(
    getattr(PythonEvalType, name)
    for name in dir(PythonEvalType)
    if name.startswith("SQL_GROUPED_AGG")
)
_PANDAS_COLUMNS: Final = PythonEvalType.SQL_SCALAR_PANDAS_UDF
_PANDAS_AGGREGATES: Final = PythonEvalType.SQL_GROUPED_AGG_PANDAS_UDF
_ARROW_COLUMNS: Final = PythonEvalType.SQL_SCALAR_ARROW_UDF
_MAKERS: Final = {"python": udf, "pandas": pandas_udf, "arrow": arrow_udf}
_ROW_MAKERS: Final = {"python": udtf, "arrow": arrow_udtf}

NO_FUNCTIONS: Final[Mapping[str, ProjectFunction]] = {}


def spark_schema(fields: Sequence[StructField]) -> Any:
    """Fields as Spark has them, nulls as declared."""
    document = {"type": "struct", "fields": [field_to_json(each) for each in fields]}
    return s.StructType.fromJson(document)


def spark_type(kind: DataType) -> Any:
    """A type as Spark has it."""
    return spark_schema([StructField("value", kind, True)])[0].dataType


class SessionFunctions:
    """The functions of a project in one session. Thread-safe."""

    def __init__(self, session: Any, functions: Mapping[str, ProjectFunction], root: Path) -> None:
        self._session = session
        self._functions = functions
        self._root = root
        self._made: set[str] = set()
        self._lock = Lock()

    def make_named(self, text: str) -> None:
        """Make the functions whose names stand in a text. Raises ModelFailed."""
        if not self._functions:
            return
        for word in set(_WORD.findall(text.lower())) & self._functions.keys():
            with self._lock:
                self._make(word)

    def _make(self, key: str) -> None:
        if key in self._made:
            return
        for function in in_order_of_need(self._functions, [key]):
            if function.key not in self._made and function.signature.usable:
                make_function(self._session, self._root, function)
            self._made.add(function.key)


def make_function(session: Any, root: Path, function: ProjectFunction) -> None:
    """Make one function in a session. Raises ModelFailed."""
    kind = function.signature.kind
    try:
        if kind == "sql":
            statement = create_statement(function)
            refuse_substitution(session, statement)
            session.sql(statement)
        elif kind == "java":
            _make_java(session, root, function)
        elif kind != "catalog":
            _make_python(session, root, function)
    except SPARK_ERRORS as error:
        said = classify_failure(error).message
        raise ModelFailed(f"function `{function.name}` cannot be made: {said}") from error


def _make_java(session: Any, root: Path, function: ProjectFunction) -> None:
    if function.jar is not None:
        jar = (root / function.jar).absolute()
        _check_jar(session, jar, function)
        if is_classic(session):
            session.sql(f"ADD JAR {quote_text(str(jar))}")
        else:
            session.addArtifact(str(jar))
    returns = function.signature.returns
    assert returns is not None
    session.udf.registerJavaFunction(function.name, function.java_class, spark_type(returns))


_LOADED: Final[dict[tuple[str, str], bytes]] = {}
"""The jars that classes came from, by the application whose JVM has them."""


def _check_jar(session: Any, jar: Path, function: ProjectFunction) -> None:
    """Raise ModelFailed for a jar that is not the one that was compiled, or that Spark will run.

    A JVM goes on with the class that it has loaded, whatever jars come after.
    """
    assert function.java_class is not None
    try:
        found = blake3().update_mmap(jar).digest()
    except OSError as error:
        raise ModelFailed(
            f"the jar of function `{function.name}` cannot be read: {error}"
        ) from error
    if found != function.code_digest:
        raise ModelFailed(
            f"the jar of function `{function.name}`, `{function.jar}`, changed after it was"
            " compiled: run again"
        )
    if is_classic(session):
        application = session.sparkContext.applicationId
        if _LOADED.setdefault((application, function.java_class), found) != found:
            raise ModelFailed(
                f"the jar of function `{function.name}`, `{function.jar}`, is another than when"
                f" this Spark loaded `{function.java_class}`, and Spark goes on with the class it"
                " has: start a new one"
            )


def _make_python(session: Any, root: Path, function: ProjectFunction) -> None:
    told = function.signature
    with code_of(root, function) as found:
        # What a decorator made of it has the author's function inside.
        code = getattr(found, "func", found)
        if told.columns is not None:
            schema = spark_schema(told.columns)
            rows = _ROW_MAKERS[told.kind](code, returnType=schema)
            if rows.evalType == PythonEvalType.SQL_TABLE_UDF:
                rows = udtf(rows_held_to_type(code, function.name, schema), returnType=schema)
            if told.deterministic:
                rows = rows.asDeterministic()
            session.udtf.register(function.name, rows)
            return
        assert told.returns is not None
        result = spark_type(told.returns)
        made: Any = _MAKERS[told.kind](code, result)
        if made.evalType == PythonEvalType.SQL_BATCHED_UDF:
            # Where Arrow carries the results, it converts or refuses them itself.
            made = udf(held_to_type(code, function.name, result), result)
        elif made.evalType in (_PANDAS_COLUMNS, _PANDAS_AGGREGATES):
            bigints = [
                each.name if each.type.kind == "bigint" else None for each in told.parameters
            ]
            given = result if made.evalType == _PANDAS_COLUMNS else None
            held = series_held_to_type(code, function.name, bigints, given)
            made = pandas_udf(held, result)
        elif made.evalType == _ARROW_COLUMNS:
            held = arrays_held_to_type(code, function.name, result)
            made = arrow_udf(held, result)
        if (made.evalType in _AGGREGATES) is not told.aggregate:
            says = "is declared" if told.aggregate else "is not declared"
            raise ModelFailed(
                f"function `{function.name}` {says} `aggregate = true`, and the type hints of"
                f" `{function.attribute}` in `{function.code}` say otherwise: an aggregate takes"
                " whole columns and gives one value"
            )
        if told.deterministic is False:
            made = made.asNondeterministic()
        session.udf.register(function.name, made)


def make_stub(session: Any, function: ProjectFunction) -> None:
    """Make a function that has the types of another and is never run: for analysis alone."""
    told = function.signature
    if told.kind == "sql":
        make_function(session, Path(), function)
    elif told.columns is not None:
        session.udtf.register(function.name, udtf(_StubRows, returnType=spark_schema(told.columns)))
    elif told.returns is not None:
        kind = spark_type(told.returns)
        made: Any = _aggregate_stub(kind) if told.aggregate else udf(_stub, kind)
        if told.deterministic is False and not told.aggregate:
            made = made.asNondeterministic()
        session.udf.register(function.name, made)


def _stub(*_: Any) -> None:
    return None


def _aggregate_stub(kind: Any) -> Any:
    # Spark tells an aggregate by its hints, which name a type of a library that few need.
    series = import_module("pandas").Series

    def stub(value):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202 - hints are set below
        return float(len(value))

    stub.__annotations__ = {"value": series, "return": float}
    return pandas_udf(stub, kind)


class _StubRows:
    def eval(self, *_: Any) -> Any:
        yield from ()
