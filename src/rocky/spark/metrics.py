"""Metrics: what Spark's tasks used, read from the figures it keeps of stages.

A stage belongs to the first job that ran it, and every attempt of it cost something: attempts are
summed, also those that failed. A stage that was skipped has figures too, and they are not zero.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from rocky.spark.layout import Metrics

SKIPPED = "SKIPPED"
PENDING = "PENDING"


def sum_stages(attempts: Sequence[Mapping[str, Any]]) -> Metrics:
    """The sum over attempts of stages, each as Spark's status API writes it."""
    ran = [attempt for attempt in attempts if attempt["status"] not in {SKIPPED, PENDING}]

    def total(*names: str) -> int:
        return sum(int(attempt[name]) for attempt in ran for name in names)

    return Metrics(
        executor_run_ms=total("executorRunTime"),
        executor_cpu_ms=total("executorCpuTime") // 1_000_000,
        bytes_read=total("inputBytes"),
        rows_read=total("inputRecords"),
        shuffle_bytes=total("shuffleWriteBytes"),
        spill_bytes=total("diskBytesSpilled"),
        peak_memory_bytes=max((_peak(attempt) for attempt in ran), default=0),
        tasks=total("numCompleteTasks", "numFailedTasks", "numKilledTasks"),
    )


def _peak(attempt: Mapping[str, Any]) -> int:
    """The execution memory of the task that used most; Spark's own figure is a sum over tasks."""
    spread = attempt.get("taskMetricsDistributions")
    if spread:
        return int(max(spread["peakExecutionMemory"], default=0))
    # Without a task that ended well there is no spread.
    return int(attempt["peakExecutionMemory"]) // max(1, int(attempt["numTasks"]))


class StageProgress(NamedTuple):
    """A stage of a job: its id, how many tasks it has and how many are done."""

    stage: int
    tasks: int
    done: int
    begun: bool


def known_tasks(jobs: Iterable[Sequence[StageProgress]]) -> tuple[int, int]:
    """Tasks done and tasks known, over jobs.

    Spark lists a stage whose result is there already as one still to run, until the job is over.
    Stages are numbered after those they wait for, so what has not begun while a later one has is
    left out.
    """
    stages: dict[int, StageProgress] = {}
    for job in jobs:
        last = max((each.stage for each in job if each.begun), default=-1)
        for each in job:
            if each.begun or each.stage > last:
                stages[each.stage] = each
    return sum(each.done for each in stages.values()), sum(each.tasks for each in stages.values())
