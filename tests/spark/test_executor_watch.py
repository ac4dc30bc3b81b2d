"""The watch over executors, with as much of a context as it looks at; `test_cluster.py` has a real one."""

from queue import Empty, Queue
from types import SimpleNamespace

import pytest
from pyspark import SparkConf

from rocky.spark.executor_watch import ExecutorWatch


class Context:
    """A Spark context whose executors and stages are set."""

    master = "spark://host:7077"

    def __init__(self, **settings: str) -> None:
        self.executors, self.stages = 0, 1
        self._conf = SparkConf(loadDefaults=False)
        for name, value in settings.items():
            self._conf.set(f"spark.executor.{name}", value)
        tracker = SimpleNamespace(
            getExecutorInfos=lambda: ["driver", *range(self.executors)],
            getActiveStageIds=lambda: list(range(self.stages)),
        )
        spark = SimpleNamespace(statusTracker=lambda: tracker)
        self._jsc = SimpleNamespace(sc=lambda: spark)

    def getConf(self) -> SparkConf:  # noqa: N802 - Spark's name
        return self._conf


@pytest.fixture
def watched(request):
    """A context, and what is told of it."""
    context, told = Context(**getattr(request, "param", {})), Queue()
    watch = ExecutorWatch(context, told.put, first=0.05, again=0.05, tick=0.01)
    yield context, told
    watch.stop()


@pytest.mark.parametrize(
    ("watched", "asked"),
    [
        ({"cores": "4", "memory": "8g"}, "4 cores and 8g of memory"),
        ({}, "1g of memory"),
    ],
    indirect=["watched"],
)
def test_work_that_waits_for_a_first_executor_is_told_of_again_and_again(watched, asked):
    _, told = watched

    first, again = told.get(timeout=20), told.get(timeout=20)

    assert f"for an executor of `spark://host:7077`: each needs {asked}, and none" in str(first)
    assert str(first).split(":", 1)[1] == str(again).split(":", 1)[1]
    assert ("master", "spark.executor.cores", "spark.executor.memory") == first.settings


@pytest.mark.parametrize(("executors", "stages"), [(1, 1), (0, 0)])
def test_work_that_is_done_and_no_work_are_told_to_nobody(watched, executors, stages):
    context, told = watched
    context.executors, context.stages = executors, stages
    while not told.empty():
        told.get()
    # What was being told while the context was set.
    told.queue.clear()

    with pytest.raises(Empty):
        told.get(timeout=0.5)
