"""Record Spark's answers to the corpus: `python tools/record_corpus.py`.

Writes `tests/corpus/answers/*.json`. A query that lies in the wrong folder, accepted among the
refused or the other way round, is printed and not recorded: the file it lies in says what its
author meant, and one of the two is mistaken.
"""

import logging
import sys
import tempfile
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))

from pyspark.sql import SparkSession

from tests.corpus.asking import shop, spark_answer
from tests.corpus.questions import ANSWERS, format_answers, questions


def main() -> int:
    """Ask everything, write the answers, and say which queries lie in the wrong folder."""
    # pyspark logs each refusal with its whole Java stack; here refusals are what is asked for.
    logging.getLogger("SQLQueryContextLogger").disabled = True
    with tempfile.TemporaryDirectory() as folder:
        spark = _session(folder)
        families: dict[str, dict[str, Any]] = {}
        misplaced = 0
        with shop(spark):
            for question in questions():
                answer = spark_answer(spark, question.sql)
                if isinstance(answer, dict) is not question.refused:
                    misplaced += 1
                    print(f"misplaced: {question.id}: {answer}")
                    continue
                families.setdefault(question.family, {})[question.name] = answer
        spark.stop()
    for stale in ANSWERS.glob("*.json"):
        if stale.stem not in families:
            stale.unlink()
    for family, answers in families.items():
        (ANSWERS / f"{family}.json").write_text(format_answers(answers), encoding="utf-8")
    print(f"{sum(map(len, families.values()))} answers recorded, {misplaced} misplaced")
    return 1 if misplaced else 0


def _session(folder: str) -> SparkSession:
    return (
        SparkSession.builder.master("local[1]")
        .config("spark.ui.enabled", "false")
        .config("spark.driver.memory", "2g")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.log.level", "OFF")
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.sql.warehouse.dir", folder)
        .config("spark.sql.catalogImplementation", "in-memory")
        .getOrCreate()
    )


if __name__ == "__main__":
    sys.exit(main())
