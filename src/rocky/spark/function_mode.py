"""Whose columns `pyspark.sql.functions` makes: those of the classic API or those of Connect.

pyspark asks the environment of the whole process, not the session, and its own builder sets the
answer. A session that was made without the builder leaves it wrong: the functions of the writer
and of the user's Python models would then look for a JVM that is not there. So a process cannot
run on both kinds of session at the same moment.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Final

_MODE: Final = "SPARK_CONNECT_MODE_ENABLED"
_lock: Final = Lock()
_users: Final[list[str | None]] = []
"""One entry for each connection in use; the first remembers what the environment said before."""


@contextmanager
def function_mode(*, connect: bool) -> Iterator[None]:
    """Let pyspark's functions fit a kind of session inside, and be as they were after."""
    with _lock:
        before = os.environ.get(_MODE)
        _users.append(_users[0] if _users else before)
        _set("1" if connect else None)
    try:
        yield
    finally:
        with _lock:
            before = _users.pop()
            if not _users:
                _set(before)


def _set(value: str | None) -> None:
    if value is None:
        os.environ.pop(_MODE, None)
    else:
        os.environ[_MODE] = value
