"""The environment of this process: pyspark reads it by itself, and a JVM inherits it.

What a caller passes as the environment of a project stands for its variables only. Where Spark is,
which Java starts it and with what must be decided by what pyspark sees too, and that is always the
environment of the process: it is read and changed here and nowhere else below the ways in.
"""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager


def process_environment() -> Mapping[str, str]:
    """The variables as they are now."""
    return dict(os.environ)


def set_variable(name: str, value: str | None) -> None:
    """Set a variable that pyspark reads; None takes it away."""
    if value is None:
        os.environ.pop(name, None)
    else:
        os.environ[name] = value


@contextmanager
def variables(names: Mapping[str, str]) -> Iterator[None]:
    """Set variables for as long as pyspark reads them."""
    before = {name: os.environ.get(name) for name in names}
    os.environ.update(names)
    try:
        yield
    finally:
        for name, value in before.items():
            set_variable(name, value)
