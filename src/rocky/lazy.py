"""The one sanctioned lazy import: a module is loaded when it is first needed.

`rocky --version` must not pay for the compiler, nor a run that builds nothing for pyspark.
"""

from importlib import import_module
from typing import Any


def load_attribute(module: str, name: str) -> Any:
    """The object called `name` in a module that is imported now."""
    return getattr(import_module(module), name)
