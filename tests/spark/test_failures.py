"""Failures of Spark, real ones where they are cheap, and what is made of them."""

import shutil
from urllib.parse import quote

import pytest
from pyspark.sql.functions import udf

from rocky.spark.connection import adopt_session
from rocky.spark.failures import SPARK_ERRORS, as_unseen, classify_failure
from rocky.spark.interface import FailureKind


@pytest.mark.parametrize(
    ("text", "kind", "retryable"),
    [
        ("Job aborted: java.io.IOException: No space left on device", "disk_full", False),
        ("java.lang.OutOfMemoryError: Java heap space", "out_of_memory", False),
        ("ExecutorLostFailure (executor 3 exited unrelated to the task)", "transient", True),
        ("org.apache.spark.shuffle.MetadataFetchFailedException: ...", "transient", True),
        ("Cannot call methods on a stopped SparkContext", "connection_lost", False),
        ("Job 1 cancelled because SparkContext was shut down", "connection_lost", False),
        ("[SPARK_JOB_CANCELLED] Job 4 cancelled part of cancelled job group g", "cancelled", False),
        ("status = StatusCode.UNAVAILABLE", "connection_lost", False),
        ("something nobody has seen", "unknown", False),
    ],
)
def test_a_text_is_enough_to_know_the_kind(text, kind, retryable):
    failure = classify_failure(RuntimeError(text))

    assert (kind, retryable) == (failure.kind.value, failure.retryable)


NOT_FOUND = (
    "[FAILED_READ_FILE.FILE_NOT_EXIST] Encountered error while reading file file://{}. File does"
    " not exist. It is possible the underlying files have been updated. SQLSTATE: KD001"
)


@pytest.mark.parametrize("name", ["orders.csv", "of today.csv"])
def test_a_file_that_this_machine_has_is_one_that_executors_do_not_see(tmp_path, name):
    path = tmp_path / name
    failure = classify_failure(RuntimeError(NOT_FOUND.format(quote(str(path)))))
    assert FailureKind.MISSING_FILE == as_unseen(failure).kind
    path.touch()

    unseen = as_unseen(failure)

    assert (FailureKind.UNSEEN_FILE, failure.condition) == (unseen.kind, unseen.condition)
    assert f"`{path}` is there on this machine, and Spark's executors do not" in unseen.message


def test_a_message_is_one_line_of_a_bearable_length():
    failure = classify_failure(RuntimeError("first line " * 50 + "\nsecond line"))

    assert "\n" not in failure.message
    assert 300 >= len(failure.message)


@pytest.fixture
def session(spark):
    return adopt_session(spark).session


def failure_of(call):
    with pytest.raises(SPARK_ERRORS) as caught:
        call()
    failure = classify_failure(caught.value)
    assert "\n" not in failure.message
    assert " at org." not in failure.message
    return failure


def running(frame):
    return frame.write.format("noop").mode("overwrite").save


@pytest.mark.spark
@pytest.mark.parametrize(
    ("expression", "message"),
    [
        (
            "1 / (id - 3)",
            "DIVIDE_BY_ZERO: Division by zero. Use `try_divide` to tolerate divisor being 0 and"
            " return NULL instead",
        ),
        (
            "CAST(id AS INT) + 2147483647",
            "ARITHMETIC_OVERFLOW: integer overflow. Use 'try_add' to tolerate overflow and return"
            " NULL instead",
        ),
        (
            "CAST(concat('a', id) AS INT)",
            'CAST_INVALID_INPUT: The value \'a0\' of the type "STRING" cannot be cast to "INT"'
            " because it is malformed. Correct the value as per the syntax, or change its target"
            " type. Use `try_cast` to tolerate malformed input and return NULL instead",
        ),
        ("raise_error('not today')", "USER_RAISED_EXCEPTION: not today"),
    ],
)
def test_data_that_breaks_a_rule_is_a_data_error_in_sparks_words(session, expression, message):
    failure = failure_of(running(session.range(0, 10, 1, 1).selectExpr(expression)))

    assert (FailureKind.DATA_ERROR, message, False) == (
        failure.kind,
        failure.message,
        failure.retryable,
    )


@pytest.mark.spark
@pytest.mark.parametrize("sql", ["SELECT nope FROM range(3)", "SELEC 1", "SELECT nope(1)"])
def test_a_query_that_spark_refuses_is_rejected(session, sql):
    assert FailureKind.QUERY_REJECTED == failure_of(lambda: session.sql(sql)).kind


@pytest.mark.spark
def test_a_file_that_is_no_parquet_is_corrupt_and_named(session, tmp_path):
    (tmp_path / "a.parquet").write_bytes(b"PAR1 this is not what it says it is")
    failure = failure_of(running(session.read.schema("id INT").parquet(str(tmp_path))))

    assert FailureKind.CORRUPT_FILE == failure.kind
    assert "a.parquet" in failure.message
    assert "is not a Parquet file" in failure.message


@pytest.mark.spark
def test_a_file_with_changed_bytes_is_corrupt(session, tmp_path):
    folder = tmp_path / "table"
    session.range(0, 100_000, 1, 1).selectExpr("uuid() AS u").write.parquet(str(folder))
    (path,) = folder.glob("*.parquet")
    data = bytearray(path.read_bytes())
    data[1000:9000] = bytes(8000)
    path.write_bytes(data)
    # Hadoop keeps checksums of its own beside a file it wrote, and says so in other words.
    shutil.copy(path, tmp_path / "copy.parquet")
    frame = session.read.schema("u STRING").parquet(str(tmp_path / "copy.parquet"))
    failure = failure_of(running(frame))

    assert FailureKind.CORRUPT_FILE == failure.kind


@pytest.mark.spark
def test_a_file_that_is_gone_is_missing_at_once_and_in_the_middle(session, tmp_path):
    folder = tmp_path / "table"
    session.range(0, 10, 1, 1).write.parquet(str(folder))
    frame = session.read.parquet(str(folder))
    shutil.rmtree(folder)
    absent = failure_of(lambda: session.read.schema("id INT").parquet(str(folder)).count())

    assert (FailureKind.MISSING_FILE, FailureKind.MISSING_FILE) == (
        absent.kind,
        failure_of(running(frame)).kind,
    )


@pytest.mark.spark
def test_a_folder_that_cannot_be_written_is_a_matter_of_permission(session, tmp_path):
    (tmp_path / "file").write_text("")
    for folder in ("/proc/nowhere/table", str(tmp_path / "file" / "table")):
        failure = failure_of(lambda: session.range(3).write.parquet(folder))  # noqa: B023

        assert FailureKind.PERMISSION == failure.kind


@pytest.mark.spark
def test_an_exception_in_the_users_python_is_told_in_its_own_words(session):
    def fails(_):
        raise ValueError("no such region")

    failure = failure_of(running(session.range(0, 3, 1, 1).select(udf(fails, "int")("id"))))

    assert (FailureKind.DATA_ERROR, "ValueError: no such region") == (
        failure.kind,
        failure.message,
    )
