"""Whether this process has a Spark driver already, asked without loading pyspark."""

import sys


def has_driver() -> bool:
    """Whether a Spark context runs here: then a connection shares it instead of starting one."""
    # Nobody can have started one without it.
    module = sys.modules.get("pyspark")
    context = getattr(module, "SparkContext", None)
    return getattr(context, "_active_spark_context", None) is not None
