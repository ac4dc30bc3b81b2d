"""Failures of a step: who raised it decides what it is, before it becomes a text.

`CAUGHT` is all that a step may fail with. Anything else is a fault of ours and must not be taken
for a model's.
"""

import errno
from collections.abc import Callable
from dataclasses import replace
from typing import Final

from rocky.analysis.disclosure import Disclosure, Secrets, origin_of
from rocky.errors import (
    ClaimLost,
    ConcurrentChange,
    ForeignCommit,
    InternalError,
    ModelFailed,
    RockyError,
    RowsRefused,
    StoreUnreadable,
    StoreUnwritable,
)
from rocky.run.engine.protocol import StepFailure
from rocky.spark.failures import SPARK_ERRORS, classify_failure, trace_of
from rocky.spark.interface import Failure

STEP_ERRORS: Final = (RockyError, OSError, *SPARK_ERRORS)

_KINDS: Final = (
    (ConcurrentChange, "concurrent_change"),
    (ClaimLost, "claim_lost"),
    (ForeignCommit, "foreign_commit"),
    (RowsRefused, "data_error"),
    (StoreUnreadable, "store_unreadable"),
    (StoreUnwritable, "store_unwritable"),
    (ModelFailed, "model_failed"),
    (InternalError, "internal"),
)
_VALUE_KINDS: Final = frozenset({"data_error", "corrupt_file", "unknown"})
"""The kinds of failures whose messages may quote values of rows."""
_RAISED: Final = ("USER_RAISED_EXCEPTION", "PythonException")
"""What is in the words of a failure that quotes whatever somebody's code has said."""
_FULL: Final = (errno.ENOSPC, errno.EDQUOT)


def classify_step_failure(
    error: BaseException, explain: Callable[[BaseException], Failure] = classify_failure
) -> StepFailure:
    """What an exception that ended a step means to the run; `explain` knows more of Spark's."""
    if isinstance(error, RockyError):
        kind = next((name for each, name in _KINDS if isinstance(error, each)), "rejected")
        # The rows were computed from a table that has moved on: computed again, they are right.
        # A refusal of ours says all there is; what another error caused has a stack to show.
        trace = trace_of(error) if error.__cause__ is not None else ""
        retryable = isinstance(error, ConcurrentChange)
        finding = error.finding if isinstance(error, ModelFailed) else None
        return StepFailure(kind, str(error), retryable=retryable, finding=finding, trace=trace)
    if isinstance(error, OSError) and not isinstance(error, ConnectionError):
        return StepFailure(_kind_of_io(error), str(error), trace=trace_of(error))
    failure = explain(error)
    return StepFailure(
        failure.kind.value,
        failure.message,
        failure.retryable,
        failure.condition,
        cause=failure,
        trace=trace_of(error),
    )


def may_quote(failure: StepFailure) -> bool:
    """Whether the words of a failure may hold a value of a row."""
    if failure.kind in _VALUE_KINDS:
        return True
    if failure.kind == "model_failed":
        # A refusal of ours has no stack; what code has raised has one.
        return bool(failure.trace)
    # A text that somebody raises may look like any other failure.
    trace = failure.cause.trace if failure.cause is not None else failure.trace
    return any(each in trace for each in _RAISED)


def unsaid(failure: StepFailure, secrets: Secrets) -> str:
    """What is told of a failure whose own words may hold a value that is hidden."""
    name = failure.condition or failure.kind
    return f"{name}; its words are not shown: `{origin_of(secrets)}` is classified"


def hide_words(failure: StepFailure, disclosure: Disclosure | None) -> StepFailure:
    """A failure of something that may read any table, without words that may quote its values."""
    if not disclosure or not may_quote(failure):
        return failure
    secrets = disclosure.everything
    return replace(failure, message=unsaid(failure, secrets), hides=origin_of(secrets))


def _kind_of_io(error: OSError) -> str:
    if error.errno in _FULL:
        return "disk_full"
    return "permission" if isinstance(error, PermissionError) else "io"
