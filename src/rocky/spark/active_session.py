"""The active session: the one that pyspark finds where code names none, as in a script of its own.

It is a matter of threads, and each kind of session has its own way to say it.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from pyspark.errors import utils as pyspark_errors

from rocky.spark.connection import is_classic

_NOTED: Final = "_enable_debugging_cache"


@contextmanager
def active_session(session: Any) -> Iterator[None]:
    """Let a session be the active one of this thread inside, as it is in a script of its own.

    pyspark notes which line made an expression only where a session is active, and remembers that
    there was none the first time it looked.
    """
    if not is_classic(session):
        with _active_client(session):
            yield
        return
    sessions = session._jvm.SparkSession  # noqa: SLF001 - the public API sets none
    before = sessions.getActiveSession()
    sessions.setActiveSession(session._jsparkSession)  # noqa: SLF001
    if getattr(pyspark_errors, _NOTED, True) is False:
        setattr(pyspark_errors, _NOTED, None)
    try:
        yield
    finally:
        if before.isDefined():
            sessions.setActiveSession(before.get())
        else:
            sessions.clearActiveSession()


@contextmanager
def _active_client(session: Any) -> Iterator[None]:
    """The same for a Connect session: it is asked, for one, what the text of a type means."""
    threads = type(session)._active_session  # noqa: SLF001 - the public API sets none
    before = getattr(threads, "session", None)
    threads.session = session
    try:
        yield
    finally:
        threads.session = before
