"""Jobs by tag: what they used, how far they are, and that they can be stopped."""

import threading
import time
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from rocky.spark.connection import adopt_session
from rocky.spark.failures import SPARK_ERRORS, classify_failure
from rocky.spark.interface import FailureKind, Metrics
from rocky.spark.jobs import (
    ClassicJobs,
    StageProgress,
    jobs_of,
    known_tasks,
    read_figures,
    sum_stages,
)

FIGURES = (
    "executorRunTime", "executorCpuTime", "inputBytes", "inputRecords", "shuffleWriteBytes",
    "diskBytesSpilled", "peakExecutionMemory", "numCompleteTasks", "numFailedTasks",
    "numKilledTasks",
)  # fmt: skip


def attempt(status: str, **figures: int):
    return {"status": status, "numTasks": 2, **dict.fromkeys(FIGURES, 0), **figures}


def test_failed_attempts_are_counted_and_skipped_stages_are_not():
    attempts = [
        attempt("FAILED", executorRunTime=5, numFailedTasks=1, inputBytes=10),
        attempt("COMPLETE", executorRunTime=7, numCompleteTasks=2, inputBytes=20),
        attempt("SKIPPED", inputBytes=1000, numCompleteTasks=9),
    ]
    used = sum_stages(attempts)

    assert (12, 3, 30) == (used.executor_run_ms, used.tasks, used.bytes_read)


def test_peak_memory_is_that_of_the_largest_task_and_not_a_sum():
    spread = {"taskMetricsDistributions": {"peakExecutionMemory": [70.0]}}
    used = sum_stages([attempt("COMPLETE", peakExecutionMemory=100) | spread])

    assert 70 == used.peak_memory_bytes


def test_a_stage_that_will_be_skipped_does_not_spoil_the_total():
    first = [StageProgress(1, tasks=4, done=4, begun=True)]
    second = [
        StageProgress(2, tasks=4, done=0, begun=False),
        StageProgress(3, tasks=2, done=1, begun=True),
        StageProgress(4, tasks=1, done=0, begun=False),
    ]

    assert (5, 7) == known_tasks([first, second])


def write_nothing(frame):
    frame.write.format("noop").mode("overwrite").save()


@pytest.fixture
def connection(spark):
    return adopt_session(spark)


@pytest.fixture
def jobs(connection) -> ClassicJobs:
    return jobs_of(connection)


@pytest.fixture
def table(connection, tmp_path) -> Path:
    folder = tmp_path / "table"
    frame = connection.session.range(200_000).selectExpr("id", "id % 5 AS k", "uuid() AS filling")
    frame.repartition(2).write.parquet(str(folder))
    return folder


@pytest.mark.spark
def test_bytes_read_are_those_of_the_columns_that_were_read(connection, jobs, table):
    with jobs.tagged("model"):
        write_nothing(connection.session.read.parquet(str(table)).groupBy("k").sum("id"))
    used = jobs.metrics("model")
    chunks = 0
    for path in table.glob("*.parquet"):
        footer = pq.read_metadata(path)
        for group in range(footer.num_row_groups):
            chunks += sum(footer.row_group(group).column(n).total_compressed_size for n in (0, 1))

    assert chunks <= used.bytes_read <= chunks * 1.1 + 20_000
    assert 200_000 == used.rows_read
    assert used.executor_run_ms >= used.executor_cpu_ms * 0.5 > 0
    assert used.shuffle_bytes > 0
    assert used.peak_memory_bytes > 0
    assert (used.tasks, used.tasks) == jobs.progress("model")


@pytest.mark.spark
def test_two_threads_have_their_own_figures_and_pools(connection, jobs):
    session = connection.session
    pools = {}

    def work(tag: str, rows: int) -> None:
        with jobs.tagged(tag):
            pools[tag] = session.sparkContext.getLocalProperty("spark.scheduler.pool")
            write_nothing(session.range(0, rows, 1, 3).selectExpr("sum(id)"))
        pools[tag + " after"] = session.sparkContext.getLocalProperty("spark.scheduler.pool")

    threads = [
        threading.Thread(target=work, args=arguments) for arguments in (("a", 10), ("b", 70))
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert [10, 70] == [jobs.metrics(tag).rows_read for tag in ("a", "b")]
    assert pools["a"] != pools["b"]
    assert (None, None) == (pools["a after"], pools["b after"])
    assert 0 == jobs.metrics("never used").tasks
    assert 0 == jobs_of(connection).metrics("a").tasks


@pytest.mark.spark
def test_what_a_failed_job_used_is_counted(connection, jobs):
    with jobs.tagged("fails"), pytest.raises(Exception, match="DIVIDE_BY_ZERO"):
        write_nothing(connection.session.range(0, 10, 1, 2).selectExpr("1 / (id - 3)"))

    assert jobs.metrics("fails").tasks >= 1


@pytest.mark.spark
def test_a_cancelled_model_stops_and_starts_no_further_job_while_others_go_on(connection, jobs):
    session = connection.session
    failures = []

    def slow() -> None:
        with jobs.tagged("slow"):
            for _ in range(2):
                try:
                    sleep = "java_method('java.lang.Thread', 'sleep', 600000L + id)"
                    write_nothing(session.range(0, 1, 1, 1).selectExpr(sleep))
                except SPARK_ERRORS as failure:
                    failures.append(classify_failure(failure))

    thread = threading.Thread(target=slow)
    thread.start()
    while jobs.progress("slow") != (0, 1):
        time.sleep(0.02)
    jobs.cancel("slow")
    thread.join()

    assert [FailureKind.CANCELLED, FailureKind.CANCELLED] == [each.kind for each in failures]
    with jobs.tagged("other"):
        assert 3 == session.range(3).count()


@pytest.mark.spark
def test_figures_that_spark_has_forgotten_are_unknown_and_not_zero(connection, jobs, monkeypatch):
    with jobs.tagged("model"):
        write_nothing(connection.session.range(3))
    # As where the jar is not.
    monkeypatch.setattr(jobs, "_figures", None)
    monkeypatch.setattr(jobs, "_jobs", lambda tag: [{"stageIds": [10**9]}])

    assert Metrics() == jobs.metrics("model")


def test_a_stage_that_spark_has_forgotten_is_a_line_without_anything():
    complete = "COMPLETE 2 2 0 0 7 8000000 9 10 11 12 13 6"

    assert [[], 2] == [read_figures("\n")[0], len(read_figures(f"{complete}\n\n"))]
    ((attempt,),) = read_figures(f"{complete}\n")
    assert Metrics(7, 8, 9, 10, 11, 12, 6, 2) == sum_stages([attempt])


@pytest.mark.spark
def test_figures_are_the_same_in_one_answer_and_field_by_field(connection, jobs, monkeypatch):
    with jobs.tagged("model"):
        write_nothing(
            connection.session.range(0, 1000, 1, 3).repartition(2).sortWithinPartitions("id")
        )

    at_once = jobs.metrics("model")
    monkeypatch.setattr(jobs, "_figures", None)

    assert at_once == jobs.metrics("model")
    assert 5 == at_once.tasks
