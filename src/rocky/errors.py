"""The exceptions Rocky raises, drawn as one tree.

RockyError                 the world failed: a file, a server, a setting
├── ProjectNotFound        no rocky.toml where one was asked for
├── NothingSelected        a model, column or code that was named does not exist
├── InvalidSchema          a table handed to `check_sql` whose columns cannot be read
├── SparkUnavailable       Spark or Java is missing or would not start
└── InternalError          we are wrong: users must not be able to cause it

A mistake in the user's project is never an exception: it is a `Diagnostic`.
"""


class RockyError(Exception):
    """The world failed in a way the user can act on; the message says how."""


class ProjectNotFound(RockyError):
    """No `rocky.toml` at the place that was named."""


class NothingSelected(RockyError):
    """A selector, model, column or code that matches nothing."""


class InvalidSchema(RockyError, ValueError):
    """A table's columns are neither a DDL list nor Spark's schema JSON."""


class SparkUnavailable(RockyError):
    """Spark or Java is missing, too old, or would not start."""


class InternalError(RockyError):
    """A state that no input should be able to reach."""
