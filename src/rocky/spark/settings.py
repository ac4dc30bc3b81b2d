"""Spark settings that Rocky pins, each with its reason, and the environment that pyspark reads.

A pinned setting is a default the project may change, unless it is *held*: then the compiler's types
or the bytes of every table depend on it, and a project that says otherwise is refused.

What a caller passes as the environment of a project stands for its variables only. Where Spark is,
which Java starts it and with what must be decided by what pyspark sees too, and that is always the
environment of the process: it is read and changed here and nowhere else below the ways in.
"""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

from rocky.errors import AdapterUnusable, ModelFailed
from rocky.project.configuration.spark_settings import misfit_of
from rocky.project.secrets import STARS, is_secret
from rocky.spark.redaction import REDACTION, redaction_pattern


@dataclass(frozen=True, slots=True)
class Setting:
    """A pinned setting. `why` completes the sentence "Rocky sets it because ..."."""

    name: str
    value: str
    why: str
    held: bool = False


SUBSTITUTION: Final = "spark.sql.variable.substitute"
"""Whether Spark puts variables, also of its own process, in place of `${...}` in a query's text."""

# These hold for one session, so they can be set on a server that others use too.
OF_A_SESSION: Final = (
    Setting("spark.sql.ansi.enabled", "true", "Rocky types as ANSI Spark does", held=True),
    Setting("spark.sql.caseSensitive", "false", "Rocky compares names without case", held=True),
    Setting(
        "spark.sql.timestampType", "TIMESTAMP_LTZ", "Rocky types TIMESTAMP with a zone", held=True
    ),
    Setting(
        "spark.sql.decimalOperations.allowPrecisionLoss",
        "true",
        "Rocky types decimals by this rule",
        held=True,
    ),
    Setting(
        "spark.sql.parquet.outputTimestampType",
        "TIMESTAMP_MICROS",
        "other readers refuse or misread INT96",
        held=True,
    ),
    Setting(
        SUBSTITUTION,
        "false",
        "`${...}` in SQL would read the environment of whoever runs it",
        held=True,
    ),
    *(
        Setting(name, "false", "readers of others refuse such variants", held=True)
        for name in (
            "spark.sql.variant.writeShredding.enabled",
            "spark.sql.variant.inferShreddingSchema",
            "spark.sql.parquet.variant.annotateLogicalType.enabled",
        )
    ),
    Setting(
        "spark.sql.session.timeZone",
        "UTC",
        "watermarks, intervals and days must mean the same in every run",
        held=True,
    ),
    Setting(
        "spark.sql.unionOutputPartitioning",
        "false",
        "pieces of a table that are read side by side must not become one",
        held=True,
    ),
    Setting(
        "spark.sql.optimizer.disableHints",
        "false",
        "which task reads a piece of a table, and which tables are sent to it, are hints",
        held=True,
    ),
    Setting(
        "spark.sql.sources.parallelPartitionDiscovery.threshold",
        "1000000",
        "a table's files are listed already: a Spark job to list them again takes seconds",
    ),
    Setting(
        "spark.hadoop.parquet.hadoop.vectored.io.enabled",
        "false",
        "bytes read through vectored reads are not counted, and cost is computed from them",
    ),
)

# These are fixed when a JVM or a Spark context is made.
OF_A_START: Final = (
    Setting("spark.scheduler.mode", "FAIR", "models that run at once share the cores evenly"),
    Setting("spark.ui.enabled", "false", "nobody looks at the page, and its port may be taken"),
    Setting("spark.ui.showConsoleProgress", "false", "progress is Rocky's to show"),
    Setting("spark.ui.retainedJobs", "10000", "the metrics of a long model must not be forgotten"),
    Setting(
        "spark.ui.retainedStages", "10000", "the metrics of a long model must not be forgotten"
    ),
    Setting("spark.sql.catalogImplementation", "in-memory", "Rocky's tables need no metastore"),
    Setting("spark.driver.defaultJavaOptions", "-Xss16m", "nested queries need a deep stack"),
)

