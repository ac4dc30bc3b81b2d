"""Asks a live Spark what the frames of `tests/frames/cases.py` are: `answers.json` beside it.

Of each case: the schema with nullability, or the error condition. Nothing runs but analysis.
"""

import json
import logging
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from pyspark.errors import PySparkException  # noqa: E402
from pyspark.sql import SparkSession  # noqa: E402

from tests.frames.cases import CASES, TABLES  # noqa: E402


def main() -> None:
    """Write the answers of all cases."""
    spark = (
        SparkSession.builder.master("local[1]")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.session.timeZone", "UTC")
        .getOrCreate()
    )
    spark.sparkContext.setLogLevel("OFF")
    logging.getLogger("DataFrameQueryContextLogger").disabled = True
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
            answers[name] = {"error": error.getCondition() or type(error).__name__}
        else:
            answers[name] = {"fields": json.loads(schema.json())["fields"]}
    path = ROOT / "tests" / "frames" / "answers.json"
    path.write_text(json.dumps(answers, indent=1, sort_keys=True) + "\n")
    refused = sum("error" in each for each in answers.values())
    print(f"{len(answers)} cases, {refused} of them refused")


if __name__ == "__main__":
    main()
