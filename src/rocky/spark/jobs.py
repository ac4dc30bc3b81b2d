"""Jobs: the Spark jobs of one model, known by a tag, and what their tasks used.

The tag given is made unique inside Spark, so that a second connection in one process does not read
the figures of the first. The classic API marks jobs through the Spark context: the session's own
tags were found not to cancel anything there. A stage belongs to the first job that ran it, and
every attempt of it cost something: attempts are summed, also those that failed. A stage that was
skipped has figures too, and they are not zero.
"""

import threading
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from typing import Any, Final, NamedTuple, Protocol

from py4j.protocol import Py4JError

from rocky.errors import SparkUnavailable
from rocky.spark.connection import Connection
from rocky.spark.executor_watch import ExecutorWatch
from rocky.spark.hashed_parquet import class_of
from rocky.spark.interface import Metrics

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


# Figures arrive through a queue; when it does not run empty, some of them would be missing.
_QUEUE_MS: Final = 20_000
_PROPERTIES: Final = ("spark.jobGroup.id", "spark.job.interruptOnCancel", "spark.scheduler.pool")


class TaggedJobs(Protocol):
    """The jobs of a connection, by tag."""

    def tagged(self, tag: str) -> AbstractContextManager[None]: ...

    def metrics(self, tag: str) -> Metrics: ...

    def progress(self, tag: str) -> tuple[int, int]: ...

    def cancel(self, tag: str) -> None: ...

    def watched(self, tell: Callable[[SparkUnavailable], None]) -> AbstractContextManager[None]: ...


def jobs_of(connection: Connection) -> TaggedJobs:
    """The jobs of a connection's session."""
    if connection.kind == "connect":
        return ConnectJobs(connection.session)
    return ClassicJobs(connection.session, on_cluster=connection.kind == "cluster")


class ClassicJobs:
    """Jobs seen through the driver's own JVM: everything its tasks report."""

    def __init__(self, session: Any, *, on_cluster: bool = False) -> None:
        self._on_cluster = on_cluster
        self._context = session.sparkContext
        self._jvm: Any = self._context._jvm  # noqa: SLF001 - the status store has no public door
        self._spark: Any = self._context._jsc.sc()  # noqa: SLF001
        self._prefix = f"rocky-{uuid.uuid4().hex[:12]}-"
        # Every dot is a question to the JVM: what is used often is asked for once.
        self._status: Any = self._spark.statusStore()
        self._tracker: Any = self._spark.statusTracker()
        self._arrays: Any = self._jvm.java.util.Arrays
        self._any_status: Any = self._jvm.java.util.ArrayList()
        self._largest: Any = self._context._gateway.new_array(self._jvm.double, 1)  # noqa: SLF001
        self._largest[0] = 1.0
        self._figures: Any = class_of(session, "StageFigures")

    @contextmanager
    def tagged(self, tag: str) -> Iterator[None]:
        """Jobs this thread starts inside carry the tag and share a pool of the fair scheduler."""
        mark = self._mark(tag)
        before = {name: self._context.getLocalProperty(name) for name in _PROPERTIES}
        self._context.addJobTag(mark)
        for name, value in zip(_PROPERTIES, (mark, "true", mark), strict=True):
            self._context.setLocalProperty(name, value)
        try:
            yield
        finally:
            # A Spark that is gone has nothing left to put back; why it is gone is told elsewhere.
            with suppress(Py4JError, OSError):
                self._context.removeJobTag(mark)
                for name, value in before.items():
                    self._context.setLocalProperty(name, value)

    def metrics(self, tag: str) -> Metrics:
        """What the tag's jobs used so far; None when Spark has forgotten a job or is gone."""
        try:
            attempts = self._all_attempts(tag)
        except (Py4JError, OSError):
            return Metrics()
        if not all(attempts):
            return Metrics()
        return sum_stages([each for stage in attempts for each in stage])

    def progress(self, tag: str) -> tuple[int, int]:
        """Tasks done and tasks known, of the tag's jobs."""
        try:
            jobs = [[self._stage(stage) for stage in job] for job in self._jobs(tag)]
        except (Py4JError, OSError):
            return (0, 0)
        return known_tasks([[stage for stage in job if stage is not None] for job in jobs])

    def cancel(self, tag: str) -> None:
        """Cancel the tag's jobs, also those the model would start next."""
        mark = self._mark(tag)
        self._spark.cancelJobGroupAndFutureJobs(mark)
        self._spark.cancelJobsWithTag(mark)

    @contextmanager
    def watched(self, tell: Callable[[SparkUnavailable], None]) -> Iterator[None]:
        """Inside, work that waits for a first executor of a cluster is told of."""
        watch = ExecutorWatch(self._context, tell) if self._on_cluster else None
        try:
            yield
        finally:
            if watch is not None:
                watch.stop()

    def _mark(self, tag: str) -> str:
        # Spark keeps tags in one text with commas between them.
        return self._prefix + tag.replace(",", ";")

    def _jobs(self, tag: str) -> list[list[int]]:
        """The stages of each of the tag's jobs."""
        jobs = self._arrays.toString(self._tracker.getJobIdsForTag(self._mark(tag)))
        return [_numbers(self._status.job(job).stageIds().mkString(",")) for job in _numbers(jobs)]

    def _all_attempts(self, tag: str) -> list[list[dict[str, Any]]]:
        """The attempts of each stage of the tag's jobs."""
        if self._figures is not None:
            return read_figures(self._figures.told(self._spark, self._mark(tag), _QUEUE_MS))
        self._spark.listenerBus().waitUntilEmpty(_QUEUE_MS)
        stages = {stage for job in self._jobs(tag) for stage in job}
        return [self._attempts(stage) for stage in sorted(stages)]

    def _attempts(self, stage: int) -> list[dict[str, Any]]:
        found = self._status.stageData(stage, False, self._any_status, True, self._largest)
        return [_described(found.apply(place)) for place in range(found.size())]

    def _stage(self, stage: int) -> StageProgress | None:
        found = self._status.lastStageAttempt(stage)
        status = found.status().toString()
        if status == SKIPPED:
            return None
        tasks = found.numTasks()
        done = min(tasks, found.numCompletedIndices())
        return StageProgress(stage, tasks, done, begun=status != "PENDING")


