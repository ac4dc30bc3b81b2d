"""A Python function mapped over texts by Spark's executors, for the work that follows a write.

The function's module travels with it by value, so executors need the libraries it imports but
not Rocky itself.
"""

import pickle
import sys
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from pyspark import cloudpickle
from pyspark.sql import functions
from pyspark.sql.types import BinaryType

from rocky.spark.answers import take_rows

Answer = TypeVar("Answer")


def map_on_executors(
    session: Any, function: Callable[[str], Answer], texts: Sequence[str]
) -> list[Answer]:
    """The function's answers in the order of the texts, each computed by an executor."""
    if not texts:
        return []
    module = sys.modules[function.__module__]
    cloudpickle.register_pickle_by_value(module)
    try:
        answer_of = functions.udf(lambda text: pickle.dumps(function(text)), BinaryType())
        numbered = [(number, text) for number, text in enumerate(texts)]
        frame = session.createDataFrame(numbered, "number int, text string")
        # One text a task: a file may be large, and executors should share the work.
        spread = frame.repartition(len(texts), "number").select("number", answer_of("text"))
        rows = take_rows(spread, len(texts))
    finally:
        cloudpickle.unregister_pickle_by_value(module)
    by_number = {number: pickle.loads(bytes(answer)) for number, answer in rows}
    return [by_number[number] for number in range(len(texts))]
