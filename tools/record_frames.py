"""Asks a live Spark what frames are: the answers in `tests/frames`.

    python tools/record_frames.py cases      tests/frames/cases.py
    python tools/record_frames.py calls      every function over a column of every type
    python tools/record_frames.py examples   PySpark's own documentation; a name tells which

Of each frame the schema with nullability, or the error condition. Nothing of PySpark's text is
kept: an example is its name, a digest, and the schemas of the frames that it makes. Only examples
that ask for rows run a job.
"""

import json
import logging
import os
import sys
import tempfile
import warnings
from collections import defaultdict
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from pyspark.errors import AnalysisException, PySparkException  # noqa: E402
from pyspark.errors.exceptions.base import (  # noqa: E402
    PySparkAttributeError,
    PySparkNotImplementedError,
    PySparkTypeError,
    PySparkValueError,
)
from pyspark.sql import SparkSession  # noqa: E402
from pyspark.sql.classic.dataframe import DataFrame  # noqa: E402

from tests.frames.cases import CASES, TABLES  # noqa: E402
from tests.frames.examples import examples, run, shown  # noqa: E402
from tests.frames.function_calls import TABLE, calls, functions  # noqa: E402

FOLDER = ROOT / "tests" / "frames"
_BEFORE_RUNNING = (
    AnalysisException,
    PySparkAttributeError,
    PySparkNotImplementedError,
    PySparkTypeError,
    PySparkValueError,
)


def main() -> None:
    """Write the answers that were asked for; all of them without an argument."""
    wanted = sys.argv[1] if len(sys.argv) > 1 else None
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        spark = (
            SparkSession.builder.master("local[2]")
            .config("spark.ui.enabled", "false")
            .config("spark.sql.session.timeZone", "UTC")
            .config("spark.sql.shuffle.partitions", "1")
            .config("spark.sql.warehouse.dir", f"{folder}/warehouse")
            .getOrCreate()
        )
        spark.sparkContext.setLogLevel("OFF")
        logging.getLogger("DataFrameQueryContextLogger").disabled = True
        warnings.simplefilter("ignore")
        if wanted in (None, "cases"):
            record_cases(spark)
        if wanted in (None, "calls"):
            record_calls(spark)
        if wanted in (None, "examples"):
            record_examples(spark, sys.argv[2] if len(sys.argv) > 2 else "")


def record_cases(spark: SparkSession) -> None:
    """The cases that were written by hand."""
    answers = {}
    for name, make in CASES.items():
        frames = []
        for table, ddl in TABLES.items():
            empty = spark.createDataFrame([], ddl)
            empty.createOrReplaceTempView(table)
            frames.append(empty)
        try:
            schema = make(spark, *frames).schema
        except PySparkException as error:
            answers[name] = {"error": condition(error)}
        else:
            answers[name] = {"fields": json.loads(schema.json())["fields"]}
    write("answers.json", answers, indent=1)
    refused = sum("error" in each for each in answers.values())
    print(f"{len(answers)} cases, {refused} of them refused")


def record_calls(spark: SparkSession) -> None:
    """Every function: the calls of it by their result."""
    frame = spark.createDataFrame([], TABLE)
    answers: dict[str, dict[str, str]] = {}
    for name in functions():
        by_result: dict[str, list[str]] = defaultdict(list)
        for label, make in calls(name):
            try:
                schema = frame.select(make()).schema
            except (PySparkException, TypeError, ValueError, AssertionError) as error:
                by_result[f"!{condition(error)}"].append(label)
            else:
                fields = json.loads(schema.json())["fields"]
                by_result[shown([{**each, "name": ""} for each in fields])].append(label)
        answers[name] = {result: " ".join(labels) for result, labels in by_result.items()}
    write("function_answers.json", answers, indent=0)
    print(f"{len(answers)} functions")


def record_examples(spark: SparkSession, wanted: str) -> None:
    """The examples of PySpark's documentation whose name has `wanted` in it."""
    path = FOLDER / "examples.json"
    answers = json.loads(path.read_text()) if wanted and path.exists() else {}
    DataFrame.show = lambda *_, **__: None
    every = examples()
    for each in every:
        if wanted not in each.name:
            continue
        done = run(each, spark.newSession(), look)
        for table in spark.catalog.listTables():
            if not table.isTemporary:
                spark.sql(f"DROP TABLE IF EXISTS `{table.name}`")
        refused = {
            str(at): condition(error)
            for at, error in done.raised.items()
            if isinstance(error, _BEFORE_RUNNING)
        }
        answers[each.name] = {"digest": each.digest, "frames": done.frames, "refused": refused}
    known = {each.name for each in every}
    answers = {name: each for name, each in answers.items() if name in known}
    write("examples.json", answers, indent=0)
    frames = sum(len(each["frames"]) for each in answers.values())
    refusals = sum(len(each["refused"]) for each in answers.values())
    print(f"{len(answers)} examples, {frames} frames, {refusals} statements refused")


def look(value: Any) -> str | None:
    """The schema of a frame."""
    if not isinstance(value, DataFrame):
        return None
    try:
        schema = value.schema
    except AnalysisException as error:
        # One that reads the row around it is no frame by itself.
        return f"!{condition(error)}"
    return shown(json.loads(schema.json())["fields"])


def condition(error: BaseException) -> str:
    """What Spark calls a mistake."""
    named = error.getCondition() if isinstance(error, PySparkException) else None
    return named or type(error).__name__


def write(name: str, answers: dict[str, Any], indent: int) -> None:
    """Write a file of answers."""
    text = json.dumps(answers, indent=indent, sort_keys=True) + "\n"
    (FOLDER / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