OF_A_LOCAL_START: Final = (
    Setting("spark.driver.host", "127.0.0.1", "a laptop off line cannot resolve its own name"),
    Setting("spark.driver.bindAddress", "127.0.0.1", "nobody outside needs to reach the driver"),
)

# What can change a result, or how it is stored: recorded with every run.
RECORDED: Final = (
    "spark.sql.ansi.enabled",
    "spark.sql.caseSensitive",
    "spark.sql.decimalOperations.allowPrecisionLoss",
    "spark.sql.legacy.timeParserPolicy",
    "spark.sql.mapKeyDedupPolicy",
    "spark.sql.parquet.outputTimestampType",
    "spark.sql.session.timeZone",
    "spark.sql.storeAssignmentPolicy",
    "spark.sql.timestampType",
    SUBSTITUTION,
)

# What Spark has of these where nothing is set and nothing is pinned.
DEFAULTS: Final = {
    "spark.sql.legacy.timeParserPolicy": "CORRECTED",
    "spark.sql.mapKeyDedupPolicy": "EXCEPTION",
    "spark.sql.storeAssignmentPolicy": "ANSI",
}

_GIGABYTE: Final = 1024**3
_BETWEEN: Final = "\0"


def check_conf(conf: Mapping[str, str]) -> None:
    """Raise AdapterUnusable for a setting that contradicts one that is held, or is no value of it.

    The files of a project were judged when they were read; settings may come from elsewhere.
    """
    for setting in OF_A_SESSION:
        asked = conf.get(setting.name)
        if setting.held and asked is not None and asked.strip().lower() != setting.value.lower():
            raise AdapterUnusable(
                f"`{setting.name} = {asked}` in `[adapter.conf]` cannot be used, because"
                f" {setting.why}: leave it out, it is `{setting.value}`"
            )
    for name, value in conf.items():
        misfit = misfit_of(name, value)
        if misfit is not None:
            shown = f"`{name} = {STARS if is_secret(name, value) else value}`"
            raise AdapterUnusable(
                f"{shown} in `[adapter.conf]` cannot be used, because Spark takes {misfit.wanted}"
                f" there: {misfit.help}"
            )


def session_settings(conf: Mapping[str, str]) -> dict[str, str]:
    """What is set on any session: the pinned settings, then the project's own."""
    return {setting.name: setting.value for setting in OF_A_SESSION} | dict(conf)


def explicit_settings(session: Any) -> dict[str, str]:
    """What somebody has set on a session."""
    in_process = getattr(session.conf, "_jconf", None)
    if in_process is None:
        return dict(session.conf.getAll)
    # Two texts: each entry of a map of Java's is several questions to Spark's process.
    found, join = in_process.getAllAsJava(), session._jvm.String.join  # noqa: SLF001
    sides = (found.keySet(), found.values())
    names, values = (join(_BETWEEN, each).split(_BETWEEN) for each in sides)
    return dict(zip(names, values, strict=True))


def start_settings(conf: Mapping[str, str], *, local: bool) -> dict[str, str]:
    """What a Spark of our own is started with: the pinned settings, then the project's own."""
    pinned = OF_A_START + (OF_A_LOCAL_START if local else ())
    settings = {setting.name: setting.value for setting in pinned}
    if local:
        settings["spark.driver.memory"] = local_memory()
    # Last: a project's own pattern is part of it.
    return settings | session_settings(conf) | {REDACTION: redaction_pattern(conf)}


def local_memory() -> str:
    """The heap of a local Spark: a quarter of the machine, between 1 and 8 GB.

    Spark's own default is 1 GB whatever the machine has. It is a limit, not what is taken.
    """
    try:
        machine = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        return "1g"
    return f"{min(8, max(1, machine // _GIGABYTE // 4))}g"


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


def refuse_substitution(session: Any, sql: str) -> None:
    """Raise ModelFailed for a query with `${...}` in a session that would replace it.

    Rocky switches that off; the code of a Python model may have switched it on again.
    """
    if "${" in sql and session.conf.get(SUBSTITUTION).strip().lower() != "false":
        raise ModelFailed(
            f"the query contains `${{`, and this session replaces `${{...}}` by variables of"
            f" Spark's process: leave `{SUBSTITUTION}` switched off"
        )
