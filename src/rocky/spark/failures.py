"""Failures: what a Spark exception means, in one line, and whether trying again can help.

Spark wraps a cause in several exceptions, and Spark Connect sends texts where the classic API has
objects; so what a task said is looked for in the whole text, from the most telling mark to the
least, and the exception's own class decides only when nothing was found.
"""

import re
import traceback
from dataclasses import replace
from pathlib import Path
from typing import Final
from urllib.parse import unquote

from py4j.protocol import Py4JError, Py4JNetworkError
from pyspark.errors import (
    AnalysisException,
    ParseException,
    PySparkException,
    PythonException,
)

from rocky.spark.failure_places import find_places
from rocky.spark.interface import Failure, FailureKind

SPARK_ERRORS: Final = (PySparkException, Py4JError)
"""What Spark raises: all that `classify_failure` is meant for."""


_KIND = FailureKind

# Order matters: a full disk also fails a task, and a failed task also aborts a job.
_MARKS: Final[tuple[tuple[FailureKind, re.Pattern[str]], ...]] = (
    (_KIND.DISK_FULL, re.compile(r"No space left on device|Disk quota exceeded")),
    (
        _KIND.OUT_OF_MEMORY,
        re.compile(
            r"OutOfMemoryError|UNABLE_TO_ACQUIRE_MEMORY|Container killed by YARN for exceeding"
            r"|OOMKilled|CANNOT_BROADCAST_TABLE_OVER_MAX_TABLE|MEMORY_LIMIT"
        ),
    ),
    (
        _KIND.CANCELLED,
        re.compile(
            r"SPARK_JOB_CANCELLED|OPERATION_CANCELED|OPERATION_CANCELLED"
            # One that ends with its Spark was not cancelled by anybody.
            r"|\bJob \d+ cancelled(?! because SparkContext)"
        ),
    ),
    (
        _KIND.CORRUPT_FILE,
        re.compile(
            r"CANNOT_READ_FILE_FOOTER|CANNOT_READ_PARTITIONED|PARQUET_COLUMN_DATA_TYPE_MISMATCH"
            r"|is not a Parquet file|Malformed ORC|Could not read footer|corrupt(?:ed)? "
            r"|MALFORMED_RECORD|MALFORMED_CSV_RECORD|CANNOT_DECOMPRESS|ParquetDecodingException"
            r"|BAD_DATA"
        ),
    ),
    (
        _KIND.MISSING_FILE,
        re.compile(r"FILE_NOT_EXIST|PATH_NOT_FOUND|FileNotFoundException|NoSuchFileException"),
    ),
    (
        _KIND.PERMISSION,
        re.compile(
            r"Permission denied|AccessControlException|AccessDeniedException|Access Denied"
            r"|Mkdirs failed to create|INSUFFICIENT_PERMISSIONS|Operation not permitted"
            r"|Read-only file system|ParentNotDirectoryException"
        ),
    ),
    (
        _KIND.TRANSIENT,
        re.compile(
            r"ExecutorLostFailure|FetchFailed|MetadataFetchFailed|Failed to fetch|TaskResultLost"
            r"|Lost executor|Connection reset by peer|SocketTimeoutException|Futures timed out"
            r"|SlowDown|503 Service Unavailable|RESOURCE_EXHAUSTED|DEADLINE_EXCEEDED"
        ),
    ),
    (
        _KIND.CONNECTION_LOST,
        re.compile(
            r"StatusCode\.UNAVAILABLE|Connection refused|INVALID_HANDLE\.SESSION"
            r"|SparkContext was shut down|stopped SparkContext|Answer from Java side is empty"
            r"|SESSION_CLOSED|SESSION_NOT_FOUND"
        ),
    ),
    # A file that is there and cannot be read, for no reason known above.
    (_KIND.CORRUPT_FILE, re.compile(r"FAILED_READ_FILE")),
)

# SQLSTATE classes of Spark's conditions: the data broke a rule, or the query did.
_DATA_STATES: Final = ("21", "22", "23")
_QUERY_STATES: Final = ("07", "0A", "42", "54")
_CONDITION: Final = re.compile(r"\[(?P<name>[A-Z][A-Z0-9_]*(?:\.[A-Z][A-Z0-9_]*)*)\]\s*")
_STATE: Final = re.compile(r"\s*SQLSTATE: (?P<state>[0-9A-Z]{5})")
_CAUSE: Final = re.compile(r"^(?:Caused by)?: (?P<said>\S.*)")
_JAVA_CLASS: Final = re.compile(r"^(?:[a-z_][\w$]*\.)+[A-Z][\w$]*(?:: |$)")
_PYTHON_ERROR: Final = re.compile(r"^(?:\w+\.)*[A-Z]\w*(?:Error|Exception|Warning|Exit): .*")
_WRAPPERS: Final = re.compile(
    r"^.*?Lost task [\d.]+ in stage [\d.]+ (?:\(TID \d+\) )?(?:\([^)]*\))?: "
)
# What a Python that would not start on an executor said stands on the next line.
_WORKER: Final = re.compile(r"Error from python worker:\s+(?P<said>\S.*)")
_GRPC_DETAILS: Final = re.compile(r'details = "(?P<said>[^"]+)"')
# Conditions that only say that something else failed: the innermost cause is told as well.
_OUTER: Final = frozenset({"TASK_WRITE_FAILED", "FAILED_READ_FILE.NO_HINT"})
# Advice that cannot be followed here: Rocky types as ANSI Spark does.
_ADVICE: Final = re.compile(r' If necessary set "spark\.sql\.ansi\.enabled" to "false".*?error\.')
_LENGTH: Final = 300


