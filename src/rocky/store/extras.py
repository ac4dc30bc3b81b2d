"""Optional extras: modules whose libraries only some installations have.

The one place below the command line where a module is imported when it is needed: a project
without Iceberg must run without `pyiceberg`.
"""

from importlib import import_module
from typing import Any

from rocky.errors import ExtraMissing


def load_extra(module: str, extra: str) -> Any:
    """A module of Rocky's that needs an optional extra."""
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        library = (error.name or "").partition(".")[0]
        if library == "rocky":
            raise
        raise ExtraMissing(
            f"`{library}` is not installed; run `pip install 'rocky-spark[{extra}]'`"
        ) from error