_COUNTS: Final = (
    "numTasks", "numCompleteTasks", "numFailedTasks", "numKilledTasks",
    "executorRunTime", "executorCpuTime", "inputBytes", "inputRecords",
    "shuffleWriteBytes", "diskBytesSpilled", "peakExecutionMemory",
)  # fmt: skip


def _described(attempt: Any) -> dict[str, Any]:
    """An attempt of a stage by the names of Spark's status API, as far as `sum_stages` asks.

    Field by field: the first JSON that a JVM writes takes longer than all these questions.
    """
    told: dict[str, Any] = {name: getattr(attempt, name)() for name in _COUNTS}
    spread = attempt.taskMetricsDistributions()
    if spread.isDefined():
        peaks = spread.get().peakExecutionMemory().mkString(",")
        told["taskMetricsDistributions"] = {
            "peakExecutionMemory": [float(peak) for peak in peaks.split(",") if peak]
        }
    return {"status": attempt.status().toString(), **told}


def read_figures(told: str) -> list[list[dict[str, Any]]]:
    """Attempts of stages from what `StageFigures` tells; an empty one for what Spark forgot."""
    found: list[list[dict[str, Any]]] = []
    for line in told.splitlines():
        if not line:
            found.append([])
            continue
        status, *figures = line.split(" ")
        counts = list(map(int, figures))
        attempt: dict[str, Any] = dict(zip(_COUNTS, counts, strict=False))
        peaks = counts[len(_COUNTS) :]
        if peaks:
            attempt["taskMetricsDistributions"] = {"peakExecutionMemory": peaks}
        found.append([{"status": status, **attempt}])
    return found


def _numbers(text: str) -> list[int]:
    """The numbers in a list that Java or Scala wrote."""
    return [int(number) for number in text.strip("[]").split(",") if number.strip()]


class ConnectJobs:
    """Jobs seen through Spark Connect: progress as the server reports it, and little else.

    Every two seconds or so the server tells the tasks and the bytes read of each stage, but not
    once more at the end; time, memory, shuffle and spill it keeps to itself.
    """

    def __init__(self, session: Any) -> None:
        self._session = session
        self._prefix = f"rocky-{uuid.uuid4().hex[:12]}-"
        self._thread = threading.local()
        self._lock = threading.Lock()
        self._stages: dict[str, dict[str, Sequence[Any]]] = {}
        session.registerProgressHandler(self._heard)

    @contextmanager
    def tagged(self, tag: str) -> Iterator[None]:
        """Queries this thread starts inside carry the tag."""
        mark = self._mark(tag)
        before = getattr(self._thread, "tag", None)
        self._thread.tag = tag
        self._session.addTag(mark)
        try:
            yield
        finally:
            self._session.removeTag(mark)
            self._thread.tag = before

    def metrics(self, tag: str) -> Metrics:
        """Tasks and bytes read, if the server told them to the end; None for all the rest."""
        queries = self._told(tag)
        done, known = known_tasks(_progress(query) for query in queries)
        if done < known or not known:
            return Metrics()
        stages = {each.stage_id: each for query in queries for each in query}.values()
        return Metrics(
            bytes_read=sum(each.num_bytes_read for each in stages),
            tasks=sum(each.num_completed_tasks for each in stages),
        )

    def progress(self, tag: str) -> tuple[int, int]:
        """Tasks done and tasks known, as the server last said."""
        return known_tasks(_progress(query) for query in self._told(tag))

    def cancel(self, tag: str) -> None:
        """Cancel the tag's queries."""
        self._session.interruptTag(self._mark(tag))

    def watched(self, tell: Callable[[SparkUnavailable], None]) -> AbstractContextManager[None]:  # noqa: ARG002 - of the protocol
        """A server keeps to itself whether it has executors."""
        return nullcontext()

    def _mark(self, tag: str) -> str:
        return self._prefix + tag.replace(",", ";")

    def _told(self, tag: str) -> list[Sequence[Any]]:
        with self._lock:
            return list(self._stages.get(tag, {}).values())

    def _heard(self, stages: Any, operation_id: str | None, **_: Any) -> None:
        """Called by pyspark in the thread that waits for the query."""
        tag = getattr(self._thread, "tag", None)
        if tag is None or stages is None:
            return
        with self._lock:
            self._stages.setdefault(tag, {})[operation_id or ""] = list(stages)


def _progress(query: Sequence[Any]) -> list[StageProgress]:
    return [
        StageProgress(
            each.stage_id,
            each.num_tasks,
            min(each.num_tasks, each.num_completed_tasks),
            begun=each.done or each.num_completed_tasks > 0,
        )
        for each in query
    ]
