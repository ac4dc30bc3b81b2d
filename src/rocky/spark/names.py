"""Names of columns as Spark takes them: quoted, so that a dot or a backtick is part of the name."""

from typing import Any

from pyspark.sql import functions as f


def column_named(name: str) -> Any:
    """The column of exactly this name."""
    return f.col(f"`{name.replace('`', '``')}`")
