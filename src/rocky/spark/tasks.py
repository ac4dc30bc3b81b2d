"""A Python function mapped over texts by Spark's executors, for the work that follows a write.

The function travels by value, with all that it uses of its own package, so executors need the
libraries it imports but not Rocky itself.
"""

import pickle
import sys
from collections.abc import Callable, Sequence
from functools import partial
from threading import Lock
from types import ModuleType
from typing import Any, Final, TypeVar

from pyspark import cloudpickle
from pyspark.sql import functions
from pyspark.sql.types import BinaryType

from rocky.errors import AdapterUnusable

Answer = TypeVar("Answer")
# Which modules are pickled by value is known to the process, not to a call.
_pickling: Final = Lock()


def map_on_executors(
    session: Any, function: Callable[[str], Answer], texts: Sequence[str]
) -> list[Answer]:
    """The function's answers in the order of the texts, each computed by an executor.

    Raises AdapterUnusable when the executors lack a library that the function imports.
    """
    if not texts:
        return []
    packed, given = _pack(function), list(texts)

    def answer(number: int) -> bytes:
        # Runs on an executor, where this module cannot be imported.
        try:
            wanted = pickle.loads(packed)
        except ModuleNotFoundError as missing:
            return pickle.dumps((missing.name, None))
        return pickle.dumps((None, wanted(given[number])))

    of_number = functions.udf(answer, BinaryType(), useArrow=False)
    # As many tasks as texts: a file may be large, and executors should share the work.
    tasks = session.range(0, len(given), 1, len(given))
    # Not through a limit, which would try one task first and more when that is not enough.
    rows = tasks.select("id", of_number("id")).collect()
    answers = {row[0]: pickle.loads(bytes(row[1])) for row in rows}
    for lacking, _ in answers.values():
        if lacking is not None:
            raise AdapterUnusable(
                f"the Python of Spark's executors has no `{lacking}`, and executors name the files"
                " they write by their bytes: install `blake3` and `obstore` there"
            )
    return [answers[number][1] for number in range(len(given))]


def _pack(function: Callable[[str], Any]) -> bytes:
    """The function as bytes that need no Rocky to be read."""
    package = _package_of(function)
    with _pickling:
        cloudpickle.register_pickle_by_value(package)
        try:
            return cloudpickle.dumps(function)
        finally:
            cloudpickle.unregister_pickle_by_value(package)


def _package_of(function: Any) -> ModuleType:
    """The outermost package of a function, or of the class of an object that can be called."""
    while isinstance(function, partial):
        function = function.func
    return sys.modules[function.__module__.partition(".")[0]]