def classify_failure(failure: BaseException) -> Failure:
    """What went wrong in Spark, in the terms of a run."""
    text = _text_of(failure)
    condition, state, message = _told(failure, text)
    kind = _kind(failure, text, state)
    if kind is _KIND.CONNECTION_LOST:
        message = f"the connection to Spark is lost: {message}"
    query, code = find_places(failure, text)
    return Failure(kind, _shortened(message), condition, query, code, text)


_PLACE: Final = re.compile(r"\b[Ff]ile (?:file:(?://)?)?(?P<path>/[^\s'\"`]+)")


def as_unseen(found: Failure) -> Failure:
    """A file that could not be found, if it is there where this machine looks."""
    for place in _PLACE.finditer(found.trace):
        path = unquote(place["path"]).rstrip(".")
        if Path(path).exists():
            said = (
                f"`{path}` is there on this machine, and Spark's executors do not find it: on a"
                " cluster the warehouse and the files of sources lie in a folder that all machines"
                " have under the same path, or on S3"
            )
            return replace(found, kind=FailureKind.UNSEEN_FILE, message=said)
    return found


def trace_of(failure: BaseException) -> str:
    """The whole stack of an exception, that of the JVM included where it was handed over."""
    # An exception whose JVM is gone cannot say anything; that is written in its place.
    python = "".join(traceback.format_exception(failure))
    stacks: list[str] = []
    each: BaseException | None = failure
    while each is not None:
        stack = getattr(each, "_stackTrace", None)
        if isinstance(stack, str) and stack not in python:
            stacks.append(stack)
        each = each.__cause__
    return "\n".join([python.rstrip(), *stacks])


def _kind(failure: BaseException, text: str, state: str | None) -> FailureKind:
    for kind, mark in _MARKS:
        if mark.search(text):
            return kind
    if isinstance(failure, Py4JNetworkError | ConnectionError):
        return _KIND.CONNECTION_LOST
    if isinstance(failure, AnalysisException | ParseException):
        return _KIND.QUERY_REJECTED
    if isinstance(failure, PythonException) or "USER_RAISED_EXCEPTION" in text:
        return _KIND.DATA_ERROR
    if state is not None and state.startswith(_DATA_STATES):
        return _KIND.DATA_ERROR
    if state is not None and state.startswith(_QUERY_STATES):
        return _KIND.QUERY_REJECTED
    return _KIND.UNKNOWN


def _text_of(failure: BaseException) -> str:
    """Everything an exception says, its causes included."""
    try:
        text = str(failure)
    except (Py4JError, OSError):
        # Printing it asks the JVM for the stack, and that JVM may be gone.
        text = str(getattr(failure, "errmsg", type(failure).__name__))
    cause = failure.__cause__
    return f"{text}\n{_text_of(cause)}" if isinstance(cause, Exception) else text


def _told(failure: BaseException, text: str) -> tuple[str | None, str | None, str]:
    """Spark's condition with its SQLSTATE, if it has one, and the sentence worth showing."""
    lines = [line.strip() for line in text.splitlines()]
    lines = [line for line in lines if line and not line.startswith("at ")]
    causes = [_plain(found["said"]) for line in lines if (found := _CAUSE.match(line))]
    for line in lines:
        mark = _CONDITION.search(line)
        if mark is None:
            continue
        condition, rest = mark["name"], line[mark.end() :]
        state = _STATE.search(text, text.find(line))
        sentence = _ADVICE.sub("", _STATE.sub("", rest)).strip()
        if condition in _OUTER and causes and condition not in causes[-1]:
            sentence = f"{sentence} {causes[-1]}"
        return condition, state["state"] if state else None, f"{condition}: {sentence}"
    python = [line for line in lines if _PYTHON_ERROR.match(line)]
    if isinstance(failure, PythonException) and python:
        return None, None, python[-1]
    worker = _WORKER.search(text)
    if worker is not None:
        return None, None, f"the executors' Python would not start: {worker['said']}"
    details = _GRPC_DETAILS.search(text)
    if details is not None:
        return None, None, details["said"]
    said = causes or [_plain(line) for line in lines] or [type(failure).__name__]
    return None, None, said[-1] if causes else said[0]


def _plain(line: str) -> str:
    """A line without the names of Java classes and the tasks around what was said."""
    plain = _JAVA_CLASS.sub("", _WRAPPERS.sub("", _JAVA_CLASS.sub("", line)))
    return plain or line


def _shortened(message: str) -> str:
    """The message on one line, without a full stop."""
    message = " ".join(message.split()).removesuffix(".")
    return message if len(message) <= _LENGTH else f"{message[: _LENGTH - 1].rstrip()}…"
