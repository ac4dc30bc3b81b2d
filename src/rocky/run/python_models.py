"""Python models: the function `model` of a file, called with its upstream frames.

The text that was compiled is executed, afresh for every build: the file may have been edited since,
and then what is recorded of the build would not be what was run.
"""

import traceback
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from rocky.errors import ModelFailed
from rocky.spark.failures import SPARK_ERRORS

FUNCTION: Final = "model"
_MODULE: Final = "<rocky model>"
"""No module's name, so that what the file defines is sent to executors by value."""


def call_model(path: Path, text: str, frames: Mapping[str, Any]) -> Any:
    """The frame that the `model` function of a file's text makes of its inputs.

    Raises ModelFailed.
    """
    defined: dict[str, Any] = {"__name__": _MODULE, "__file__": str(path)}
    try:
        exec(compile(text, str(path), "exec", dont_inherit=True), defined)
        function = defined.get(FUNCTION)
        made = function(**frames) if callable(function) else None
    except SPARK_ERRORS:
        raise
    # What an author's code may raise is anything; it fails this model and no other.
    except Exception as error:
        at = _line_in(path, error)
        raise ModelFailed(f"`{path.name}`{at} raised {type(error).__name__}: {error}") from error
    if not callable(function):
        raise ModelFailed(f"`{path.name}` defines no function `{FUNCTION}`")
    if not hasattr(made, "createOrReplaceTempView"):
        raise ModelFailed(f"`{FUNCTION}` in `{path.name}` must return a DataFrame, not {made!r}")
    return made


def _line_in(path: Path, error: BaseException) -> str:
    """The last line of the author's file that an error came through."""
    lines = [
        frame.lineno
        for frame in traceback.extract_tb(error.__traceback__)
        if frame.filename == str(path)
    ]
    return f" line {lines[-1]}" if lines else ""
