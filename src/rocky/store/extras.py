"""Optional extras: libraries that only some installations have.

A project without Iceberg must run without `pyiceberg`, so a module that needs an extra is imported
in the function that uses it, inside `needs_extra`.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from rocky.errors import ExtraMissing


@contextmanager
def needs_extra(extra: str) -> Iterator[None]:
    """Around an import. Raises ExtraMissing, with what to install, where a library is missing."""
    try:
        yield
    except ModuleNotFoundError as error:
        library = (error.name or "").partition(".")[0]
        if library == "rocky":
            raise
        raise ExtraMissing(
            f"`{library}` is not installed; run `pip install 'rocky-spark[{extra}]'`"
        ) from error
