"""Rocky: the typed graph between SQL and Spark."""

from rocky.compiler.check import CheckedColumn, CheckedQuery, check_sql

__all__ = ["CheckedColumn", "CheckedQuery", "check_sql"]
